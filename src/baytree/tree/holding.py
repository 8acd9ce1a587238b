"""Which rows reduced-error pruning holds out where nobody names them: a third, drawn by what is in the rows.

The draw hangs on a row's contents and not on its place, so that neither the order of the rows nor whether a row comes
twice or has weight 2 changes the tree.
"""

from __future__ import annotations

import numpy as np

from baytree.table import Kind, Table

_ODD = np.uint64(0x9E3779B97F4A7C15)


def held_share(table: Table) -> np.ndarray:
    """float64 [n_rows]: the share of each row's weight that is held out."""
    key, weight = _contents(table), table.weight
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    total, chance = np.bincount(group, weight), (key[first] >> np.uint64(11)) / 2.0**53
    if np.all(weight == np.floor(weight)):
        held = _dealt(np.floor(total / 3 + chance), group, weight)
    else:
        held = np.where(chance < 1 / 3, total, 0.0)[group]
    share = np.divide(np.minimum(held, weight), weight, out=np.zeros(len(weight)), where=weight > 0)
    return share if np.any(share < 1) else np.zeros(len(table))


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
    key = _mixed(table.label.astype(np.uint64))
    for column, values in zip(table.schema, table.values, strict=True):
        if column.kind is Kind.NUMERIC:
            numbers = np.where(np.isnan(values), np.nan, values + 0.0)  # one NaN, and -0.0 is 0.0
            values = numbers.view(np.uint64)
        key = _mixed(key * _ODD + _mixed(values.astype(np.uint64)))
    return key


def _mixed(key: np.ndarray) -> np.ndarray:
    """Every bit of the result hangs on every bit of the key (the finalizer of MurmurHash3)."""
    key = (key ^ (key >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    key = (key ^ (key >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return key ^ (key >> np.uint64(33))
