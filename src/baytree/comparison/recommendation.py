"""The advice of a comparison, a pure function of scores: the smallest model that is as good as the best.

As good as the best is a model whose loss is within one standard error of the best one's on the same folds *and* that gives
up at most a stated amount of what is bounded beside it, such as a point of accuracy. The first alone lets noise win where
folds are few: everything is within a wide error. The second alone takes sure losses for nothing.

What models are judged by, and how much of what else advice may give up.

The baseline that every model has to beat: always the largest class, or the mean, of the training rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from baytree import param_validation
from baytree._typing import CostsLike, EstimatorLike
from baytree.folds.splitters import Fold, Folds
from baytree.model_selection.model_registry import CLASSIFICATION, JUDGES, REGRESSION
from baytree.model_selection.problem import SupervisedProblem
from baytree.model_selection.significance import Paired, paired
from baytree.model_selection.trials import FoldPrediction

ROUNDING = 1e-12  # of means: two models that answer alike must not differ by the order of a sum


class Scored(NamedTuple):
    """A model by its scores: on each fold, or on each row where folds have no score of their own."""

    name: str
    losses: np.ndarray  # [n_folds] of the score that is judged: less is better; NaN where there is none
    bounded: np.ndarray  # [n_folds] of what is bounded beside it: less is better
    size: int  # how many numbers there are to read


class ModelStanding(NamedTuple):
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


class Recommendation(NamedTuple):
    """Which model to take, and how every model stands beside the best."""

    chosen: int  # the place of the model that is advised
    best: int  # the place of the one of the least mean loss
    standings: tuple[ModelStanding, ...]
    gain: Paired | None = None  # of the best over always answering the same; None where that was not scored

    @property
    def beats_the_bar(self) -> bool:
        """Whether the best is better than always answering the same by more than one standard error."""
        return self.gain is None or self.gain.mean > self.gain.error + ROUNDING


def recommend(models: Sequence[Scored], ratio: float, limit: float, bar: Scored | None = None) -> Recommendation:
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
    return Recommendation(chosen, best, standings, gain)


def mean_loss(losses: np.ndarray) -> float:
    """The mean of what is known; infinite where nothing is."""
    known = losses[~np.isnan(losses)]
    return float(known.mean()) if len(known) else np.inf


def _standing(model: Scored, best: Scored, ratio: float, limit: float) -> ModelStanding:
    worse = paired(model.losses - best.losses, ratio)
    lost = mean_loss(model.bounded) - mean_loss(best.bounded)
    return ModelStanding(worse.mean, worse.error, worse.p, lost, "" if model is best else _reason(worse, lost, limit))


def _reason(worse: Paired, lost: float, limit: float) -> str:
    if np.isnan(worse.mean):
        return "no score"
    if not worse.mean <= max(worse.error, 0.0) + ROUNDING:  # an error that is not known vouches for nothing
        return "worse by more than one standard error"
    return f"gives up more than {limit:.3g}" if lost > limit + ROUNDING else ""


POINT = 0.01  # of accuracy, of the largest cost, or of what the mean leaves unexplained


class JudgingCriterion(NamedTuple):
    """The score by which models are judged, and the most that advice may give up of another."""

    metric: str
    bounded: str  # the metric of which a simpler model may lose at most the limit
    limit: float
    costs: np.ndarray | None = None  # [n_classes, n_classes]

    @property
    def in_words(self) -> str:
        """The bound, as a reader is told it."""
        if self.bounded == "accuracy":
            return f"accuracy at most {self.limit:g} lower"
        return f"at most {self.limit:.3g} higher"


def criterion(by: str | None, problem: SupervisedProblem, costs: CostsLike, models: list[EstimatorLike]) -> JudgingCriterion:
    """What `by` asks for; where nothing is said, a score that rewards true probabilities, or the costs that were given."""
    if problem.is_classification:
        classes = problem.classes.tolist()
        amounts = param_validation.costs(costs, classes)
        return _of_classes(by, None if amounts is None else amounts.of(classes), models)
    if costs is not None:
        raise ValueError("costs are of classes, but the target is a number; leave costs out, or give task='classification'")
    metric = _metric(by or "squared_error", REGRESSION)
    return JudgingCriterion(metric, metric, POINT * _left_by_the_mean(metric, problem))


def refuse_single_rows(judged: JudgingCriterion, folds: Folds) -> None:
    """AUC compares rows with each other, so it needs folds of several rows."""
    if judged.metric == "AUC" and (len(folds.parts) == 1 or min(len(fold.test) for fold in folds.parts) == 1):
        raise ValueError("by='auc' needs several folds of several rows; give fewer folds, or judge by 'brier'")


def _of_classes(by: str | None, costs: np.ndarray | None, models: list[EstimatorLike]) -> JudgingCriterion:
    if by == "cost" and costs is None:
        raise ValueError("by='cost' needs costs: what each mistake costs, as a dict of dicts by class")
    usual = "brier" if all(hasattr(model, "predict_proba") for model in models) else "accuracy"
    metric = _metric(by or (usual if costs is None else "cost"), CLASSIFICATION)
    if metric == "expected cost" and costs is not None:
        return JudgingCriterion(metric, metric, POINT * float(costs.max()), costs)
    return JudgingCriterion(metric, "accuracy", POINT, costs)


def _metric(by: str, task: str) -> str:
    return JUDGES[task][param_validation.one_of("by", by, JUDGES[task])]


def _left_by_the_mean(metric: str, problem: SupervisedProblem) -> float:
    """The loss of always answering the mean."""
    values, weight = problem.label.values, problem.weight
    away = np.abs(values - np.average(values, weights=weight))
    return float(np.average(away if metric == "MAE" else away**2, weights=weight))


def trials_of_the_baseline(problem: SupervisedProblem, folds: tuple[Fold, ...]) -> Iterator[FoldPrediction]:
    """What the training rows alone would answer in each fold, without a look at any column."""
    for fold in folds:
        same = _shares(problem, fold.train) if problem.is_classification else _mean(problem, fold.train)
        repeated = np.repeat(same[None], len(fold.test), axis=0)
        if problem.is_classification:
            yield FoldPrediction(fold.test, len(fold.train), repeated.argmax(axis=1), repeated, 0.0)
        else:
            yield FoldPrediction(fold.test, len(fold.train), repeated[:, 0], None, 0.0)


def _shares(problem: SupervisedProblem, rows: np.ndarray) -> np.ndarray:
    """[n_classes] the share of each class."""
    counts = np.bincount(problem.label.values[rows], problem.weight[rows], len(problem.classes))
    return counts / counts.sum()


def _mean(problem: SupervisedProblem, rows: np.ndarray) -> np.ndarray:
    return np.array([np.average(problem.label.values[rows], weights=problem.weight[rows])])
