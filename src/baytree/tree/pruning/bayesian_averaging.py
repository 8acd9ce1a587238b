"""Exact Bayesian average over all prunings of a tree, and the most probable pruning.

Prior: a node is split with probability 1/2, by one of the columns with equal probability (Buntine 1992). Columns that
are constant in the training rows are not counted, so that they have no effect. There are exponentially many prunings,
but the sum over them factorises into a sum of two terms per node: stop there, or take the product of the sums of its
children (context tree weighting: Willems, Shtarkov and Tjalkens 1995; Helmbold and Schapire 1997). One pass up the tree
computes the weight of every split, and one pass down averages the predictions of all prunings.
"""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np

from baytree.data.encoding.table import Table, Tokens, Values, is_missing
from baytree.tree.model.traversal import mix_prunings, parents
from baytree.tree.model.tree import Averaging, Tree
from baytree.tree.policy.class_costs import ClassCosts
from baytree.tree.pruning.cost_complexity import prune_to

SPLIT_PROBABILITY = 0.5  # prior probability that a node is split, as in context-tree weighting (docs/decisions/0190)

CLASS_PSEUDO_ROWS = 0.5  # pseudo-rows per class in a leaf (Krichevsky and Trofimov 1981)

MEAN_PSEUDO_ROWS = 0.1  # pseudo-rows at the mean of the table in a regression leaf: few, so that a row outweighs them

VARIANCE_SHAPE = 1.0  # shape of the inverse-gamma prior of a leaf's variance: it counts as much as two rows

RELATIVE_VARIANCE = 0.1  # prior variance of a leaf, relative to the variance of the table


class VaryingColumns(msgspec.Struct, frozen=True):
    """Which columns have more than one value, counting a missing one, from the minima and maxima of partitions."""

    low: np.ndarray  # float64 [n_columns], +inf without values
    high: np.ndarray  # float64 [n_columns], −inf without values
    is_missing: np.ndarray  # bool [n_columns], whether a value is missing

    @classmethod
    def of(cls, table: Table) -> Self:
        """Range of the columns in rows of positive weight; levels by their codes, text always counts as varying."""
        counts = slice(None) if table.is_unweighted else table.weight > 0
        missing = [is_missing(values)[counts] for values in table.values]
        observed = [
            _observed_values(values, missing_j, counts) for values, missing_j in zip(table.values, missing, strict=True)
        ]
        low = [values.min(initial=np.inf) for values in observed]
        high = [values.max(initial=-np.inf) for values in observed]
        return cls(np.array(low), np.array(high), np.array([missing_j.any() for missing_j in missing], bool))

    def __add__(self, other: Self) -> Self:
        bounds = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return type(self)(*bounds, self.is_missing | other.is_missing)

    @property
    def count(self) -> int:
        """Number of columns that vary."""
        has_both = self.is_missing & (self.low <= self.high)
        return int(np.count_nonzero((self.low < self.high) | has_both))


def _observed_values(values: Values, missing: np.ndarray, counts: slice | np.ndarray) -> np.ndarray:
    if isinstance(values, Tokens):
        return np.array([0.0, 1.0])  # trees do not read text, and documents are hardly ever equal
    return np.asarray(values)[counts][~missing].astype(np.float64)


class NodePosteriors(msgspec.Struct, frozen=True):
    """Log-evidence and predictions of each node as a leaf."""

    log_evidence: np.ndarray  # float64 [n_nodes], log marginal likelihood of the node's rows
    answer: np.ndarray  # float64 [n_nodes, n_outputs]


def average_prunings(tree: Tree, n_columns: int, costs: ClassCosts, more: np.ndarray | float = 0.0) -> Tree:
    """Tree that predicts with the average over all its prunings, weighted by their posterior probabilities.

    `more` [n_nodes] is added to the log-evidence of each node as a leaf, if something better than the counts predicts
    there.
    """
    posteriors = _leaf_posteriors(tree, costs)
    posteriors = msgspec.structs.replace(posteriors, log_evidence=posteriors.log_evidence + more)
    split_probability = _split_probabilities(tree, posteriors, n_columns)
    value = mix_prunings(tree, posteriors.answer, split_probability)
    prediction = costs.best(value).astype(np.int32) if tree.n_classes else tree.prediction
    inner = np.flatnonzero(tree.column >= 0).astype(np.int32)
    return msgspec.structs.replace(
        tree, value=value, prediction=prediction, averaging=Averaging(inner, split_probability[inner])
    )


