"""Recommendation of a comparison: the smallest model that is as good as the best, as a pure function of scores.

A model is as good as the best if its loss is within one standard error of the best loss on the same folds *and* it loses at
most a stated amount of a bounded metric, such as 0.01 of accuracy. The one-standard-error rule alone (Breiman and others,
1984) lets noise win if there are few folds, because everything is within a wide error. The bound alone accepts certain
losses for nothing. Standard errors of folds are corrected for their shared training rows (Nadeau and Bengio, 2003).

Also here: the score that ranks the models (`JudgingCriterion`), and the baseline that every model should beat, which
always predicts the majority class or the mean of the training rows.
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

MAX_CHANCE = 0.025  # one-sided p-value of a gain over the baseline; with less evidence the baseline is recommended

ROUNDING = 1e-12  # of means: models with equal predictions must not differ by the order of summation


class Scored(NamedTuple):
    """Losses of one model per fold, or per row if folds have no score of their own."""

    name: str
    losses: np.ndarray  # [n_folds] losses by the ranking score; NaN if undefined
    bounded: np.ndarray  # [n_folds] losses in the bounded metric
    size: int  # number of numbers in the model


class ModelStanding(NamedTuple):
    """Comparison of one model with the best."""

    worse: float  # difference of its mean loss from the best
    error: float  # standard error of that difference
    p: float  # one-sided p-value of being as good
    lost: float  # loss in the bounded metric
    reason: str  # why it is not as good as the best; "" if it is

    @property
    def is_as_good(self) -> bool:
        """Whether the model is as good as the best."""
        return not self.reason


class Recommendation(NamedTuple):
    """The recommended model, and the comparison of every model with the best."""

    chosen: int  # index of the recommended model
    best: int  # index of the model with the smallest mean loss
    standings: tuple[ModelStanding, ...]
    gain: Paired | None = None  # gain of the best model over the baseline; None if the baseline was not scored

    @property
    def beats_the_bar(self) -> bool:
        """Whether the best model is significantly better than the baseline: p at most `MAX_CHANCE`."""
        return self.gain is None or _is_gain(self.gain)


def recommend(models: Sequence[Scored], ratio: float, limit: float, bar: Scored | None = None) -> Recommendation:
    """Return the smallest model among those that are as good as the best.

    `ratio` is n_test / n_train of the folds, `limit` the largest accepted loss in the bounded metric, and `bar` the losses
    of the baseline. If the best model is not significantly better than that, a model that equals the baseline is
    recommended, if there is one: the best of many models on noise is better by chance. The recommendation depends neither on
    the order of the models nor on additional models that are clearly worse.
    """
    indices = range(len(models))
    mean = [mean_loss(model.losses) for model in models]
    best = min(indices, key=lambda i: (mean[i], models[i].size, models[i].name))
    standings = tuple(_standing(model, models[best], ratio, limit) for model in models)
    eligible = [i for i in indices if i == best or standings[i].is_as_good]
    chosen = min(eligible, key=lambda i: (models[i].size, mean[i], models[i].name))
    if bar is None:
        return Recommendation(chosen, best, standings)
    gain = paired(bar.losses - models[best].losses, ratio)
    equal = [i for i in indices if _is_baseline(models[i], bar)]
    if equal and not _is_gain(gain):
        chosen = min(equal, key=lambda i: (models[i].size, models[i].name))
    return Recommendation(chosen, best, standings, gain)


def _is_gain(gain: Paired) -> bool:
    if np.isnan(gain.error):  # one fold: there is no error to judge by
        return gain.mean > ROUNDING
    return gain.mean > ROUNDING and gain.p <= MAX_CHANCE


def _is_baseline(model: Scored, bar: Scored) -> bool:
    """Whether a model has the losses of the baseline."""
    return np.allclose(model.losses, bar.losses, rtol=0, atol=1e-9, equal_nan=True)


def mean_loss(losses: np.ndarray) -> float:
    """Return the mean of the known losses; infinite if there are none."""
    known = losses[~np.isnan(losses)]
    return float(known.mean()) if len(known) else np.inf


def _standing(model: Scored, best: Scored, ratio: float, limit: float) -> ModelStanding:
    worse = paired(model.losses - best.losses, ratio)
    lost = mean_loss(model.bounded) - mean_loss(best.bounded)
    return ModelStanding(worse.mean, worse.error, worse.p, lost, "" if model is best else _reason(worse, lost, limit))


def _reason(worse: Paired, lost: float, limit: float) -> str:
    if np.isnan(worse.mean):
        return "no score"
    if not worse.mean <= max(worse.error, 0.0) + ROUNDING:  # NaN error counts as 0
        return "worse by more than one standard error"
    return f"loses more than {limit:.3g}" if lost > limit + ROUNDING else ""


POINT = 0.01  # 1 % of accuracy, of the largest cost, or of the baseline loss of a regression


class JudgingCriterion(NamedTuple):
    """The score that ranks the models, and the largest loss that a simpler model may have in a second metric."""

    metric: str
    bounded: str  # metric in which a simpler model may lose at most `limit`
    limit: float
    costs: np.ndarray | None = None  # [n_classes, n_classes]

    @property
    def in_words(self) -> str:
        """The bound, as text."""
        if self.bounded == "accuracy":
            return f"accuracy at most {self.limit:g} lower"
        return f"at most {self.limit:.3g} higher"


def criterion(by: str | None, problem: SupervisedProblem, costs: CostsLike, models: list[EstimatorLike]) -> JudgingCriterion:
    """Return the criterion for `by`; by default the Brier score, or the expected cost if costs are given."""
    if problem.is_classification:
        classes = problem.classes.tolist()
        amounts = param_validation.costs(costs, classes)
        return _of_classes(by, None if amounts is None else amounts.of(classes), models)
    if costs is not None:
        raise ValueError("costs apply to classes, but the target is a number; omit costs, or give task='classification'")
    metric = _metric(by or "squared_error", REGRESSION)
    return JudgingCriterion(metric, metric, POINT * _left_by_the_mean(metric, problem))


def refuse_single_rows(judged: JudgingCriterion, folds: Folds) -> None:
    """Raise ValueError for AUC with single-row folds: it compares rows of one fold with each other."""
    if judged.metric == "AUC" and (len(folds.parts) == 1 or min(len(fold.test) for fold in folds.parts) == 1):
        raise ValueError("by='auc' needs several folds with several rows each; use fewer folds, or by='brier'")


def _of_classes(by: str | None, costs: np.ndarray | None, models: list[EstimatorLike]) -> JudgingCriterion:
    if by == "cost" and costs is None:
        raise ValueError("by='cost' needs costs: the cost of each misclassification, as a dict of dicts by class")
    default = "brier" if all(hasattr(model, "predict_proba") for model in models) else "accuracy"
    metric = _metric(by or (default if costs is None else "cost"), CLASSIFICATION)
    if metric == "expected cost" and costs is not None:
        return JudgingCriterion(metric, metric, POINT * float(costs.max()), costs)
    return JudgingCriterion(metric, "accuracy", POINT, costs)


def _metric(by: str, task: str) -> str:
    return JUDGES[task][param_validation.one_of("by", by, JUDGES[task])]


def _left_by_the_mean(metric: str, problem: SupervisedProblem) -> float:
    """Return the loss of predicting the mean."""
    values, weight = problem.label.values, problem.weight
    deviation = np.abs(values - np.average(values, weights=weight))
    return float(np.average(deviation if metric == "MAE" else deviation**2, weights=weight))


def trials_of_the_baseline(problem: SupervisedProblem, folds: tuple[Fold, ...]) -> Iterator[FoldPrediction]:
    """Yield the predictions of the baseline in each fold, from the training labels alone."""
    for fold in folds:
        constant = _class_proportions(problem, fold.train) if problem.is_classification else _mean(problem, fold.train)
        repeated = np.repeat(constant[None], len(fold.test), axis=0)
        if problem.is_classification:
            yield FoldPrediction(fold.test, len(fold.train), repeated.argmax(axis=1), repeated, 0.0)
        else:
            yield FoldPrediction(fold.test, len(fold.train), repeated[:, 0], None, 0.0)


def _class_proportions(problem: SupervisedProblem, rows: np.ndarray) -> np.ndarray:
    """Return the weighted proportion of each class, float64 [n_classes]."""
    counts = np.bincount(problem.label.values[rows], problem.weight[rows], len(problem.classes))
    return counts / counts.sum()


def _mean(problem: SupervisedProblem, rows: np.ndarray) -> np.ndarray:
    return np.array([np.average(problem.label.values[rows], weights=problem.weight[rows])])
