"""What is left of a criterion in a node, and what branches gain of it."""

from __future__ import annotations

import numpy as np

from baytree.statistics.information import entropy
from baytree.tree.grow.policy import SUITS, Criterion


def impurity_of(counts: np.ndarray, criterion: Criterion) -> np.ndarray:
    """The criterion per unit of weight, of counts [n_nodes, n_classes]; bits for entropy. An empty node is pure."""
    measure = SUITS[criterion].impurity
    if measure not in ("error", "gini"):
        return entropy(counts)
    total = counts.sum(axis=1, keepdims=True)
    share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    left = 1 - (share.max(axis=1) if measure == "error" else (share**2).sum(axis=1))
    return np.where(total[:, 0] > 0, left, 0.0)


def gain_of(counts: np.ndarray, criterion: Criterion) -> float:
    """What branches [n_branches, n_classes] gain of a criterion, in units of weight; the ratio over their own entropy."""
    weight, whole = counts.sum(axis=1), counts.sum(axis=0, keepdims=True)
    gain = float(weight.sum() * impurity_of(whole, criterion)[0] - weight @ impurity_of(counts, criterion))
    if not SUITS[criterion].by_ratio:
        return gain
    info = float(impurity_of(weight[None], Criterion.ENTROPY)[0])
    return gain / info if info > 0 else 0.0