def most_probable(tree: Tree, n_columns: int, costs: ClassCosts) -> Tree:
    """Pruning of maximum posterior probability; of equals the smaller."""
    log_evidence = _leaf_posteriors(tree, costs).log_evidence.tolist()
    log_stop, log_split = _log_prior(n_columns)
    below, is_split = np.zeros(len(tree)).tolist(), np.zeros(len(tree), np.bool_)
    is_inner, parent = (tree.column >= 0).tolist(), parents(tree).tolist()
    for node in range(len(tree) - 1, -1, -1):  # a child comes after its parent
        best = log_evidence[node]
        if is_inner[node]:
            best, split = log_stop + best, log_split + below[node]
            is_split[node], best = split > best, max(split, best)
        if node:
            below[parent[node]] += best
    return prune_to(tree, is_split)


def _log_prior(n_columns: int) -> tuple[float, float]:
    """Log prior probabilities that a node is a leaf, and that it is split by a given column."""
    split = SPLIT_PROBABILITY / max(n_columns, 1)
    return float(np.log1p(-split)), float(np.log(split))


def _split_probabilities(tree: Tree, beliefs: NodePosteriors, n_columns: int) -> np.ndarray:
    """Posterior probability of each split given that its node is reached, float64 [n_nodes]; 0 at a leaf."""
    log_evidence = beliefs.log_evidence.tolist()
    log_stop, log_split = _log_prior(n_columns)
    below, probability = np.zeros(len(tree)).tolist(), np.zeros(len(tree))
    is_inner, parent = (tree.column >= 0).tolist(), parents(tree).tolist()
    for node in range(len(tree) - 1, -1, -1):
        total = log_evidence[node]
        if is_inner[node]:
            split = log_split + below[node]
            total = float(np.logaddexp(log_stop + total, split))
            probability[node] = np.exp(split - total)
        if node:
            below[parent[node]] += total
    return probability


def _leaf_posteriors(tree: Tree, costs: ClassCosts) -> NodePosteriors:
    return _class_posteriors(tree.counts * costs.risk_scale) if tree.n_classes else _normal_posteriors(tree)


def _class_posteriors(counts: np.ndarray) -> NodePosteriors:
    """Posteriors under a symmetric Dirichlet prior, from class weights [n_nodes, n_classes]."""
    from scipy.special import gammaln  # imported on demand: only training needs scipy

    prior, total = CLASS_PSEUDO_ROWS * counts.shape[1], counts.sum(axis=1)
    of_classes = (gammaln(counts + CLASS_PSEUDO_ROWS) - gammaln(CLASS_PSEUDO_ROWS)).sum(axis=1)
    answer = (counts + CLASS_PSEUDO_ROWS) / (total + prior)[:, None]
    return NodePosteriors(gammaln(prior) - gammaln(prior + total) + of_classes, answer)


def _normal_posteriors(tree: Tree) -> NodePosteriors:
    """Posteriors under the normal-inverse-gamma prior, centred at the mean of the table, in units of its variance."""
    from scipy.special import gammaln

    weight, mean = tree.weight, tree.value[:, 0]
    squares = tree.impurity * weight  # sum of squares about the mean
    variance = float(tree.impurity[0]) or 1.0
    centre, shape = float(mean[0]), VARIANCE_SHAPE + weight / 2
    posterior_rows, scale = MEAN_PSEUDO_ROWS + weight, VARIANCE_SHAPE * RELATIVE_VARIANCE
    mean_shift = MEAN_PSEUDO_ROWS * weight * (mean - centre) ** 2 / posterior_rows
    posterior_scale = scale + (squares + mean_shift) / (2 * variance)
    evidence = gammaln(shape) - gammaln(VARIANCE_SHAPE) + VARIANCE_SHAPE * np.log(scale) - shape * np.log(posterior_scale)
    evidence += 0.5 * (np.log(MEAN_PSEUDO_ROWS) - np.log(posterior_rows)) - weight / 2 * np.log(2 * np.pi * variance)
    return NodePosteriors(evidence, (centre + (mean - centre) * (weight / posterior_rows))[:, None])
