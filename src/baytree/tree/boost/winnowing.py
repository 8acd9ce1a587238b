"""C5.0's winnowing: a tree of half of the rows tells which columns do no good on the other half."""

from __future__ import annotations

import numpy as np

from baytree import _core
from baytree.table.table import Table
from baytree.tree.grow.c50_growth import Bench, restored, trial_settings


def winnow(bench: Bench, table: Table, costs: np.ndarray | None) -> tuple[str, ...]:
    """Takes columns out of use, and names them."""
    inside, outside = halves(table.label, table.n_classes)
    before = np.array(bench.rows.used())
    trial_settings(bench)
    used = _worthwhile(bench, inside, outside, costs, before)
    restored(bench)
    bench.rows.use(used.tolist())
    return tuple(name for name, was, remains in zip(table.schema.names, before, used, strict=True) if was and not remains)


def halves(label: np.ndarray, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """int32, twice: of each class every other row from the front, the others from the back; the first half learns."""
    place = np.empty(len(label), np.int64)
    for code in range(n_classes):
        rows = np.flatnonzero(label == code)
        place[rows] = np.arange(len(rows))
    front, back = np.flatnonzero(place % 2 == 0), np.flatnonzero(place % 2 == 1)[::-1]
    order = np.concatenate([front, back]).astype(np.int32)
    return order[: len(label) // 2], order[len(label) // 2 :]


def _worthwhile(
    bench: Bench, inside: np.ndarray, outside: np.ndarray, costs: np.ndarray | None, used: np.ndarray
) -> np.ndarray:
    """bool [n_columns]: the columns that stay in use."""
    price = np.zeros(0) if costs is None else np.ascontiguousarray(costs).ravel()
    seen, tree = _columns(_grown(bench, inside, prunes=False), len(used)), _grown(bench, inside)
    base = bench.rows.cost_of_mistakes(tree, outside, price, -1)
    harmful = np.zeros(len(used), bool)
    for j in np.flatnonzero(_columns(tree, len(used))):
        harmful[j] = bench.rows.cost_of_mistakes(tree, outside, price, int(j)) < base
    if harmful.any():
        bench.rows.use((used & ~harmful).tolist())
        if bench.rows.cost_of_mistakes(_grown(bench, inside), outside, price, -1) > base:
            harmful[:] = False
        bench.rows.use(used.tolist())
    return used & seen & ~harmful


def _grown(bench: Bench, rows: np.ndarray, prunes: bool = True) -> _core.Growth:
    """A tree of these rows, any gain being enough."""
    rows = np.sort(rows)
    weight = bench.rows.weights()
    grown = bench.rows.grow(rows, rows, 0.0, 0.0, 0.0, prunes, True)
    bench.rows.weigh(weight)
    return grown


def _columns(tree: _core.Growth, n_columns: int) -> np.ndarray:
    return np.isin(np.arange(n_columns), tree.arrays()["column"])
