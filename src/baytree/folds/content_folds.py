"""Folds by what is in the rows: where a row goes hangs on a number made from it (its key), and not on its place.

So neither the order of the rows matters nor whether a row comes twice or has weight 2.

Folds by what is in the rows, dealt one unit of weight at a time.

Within each class, rows stand in the order of their keys and are dealt to the folds in turn. So many equal rows are in all
folds alike, as chance would have them: kept together, they would hold out all that is known of one combination of values.
One row stands for equal ones in each fold.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.engine.partitions import LocalPartitions, Partitions

_MOST_COPIES = 20  # of a row, on average, that are worth writing out

_ODD = np.uint64(0x9E3779B97F4A7C15)


def row_keys(table: Table, seed: int | None = None) -> np.ndarray:
    """uint64 [n_rows]: a number that is as good as random, and equal where labels and columns (but text) are."""
    key = mix_bits(_bits(table.label))
    for column, values in zip(table.schema, table.values, strict=True):
        if column.kind is not Kind.TEXT:
            key = mix_bits(key * _ODD + mix_bits(_bits(values)))
    return key if seed is None else mix_bits(key + np.uint64(seed % 2**64))


def mix_bits(key: np.ndarray) -> np.ndarray:
    """Every bit of the result hangs on every bit of the key (the finalizer of MurmurHash3). uint64 [n]"""
    key = (key ^ (key >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    key = (key ^ (key >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return key ^ (key >> np.uint64(33))


def shuffled(key: np.ndarray, label: np.ndarray | None) -> np.ndarray:
    """int64 [n_rows]: the rows in the order of their keys, class by class where there are classes."""
    return np.argsort(key, kind="stable") if label is None else np.lexsort((key, label))


def assign_folds(key: np.ndarray, label: np.ndarray | None, n_folds: int) -> np.ndarray:
    """int64 [n_rows]: the fold of each row, every class and all that equals spread evenly over the folds."""
    fold = np.empty(len(key), np.int64)
    fold[shuffled(key, label)] = np.arange(len(key)) % n_folds
    return fold


def held_out_proportion(key: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """float64 [n_rows]: the share of each row's weight that is held out, a third in all; whole weights stay whole."""
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    total, chance = np.bincount(group, weight), (key[first] >> np.uint64(11)) / 2.0**53
    if np.all(weight == np.floor(weight)):
        held = _one_after_the_other(np.floor(total / 3 + chance), group, weight)
    else:
        held = np.where(chance < 1 / 3, total, 0.0)[group]
    share = np.divide(np.minimum(held, weight), weight, out=np.zeros(len(weight)), where=weight > 0)
    return share if np.any(share < 1) else np.zeros(len(weight))


def as_single_rows(table: Table) -> Table:
    """The table with a row of weight 2 twice, where weights say how often a row comes; else as it is."""
    return repeated_rows(table) if are_repetitions(LocalPartitions(table)) else table


def repeated_rows(table: Table) -> Table:
    """The table with a row of weight 2 twice; it stands where it stood."""
    rows = np.repeat(np.arange(len(table)), table.weight.astype(np.int64))
    return msgspec.structs.replace(table.take(rows), weight=np.ones(len(rows)), is_unweighted=True, first=table.first)


def are_repetitions(rows: Partitions) -> bool:
    """Whether weights say how often a row comes: they are whole, not all 1, and not too many to write the rows out."""
    seen = rows.map_reduce(RepeatedRows.of, rows_per_part=None)
    return seen.is_whole and not seen.is_unweighted and seen.total <= _MOST_COPIES * rows.n_rows


class RepeatedRows(msgspec.Struct, frozen=True):
    """Whether weights are whole, whether they are all 1, and what they add up to."""

    is_whole: bool
    is_unweighted: bool
    total: float

    @classmethod
    def of(cls, table: Table) -> RepeatedRows:
        """Of these rows."""
        is_whole = table.is_unweighted or not np.any(table.weight != np.floor(table.weight))
        return cls(is_whole, table.is_unweighted, float(table.weight.sum()))

    def __add__(self, other: RepeatedRows) -> RepeatedRows:
        is_unweighted = self.is_unweighted and other.is_unweighted
        return RepeatedRows(self.is_whole and other.is_whole, is_unweighted, self.total + other.total)


