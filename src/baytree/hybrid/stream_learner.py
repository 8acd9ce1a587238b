"""Trees that go on learning, whose nodes answer with naive Bayes where it was right more often than all else there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from baytree import _core
from baytree.bayes.estimation import smoothed
from baytree.bayes.events import Likelihood
from baytree.bayes.events.categorical import LevelLikelihood
from baytree.bayes.events.normal import NormalLikelihood
from baytree.bayes.model import NaiveBayes
from baytree.hybrid.model import BayesTree
from baytree.tree.prune.cost_complexity import kept, places_kept
from baytree.tree.stream.grown_tree import at_codes, grown_tree
from baytree.tree.stream.learner import StreamLearner

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
        smaller = kept(tree, is_split)
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
