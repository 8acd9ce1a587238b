"""Multiway trees whose rows go down every branch in fractions where a value is missing: C4.5, J48, ID3 and relatives.

`sprout` grows such a tree in the core, `ripen` turns the grown nodes into a `Tree`. What sets the algorithms apart is a
`Rules` record; what sets the programs apart that made them known is a `Conventions` record.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from baytree import _core
from baytree.table.schema import Kind
from baytree.table.table import Table
from baytree.tree.model.places import SPREAD, STOP
from baytree.tree.model.structure import Surrogates, Tree

MEASURES = {"entropy": 0, "gini": 1, "error": 2, "chi2": 3, "id3": 4}
MISSING = {"fractional": 0, "largest": 1, "category": 2, "learned": 3}
_THRESHOLD, _EACH_LEVEL, _ONE_LEVEL = 1, 2, 3  # tests in the core; all others have a map of their own
_MODERATE = 2.0**40  # weights within a factor of this around 1 are taken as they are
_EXACT_SINGLE = 2**24  # float32 counts every whole number up to here


class Rules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a fractional tree is grown; the names are those of the core."""

    measure: str = "entropy"
    missing: str = "fractional"
    by_ratio: bool = True  # gain ratio among tests of at least average gain; otherwise the largest gain
    binary: bool = False
    grouped: bool = False
    mdl: bool = True
    midpoint: bool = False
    quinlan_sides: bool = True
    zero_ratio_wins: bool = True
    min_side: float = 2
    tolerance: float = 0.0
    min_info: float = 0.0
    zero_gain: float = 0.0
    min_gain: float = 0.0
    min_split: float = 0.0
    min_impurity: float = 0.0
    gated: bool = True
    max_depth: int = -1  # -1 = no limit
    max_leaves: int = -1
    single: bool = False  # float32 arithmetic where it is exact for the number of rows


class Rows(msgspec.Struct, frozen=True):
    """A table as the core reads it: contiguous columns, and the rows to look at."""

    names: tuple[str, ...]
    columns: list[np.ndarray]
    levels: np.ndarray  # int32 [n_columns], 0 = numeric
    label: np.ndarray
    weight: np.ndarray
    chosen: np.ndarray  # int32
    total: float  # weight of the whole table, the base of the many-levels rule


class Growth(msgspec.Struct, frozen=True):
    """Grown nodes in the core, with what was tried at each of them."""

    nodes: Any  # _core.Growth
    tried: list[tuple[int, int, float, float, float, int]]
    single: bool


def rows_of(table: Table, chosen: np.ndarray | None = None) -> Rows:
    """The rows with weight, all or those chosen."""
    if chosen is None:
        chosen = np.arange(len(table))
    chosen = chosen[table.weight[chosen] > 0].astype(np.int32)
    weight = _moderate(table.weight)
    return Rows(
        table.schema.names,
        [_contiguous(table, j) for j in range(len(table.schema))],
        np.array([0 if c.kind is Kind.NUMERIC else max(len(c.levels), 1) for c in table.schema], np.int32),
        np.ascontiguousarray(table.label, np.int32),
        weight,
        chosen,
        float(weight.sum()),
    )


def grow(rows: Rows, n_classes: int, rules: Rules, *, threads: int = 1, traces: bool = False) -> Growth:
    """The full tree of these rows, neither collapsed nor pruned."""
    single = rules.single and is_counted_in_single(rows.weight)
    try:
        nodes, tried = _core.fractional_grow(
            rows.columns, rows.levels, rows.label, rows.weight, rows.chosen, n_classes,
            _core_rules(rules, rows.total), single, threads, traces,
        )  # fmt: skip
    except IndexError as refused:
        j = int(str(refused))
        raise ValueError(
            f"column {rows.names[j]!r} has {rows.levels[j]} levels; a branch for each of them at every node would make the "
            f"tree far larger than the table: leave the column out, or let it be split in two (binary=True, CARTClassifier)"
        ) from None
    return Growth(nodes, tried, single)


def regrown(tree: Tree) -> Any:
    """The nodes of a finished tree in the core, to be pruned further."""
    return _core.growth_of(
        tree.column, tree.first, tree.branches, tree.cut, tree.start, tree.levels, tree.branch_of, tree.missing,
        tree.rows, tree.weight, tree.counts.ravel(), tree.prediction, tree.gain,
    )  # fmt: skip


def is_counted_in_single(weight: np.ndarray) -> bool:
    """Whether float32 can hold these weights and their sum exactly."""
    return bool(weight.sum() <= _EXACT_SINGLE and np.array_equal(weight, np.floor(weight)))


