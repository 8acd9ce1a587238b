"""What is left of a criterion in a node, and what branches gain of it."""

from __future__ import annotations

import numpy as np

from baytree.tree.grow.class_cells import ClassCells
from baytree.tree.grow.policy import SUITS, Criterion


def impurity_of(counts: np.ndarray, criterion: Criterion) -> np.ndarray:
    """The criterion per unit of weight, of counts [n_nodes, n_classes]; bits for entropy. An empty node is pure."""
    return impurity_of_cells(ClassCells.of(counts), criterion)


def impurity_of_cells(cells: ClassCells, criterion: Criterion) -> np.ndarray:
    """The same of the classes that occur."""
    measure, total = SUITS[criterion].impurity, cells.sums(cells.weight)
    share = cells.weight / total[cells.node]
    if measure not in ("error", "gini"):
        return -cells.sums(share * np.log2(np.where(share > 0, share, 1.0)))
    left = 1 - (cells.largest(share) if measure == "error" else cells.sums(share**2))
    return np.where(total > 0, left, 0.0)


def gain_of(counts: np.ndarray, criterion: Criterion) -> float:
    """What branches [n_branches, n_classes] gain of a criterion, in units of weight; the ratio over their own entropy."""
    weight, whole = counts.sum(axis=1), counts.sum(axis=0, keepdims=True)
    gain = float(weight.sum() * impurity_of(whole, criterion)[0] - weight @ impurity_of(counts, criterion))
    if not SUITS[criterion].by_ratio:
        return gain
    info = float(impurity_of(weight[None], Criterion.ENTROPY)[0])
    return gain / info if info > 0 else 0.0
