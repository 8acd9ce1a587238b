"""Learners of trees with naive Bayes leaves: `NBTreeLearner` for a table, `AdaptiveStreamLearner` for a stream.

NBTree: grow a tree, then decide at every node whether its leaf would predict by class counts or by naive Bayes. The evidence
is the pseudo-Bayes factor (Geisser and Eddy 1979): the ratio of leave-one-out probabilities of the node's classes, computed
by subtraction. Finally all prunings are averaged, with both kinds of leaf at every node. Stream: naive Bayes is used at
nodes where it was right more often than the alternatives.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import msgspec
import numpy as np

from baytree import _core
from baytree.base.learner import FitResult
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import Partitions, rescale_weights
from baytree.hybrid.model import BayesTree
from baytree.hybrid.node_statistics import NodeCandidates, NodeStatistics, drop_constant_columns, leave_one_out_losses
from baytree.naive_bayes.events.categorical import LevelLikelihood
from baytree.naive_bayes.events.estimation import smoothed
from baytree.naive_bayes.events.normal import NormalLikelihood
from baytree.naive_bayes.events.registry import Likelihood
from baytree.naive_bayes.learner import NaiveBayesLearner
from baytree.naive_bayes.model import NaiveBayes
from baytree.naive_bayes.statistic import NaiveBayesStatistic
from baytree.tree.learner import TreeLearner
from baytree.tree.model.traversal import stopped_and_split
from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import equal_costs
from baytree.tree.pruning.bayesian_averaging import VaryingColumns, average_prunings
from baytree.tree.pruning.cost_complexity import places_kept, prune_to
from baytree.tree.streaming.learner import StreamLearner, at_codes, grown_tree

# prior probability that a leaf is a naive Bayes model. Log loss on twenty tables: 0.3435 with 1/2, 0.3427 with 1/10,
# 0.3424 with 1/50; smaller values give fewer models to read (benchmarks/notes/0202)
NAIVE_BAYES_PROBABILITY = 0.1

MIN_PREDICTION_WEIGHT = 0.01  # proportion of a prediction: splits and naive Bayes models of smaller weight are removed


class NBTreeLearner(msgspec.Struct, frozen=True):
    """A tree learner, the naive Bayes learner of its nodes, and the minimum weight of a node with naive Bayes."""

    tree: TreeLearner
    bayes: NaiveBayesLearner
    min_bayes: float

    def learn(self, rows: Partitions) -> FitResult:
        """Tree averaged over its prunings and the two kinds of leaf."""
        rows = rescale_weights(rows)
        tree = self.tree.grow_tree(rows)
        offer = NodeCandidates(tree, self._offered(tree), self.bayes)
        n_columns = rows.map_reduce(VaryingColumns.of, rows_per_part=None).count
        if not len(offer.node):
            return FitResult(_averaged(offer, (), np.zeros(0), rows.schema, n_columns))
        total = rows.map_reduce(partial(NodeStatistics.of, offer=offer), rows_per_part=None)
        statistics = tuple(map(drop_constant_columns, total.by_node))
        loss = rows.map_reduce(
            partial(leave_one_out_losses, offer=offer, observed=statistics), rows_per_part=None
        ).total.rounded()
        return FitResult(_averaged(offer, statistics, loss[:, 1] - loss[:, 0], rows.schema, n_columns))

    def _offered(self, tree: Tree) -> np.ndarray:
        """Nodes of sufficient weight with more than one class. int32"""
        is_mixed = np.count_nonzero(tree.counts, axis=1) > 1
        return np.flatnonzero(is_mixed & (tree.weight >= self.min_bayes)).astype(np.int32)


def _averaged(
    offer: NodeCandidates, statistic: tuple[NaiveBayesStatistic, ...], log_factor: np.ndarray, schema: Schema, n_columns: int
) -> BayesTree:
    """Model, from the log pseudo-Bayes factor of each candidate node [n_models]."""
    log_odds = np.log(NAIVE_BAYES_PROBABILITY) - np.log1p(-NAIVE_BAYES_PROBABILITY) + log_factor
    log_weight = np.zeros(len(offer.tree))
    log_weight[offer.node] = np.log1p(-NAIVE_BAYES_PROBABILITY) + np.logaddexp(0.0, log_odds)
    tree, position = _probable(offer.tree, log_weight, n_columns)
    probability = np.exp(-np.logaddexp(0.0, -log_odds))
    is_kept = position[offer.node] >= 0
    is_kept[is_kept] = (
        stopped_and_split(tree)[0][position[offer.node[is_kept]]] * probability[is_kept] >= MIN_PREDICTION_WEIGHT
    )
    models = tuple(offer.learner.derive(statistic[k], schema) for k in np.flatnonzero(is_kept))
    return BayesTree(tree, position[offer.node[is_kept]], probability[is_kept], models)


def _probable(tree: Tree, more: np.ndarray, n_columns: int) -> tuple[Tree, np.ndarray]:
    """Averaged tree without splits that hardly any pruning has, and the new index of each node, −1 if removed (int32
    [n_nodes]).
    """
    costs = equal_costs(tree.n_classes)
    is_split = stopped_and_split(average_prunings(tree, n_columns, costs, more))[1] >= MIN_PREDICTION_WEIGHT
    position = places_kept(tree, is_split)
    smaller = average_prunings(prune_to(tree, is_split), n_columns, costs, more[position >= 0])
    # the displayed class follows the counts, since the average excludes what naive Bayes contributes
    return msgspec.structs.replace(smaller, prediction=np.argmax(smaller.counts, axis=1).astype(np.int32)), position


_BELIEF = "prior: each level counts 1 more than it occurs; a class has one number more that lies anywhere among the others"


class AdaptiveStreamLearner(StreamLearner, frozen=True):
    """Stream tree whose nodes predict by counts or naive Bayes, whichever was right more often."""

    asks_bayes: ClassVar[bool] = True

    def model(self, stream: _core.TreeStream) -> BayesTree:
        """Current tree of the stream, cut at the first nodes that predict by naive Bayes."""
        stream_tree, leaves = stream.tree(), stream.bayes_leaves()
        tree, node = grown_tree(stream_tree, self.criterion), leaves["node"]
        is_split = ~tree.is_leaf
        is_split[node] = False
        smaller = prune_to(tree, is_split)
        models = tuple(
            _naive_bayes(prior, likelihoods)
            for prior, likelihoods in zip(tree.value[node], _likelihoods(stream_tree, leaves), strict=True)
        )
        return BayesTree(smaller, places_kept(tree, is_split)[node], np.ones(len(node)), models)


def _naive_bayes(prior: np.ndarray, likelihoods: tuple[Likelihood, ...]) -> NaiveBayes:
    with np.errstate(divide="ignore"):  # a class that never occurred has probability 0
        return NaiveBayes(np.log(prior), likelihoods, _BELIEF)


def _likelihoods(found: dict[str, Any], leaves: dict[str, Any]) -> Iterator[tuple[Likelihood, ...]]:
    """For each node that predicts by naive Bayes, the likelihoods of its columns."""
    ends = np.cumsum(found["n_codes"])[:-1]
    positions, classes, first = np.split(found["levels"], ends), found["classes"], 0
    for mean, scale, n_levels in zip(leaves["mean"], leaves["scale"], leaves["n_levels"].tolist(), strict=True):
        likelihoods: list[Likelihood] = [*_normal(mean, scale, classes)]
        for column, size in enumerate(n_levels):
            mass = leaves["level_mass"][first : first + size]
            likelihoods += _levels(column, mass, positions[column], classes)
            first += size
        yield tuple(likelihoods)


def _normal(mean: np.ndarray, scale: np.ndarray, classes: np.ndarray) -> Iterator[NormalLikelihood]:
    """Gaussian likelihood of the numeric columns that vary, from [n_columns, n_classes_seen]. A class that never occurred
    gets that of the first.
    """
    columns = np.flatnonzero(np.isfinite(scale).all(axis=1))
    if not len(columns):
        return
    mean, scale = mean[columns], scale[columns]
    means, scales = at_codes(mean, classes, mean[:, 0]).T, at_codes(scale, classes, scale[:, 0]).T
    degrees = np.full(means.shape, np.inf)
    yield NormalLikelihood(tuple(columns.tolist()), *map(np.ascontiguousarray, (means, scales, degrees)))


def _levels(column: int, mass: np.ndarray, positions: np.ndarray, classes: np.ndarray) -> Iterator[LevelLikelihood]:
    """Likelihood of a column with several observed levels, from [n_levels, n_classes_seen]. A level unobserved here is
    uninformative.
    """
    present = np.flatnonzero(mass.sum(axis=1))
    if len(present) < 2:
        return
    unobserved = 1 / (mass.sum() + len(present))
    proportion = np.full((len(mass), len(classes)), unobserved)
    proportion[present] = at_codes(smoothed(mass[present], 1.0), classes, 1 / len(present))
    known_places = np.where(positions < len(mass), positions, -1)  # other levels appeared later, at other nodes
    yield LevelLikelihood(column, np.log(at_codes(proportion.T, known_places, unobserved).T.copy()))
