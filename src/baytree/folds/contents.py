"""Folds by what is in the rows: where a row goes hangs on a number made from it (its key), and not on its place.

So neither the order of the rows matters nor whether a row comes twice or has weight 2.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.engine.parts import InMemory, Parts
from baytree.table.schema import Kind
from baytree.table.table import Table

_MOST_COPIES = 20  # of a row, on average, that are worth writing out
_ODD = np.uint64(0x9E3779B97F4A7C15)


def row_keys(table: Table, seed: int | None = None) -> np.ndarray:
    """uint64 [n_rows]: a number that is as good as random, and equal where labels and columns (but text) are."""
    key = mixed(_bits(table.label))
    for column, values in zip(table.schema, table.values, strict=True):
        if column.kind is not Kind.TEXT:
            key = mixed(key * _ODD + mixed(_bits(values)))
    return key if seed is None else mixed(key + np.uint64(seed % 2**64))


def mixed(key: np.ndarray) -> np.ndarray:
    """Every bit of the result hangs on every bit of the key (the finalizer of MurmurHash3). uint64 [n]"""
    key = (key ^ (key >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    key = (key ^ (key >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return key ^ (key >> np.uint64(33))


def shuffled(key: np.ndarray, label: np.ndarray | None) -> np.ndarray:
    """int64 [n_rows]: the rows in the order of their keys, class by class where there are classes."""
    return np.argsort(key, kind="stable") if label is None else np.lexsort((key, label))


def dealt(key: np.ndarray, label: np.ndarray | None, n_folds: int) -> np.ndarray:
    """int64 [n_rows]: the fold of each row, every class and all that equals spread evenly over the folds."""
    fold = np.empty(len(key), np.int64)
    fold[shuffled(key, label)] = np.arange(len(key)) % n_folds
    return fold


def held_share(key: np.ndarray, weight: np.ndarray) -> np.ndarray:
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
    return repeated_rows(table) if are_repetitions(InMemory(table)) else table


def repeated_rows(table: Table) -> Table:
    """The table with a row of weight 2 twice; it stands where it stood."""
    rows = np.repeat(np.arange(len(table)), table.weight.astype(np.int64))
    return msgspec.structs.replace(table.take(rows), weight=np.ones(len(rows)), is_unweighted=True, first=table.first)


def are_repetitions(rows: Parts) -> bool:
    """Whether weights say how often a row comes: they are whole, not all 1, and not too many to write the rows out."""
    seen = rows.total(Repetition.of, rows_per_part=None)
    return seen.is_whole and not seen.is_unweighted and seen.total <= _MOST_COPIES * rows.n_rows


class Repetition(msgspec.Struct, frozen=True):
    """Whether weights are whole, whether they are all 1, and what they add up to."""

    is_whole: bool
    is_unweighted: bool
    total: float

    @classmethod
    def of(cls, table: Table) -> Repetition:
        """Of these rows."""
        is_whole = table.is_unweighted or not np.any(table.weight != np.floor(table.weight))
        return cls(is_whole, table.is_unweighted, float(table.weight.sum()))

    def __add__(self, other: Repetition) -> Repetition:
        is_unweighted = self.is_unweighted and other.is_unweighted
        return Repetition(self.is_whole and other.is_whole, is_unweighted, self.total + other.total)


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
