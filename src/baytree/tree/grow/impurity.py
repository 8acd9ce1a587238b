"""What is left of a criterion in a node, and what branches gain of it."""

from __future__ import annotations

import numpy as np

from baytree.tree.grow.policy import SUITS, Criterion


def impurity_of(counts: np.ndarray, criterion: Criterion) -> np.ndarray:
    """The criterion per unit of weight, of counts [n_nodes, n_classes]; bits for entropy. An empty node is pure."""
    total = counts.sum(axis=1, keepdims=True)
    share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    measure = SUITS[criterion].impurity
    if measure == "error":
        return np.where(total[:, 0] > 0, 1 - share.max(axis=1), 0.0)
    if measure == "gini":
        return np.where(total[:, 0] > 0, 1 - (share**2).sum(axis=1), 0.0)
    return -(share * np.log2(share, out=np.zeros_like(share), where=share > 0)).sum(axis=1)


def gain_of(counts: np.ndarray, criterion: Criterion) -> float:
    """What branches [n_branches, n_classes] gain of a criterion, in units of weight; the ratio over their own entropy."""
    weight, whole = counts.sum(axis=1), counts.sum(axis=0, keepdims=True)
    gain = float(weight.sum() * impurity_of(whole, criterion)[0] - weight @ impurity_of(counts, criterion))
    if not SUITS[criterion].by_ratio:
        return gain
    info = float(impurity_of(weight[None], Criterion.ENTROPY)[0])
    return gain / info if info > 0 else 0.0
