"""Which rows are left out to judge a tree where nobody names them: drawn by what is in the rows.

The draw hangs on a row's contents and not on its place, so that neither the order of the rows nor whether a row comes
twice or has weight 2 changes the tree.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from baytree.folds.cv import read_cv
from baytree.table.schema import Kind
from baytree.table.table import Table

_ODD = np.uint64(0x9E3779B97F4A7C15)


def held_share(table: Table) -> np.ndarray:
    """float64 [n_rows]: the share of each row's weight that reduced-error pruning holds out, a third in all."""
    key, weight = _contents(table), table.weight
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    total, chance = np.bincount(group, weight), (key[first] >> np.uint64(11)) / 2.0**53
    if np.all(weight == np.floor(weight)):
        held = _dealt(np.floor(total / 3 + chance), group, weight)
    else:
        held = np.where(chance < 1 / 3, total, 0.0)[group]
    share = np.divide(np.minimum(held, weight), weight, out=np.zeros(len(weight)), where=weight > 0)
    return share if np.any(share < 1) else np.zeros(len(table))


def folds(table: Table, n_folds: int, seed: int = 0) -> np.ndarray:
    """int64 [n_rows]: the fold of each row, every class and all that equals spread evenly over the folds."""
    key = _mixed(_contents(table) + np.uint64(seed % 2**64))
    order = np.lexsort((key, table.label)) if table.n_classes else np.argsort(key, kind="stable")
    fold = np.empty(len(table), np.int64)
    fold[order] = np.arange(len(table)) % n_folds
    return fold


def folds_of(cv: Any, label: np.ndarray, n_rows: int) -> np.ndarray:
    """int64 [n_rows]: the fold of each row, as a user gives it: a vector, pairs of (inside, outside), or a splitter."""
    return read_cv(cv, n_rows, label, is_classification=True).of_rows(n_rows)


def unfolded(table: Table) -> Table:
    """The table with a row of weight 2 twice, where weights are whole and not too many; else as it is."""
    weight = table.weight
    if table.is_unweighted or np.any(weight != np.floor(weight)) or weight.sum() > _MOST_COPIES * len(table):
        return table
    rows = np.repeat(np.arange(len(table)), weight.astype(np.int64))
    return msgspec.structs.replace(table.take(rows), weight=np.ones(len(rows)), is_unweighted=True)


_MOST_COPIES = 20


def _dealt(amount: np.ndarray, group: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """What each row takes of its group's amount, one row after the other: whole numbers stay whole."""
    order = np.argsort(group, kind="stable")
    before = np.cumsum(weight[order]) - weight[order]
    is_first = np.diff(group[order], prepend=-1) > 0
    before -= before[is_first][np.cumsum(is_first) - 1]
    taken = np.empty(len(group))
    taken[order] = np.clip(amount[group[order]] - before, 0.0, weight[order])
    return taken


def _contents(table: Table) -> np.ndarray:
    """uint64 [n_rows]: a number that is as good as random, and equal where rows are."""
    key = _mixed(_bits(table.label))
    for column, values in zip(table.schema, table.values, strict=True):
        if column.kind is not Kind.TEXT:
            key = _mixed(key * _ODD + _mixed(_bits(values)))
    return key


def _bits(values: np.ndarray) -> np.ndarray:
    """uint64 [n_rows]: equal where numbers or codes are; one NaN, and -0.0 is 0.0."""
    if values.dtype != np.float64:
        return values.astype(np.int64).view(np.uint64)
    return np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)


def _mixed(key: np.ndarray) -> np.ndarray:
    """Every bit of the result hangs on every bit of the key (the finalizer of MurmurHash3)."""
    key = (key ^ (key >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    key = (key ^ (key >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return key ^ (key >> np.uint64(33))
