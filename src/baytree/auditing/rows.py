"""Findings about rows that are not independent: duplicates and groups. They need all rows in one place.

A row is hashed column by column, and the key of a row is the sum of its hashes, so that the key without one column is a
subtraction: rows that are equal but for an identifier cost one subtraction and one sort.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from baytree.auditing.counts import CountedBins
from baytree.auditing.result import Finding
from baytree.data.encoding.table import Table, Tokens, Values, is_missing
from baytree.data.parsing.vocabulary import Pattern
from baytree.data.schema.column import Kind
from baytree.folds.content_folds import mix_bits

MIN_DUPLICATES = 0.01  # proportion of the rows that repeat another row

MIN_TWICE, MAX_OFTEN = 0.02, 0.02  # rows that occur twice, of all rows; and those that occur more often, of these

MIN_ROWS = 20

MIN_DISTINCT = 0.9  # proportion of distinct values of a column that may be an identifier

MAX_EXPECTED_RATIO = 0.2  # pairs of equal rows that may be expected by chance, as a proportion of those found

_GOLDEN = 0x9E3779B97F4A7C15  # odd integer next to 2^64 / golden ratio


class Duplicates(NamedTuple):
    """Rows that equal an earlier row, in some columns."""

    n: int
    n_twice: int  # different rows that occur exactly twice
    n_often: int  # different rows that occur more often
    n_pairs: float

    @classmethod
    def of(cls, key: np.ndarray) -> Duplicates:
        """Duplicates among rows with these keys."""
        counts = np.unique(key, return_counts=True)[1]
        pairs = float((counts * (counts - 1.0)).sum() / 2)
        return cls(len(key) - len(counts), int((counts == 2).sum()), int((counts > 2).sum()), pairs)


def duplicate_findings(table: Table, groups: np.ndarray | None) -> list[Finding]:
    """Rows that repeat another row: exactly, with another target, or in all columns but an identifier."""
    n = len(table)
    if n < MIN_ROWS or not len(table.values):
        return []
    hashes = [column_hash(values, j) for j, values in enumerate(table.values)]
    key, target = np.add.reduce(np.array(hashes, np.uint64)), column_hash(np.asarray(table.label), len(hashes))
    conflicts = _conflicting_rows(key, target)
    if _are_copies(table, hashes, key + target):
        return [_copies(table, Duplicates.of(key + target), (), conflicts, groups, key)]
    for j in identifier_columns(table):
        rest, without = [k for k in range(len(hashes)) if k != j], key - hashes[j]
        if rest and _are_copies(table.select(rest), [hashes[k] for k in rest], without + target):
            name, n_conflicts = table.schema.columns[j].name, _conflicting_rows(without, target)
            return [_copies(table, Duplicates.of(without + target), (name,), n_conflicts, groups, without)]
    pairs = Duplicates.of(key).n_pairs
    if conflicts >= MIN_DUPLICATES * n and pairs * MAX_EXPECTED_RATIO > expected_pairs(table, hashes, key, pairs):
        name = table.schema.target.name
        message = f"{conflicts:,} of {n:,} rows equal another row in all columns but have another {name!r}"
        remedy = "no model can be right about all of them; look for a column that tells them apart"
        return [Finding("duplicates", (), message, remedy, {"rows": conflicts, "conflicts": conflicts})]
    return []


def _are_copies(table: Table, hashes: list[np.ndarray], key: np.ndarray) -> bool:
    """Whether there are more equal rows than chance explains.

    Either more pairs than `expected_pairs`, or many rows twice and hardly any more often: where rows are equal because
    columns have few values, the common ones occur many times.
    """
    found = Duplicates.of(key)
    if found.n < MIN_DUPLICATES * len(table):
        return False
    is_doubled = found.n_twice >= MIN_TWICE * len(table) and found.n_often <= MAX_OFTEN * found.n_twice
    return is_doubled or found.n_pairs * MAX_EXPECTED_RATIO > expected_pairs(table, hashes, key, found.n_pairs)


def _conflicting_rows(key: np.ndarray, target: np.ndarray) -> int:
    """Number of rows that equal another row with a different target."""
    order = np.lexsort((target, key))
    is_same, is_other = key[order][1:] == key[order][:-1], target[order][1:] != target[order][:-1]
    conflicting = np.unique(key[order][1:][is_same & is_other])
    return int(np.isin(key, conflicting).sum())


def _copies(
    table: Table, found: Duplicates, but: tuple[str, ...], conflicts: int, groups: np.ndarray | None, key: np.ndarray
) -> Finding:
    n = len(table)
    in_all = f"in all columns but {but[0]!r}" if but else "exactly"
    also = f"; {conflicts:,} rows equal another with a different {table.schema.target.name!r}" if conflicts else ""
    message = f"{found.n:,} of {n:,} rows repeat another row {in_all}{also}; random folds test on rows seen in training"
    remedy = "remove the copies, or keep equal rows in one fold with groups="
    if groups is not None and not _split_by_groups(key, groups):
        remedy = "groups= keeps them in one fold"
    return Finding("duplicates", but, message, remedy, {"rows": found.n, "conflicts": conflicts})


def _split_by_groups(key: np.ndarray, groups: np.ndarray) -> bool:
    """Whether equal rows lie in different groups."""
    order = np.lexsort((groups, key))
    return bool(np.any((key[order][1:] == key[order][:-1]) & (np.diff(groups[order]) != 0)))


def expected_pairs(table: Table, hashes: list[np.ndarray], key: np.ndarray, n_pairs: float) -> float:
    """Pairs of equal rows to expect by chance: the larger of two estimates.

    One takes the columns as independent within each class. The other takes the pairs that differ in one column only, the
    one with most values: by chance they match there as often as two values of the column do, and a few times more, because
    similar rows have similar values.
    """
    n = len(table)
    label = table.label if table.n_classes else np.zeros(n, np.int64)
    independent = 0.0
    for c in np.unique(label):
        rows = label == c
        matches = [_match_probability(values[rows]) for values in hashes]
        independent += float(np.exp(np.sum(np.log(matches)))) * rows.sum() ** 2 / 2
    match = [_match_probability(values) for values in hashes]
    finest = int(np.argmin(match))
    if match[finest] > MAX_MATCH:  # no column has many values: rows that differ in one only are ordinary
        return independent
    near = Duplicates.of(key - hashes[finest]).n_pairs - n_pairs
    return max(independent, MATCH_FACTOR * match[finest] * near)


MAX_MATCH, MATCH_FACTOR = 0.2, 5.0  # see `expected_pairs`


def _match_probability(values: np.ndarray) -> float:
    """Probability that two rows have the same value."""
    counts = np.unique(values, return_counts=True)[1].astype(float)
    n = counts.sum()
    return float(max((counts * (counts - 1)).sum() / max(n * (n - 1), 1.0), 1.0 / max(n * n, 1.0)))


def column_hash(values: Values, salt: int) -> np.ndarray:
    """Hash of each value of a column: uint64 [n_rows]."""
    if isinstance(values, Tokens):
        word = mix_bits(values.code.astype(np.uint64) + np.uint64(_GOLDEN))
        sums = np.concatenate([[np.uint64(0)], np.cumsum(word * np.maximum(values.count, 1).astype(np.uint64))])
        bits = sums[values.start[1:]] - sums[values.start[:-1]]
    elif values.dtype == np.float64:
        bits = np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)
    else:
        bits = values.astype(np.int64).view(np.uint64)
    return mix_bits(bits + np.uint64(_GOLDEN * (salt + 1) % 2**64))


def identifier_columns(table: Table) -> list[int]:
    """Columns that may identify rows: nearly all values differ, and they are strings or whole numbers."""
    found = []
    for j, (column, values) in enumerate(zip(table.schema.columns, table.values, strict=True)):
        if isinstance(values, Tokens) or column.kind is Kind.ORDINAL:
            continue
        if column.kind is Kind.NUMERIC and np.any(values[:1000] != np.floor(values[:1000])):
            continue
        if len(np.unique(values)) >= MIN_DISTINCT * len(values):
            found.append(j)
    return found


# --- groups -------------------------------------------------------------------------------------------------------------

_WHO = (
    r"patient|subject|customer|client|user|member|person|participant|household|family|site|hospital|clinic|school|class|store"
    r"|shop|branch|batch|machine|device|sensor|session|author|company|firm|donor|animal|plot"
)

_GROUP = Pattern(rf"(?:^|[_\W])(?:{_WHO})s?(?:$|[_\W\d])")  # of levels

# also of whole numbers
_GROUP_NUMBER = Pattern(rf"[_\W]id$|[a-z]I[dD]$|(?:^|[_\W])(?:{_WHO})s?[_\W]?(?:id|nr|no|num|number|code)$")

MAX_ROWS_PER_NUMBER = 50  # whole numbers with more rows each are amounts rather than names of groups

MIN_GROUPS, MIN_GROUP_ROWS = 10, 2.0  # levels of a column of groups, and rows of each on average

MIN_GROUPS_OF_TARGET = 20  # levels from which an equal target in each level means groups, and not a good column

MAX_RUNS = 1.2  # runs of equal values per level, if each level is one block

MIN_AGREEMENT = 0.95  # excess, over chance, of rows that agree with the most frequent value of their group


def group_findings(table: Table, bins: tuple[CountedBins | None, ...], known: Collection[str]) -> list[Finding]:
    """Columns whose rows belong together: named as such, in blocks, or with other columns constant in each group.

    `known` are columns that other findings explain: leaks, times.
    """
    codes = [_codes(table, j, own) for j, own in enumerate(bins)]
    found = []
    for j, (column, own) in enumerate(zip(table.schema.columns, bins, strict=False)):
        values = table.values[j]
        if own is None or isinstance(values, Tokens) or column.kind is Kind.ORDINAL or column.unit is not None:
            continue
        if column.name in known:
            continue
        group = _group_numbers(values, column.kind is Kind.NUMERIC)
        if group is None:
            continue
        reason = _why_a_group(table, j, group, codes)
        if reason:
            n_groups = int(group.max()) + 1
            message = f"{column.name!r} has {n_groups:,} values for {len(table):,} rows, {reason}: rows of one are alike"
            remedy = f"to keep them in one fold, give groups={column.name!r}"
            figure = {"groups": n_groups, "rows_per_group": len(table) / n_groups}
            found.append(Finding("groups", (column.name,), message, remedy, figure))
    return found


def _group_numbers(values: np.ndarray, is_numeric: bool) -> np.ndarray | None:
    """Number of the group of each row; None if the column cannot hold groups: too few or too many distinct values."""
    if is_missing(values).mean() > 0.1 or (is_numeric and np.any(values[:1000] != np.floor(values[:1000]))):
        return None
    levels, group = np.unique(values, return_inverse=True)
    if not MIN_GROUPS <= len(levels) <= len(values) / MIN_GROUP_ROWS:
        return None
    return group


def _codes(table: Table, j: int, own: CountedBins | None) -> np.ndarray | None:
    """Codes of a column in at most about ten bins, of which the largest has at most 80 % of the rows; else None."""
    if own is None:
        return None
    codes = own.codes(table.values[j]).astype(np.int64) + 1
    if own.cuts is not None and own.n_codes > 12:
        codes = codes * 12 // (own.n_codes + 1)
    counts = np.bincount(codes)
    return codes if counts.max() <= 0.8 * len(codes) else None


def _why_a_group(table: Table, j: int, group: np.ndarray, codes: list[np.ndarray | None]) -> str:
    column, n_groups = table.schema.columns[j], int(group.max()) + 1
    is_nominal = column.kind is Kind.NOMINAL
    runs = 1 + int(np.count_nonzero(np.diff(group)))
    is_block = runs <= MAX_RUNS * n_groups and runs < 0.5 * len(group)
    is_sorted = bool((np.diff(group) >= 0).all())
    patterns = (_GROUP, _GROUP_NUMBER) if is_nominal else (_GROUP_NUMBER,)
    is_named = any(each.search(column.name) or each.search(column.name.lower()) for each in patterns)
    if is_block and (is_nominal or is_named or not is_sorted):
        return "each in one block of rows"
    if is_named:
        return "and the name of a group"
    constant = [
        k
        for k, other in enumerate(codes)
        if k != j and other is not None and _excess_agreement(group, other) >= MIN_AGREEMENT
        and (is_nominal or not _is_coarser(group, other))
    ]  # fmt: skip
    target = table.label if table.n_classes else np.argsort(np.argsort(table.label)) * 8 // len(table.label)
    if constant and (is_nominal or (len(constant) > 1 and len(group) <= MAX_ROWS_PER_NUMBER * n_groups)):
        return f"and {table.schema.columns[constant[0]].name!r} is the same in all rows of each"
    if n_groups >= MIN_GROUPS_OF_TARGET and _excess_agreement(group, np.asarray(target, np.int64)) >= MIN_AGREEMENT:
        return f"and {table.schema.target.name!r} is the same in all rows of each"
    return ""


def _excess_agreement(group: np.ndarray, codes: np.ndarray) -> float:
    """Agreement of the rows of each group with their most frequent code, beyond that of rows in random order; at most 1."""
    by_chance = _agreement(group, np.random.default_rng(0).permutation(codes))
    return (_agreement(group, codes) - by_chance) / (1 - by_chance) if by_chance < 1 else 0.0


def _agreement(group: np.ndarray, codes: np.ndarray) -> float:
    n_codes = int(codes.max()) + 1
    pairs, counts = np.unique(group.astype(np.int64) * n_codes + codes, return_counts=True)
    maximum = np.zeros(int(group.max()) + 1)
    np.maximum.at(maximum, pairs // n_codes, counts)
    return float(maximum.sum() / len(group))


def _is_coarser(group: np.ndarray, codes: np.ndarray) -> bool:
    """Whether the codes rise or fall with the number of the group, as bins of the same quantity do."""
    order = np.argsort(group, kind="stable")
    changes = np.diff(codes[order])
    return int(np.count_nonzero(changes)) <= 2 * (int(codes.max()) + 1)
