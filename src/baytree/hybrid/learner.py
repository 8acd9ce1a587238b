"""The learner of trees with naive Bayes leaves: a tree is grown, and at every node the rows say what its leaf should be.

A leaf answers with the counts of its classes or with naive Bayes. How much better naive Bayes tells the classes of a node's
rows, each by all the others, is its pseudo-Bayes factor (Geisser and Eddy 1979), which leave-one-out gives by subtraction.
Then all prunings are averaged, with both kinds of leaf at every node.

Trees that go on learning, whose nodes answer with naive Bayes where it was right more often than all else there.
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
from baytree.hybrid.node_statistics import NodeCandidates, NodeStatistics, left_out_losses, telling
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

IS_BAYES = 0.1  # the probability that a leaf is a naive Bayes model, before any row is seen

LEAST_SHARE = 0.01  # of an answer: splits and naive Bayes models that count for less are left out


class NBTreeLearner(msgspec.Struct, frozen=True):
    """A tree, the naive Bayes of its nodes, and the weight that a node needs for one."""

    tree: TreeLearner
    bayes: NaiveBayesLearner
    min_bayes: float

    def learn(self, rows: Partitions) -> FitResult:
        """The tree of these rows, averaged over its prunings and the two kinds of leaf."""
        rows = rescale_weights(rows)
        tree = self.tree.grown(rows)
        offer = NodeCandidates(tree, self._offered(tree), self.bayes)
        n_columns = rows.map_reduce(VaryingColumns.of, rows_per_part=None).count
        if not len(offer.node):
            return FitResult(_averaged(offer, (), np.zeros(0), rows.schema, n_columns))
        total = rows.map_reduce(partial(NodeStatistics.of, offer=offer), rows_per_part=None)
        seen = tuple(map(telling, total.seen))
        loss = rows.map_reduce(partial(left_out_losses, offer=offer, seen=seen), rows_per_part=None).total.rounded()
        return FitResult(_averaged(offer, seen, loss[:, 1] - loss[:, 0], rows.schema, n_columns))

    def _offered(self, tree: Tree) -> np.ndarray:
        """The nodes with weight enough, and something to tell apart."""
        is_mixed = np.count_nonzero(tree.counts, axis=1) > 1
        return np.flatnonzero(is_mixed & (tree.weight >= self.min_bayes)).astype(np.int32)


def _averaged(
    offer: NodeCandidates, seen: tuple[NaiveBayesStatistic, ...], log_factor: np.ndarray, schema: Schema, n_columns: int
) -> BayesTree:
    """The model, from how much better naive Bayes does at each offered node, in logarithms [n_models]."""
    log_odds = np.log(IS_BAYES) - np.log1p(-IS_BAYES) + log_factor
    more = np.zeros(len(offer.tree))
    more[offer.node] = np.log1p(-IS_BAYES) + np.logaddexp(0.0, log_odds)
    tree, place = _probable(offer.tree, more, n_columns)
    chosen = np.exp(-np.logaddexp(0.0, -log_odds))
    is_kept = place[offer.node] >= 0
    is_kept[is_kept] = stopped_and_split(tree)[0][place[offer.node[is_kept]]] * chosen[is_kept] >= LEAST_SHARE
    models = tuple(offer.learner.derive(seen[k], schema) for k in np.flatnonzero(is_kept))
    return BayesTree(tree, place[offer.node[is_kept]], chosen[is_kept], models)


def _probable(tree: Tree, more: np.ndarray, n_columns: int) -> tuple[Tree, np.ndarray]:
    """The averaged tree without splits that hardly any pruning has, and int32 [n_nodes]: where its nodes are, −1 if gone."""
    costs = equal_costs(tree.n_classes)
    is_split = stopped_and_split(average_prunings(tree, n_columns, costs, more))[1] >= LEAST_SHARE
    place = places_kept(tree, is_split)
    smaller = average_prunings(prune_to(tree, is_split), n_columns, costs, more[place >= 0])
    # what is shown at a node follows its counts: the average leaves what naive Bayes reads to naive Bayes
    return msgspec.structs.replace(smaller, prediction=np.argmax(smaller.counts, axis=1).astype(np.int32)), place


_BELIEF = "prior: each level counts 1 more than it occurs; a class has one number more that lies anywhere among the others"


class AdaptiveStreamLearner(StreamLearner, frozen=True):
    """A tree that splits when the evidence suffices, and answers where its counts or naive Bayes were right more often."""

    asks_bayes: ClassVar[bool] = True

    def model(self, stream: _core.TreeStream) -> BayesTree:
        """The tree that the stream has grown so far, up to the first nodes that answer with naive Bayes."""
        found, leaves = stream.tree(), stream.bayes_leaves()
        tree, node = grown_tree(found, self.criterion), leaves["node"]
        is_split = ~tree.is_leaf
        is_split[node] = False
        smaller = prune_to(tree, is_split)
        models = tuple(
            _naive_bayes(prior, likelihoods)
            for prior, likelihoods in zip(tree.value[node], _told(found, leaves), strict=True)
        )
        return BayesTree(smaller, places_kept(tree, is_split)[node], np.ones(len(node)), models)


def _naive_bayes(prior: np.ndarray, likelihoods: tuple[Likelihood, ...]) -> NaiveBayes:
    with np.errstate(divide="ignore"):  # a class that never came is not named
        return NaiveBayes(np.log(prior), likelihoods, _BELIEF)


def _told(found: dict[str, Any], leaves: dict[str, Any]) -> Iterator[tuple[Likelihood, ...]]:
    """For each node that answers with naive Bayes what its columns tell."""
    ends = np.cumsum(found["n_codes"])[:-1]
    places, classes, first = np.split(found["levels"], ends), found["classes"], 0
    for mean, scale, n_levels in zip(leaves["mean"], leaves["scale"], leaves["n_levels"].tolist(), strict=True):
        likelihoods: list[Likelihood] = [*_normal(mean, scale, classes)]
        for column, size in enumerate(n_levels):
            mass = leaves["level_mass"][first : first + size]
            likelihoods += _levels(column, mass, places[column], classes)
            first += size
        yield tuple(likelihoods)


def _normal(mean: np.ndarray, scale: np.ndarray, classes: np.ndarray) -> Iterator[NormalLikelihood]:
    """The columns of numbers that differ: [n_columns, n_arrived] in. A class that never came is like the others."""
    columns = np.flatnonzero(np.isfinite(scale).all(axis=1))
    if not len(columns):
        return
    mean, scale = mean[columns], scale[columns]
    means, scales = at_codes(mean, classes, mean[:, 0]).T, at_codes(scale, classes, scale[:, 0]).T
    degrees = np.full(means.shape, np.inf)
    yield NormalLikelihood(tuple(columns.tolist()), *map(np.ascontiguousarray, (means, scales, degrees)))


def _levels(column: int, mass: np.ndarray, places: np.ndarray, classes: np.ndarray) -> Iterator[LevelLikelihood]:
    """A column of which several levels came: [n_levels, n_arrived] in. One that did not come here tells nothing."""
    present = np.flatnonzero(mass.sum(axis=1))
    if len(present) < 2:
        return
    never = 1 / (mass.sum() + len(present))
    share = np.full((len(mass), len(classes)), never)
    share[present] = at_codes(smoothed(mass[present], 1.0), classes, 1 / len(present))
    here = np.where(places < len(mass), places, -1)  # others came later, elsewhere
    yield LevelLikelihood(column, np.log(at_codes(share.T, here, never).T.copy()))
