"""Trees whose answers follow columns: from one side of a cut to the other they do not fall, or do not rise.

The search takes such cuts only. What lies below a cut could still cross to the other side's answers, so every node answers
between bounds: a cut of a column that is followed parts them at the middle of its two children, as is usual in boosting.
Of classes, what is followed is the probability of a class or any later one, for each class; of two, that of the second.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.tree.grow.costs import Costs
from baytree.tree.model.structure import Tree


def following(tree: Tree, direction: np.ndarray, costs: Costs) -> Tree:
    """The tree with answers that follow columns: int [n_columns], 1 up, −1 down, 0 where nothing is asked for."""
    tails = _tails(tree)
    within = _within(tree, direction, tails)
    is_moved = (within != tails).any(axis=1)
    if not is_moved.any():
        return tree
    value, prediction = tree.value.copy(), tree.prediction.copy()
    value[is_moved] = _values(within[is_moved], tree.n_classes)
    if tree.n_classes:
        prediction[is_moved] = costs.best(value[is_moved])
    return msgspec.structs.replace(tree, value=value, prediction=prediction)


def _tails(tree: Tree) -> np.ndarray:
    """[n_nodes, n_tails]: the probability of each class but the first or any later one; or the mean."""
    if not tree.n_classes:
        return tree.value
    return np.cumsum(tree.value[:, :0:-1], axis=1)[:, ::-1]


def _values(tails: np.ndarray, n_classes: int) -> np.ndarray:
    if not n_classes:
        return tails
    ends = np.ones((len(tails), 1)), np.zeros((len(tails), 1))
    return -np.diff(np.concatenate([ends[0], tails, ends[1]], axis=1), axis=1)


def _within(tree: Tree, direction: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """The tails, each between the bounds that the cuts above its node leave: a child comes after its parent."""
    low, high = np.full(tails.shape, -np.inf), np.full(tails.shape, np.inf)
    within = tails.copy()
    for node in np.flatnonzero(tree.column >= 0):
        children = slice(tree.first[node], tree.first[node] + tree.branches[node])
        low[children], high[children] = low[node], high[node]
        way = direction[tree.column[node]]
        if way and np.isfinite(tree.cut[node]):  # above a cut at infinity are only rows without a value
            pair = np.clip(tails[children][:2], low[node], high[node])
            first, second = tree.first[node], tree.first[node] + 1
            high[first if way > 0 else second] = low[second if way > 0 else first] = pair.mean(axis=0)
        within[children] = np.clip(tails[children], low[children], high[children])
    return within
