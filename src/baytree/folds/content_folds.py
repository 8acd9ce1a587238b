"""Folds by row contents: a row's fold depends on a hash of its values (its key), not on its position.

So folds depend neither on the order of the rows nor on whether a row is repeated or has weight 2. Within each class, rows
are sorted by key and assigned to the folds in turn, one unit of weight at a time (`assign_folds_by_weight`). Many equal rows
are thereby spread over all folds, as random assignment would: kept together, a fold would hold out all that is known of one
combination of values. In each fold, one weighted row stands for equal ones.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.engine.aggregates import Marginals, as_query
from baytree.engine.partitions import LocalPartitions, Partitions

_MAX_COPIES_PER_ROW = 20  # mean number of copies up to which repeated rows are written out, which costs memory

_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd integer next to 2^64 / golden ratio (Fibonacci hashing)


def row_keys(table: Table, seed: int | None = None) -> np.ndarray:
    """Pseudo-random key of each row, equal for equal labels and columns (text columns are ignored). uint64 [n_rows]"""
    key = mix_bits(_bits(table.label))
    for column, values in zip(table.schema, table.values, strict=True):
        if column.kind is not Kind.TEXT:
            key = mix_bits(key * _HASH_MULTIPLIER + mix_bits(_bits(values)))
    return key if seed is None else mix_bits(key + np.uint64(seed % 2**64))


def mix_bits(key: np.ndarray) -> np.ndarray:
    """Hash in which every result bit depends on every key bit (finalizer of MurmurHash3). uint64 [n]"""
    key = (key ^ (key >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    key = (key ^ (key >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return key ^ (key >> np.uint64(33))


def shuffled(key: np.ndarray, label: np.ndarray | None) -> np.ndarray:
    """Row indices sorted by key, class by class if there are labels. int64 [n_rows]"""
    return np.argsort(key, kind="stable") if label is None else np.lexsort((key, label))


def assign_folds(key: np.ndarray, label: np.ndarray | None, n_folds: int) -> np.ndarray:
    """Fold of each row; classes and equal rows are spread evenly over the folds. int64 [n_rows]"""
    fold = np.empty(len(key), np.int64)
    fold[shuffled(key, label)] = np.arange(len(key)) % n_folds
    return fold


def held_out_proportion(key: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Proportion of each row's weight that is held out, a third in total; integer weights stay integers. float64 [n_rows]"""
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    total, uniform = np.bincount(group, weight), (key[first] >> np.uint64(11)) / 2.0**53
    if np.all(weight == np.floor(weight)):
        held_out = _fill_in_order(np.floor(total / 3 + uniform), group, weight)
    else:
        held_out = np.where(uniform < 1 / 3, total, 0.0)[group]
    proportion = np.divide(np.minimum(held_out, weight), weight, out=np.zeros(len(weight)), where=weight > 0)
    return proportion if np.any(proportion < 1) else np.zeros(len(weight))


def as_single_rows(table: Table) -> Table:
    """Table with a row of weight 2 repeated twice if weights are repetition counts; else the table unchanged."""
    return repeated_rows(table) if are_repetitions(LocalPartitions(table)) else table


def repeated_rows(table: Table) -> Table:
    """Table with a row of weight 2 repeated twice, at the same position."""
    rows = np.repeat(np.arange(len(table)), table.weight.astype(np.int64))
    return msgspec.structs.replace(table.take(rows), weight=np.ones(len(rows)), is_unweighted=True, first=table.first)


def are_repetitions(rows: Partitions) -> bool:
    """Whether weights are repetition counts: integers, not all 1, and small enough to write the rows out."""
    summary = rows.map_reduce(RepeatedRows.of, rows_per_part=None)
    return summary.is_whole and not summary.is_unweighted and summary.total <= _MAX_COPIES_PER_ROW * rows.n_rows


class RepeatedRows(msgspec.Struct, frozen=True):
    """Whether weights are integers, whether they are all 1, and their sum. Additive over partitions."""

    is_whole: bool
    is_unweighted: bool
    total: float

    @classmethod
    @as_query(lambda: Marginals(()))
    def of(cls, table: Table) -> RepeatedRows:
        """Summary of one partition."""
        is_whole = table.is_unweighted or not np.any(table.weight != np.floor(table.weight))
        return cls(is_whole, table.is_unweighted, float(table.weight.sum()))

    def __add__(self, other: RepeatedRows) -> RepeatedRows:
        is_unweighted = self.is_unweighted and other.is_unweighted
        return RepeatedRows(self.is_whole and other.is_whole, is_unweighted, self.total + other.total)