def ripen(growth: Growth, *, empty: str, laplace: bool = False, measure: str = "entropy") -> Tree:
    """The nodes as a `Tree`. An empty leaf gives its class ("class") or its parent's distribution ("parent")."""
    raw = growth.nodes.compact().arrays()
    inner = raw["test"] > 0
    parent = _parents(raw)
    start, branch_of = _branch_maps(raw)
    n = len(inner)
    return Tree(
        column=raw["column"],
        first=np.where(inner, raw["first"], 0).astype(np.int32),
        branches=raw["branches"],
        cut=np.where(raw["test"] == _THRESHOLD, raw["cut"], np.nan),
        strict=np.zeros(n, bool),
        mirrored=np.zeros(n, bool),
        start=start,
        levels=raw["levels"],
        branch_of=branch_of,
        missing=np.where(inner, np.where(raw["missing"] >= 0, raw["missing"], SPREAD), STOP).astype(np.int32),
        share=_shares(raw, parent),
        rows=raw["rows"],
        weight=raw["weight"],
        counts=raw["counts"],
        value=_distributions(raw, parent, empty, laplace),
        prediction=raw["label"],
        impurity=impurity_of(raw["counts"], measure),
        risk=raw["weight"] - raw["counts"].max(axis=1),
        gain=np.where(inner, np.maximum(raw["gain"], 0) * raw["weight"], 0.0),
        complexity=np.zeros(n),
        surrogates=Surrogates.none(),
    )


def gain_of(counts: np.ndarray, criterion: str) -> float:
    """What branches [n_branches, n_classes] gain of a criterion, in units of weight; `gain_ratio` over their own entropy."""
    measure = "entropy" if criterion == "gain_ratio" else criterion
    weight, whole = counts.sum(axis=1), counts.sum(axis=0, keepdims=True)
    gain = float(weight.sum() * impurity_of(whole, measure)[0] - weight @ impurity_of(counts, measure))
    if criterion != "gain_ratio":
        return gain
    info = float(impurity_of(weight[None], "entropy")[0])
    return gain / info if info > 0 else 0.0


def _moderate(weight: np.ndarray) -> np.ndarray:
    """The weights, brought near 1 if they are extreme: their sums must neither overflow nor vanish."""
    largest = float(weight.max(initial=0.0))
    if _MODERATE**-1 <= largest <= _MODERATE or largest == 0:
        return np.ascontiguousarray(weight, np.float64)
    return np.ldexp(weight, -int(np.frexp(largest)[1]))


def _contiguous(table: Table, j: int) -> np.ndarray:
    column = table.schema.columns[j]
    dtype = np.float64 if column.kind is Kind.NUMERIC else np.int32
    return np.ascontiguousarray(table.values[j], dtype)


def _core_rules(rules: Rules, total: float) -> Any:
    core = _core.FractionalRules()
    for name in rules.__struct_fields__:
        if name not in {"measure", "missing", "single"}:
            setattr(core, name, getattr(rules, name))
    core.measure, core.missing, core.total = MEASURES[rules.measure], MISSING[rules.missing], total
    return core


def _parents(raw: dict[str, np.ndarray]) -> np.ndarray:
    parent = np.zeros(len(raw["test"]), np.int64)
    inner = np.flatnonzero(raw["test"] > 0)
    count = raw["branches"][inner]
    child = np.repeat(raw["first"][inner] - np.cumsum(count) + count, count) + np.arange(count.sum())
    parent[child] = np.repeat(inner, count)
    return parent


def _branch_maps(raw: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Where each node's level -> branch map starts, and all maps in a row.

    Tests with a branch for each level all share one map: level c takes branch c.
    """
    each = raw["test"] == _EACH_LEVEL
    maps = [np.arange(raw["levels"][each].max(initial=0), dtype=np.int32)]
    start, end = np.zeros(len(each), np.int32), len(maps[0])
    for i in np.flatnonzero((raw["levels"] > 0) & ~each):
        maps.append(_branch_map(raw, int(i)))
        start[i], end = end, end + len(maps[-1])
    return start, np.concatenate(maps).astype(np.int32)


def _branch_map(raw: dict[str, np.ndarray], i: int) -> np.ndarray:
    length = raw["levels"][i]
    if raw["test"][i] == _ONE_LEVEL:
        return np.where(np.arange(length) == raw["level"][i], 0, 1)
    return raw["branch_of"][raw["group"][i] : raw["group"][i] + length]


def _shares(raw: dict[str, np.ndarray], parent: np.ndarray) -> np.ndarray:
    """Weight over that of all siblings."""
    total = np.bincount(parent[1:], raw["weight"][1:], minlength=len(parent))[parent]
    share = np.divide(raw["weight"], total, out=np.zeros(len(parent)), where=total > 0)
    share[0] = 1.0
    return share


def _distributions(raw: dict[str, np.ndarray], parent: np.ndarray, empty: str, laplace: bool) -> np.ndarray:
    counts = raw["counts"] + (1.0 if laplace else 0.0)
    is_empty = raw["weight"] <= 0
    if empty == "parent":
        counts = np.where(is_empty[:, None], counts[parent], counts)
    else:
        counts[is_empty] = 0
        counts[is_empty, raw["label"][is_empty]] = 1
    return counts / counts.sum(axis=1, keepdims=True)


def impurity_of(counts: np.ndarray, measure: str) -> np.ndarray:
    """The criterion per unit of weight; bits for entropy. An empty node is pure."""
    total = counts.sum(axis=1, keepdims=True)
    share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    if measure == "error":
        return np.where(total[:, 0] > 0, 1 - share.max(axis=1), 0.0)
    if measure in ("gini", "chi2"):
        return np.where(total[:, 0] > 0, 1 - (share**2).sum(axis=1), 0.0)
    return -(share * np.log2(share, out=np.zeros_like(share), where=share > 0)).sum(axis=1)
