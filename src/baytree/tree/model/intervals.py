"""Intervals of a tree's answers: what the rows of a node tell of the share of each class, or of the mean.

They take the tree as it is. That its tests were chosen to tell these very rows apart is not in them: leaves that were not
pruned look surer than they are (benchmarks/INTERVALS.md measures by how much). A tree that averages its prunings doubts its
own splits, and so do its intervals. Rows that had no part in growing the tree, counted in its nodes, owe it nothing: their
intervals hold what they promise (Athey and Imbens 2016).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from baytree.data.encoding.table import Table
from baytree.tree.model.routing import leaves, mixtures
from baytree.tree.model.traversal import mix_prunings, parents
from baytree.uncertainty.intervals import mean_intervals, no_interval, proportion_intervals, proportion_moments

if TYPE_CHECKING:
    from baytree.tree.model.tree import Averaging, Tree

_NEXT_TO_NONE = 1e-12  # rows; a leaf without any knows nothing of its mean

_LEANT_ON = 2.0  # rows by which the variance of a leaf leans on that within all leaves


class NodeMoments(NamedTuple):
    """What the rows of each node tell: the weight of each class, or the weight, mean and squares about it of a number."""

    counts: np.ndarray  # [n_nodes, n_classes]
    weight: np.ndarray  # [n_nodes]
    mean: np.ndarray  # [n_nodes]
    squares: np.ndarray  # [n_nodes]

    @classmethod
    def learnt(cls, tree: Tree) -> NodeMoments:
        """Of the rows that the tree was grown from."""
        return cls(tree.counts, tree.weight, tree.value[:, 0], tree.impurity * tree.weight)

    @classmethod
    def of(cls, tree: Tree, table: Table) -> NodeMoments:
        """Of other rows with their labels; one that would follow several branches takes the likeliest."""
        at, weight = leaves(tree, table), table.weight
        if tree.n_classes:
            cell = np.bincount(at * tree.n_classes + table.label, weight, len(tree) * tree.n_classes)
            counts = _with_below(tree, cell.reshape(len(tree), -1))
            return cls(counts, counts.sum(axis=1), np.zeros(len(tree)), np.zeros(len(tree)))
        centre = float(tree.value[0, 0])
        apart = table.label - centre
        sums = [np.bincount(at, weight * power, len(tree)) for power in (1.0, apart, apart**2)]
        total, first, second = _with_below(tree, np.stack(sums, axis=1)).T
        mean = np.divide(first, total, out=np.zeros(len(tree)), where=total > 0)
        return cls(np.zeros((len(tree), 0)), total, centre + mean, np.maximum(second - total * mean**2, 0.0))


def intervals(tree: Tree, table: Table, level: float, rows: NodeMoments | None = None) -> np.ndarray:
    """Of the probability of each class [n_rows, n_classes, 2], or of the mean [n_rows, 1, 2].

    A row that follows several branches gets the mean of what their leaves are unsure of, as if they erred together.
    """
    rows = NodeMoments.learnt(tree) if rows is None else rows
    mean, variance, degrees = _class_moments(tree, rows) if tree.n_classes else _number_moments(tree, rows)
    if tree.averaging:
        mean, variance, degrees = _of_all_prunings(tree, tree.averaging, mean, variance, degrees)
    found = mixtures(tree, table, np.column_stack([mean, variance, degrees]))
    k = mean.shape[1]
    mean, variance, degrees = found[:, :k], found[:, k : 2 * k], found[:, 2 * k :]
    return proportion_intervals(mean, variance, level) if tree.n_classes else mean_intervals(mean, variance, degrees, level)


def _with_below(tree: Tree, sums: np.ndarray) -> np.ndarray:
    """Sums of the rows that come to rest in a node, with those of all nodes below it. [n_nodes, n_sums]"""
    above = parents(tree).tolist()
    for node in range(len(tree) - 1, 0, -1):  # a child comes after its parent
        sums[above[node]] += sums[node]
    return sums


def _class_moments(tree: Tree, rows: NodeMoments) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and variance of each class's share in each node, [n_nodes, n_classes] each; the third is not used.

    Where classes have priors of their own, a share s of class k among the rows is the probability
    c s / (c s + d (1 − s)), c the scale of the class and d the mean scale of the others there.
    """
    share, variance = proportion_moments(rows.counts)
    scale = _prior_scale(tree)
    rest = (share @ scale)[:, None] - share * scale
    others = share.sum(axis=1, keepdims=True) - share
    weighed = share * scale * others
    probability = weighed / np.maximum(weighed + rest * (1 - share), 1e-300)
    slope = probability * (1 - probability) / (share * (1 - share))
    return probability, variance * slope**2, np.zeros((len(tree), 1))


def _prior_scale(tree: Tree) -> np.ndarray:
    """What priors have made of a row of each class, up to a factor: ones where the root's answer is its plain share.

    The share may be smoothed by half a row of each class (averaging) or a whole one (Laplace).
    """
    counts, n_classes = tree.counts[0], tree.n_classes
    for added in (0.0, 0.5, 1.0):
        if np.allclose(tree.value[0], (counts + added) / (counts.sum() + added * n_classes), rtol=1e-6):
            return np.ones(n_classes)
    return tree.value[0] / np.maximum(counts, 1e-300) * counts.sum()


def _number_moments(tree: Tree, rows: NodeMoments) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean of each node, the variance of that mean and its degrees of freedom, [n_nodes, 1] each.

    The variance within a leaf leans on that within all leaves, as on two rows of its own: two equal numbers are no proof
    that none will ever differ.
    """
    leaf = tree.is_leaf & (rows.weight > 0)
    free = rows.weight[leaf].sum() - leaf.sum()
    if not free > 0:
        raise no_interval(
            "every leaf holds one row, so nothing tells how far numbers vary within a leaf; set min_leaf or prune"
        )
    within = rows.squares[leaf].sum() / free
    degrees = np.maximum(rows.weight - 1, 0.0) + _LEANT_ON
    variance = (rows.squares + _LEANT_ON * within) / degrees / np.maximum(rows.weight, _NEXT_TO_NONE)
    return rows.mean[:, None], variance[:, None], degrees[:, None]


def _of_all_prunings(
    tree: Tree, averaging: Averaging, mean: np.ndarray, variance: np.ndarray, degrees: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The moments over all prunings: their variances, and how far their answers lie apart."""
    is_kept = np.zeros(len(tree))
    is_kept[averaging.node] = averaging.kept
    whole = mix_prunings(tree, mean, is_kept)
    square = mix_prunings(tree, variance + mean**2, is_kept)
    return whole, np.maximum(square - whole**2, 0.0), mix_prunings(tree, degrees, is_kept)