def _fill_in_order(amount: np.ndarray, group: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Amount each row takes from its group's total, filling rows in order."""
    order = np.argsort(group, kind="stable")
    weight_before = np.cumsum(weight[order]) - weight[order]
    is_first = np.diff(group[order], prepend=-1) > 0
    weight_before -= weight_before[is_first][np.cumsum(is_first) - 1]
    amounts = np.empty(len(group))
    amounts[order] = np.clip(amount[group[order]] - weight_before, 0.0, weight[order])
    return amounts


def _bits(values: np.ndarray) -> np.ndarray:
    """Bits that are equal for equal numbers or codes; all NaN are one value, and -0.0 equals 0.0. uint64 [n_rows]"""
    if values.dtype != np.float64:
        return values.astype(np.int64).view(np.uint64)
    return np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)


class FoldAssignment(NamedTuple):
    """Assignment of rows to folds: index, weight and fold of each entry."""

    index: np.ndarray | None  # int64 [n]; None: every row once, in order
    weight: np.ndarray  # float64 [n]
    fold: np.ndarray  # int64 [n]


def assign_folds_by_weight(
    key: np.ndarray, label: np.ndarray, weight: np.ndarray, row: float, n_folds: int
) -> FoldAssignment:
    """Fold assignment in which equal rows appear once per fold; `row` is the weight of a row of weight 1."""
    groups = _groups(key, label, weight, row, n_folds)
    is_split = groups.length > 1 + 1e-9
    alone = ~is_split[groups.of_row]
    single, own = groups.order[alone], np.floor(groups.start % n_folds + 1e-9)[groups.of_row[alone]].astype(np.int64)
    if not is_split.any():
        fold = np.empty(len(single), np.int64)
        fold[single] = own
        return FoldAssignment(None, weight, (fold + groups.turn[label]) % n_folds)
    split = np.flatnonzero(is_split)
    amount = _fold_units(groups.start[split] + groups.length[split], n_folds) - _fold_units(groups.start[split], n_folds)
    which, fold = np.nonzero(amount > 1e-9)
    index = np.concatenate([single, groups.order[groups.first[split[which]]]])
    split_weight = np.concatenate([weight[single], amount[which, fold] * groups.unit[split[which]]])
    return FoldAssignment(index, split_weight, (np.concatenate([own, fold]) + groups.turn[label[index]]) % n_folds)


class _Groups(NamedTuple):
    """Groups of equal rows of one class: their position in sorted order, and their interval of assigned weight."""

    order: np.ndarray  # [n_rows]
    first: np.ndarray  # [n_groups], position of each group's first row in `order`
    start: np.ndarray  # [n_groups], units of the class assigned before the group
    length: np.ndarray  # [n_groups], units in the group
    unit: np.ndarray  # [n_groups], weight of one unit
    turn: np.ndarray  # [n_classes], first fold of each class, so that small classes do not all start in fold 0

    @property
    def of_row(self) -> np.ndarray:
        """Group of each row, in sorted order. int64 [n_rows]"""
        return np.repeat(np.arange(len(self.first)), np.diff(np.append(self.first, len(self.order))))


def _groups(key: np.ndarray, label: np.ndarray, weight: np.ndarray, row: float, n_folds: int) -> _Groups:
    order = shuffled(key, label)
    class_weight = np.bincount(label, weight)
    label, weight, key = label[order], weight[order], key[order]
    first = np.flatnonzero(np.concatenate([[True], (np.diff(key) != 0) | (np.diff(label) != 0)]))
    weight_before = (np.cumsum(weight) - weight)[first] - (np.cumsum(class_weight) - class_weight)[label[first]]
    unit = np.minimum(row, class_weight / n_folds)[label[first]]  # one row; less if a class has fewer rows than folds
    turn = np.zeros(len(class_weight), np.int64)  # derived from row contents, so that class names do not matter
    turn[label[first][::-1]] = (key[first] % np.uint64(n_folds))[::-1]  # determined by the first row of each class
    return _Groups(order, first, np.maximum(weight_before / unit, 0.0), np.add.reduceat(weight, first) / unit, unit, turn)


def _fold_units(amount: np.ndarray, n_folds: int) -> np.ndarray:
    """Units in each fold after this many were assigned in turn. [n, n_folds]"""
    full_rounds = np.floor(amount / n_folds)
    return full_rounds[:, None] + np.clip((amount - n_folds * full_rounds)[:, None] - np.arange(n_folds), 0.0, 1.0)
