"""How good answers are: each metric once, from rows or from sums that add up over parts; NaN where one is not defined.

Rows count by their weights. A probability of zero for what came true would cost without end: it counts as the float's eps,
2.2e-16, as in scikit-learn, and so costs 36 nats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

LEAST_PROBABILITY = float(np.finfo(np.float64).eps)  # what a probability of zero counts as in the log loss


class ScoredRows(NamedTuple):
    """What was answered for rows, and what is true of them."""

    label: np.ndarray  # class codes, or numbers [n_rows]
    answer: np.ndarray  # [n_rows]
    probability: np.ndarray | None  # [n_rows, n_classes]; None where the model gives none
    weight: np.ndarray | None = None  # [n_rows]; None where each row counts once
    costs: np.ndarray | None = None  # [n_classes, n_classes]: of answering the second class where the first is true

    @property
    def confusion(self) -> np.ndarray:
        """Rows by their class and the class answered: [n_classes, n_classes]."""
        n = self.probability.shape[1] if self.probability is not None else int(max(self.label.max(), self.answer.max())) + 1
        return confusion(self.label, self.answer, n, self.weight)

    def take(self, rows: np.ndarray) -> ScoredRows:
        """The answers for these rows."""
        probability = None if self.probability is None else self.probability[rows]
        weight = None if self.weight is None else self.weight[rows]
        return ScoredRows(self.label[rows], self.answer[rows], probability, weight, self.costs)


Metric = Callable[[ScoredRows], float]


def score(metric: str, answers: ScoredRows) -> float:
    """The value of a metric; NaN where it is not defined."""
    known = {**CLASSIFICATION, **REGRESSION, **WITH_COSTS}
    if metric not in known:
        raise ValueError(f"no metric {metric!r}; the metrics are {', '.join(map(repr, known))}")
    return float(known[metric](answers))


def row_losses(metric: str, answers: ScoredRows) -> np.ndarray:
    """What each row adds to a metric that is a mean over rows, as a loss: [n_rows]; NaN where the metric is not defined."""
    if metric not in OF_ROWS:
        raise ValueError(f"{metric} has no value for a single row; the metrics that have one are {', '.join(OF_ROWS)}")
    return OF_ROWS[metric](answers)


# --- of counts: [n_classes, n_classes], truth and answer -----------------------------------------------------------------


def confusion(label: np.ndarray, answer: np.ndarray, n_classes: int, weight: np.ndarray | None = None) -> np.ndarray:
    """Rows, or their weights, by their class and the class answered: [n_classes, n_classes]."""
    pairs = label.astype(np.int64) * n_classes + answer
    return np.bincount(pairs, weight, n_classes * n_classes).reshape(n_classes, n_classes)


def accuracy(counts: np.ndarray) -> float:
    """The share of rows whose class was answered."""
    return float(np.trace(counts) / counts.sum())


def precision(counts: np.ndarray) -> np.ndarray:
    """[n_classes] of the rows answered as a class, the share that is of it; NaN where none was."""
    return _share(np.diag(counts), counts.sum(axis=0))


def recall(counts: np.ndarray) -> np.ndarray:
    """[n_classes] of the rows of a class, the share answered as it; NaN where there is none."""
    return _share(np.diag(counts), counts.sum(axis=1))


def f1(counts: np.ndarray) -> np.ndarray:
    """[n_classes] the harmonic mean of precision and recall; 0 where no row of a class was found, NaN where it has none."""
    return _share(2 * np.diag(counts), counts.sum(axis=0) + counts.sum(axis=1))


def balanced_accuracy(counts: np.ndarray) -> float:
    """The mean recall of the classes that have rows."""
    return float(np.nanmean(recall(counts)))


def macro_f1(counts: np.ndarray) -> float:
    """The mean F1 of the classes that have rows or were answered."""
    return float(np.nanmean(f1(counts)))


def matthews(counts: np.ndarray) -> float:
    """Matthews' correlation of classes and answers; 0 where either is always the same."""
    truth, answer, n = counts.sum(axis=1).astype(float), counts.sum(axis=0).astype(float), float(counts.sum())
    size = np.sqrt((n * n - truth @ truth) * (n * n - answer @ answer))
    return float((np.trace(counts) * n - truth @ answer) / size) if size > 0 else 0.0


# --- of rows -------------------------------------------------------------------------------------------------------------


