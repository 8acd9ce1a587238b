"""What models are judged by, and how much of what else advice may give up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from baytree import settings
from baytree.choose.models import CLASSIFICATION, JUDGES, REGRESSION
from baytree.choose.problem import Problem
from baytree.folds.cv import Folds
from baytree.given import CostsLike, EstimatorLike

POINT = 0.01  # of accuracy, of the largest cost, or of what the mean leaves unexplained


class Criterion(NamedTuple):
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


def criterion(by: str | None, problem: Problem, costs: CostsLike, models: list[EstimatorLike]) -> Criterion:
    """What `by` asks for; where nothing is said, a score that rewards true probabilities, or the costs that were given."""
    if problem.is_classification:
        classes = problem.classes.tolist()
        amounts = settings.costs(costs, classes)
        return _of_classes(by, None if amounts is None else amounts.of(classes), models)
    if costs is not None:
        raise ValueError("costs are of classes, but the target is a number; leave costs out, or give task='classification'")
    metric = _metric(by or "squared_error", REGRESSION)
    return Criterion(metric, metric, POINT * _left_by_the_mean(metric, problem))


def refuse_single_rows(judged: Criterion, folds: Folds) -> None:
    """AUC compares rows with each other, so it needs folds of several rows."""
    if judged.metric == "AUC" and (len(folds.parts) == 1 or min(len(fold.test) for fold in folds.parts) == 1):
        raise ValueError("by='auc' needs several folds of several rows; give fewer folds, or judge by 'brier'")


def _of_classes(by: str | None, costs: np.ndarray | None, models: list[EstimatorLike]) -> Criterion:
    if by == "cost" and costs is None:
        raise ValueError("by='cost' needs costs: what each mistake costs, as a dict of dicts by class")
    usual = "brier" if all(hasattr(model, "predict_proba") for model in models) else "accuracy"
    metric = _metric(by or (usual if costs is None else "cost"), CLASSIFICATION)
    if metric == "expected cost" and costs is not None:
        return Criterion(metric, metric, POINT * float(costs.max()), costs)
    return Criterion(metric, "accuracy", POINT, costs)


def _metric(by: str, task: str) -> str:
    return JUDGES[task][settings.one_of("by", by, JUDGES[task])]


def _left_by_the_mean(metric: str, problem: Problem) -> float:
    """The loss of always answering the mean."""
    values, weight = problem.label.values, problem.weight
    away = np.abs(values - np.average(values, weights=weight))
    return float(np.average(away if metric == "MAE" else away**2, weights=weight))