def _one_after_the_other(amount: np.ndarray, group: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """What each row takes of its group's amount, one row after the other."""
    order = np.argsort(group, kind="stable")
    before = np.cumsum(weight[order]) - weight[order]
    is_first = np.diff(group[order], prepend=-1) > 0
    before -= before[is_first][np.cumsum(is_first) - 1]
    taken = np.empty(len(group))
    taken[order] = np.clip(amount[group[order]] - before, 0.0, weight[order])
    return taken


def _bits(values: np.ndarray) -> np.ndarray:
    """uint64 [n_rows]: equal where numbers or codes are; one NaN, and -0.0 is 0.0."""
    if values.dtype != np.float64:
        return values.astype(np.int64).view(np.uint64)
    return np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)


class FoldAssignment(NamedTuple):
    """Rows in folds: which row each is, its weight, and its fold."""

    index: np.ndarray | None  # int64 [n]; None: every row once, as it is
    weight: np.ndarray  # float64 [n]
    fold: np.ndarray  # int64 [n]


def assign_folds_by_weight(
    key: np.ndarray, label: np.ndarray, weight: np.ndarray, row: float, n_folds: int
) -> FoldAssignment:
    """Rows in folds, equal ones as one per fold; `row` is the weight of one row of weight 1."""
    groups = _groups(key, label, weight, row, n_folds)
    is_split = groups.length > 1 + 1e-9
    alone = ~is_split[groups.of_row]
    whole, own = groups.order[alone], np.floor(groups.start % n_folds + 1e-9)[groups.of_row[alone]].astype(np.int64)
    if not is_split.any():
        fold = np.empty(len(whole), np.int64)
        fold[whole] = own
        return FoldAssignment(None, weight, (fold + groups.turn[label]) % n_folds)
    split = np.flatnonzero(is_split)
    amount = _dealt(groups.start[split] + groups.length[split], n_folds) - _dealt(groups.start[split], n_folds)
    which, fold = np.nonzero(amount > 1e-9)
    index = np.concatenate([whole, groups.order[groups.first[split[which]]]])
    part = np.concatenate([weight[whole], amount[which, fold] * groups.unit[split[which]]])
    return FoldAssignment(index, part, (np.concatenate([own, fold]) + groups.turn[label[index]]) % n_folds)


class _Groups(NamedTuple):
    """Equal rows of one class: where they lie in the order of the rows, and which stretch of the deal is theirs."""

    order: np.ndarray  # [n_rows]
    first: np.ndarray  # [n_groups], the place of each group's first row in the order
    start: np.ndarray  # [n_groups], how much of the class was dealt before
    length: np.ndarray  # [n_groups], how much of it they are
    unit: np.ndarray  # [n_groups], the weight that is dealt at a time
    turn: np.ndarray  # [n_classes], by how many folds a class is ahead: those of one row do not all fall into the first

    @property
    def of_row(self) -> np.ndarray:
        """The group of each row, in the order of the rows. [n_rows]"""
        return np.repeat(np.arange(len(self.first)), np.diff(np.append(self.first, len(self.order))))


def _groups(key: np.ndarray, label: np.ndarray, weight: np.ndarray, row: float, n_folds: int) -> _Groups:
    order = shuffled(key, label)
    of_class = np.bincount(label, weight)
    label, weight, key = label[order], weight[order], key[order]
    first = np.flatnonzero(np.concatenate([[True], (np.diff(key) != 0) | (np.diff(label) != 0)]))
    before = (np.cumsum(weight) - weight)[first] - (np.cumsum(of_class) - of_class)[label[first]]
    unit = np.minimum(row, of_class / n_folds)[label[first]]  # a row; less where a class has too few for the folds
    turn = np.zeros(len(of_class), np.int64)  # made from the rows, too: the names of the classes do not matter
    turn[label[first][::-1]] = (key[first] % np.uint64(n_folds))[::-1]  # the first row of each class says it
    return _Groups(order, first, np.maximum(before / unit, 0.0), np.add.reduceat(weight, first) / unit, unit, turn)


def _dealt(amount: np.ndarray, n_folds: int) -> np.ndarray:
    """How much each fold has when this much was dealt. [n, n_folds]"""
    rounds = np.floor(amount / n_folds)
    return rounds[:, None] + np.clip((amount - n_folds * rounds)[:, None] - np.arange(n_folds), 0.0, 1.0)
