"""Confidence and credible intervals of tree predictions, from the statistics of the training rows in each node.

The intervals condition on the tree and ignore that its splits were chosen on the same rows, so those of unpruned leaves
are too narrow (benchmarks/INTERVALS.md measures by how much). A tree that averages its prunings is uncertain about its
splits, and its intervals include that. Rows that took no part in growing the tree give honest intervals with the nominal
coverage (Athey and Imbens 2016).
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

_MIN_ROWS = 1e-12  # rows; avoids a division by zero: a leaf without rows has no information on its mean

_PSEUDO_ROWS = 2.0  # pseudo-rows that shrink the variance of a leaf towards the pooled variance within leaves


class NodeMoments(NamedTuple):
    """Statistics of each node: class weights, or weight, mean and centred sum of squares of a numeric target."""

    counts: np.ndarray  # [n_nodes, n_classes]
    weight: np.ndarray  # [n_nodes]
    mean: np.ndarray  # [n_nodes]
    squares: np.ndarray  # [n_nodes]

    @classmethod
    def learnt(cls, tree: Tree) -> NodeMoments:
        """Moments of the training rows."""
        return cls(tree.counts, tree.weight, tree.value[:, 0], tree.impurity * tree.weight)

    @classmethod
    def of(cls, tree: Tree, table: Table) -> NodeMoments:
        """Moments of other, labelled rows; a fractional row counts in its most likely leaf."""
        leaf, weight = leaves(tree, table), table.weight
        if tree.n_classes:
            cell = np.bincount(leaf * tree.n_classes + table.label, weight, len(tree) * tree.n_classes)
            counts = _add_descendants(tree, cell.reshape(len(tree), -1))
            return cls(counts, counts.sum(axis=1), np.zeros(len(tree)), np.zeros(len(tree)))
        centre = float(tree.value[0, 0])
        deviation = table.label - centre
        sums = [np.bincount(leaf, weight * power, len(tree)) for power in (1.0, deviation, deviation**2)]
        total, first, second = _add_descendants(tree, np.stack(sums, axis=1)).T
        mean = np.divide(first, total, out=np.zeros(len(tree)), where=total > 0)
        return cls(np.zeros((len(tree), 0)), total, centre + mean, np.maximum(second - total * mean**2, 0.0))


def intervals(tree: Tree, table: Table, level: float, rows: NodeMoments | None = None) -> np.ndarray:
    """Intervals of the class probabilities [n_rows, n_classes, 2] or of the mean [n_rows, 1, 2].

    For a fractional row, the moments of its leaves are averaged, as if their errors were perfectly correlated.
    """
    rows = NodeMoments.learnt(tree) if rows is None else rows
    mean, variance, degrees = _class_moments(tree, rows) if tree.n_classes else _number_moments(tree, rows)
    if tree.averaging:
        mean, variance, degrees = _average_prunings(tree, tree.averaging, mean, variance, degrees)
    mixed = mixtures(tree, table, np.column_stack([mean, variance, degrees]))
    k = mean.shape[1]
    mean, variance, degrees = mixed[:, :k], mixed[:, k : 2 * k], mixed[:, 2 * k :]
    return proportion_intervals(mean, variance, level) if tree.n_classes else mean_intervals(mean, variance, degrees, level)


def _add_descendants(tree: Tree, sums: np.ndarray) -> np.ndarray:
    """Add to the sums of each node those of all its descendants. [n_nodes, n_sums]"""
    parent = parents(tree).tolist()
    for node in range(len(tree) - 1, 0, -1):  # a child comes after its parent
        sums[parent[node]] += sums[node]
    return sums


def _class_moments(tree: Tree, rows: NodeMoments) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and variance of each class probability in each node, [n_nodes, n_classes] each; the third result is unused.

    With user-defined priors, a proportion s of class k among the rows corresponds to the probability
    c s / (c s + d (1 − s)), where c is the scale of the class and d the mean scale of the other classes in the node.
    The variance follows by the delta method.
    """
    proportion, variance = proportion_moments(rows.counts)
    scale = _prior_scale(tree)
    rest = (proportion @ scale)[:, None] - proportion * scale
    others = proportion.sum(axis=1, keepdims=True) - proportion
    weighted = proportion * scale * others
    probability = weighted / np.maximum(weighted + rest * (1 - proportion), 1e-300)
    derivative = probability * (1 - probability) / (proportion * (1 - proportion))
    return probability, variance * derivative**2, np.zeros((len(tree), 1))


def _prior_scale(tree: Tree) -> np.ndarray:
    """Weight per row of each class that the priors imply, up to a factor; ones if the root predicts plain proportions.

    The root's proportions may be smoothed by half a row per class (averaging) or by one row per class (Laplace).
    """
    counts, n_classes = tree.counts[0], tree.n_classes
    for added in (0.0, 0.5, 1.0):
        if np.allclose(tree.value[0], (counts + added) / (counts.sum() + added * n_classes), rtol=1e-6):
            return np.ones(n_classes)
    return tree.value[0] / np.maximum(counts, 1e-300) * counts.sum()


def _number_moments(tree: Tree, rows: NodeMoments) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean of each node, the variance of that mean and its degrees of freedom, [n_nodes, 1] each.

    The variance within a leaf is shrunk towards the pooled variance within leaves with two pseudo-rows: two equal
    numbers do not prove that the variance is zero.
    """
    leaf = tree.is_leaf & (rows.weight > 0)
    free = rows.weight[leaf].sum() - leaf.sum()
    if not free > 0:
        raise no_interval(
            "every leaf has one row, so the variance within leaves is unknown; increase min_leaf or prune the tree"
        )
    within = rows.squares[leaf].sum() / free
    degrees = np.maximum(rows.weight - 1, 0.0) + _PSEUDO_ROWS
    variance = (rows.squares + _PSEUDO_ROWS * within) / degrees / np.maximum(rows.weight, _MIN_ROWS)
    return rows.mean[:, None], variance[:, None], degrees[:, None]


def _average_prunings(
    tree: Tree, averaging: Averaging, mean: np.ndarray, variance: np.ndarray, degrees: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Moments over all prunings: the mean of the variances plus the variance of the means."""
    split_probability = np.zeros(len(tree))
    split_probability[averaging.node] = averaging.kept
    mixed = mix_prunings(tree, mean, split_probability)
    square = mix_prunings(tree, variance + mean**2, split_probability)
    return mixed, np.maximum(square - mixed**2, 0.0), mix_prunings(tree, degrees, split_probability)