def log_losses(label: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """−log of the probability of what came true: [n_rows]."""
    return -np.log(np.maximum(probability[np.arange(len(label)), label], LEAST_PROBABILITY))


def brier_scores(label: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """The squared errors of the probabilities: [n_rows]; of two classes only one is counted."""
    error = probability - (label[:, None] == np.arange(probability.shape[1]))
    return (error**2).sum(axis=1) / (2 if probability.shape[1] == 2 else 1)


def area_under_curve(is_positive: np.ndarray, score: np.ndarray, weight: np.ndarray | None = None) -> float:
    """The chance that a positive row scores higher than a negative one, ties counting half; NaN where one is lacking.

    >>> area_under_curve(np.array([False, False, True, True]), np.array([0.1, 0.4, 0.35, 0.8]))
    0.75
    """
    weight = np.ones(len(score)) if weight is None else weight
    values, place = np.unique(score, return_inverse=True)
    return area_of_counts(*(np.bincount(place, weight * side, len(values)) for side in (is_positive, ~is_positive)))


def area_of_counts(positive: np.ndarray, negative: np.ndarray) -> float:
    """The same, of the weights of positive and of negative rows by ascending score."""
    below = np.cumsum(negative) - negative / 2
    size = positive.sum() * negative.sum()
    return float(positive @ below / size) if size > 0 else np.nan


def with_curves(n_classes: int) -> Sequence[int]:
    """The classes whose probability is held against all others: of two the second."""
    return [1] if n_classes == 2 else range(n_classes)


def mean_area(areas: Sequence[float]) -> float:
    """The mean of the areas that are known."""
    known = [area for area in areas if not np.isnan(area)]
    return float(np.mean(known)) if known else np.nan


def _auc(answers: ScoredRows) -> float:
    """The area under the ROC curve; with more than two classes the mean over each class against the rest."""
    if answers.probability is None:
        return np.nan
    tested = with_curves(answers.probability.shape[1])
    return mean_area([area_under_curve(answers.label == c, answers.probability[:, c], answers.weight) for c in tested])


def calibration_inputs(label: np.ndarray, answer: np.ndarray, probability: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The probability that a calibration looks at, and whether it came true.

    Of two classes that of the second; of more, that of the class that was answered.
    """
    if probability.shape[1] == 2:
        return probability[:, 1], label == 1
    return probability[np.arange(len(label)), answer], label == answer


def bins_of(probability: np.ndarray, n_bins: int) -> np.ndarray:
    """int [n_rows]: the bin of each probability, all of equal width."""
    return np.minimum((probability * n_bins).astype(int), n_bins - 1)


def _mean_of(metric: str) -> Metric:
    """The metric that is a mean over rows."""
    return lambda answers: float(np.average(row_losses(metric, answers), weights=answers.weight))


def _by_probability(losses: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[[ScoredRows], np.ndarray]:
    """Losses of labels and probabilities, as losses of answers: NaN where a model gives no probabilities."""
    return lambda answers: _unknown(answers) if answers.probability is None else losses(answers.label, answers.probability)


def _unknown(answers: ScoredRows) -> np.ndarray:
    return np.full(len(answers.label), np.nan)


def _costs(answers: ScoredRows) -> np.ndarray:
    """What each answer costs, the class of least expected cost being answered where probabilities are given: [n_rows]."""
    if answers.costs is None:
        return _unknown(answers)
    answer = answers.answer if answers.probability is None else min_expected_cost_class(answers.probability, answers.costs)
    return answers.costs[answers.label, answer]


def min_expected_cost_class(probability: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """The class of least expected cost of each row: [n_rows]. Sums class by class: a product of matrices would depend on the
    number of rows in its last bits, and so would ties."""
    expected = np.zeros(probability.shape)
    for truth, row in enumerate(costs):
        expected += probability[:, truth, None] * row
    return expected.argmin(axis=1)


def _median_error(answers: ScoredRows) -> float:
    """The median of the absolute errors: the mean of the two in the middle where the weight halves between them."""
    errors = np.abs(answers.label - answers.answer)
    if answers.weight is None:
        return float(np.median(errors))
    order = np.argsort(errors, kind="stable")
    return median_of_counts(errors[order], answers.weight[order])


def median_of_counts(value: np.ndarray, weight: np.ndarray) -> float:
    """The median of ascending values and the weight of each."""
    reached = np.cumsum(weight)
    low, high = np.searchsorted(reached, reached[-1] / 2, "left"), np.searchsorted(reached, reached[-1] / 2, "right")
    return float(value[[low, min(high, len(value) - 1)]].mean())


def _explained(answers: ScoredRows) -> float:
    mean = np.average(answers.label, weights=answers.weight)
    spread = float(np.average((answers.label - mean) ** 2, weights=answers.weight))
    return r2_score(_mean_of("squared error")(answers), spread)


def r2_score(squared_error: float, spread: float) -> float:
    """R², the share of the variance that is explained; NaN where the true numbers are all the same."""
    return 1 - squared_error / spread if spread else np.nan


OF_ROWS: dict[str, Callable[[ScoredRows], np.ndarray]] = {
    "accuracy": lambda answers: (answers.label != answers.answer).astype(float),
    "log loss": _by_probability(log_losses),
    "Brier score": _by_probability(brier_scores),
    "expected cost": _costs,
    "squared error": lambda answers: (answers.label - answers.answer) ** 2,
    "MAE": lambda answers: np.abs(answers.label - answers.answer),
}

CLASSIFICATION: dict[str, Metric] = {
    "accuracy": lambda answers: accuracy(answers.confusion),
    "balanced accuracy": lambda answers: balanced_accuracy(answers.confusion),
    "log loss": _mean_of("log loss"),
    "Brier score": _mean_of("Brier score"),
    "AUC": _auc,
    "F1 (macro)": lambda answers: macro_f1(answers.confusion),
    "MCC": lambda answers: matthews(answers.confusion),
}

REGRESSION: dict[str, Metric] = {
    "RMSE": lambda answers: _mean_of("squared error")(answers) ** 0.5,
    "MAE": _mean_of("MAE"),
    "median error": _median_error,
    "R²": _explained,
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


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
