"""Metrics of predictions, each defined once for rows or additive sums; NaN where a metric is not defined.

Rows count by their weights. The log loss replaces a probability of zero for the true class by the machine epsilon 2.2e-16,
as scikit-learn does, which costs 36 nats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from baytree.uncertainty.decision import min_expected_cost_class

MIN_PROBABILITY = float(np.finfo(np.float64).eps)  # lower bound of probabilities in the log loss


class ScoredRows(NamedTuple):
    """Predictions for rows and their true values."""

    label: np.ndarray  # true class codes, or numbers [n_rows]
    answer: np.ndarray  # predicted class codes, or numbers [n_rows]
    probability: np.ndarray | None  # [n_rows, n_classes]; None if the model has no probabilities
    weight: np.ndarray | None = None  # [n_rows]; None if every row counts once
    costs: np.ndarray | None = None  # [n_classes, n_classes]: cost of predicting the second class where the first is true

    @property
    def confusion(self) -> np.ndarray:
        """Confusion matrix (rows: true class, columns: predicted): [n_classes, n_classes]."""
        n = self.probability.shape[1] if self.probability is not None else int(max(self.label.max(), self.answer.max())) + 1
        return confusion(self.label, self.answer, n, self.weight)

    def take(self, rows: np.ndarray) -> ScoredRows:
        """Predictions for these rows."""
        probability = None if self.probability is None else self.probability[rows]
        weight = None if self.weight is None else self.weight[rows]
        return ScoredRows(self.label[rows], self.answer[rows], probability, weight, self.costs)


Metric = Callable[[ScoredRows], float]


def score(metric: str, scored: ScoredRows) -> float:
    """Value of a metric by name; NaN where it is not defined, ValueError for unknown names."""
    known = {**CLASSIFICATION, **REGRESSION, **WITH_COSTS}
    if metric not in known:
        raise ValueError(f"no metric {metric!r}; the metrics are {', '.join(map(repr, known))}")
    return float(known[metric](scored))


def row_losses(metric: str, scored: ScoredRows) -> np.ndarray:
    """Contribution of each row, as a loss, to a metric that is a mean over rows: [n_rows]; NaN where it is not defined."""
    if metric not in OF_ROWS:
        raise ValueError(f"{metric} has no value for a single row; the metrics that have one are {', '.join(OF_ROWS)}")
    return OF_ROWS[metric](scored)


# --- from counts: [n_classes, n_classes], true and predicted class ---------------------------------------------------------


def confusion(label: np.ndarray, answer: np.ndarray, n_classes: int, weight: np.ndarray | None = None) -> np.ndarray:
    """Confusion matrix of rows or weights (rows: true class, columns: predicted): [n_classes, n_classes]."""
    pairs = label.astype(np.int64) * n_classes + answer
    return np.bincount(pairs, weight, n_classes * n_classes).reshape(n_classes, n_classes)


def accuracy(counts: np.ndarray) -> float:
    """Proportion of correctly predicted rows."""
    return float(np.trace(counts) / counts.sum())


def precision(counts: np.ndarray) -> np.ndarray:
    """Precision of each class [n_classes]; NaN for classes that are never predicted."""
    return _ratio(np.diag(counts), counts.sum(axis=0))


def recall(counts: np.ndarray) -> np.ndarray:
    """Recall of each class [n_classes]; NaN for classes without rows."""
    return _ratio(np.diag(counts), counts.sum(axis=1))


def f1(counts: np.ndarray) -> np.ndarray:
    """F1 of each class [n_classes]; 0 if no row of the class is predicted as it, NaN without rows and scored."""
    return _ratio(2 * np.diag(counts), counts.sum(axis=0) + counts.sum(axis=1))


def balanced_accuracy(counts: np.ndarray) -> float:
    """Mean recall of the classes that have rows."""
    return float(np.nanmean(recall(counts)))


def macro_f1(counts: np.ndarray) -> float:
    """Mean F1 of the classes that have rows or are predicted."""
    return float(np.nanmean(f1(counts)))


def matthews(counts: np.ndarray) -> float:
    """Matthews correlation coefficient of true and predicted classes; 0 if either is constant."""
    truth, predicted, n = counts.sum(axis=1).astype(float), counts.sum(axis=0).astype(float), float(counts.sum())
    size = np.sqrt((n * n - truth @ truth) * (n * n - predicted @ predicted))
    return float((np.trace(counts) * n - truth @ predicted) / size) if size > 0 else 0.0


# --- from rows -------------------------------------------------------------------------------------------------------------


def log_losses(label: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """−log of the probability of the true class: [n_rows]."""
    return -np.log(np.maximum(probability[np.arange(len(label)), label], MIN_PROBABILITY))


def brier_scores(label: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """Squared errors of the probabilities [n_rows]; for two classes, of one of them."""
    error = probability - (label[:, None] == np.arange(probability.shape[1]))
    return (error**2).sum(axis=1) / (2 if probability.shape[1] == 2 else 1)


def area_under_curve(is_positive: np.ndarray, score: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Area under the ROC curve: P(positive scores higher), with ties counting half; NaN without positives or negatives.

    >>> area_under_curve(np.array([False, False, True, True]), np.array([0.1, 0.4, 0.35, 0.8]))
    0.75
    """
    weight = np.ones(len(score)) if weight is None else weight
    values, index = np.unique(score, return_inverse=True)
    return area_of_counts(*(np.bincount(index, weight * side, len(values)) for side in (is_positive, ~is_positive)))


