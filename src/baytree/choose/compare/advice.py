"""The advice of a comparison, a pure function of scores: the smallest model that is as good as the best.

As good as the best is a model whose loss is within one standard error of the best one's on the same folds *and* that gives
up at most a stated amount of what is bounded beside it, such as a point of accuracy. The first alone lets noise win where
folds are few: everything is within a wide error. The second alone takes sure losses for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from baytree.choose.validate.significance import Paired, paired

ROUNDING = 1e-12  # of means: two models that answer alike must not differ by the order of a sum


class Scored(NamedTuple):
    """A model by its scores: on each fold, or on each row where folds have no score of their own."""

    name: str
    losses: np.ndarray  # [n_folds] of the score that is judged: less is better; NaN where there is none
    bounded: np.ndarray  # [n_folds] of what is bounded beside it: less is better
    size: int  # how many numbers there are to read


class Standing(NamedTuple):
    """A model beside the best one."""

    worse: float  # by how much its mean loss is above the best one's
    error: float  # one standard error of that
    p: float  # one-sided, that it is as good
    lost: float  # how much it gives up of what is bounded
    reason: str  # why it is not as good as the best; "" where it is

    @property
    def is_as_good(self) -> bool:
        """Whether it is as good as the best."""
        return not self.reason


class Advice(NamedTuple):
    """Which model to take, and how every model stands beside the best."""

    chosen: int  # the place of the model that is advised
    best: int  # the place of the one of the least mean loss
    standings: tuple[Standing, ...]
    gain: Paired | None = None  # of the best over always answering the same; None where that was not scored

    @property
    def beats_the_bar(self) -> bool:
        """Whether the best is better than always answering the same by more than one standard error."""
        return self.gain is None or self.gain.mean > self.gain.error + ROUNDING


def advise(models: Sequence[Scored], ratio: float, limit: float, bar: Scored | None = None) -> Advice:
    """The smallest of the models that are as good as the best.

    `ratio` is n_test / n_train of the folds, `limit` the most that may be given up of what is bounded, and the `bar` what
    always answering the same would score. Neither the order of the models nor one more that is clearly worse changes
    which is advised.
    """
    places = range(len(models))
    mean = [mean_loss(model.losses) for model in models]
    best = min(places, key=lambda i: (mean[i], models[i].size, models[i].name))
    standings = tuple(_standing(model, models[best], ratio, limit) for model in models)
    good = [i for i in places if i == best or standings[i].is_as_good]
    chosen = min(good, key=lambda i: (models[i].size, mean[i], models[i].name))
    gain = None if bar is None else paired(bar.losses - models[best].losses, ratio)
    return Advice(chosen, best, standings, gain)


def mean_loss(losses: np.ndarray) -> float:
    """The mean of what is known; infinite where nothing is."""
    known = losses[~np.isnan(losses)]
    return float(known.mean()) if len(known) else np.inf


def _standing(model: Scored, best: Scored, ratio: float, limit: float) -> Standing:
    worse = paired(model.losses - best.losses, ratio)
    lost = mean_loss(model.bounded) - mean_loss(best.bounded)
    return Standing(worse.mean, worse.error, worse.p, lost, "" if model is best else _reason(worse, lost, limit))


def _reason(worse: Paired, lost: float, limit: float) -> str:
    if np.isnan(worse.mean):
        return "no score"
    if not worse.mean <= max(worse.error, 0.0) + ROUNDING:  # an error that is not known vouches for nothing
        return "worse by more than one standard error"
    return f"gives up more than {limit:.3g}" if lost > limit + ROUNDING else ""
