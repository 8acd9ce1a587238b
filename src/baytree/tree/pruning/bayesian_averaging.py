"""All prunings of a grown tree at once: their exact Bayesian average, and the most probable of them.

A node is a leaf with probability 1/2; else it is split by one of the columns, each as likely as any other (Buntine 1992).
Columns that are constant in the training rows do not count, so that they change nothing.
There are exponentially many prunings, but the sum over them is one over the two ways of each node: to stop there, or to take
the product of what its children sum up to (Willems, Shtarkov and Tjalkens 1995; Helmbold and Schapire 1997). So one pass up
the tree weighs every split, and one pass down mixes the answers of all prunings.
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

IS_SPLIT = 0.5  # the probability of a split before any row is seen

OF_EACH_CLASS = 0.5  # rows of each class that a leaf has seen beforehand (Krichevsky and Trofimov 1981)

OF_THE_MEAN = 0.1  # rows at the mean of the table that a leaf of numbers has seen beforehand

OF_THE_NOISE = 1.0  # the shape of what is believed of the variance in a leaf, and its share of the table's

NOISE_SHARE = 0.1


class VaryingColumns(msgspec.Struct, frozen=True):
    """Which columns hold more than one value, a missing one among them, from the least and greatest values of parts."""

    low: np.ndarray  # float64 [n_columns], +inf where nothing was seen
    high: np.ndarray  # float64 [n_columns], −inf where nothing was seen
    is_missing: np.ndarray  # bool [n_columns], whether a value is missing

    @classmethod
    def of(cls, table: Table) -> Self:
        """Of rows that weigh something; levels by their codes, text by whether there is one."""
        counts = slice(None) if table.is_unweighted else table.weight > 0
        missing = [is_missing(values)[counts] for values in table.values]
        known = [_known(values, gap, counts) for values, gap in zip(table.values, missing, strict=True)]
        low = [values.min(initial=np.inf) for values in known]
        high = [values.max(initial=-np.inf) for values in known]
        return cls(np.array(low), np.array(high), np.array([gap.any() for gap in missing], bool))

    def __add__(self, other: Self) -> Self:
        bounds = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return type(self)(*bounds, self.is_missing | other.is_missing)

    @property
    def count(self) -> int:
        """The number of columns that vary."""
        has_both = self.is_missing & (self.low <= self.high)
        return int(np.count_nonzero((self.low < self.high) | has_both))


def _known(values: Values, missing: np.ndarray, counts: slice | np.ndarray) -> np.ndarray:
    if isinstance(values, Tokens):
        return np.array([0.0, 1.0])  # trees do not read text, whose documents hardly ever agree
    return np.asarray(values)[counts][~missing].astype(np.float64)


class NodePosteriors(msgspec.Struct, frozen=True):
    """What each node would tell as a leaf."""

    log_evidence: np.ndarray  # float64 [n_nodes], the logarithm of the density of its own rows
    answer: np.ndarray  # float64 [n_nodes, n_outputs]


def average_prunings(tree: Tree, n_columns: int, costs: ClassCosts, more: np.ndarray | float = 0.0) -> Tree:
    """The tree that answers with the average of all its prunings, each with the weight that the rows give it.

    `more` [n_nodes] is what something better than the counts, as a leaf, adds to the log-evidence of each node.
    """
    beliefs = _beliefs(tree, costs)
    beliefs = msgspec.structs.replace(beliefs, log_evidence=beliefs.log_evidence + more)
    is_kept = _kept_share(tree, beliefs, n_columns)
    value = mix_prunings(tree, beliefs.answer, is_kept)
    prediction = costs.best(value).astype(np.int32) if tree.n_classes else tree.prediction
    inner = np.flatnonzero(tree.column >= 0).astype(np.int32)
    return msgspec.structs.replace(tree, value=value, prediction=prediction, averaging=Averaging(inner, is_kept[inner]))


def most_probable(tree: Tree, n_columns: int, costs: ClassCosts) -> Tree:
    """The pruning that is more probable than any other, given the rows; of equals the smaller."""
    leaf = _beliefs(tree, costs).log_evidence.tolist()
    log_stop, log_split = _log_prior(n_columns)
    below, is_split = np.zeros(len(tree)).tolist(), np.zeros(len(tree), np.bool_)
    is_inner, above = (tree.column >= 0).tolist(), parents(tree).tolist()
    for node in range(len(tree) - 1, -1, -1):  # a child comes after its parent
        best = leaf[node]
        if is_inner[node]:
            best, split = log_stop + best, log_split + below[node]
            is_split[node], best = split > best, max(split, best)
        if node:
            below[above[node]] += best
    return prune_to(tree, is_split)


def _log_prior(n_columns: int) -> tuple[float, float]:
    """The logarithms of the probability that a node is a leaf, and that it is split by a given column."""
    split = IS_SPLIT / max(n_columns, 1)
    return float(np.log1p(-split)), float(np.log(split))


def _kept_share(tree: Tree, beliefs: NodePosteriors, n_columns: int) -> np.ndarray:
    """float64 [n_nodes]: of the prunings that reach a node, the share by weight that splits it; 0 at a leaf."""
    leaf = beliefs.log_evidence.tolist()
    log_stop, log_split = _log_prior(n_columns)
    below, share = np.zeros(len(tree)).tolist(), np.zeros(len(tree))
    is_inner, above = (tree.column >= 0).tolist(), parents(tree).tolist()
    for node in range(len(tree) - 1, -1, -1):
        total = leaf[node]
        if is_inner[node]:
            split = log_split + below[node]
            total = float(np.logaddexp(log_stop + total, split))
            share[node] = np.exp(split - total)
        if node:
            below[above[node]] += total
    return share


def _beliefs(tree: Tree, costs: ClassCosts) -> NodePosteriors:
    return _of_classes(tree.counts * costs.risk_scale) if tree.n_classes else _of_numbers(tree)


def _of_classes(counts: np.ndarray) -> NodePosteriors:
    """Dirichlet's prior: [n_nodes, n_classes] weights of classes in."""
    from scipy.special import gammaln  # only who learns needs it

    prior, total = OF_EACH_CLASS * counts.shape[1], counts.sum(axis=1)
    of_classes = (gammaln(counts + OF_EACH_CLASS) - gammaln(OF_EACH_CLASS)).sum(axis=1)
    answer = (counts + OF_EACH_CLASS) / (total + prior)[:, None]
    return NodePosteriors(gammaln(prior) - gammaln(prior + total) + of_classes, answer)


def _of_numbers(tree: Tree) -> NodePosteriors:
    """The conjugate prior of a normal distribution, about the mean of the table and in units of its variance."""
    from scipy.special import gammaln

    weight, mean = tree.weight, tree.value[:, 0]
    spread = tree.impurity * weight  # sum of squares about the mean
    variance = float(tree.impurity[0]) or 1.0
    centre, shape = float(mean[0]), OF_THE_NOISE + weight / 2
    seen, scale = OF_THE_MEAN + weight, OF_THE_NOISE * NOISE_SHARE
    off = OF_THE_MEAN * weight * (mean - centre) ** 2 / seen
    after = scale + (spread + off) / (2 * variance)
    evidence = gammaln(shape) - gammaln(OF_THE_NOISE) + OF_THE_NOISE * np.log(scale) - shape * np.log(after)
    evidence += 0.5 * (np.log(OF_THE_MEAN) - np.log(seen)) - weight / 2 * np.log(2 * np.pi * variance)
    return NodePosteriors(evidence, (centre + (mean - centre) * (weight / seen))[:, None])