def area_of_counts(positive: np.ndarray, negative: np.ndarray) -> float:
    """Area under the ROC curve from the weights of positive and negative rows by ascending score."""
    below = np.cumsum(negative) - negative / 2
    size = positive.sum() * negative.sum()
    return float(positive @ below / size) if size > 0 else np.nan


def with_curves(n_classes: int) -> Sequence[int]:
    """Classes with a one-versus-rest ROC curve: with two classes only the second."""
    return [1] if n_classes == 2 else range(n_classes)


def mean_area(areas: Sequence[float]) -> float:
    """Mean of the areas that are defined."""
    known = [area for area in areas if not np.isnan(area)]
    return float(np.mean(known)) if known else np.nan


def _auc(scored: ScoredRows) -> float:
    """Area under the ROC curve; for more than two classes the mean of one-versus-rest areas."""
    if scored.probability is None:
        return np.nan
    tested = with_curves(scored.probability.shape[1])
    return mean_area(
        [area_under_curve(scored.label == c, scored.probability[:, c], scored.weight) for c in tested]
    )


def calibration_inputs(label: np.ndarray, answer: np.ndarray, probability: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probability that the calibration curve uses, and whether it came true: [n_rows] each.

    For two classes, that of the second; for more, that of the predicted class.
    """
    if probability.shape[1] == 2:
        return probability[:, 1], label == 1
    return probability[np.arange(len(label)), answer], label == answer


def bins_of(probability: np.ndarray, n_bins: int) -> np.ndarray:
    """Bin of each probability, of `n_bins` of equal width: int [n_rows]."""
    return np.minimum((probability * n_bins).astype(int), n_bins - 1)


def _mean_of(metric: str) -> Metric:
    """Metric that is the mean of row losses."""
    return lambda scored: float(np.average(row_losses(metric, scored), weights=scored.weight))


def _by_probability(losses: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[[ScoredRows], np.ndarray]:
    """Convert losses of labels and probabilities to losses of `ScoredRows`; NaN for models without probabilities."""
    return lambda scored: _undefined(scored) if scored.probability is None else losses(scored.label, scored.probability)


def _undefined(scored: ScoredRows) -> np.ndarray:
    return np.full(len(scored.label), np.nan)


def _costs(scored: ScoredRows) -> np.ndarray:
    """Cost of each prediction [n_rows]; with probabilities, that of the class of minimum expected cost."""
    if scored.costs is None:
        return _undefined(scored)
    predicted = (
        scored.answer if scored.probability is None else min_expected_cost_class(scored.probability, scored.costs)
    )
    return scored.costs[scored.label, predicted]


def _median_error(scored: ScoredRows) -> float:
    """Median of the absolute errors: the mean of the two in the middle if the weight halves between them."""
    errors = np.abs(scored.label - scored.answer)
    if scored.weight is None:
        return float(np.median(errors))
    order = np.argsort(errors, kind="stable")
    return median_of_counts(errors[order], scored.weight[order])


def median_of_counts(value: np.ndarray, weight: np.ndarray) -> float:
    """Median of ascending values with the weight of each."""
    cumulative = np.cumsum(weight)
    low, high = (
        np.searchsorted(cumulative, cumulative[-1] / 2, "left"),
        np.searchsorted(cumulative, cumulative[-1] / 2, "right"),
    )
    return float(value[[low, min(high, len(value) - 1)]].mean())


def _r2(scored: ScoredRows) -> float:
    mean = np.average(scored.label, weights=scored.weight)
    variance = float(np.average((scored.label - mean) ** 2, weights=scored.weight))
    return r2_score(_mean_of("squared error")(scored), variance)


def r2_score(squared_error: float, spread: float) -> float:
    """R², the proportion of explained variance; NaN if all true values are equal."""
    return 1 - squared_error / spread if spread else np.nan


OF_ROWS: dict[str, Callable[[ScoredRows], np.ndarray]] = {
    "accuracy": lambda scored: (scored.label != scored.answer).astype(float),
    "log loss": _by_probability(log_losses),
    "Brier score": _by_probability(brier_scores),
    "expected cost": _costs,
    "squared error": lambda scored: (scored.label - scored.answer) ** 2,
    "MAE": lambda scored: np.abs(scored.label - scored.answer),
}

CLASSIFICATION: dict[str, Metric] = {
    "accuracy": lambda scored: accuracy(scored.confusion),
    "balanced accuracy": lambda scored: balanced_accuracy(scored.confusion),
    "log loss": _mean_of("log loss"),
    "Brier score": _mean_of("Brier score"),
    "AUC": _auc,
    "F1 (macro)": lambda scored: macro_f1(scored.confusion),
    "MCC": lambda scored: matthews(scored.confusion),
}

REGRESSION: dict[str, Metric] = {
    "RMSE": lambda scored: _mean_of("squared error")(scored) ** 0.5,
    "MAE": _mean_of("MAE"),
    "median error": _median_error,
    "R²": _r2,
    "squared error": _mean_of("squared error"),
}

WITH_COSTS: dict[str, Metric] = {"expected cost": _mean_of("expected cost")}

RANGES: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("accuracy", "balanced accuracy", "AUC", "F1 (macro)"), (0.0, 1.0)),
    **dict.fromkeys(("log loss", "RMSE", "MAE", "median error", "squared error", "expected cost"), (0.0, np.inf)),
    "Brier score": (0.0, 2.0),
    "MCC": (-1.0, 1.0),
    "R²": (-np.inf, 1.0),
}

LOSSES = frozenset({*OF_ROWS, "RMSE", "median error"} - {"accuracy"})  # smaller is better


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
