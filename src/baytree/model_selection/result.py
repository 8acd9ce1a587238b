"""Result of a cross-validation: scores with intervals, confusion matrix, calibration and paired tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from baytree.data.encoding.labels import Labels
from baytree.display.results import TextResult, frame_of
from baytree.display.terminal import aligned, escaped
from baytree.metrics import confusion
from baytree.metrics import scores as metrics
from baytree.model_selection.problem import SupervisedProblem
from baytree.model_selection.significance import (
    Interval,
    PairedTest,
    bootstrap_interval,
    corrected_interval,
    corrected_t,
    mcnemar,
    within,
)
from baytree.model_selection.trials import FoldPrediction

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from baytree.metrics.rejection_curve import RejectCurve

_HEADER = ["", "mean", "low", "high"]


@dataclass(frozen=True, repr=False)
class CrossValidation(TextResult):
    """Predictions of an estimator for the held-out rows of each fold. Prints scores, per-class metrics and confusion matrix.

    Attributes
    ----------
    name : str
        Name of the estimator.
    label : Labels
        True labels of all rows.
    trials : tuple of FoldPrediction
        Predictions of each fold.
    how : str
        Description of the folds.
    weight : ndarray or None
        Weight of each row; None if every row counts once.
    costs : ndarray or None
        Misclassification costs; None if all are equal.
    classes : list of str
        Names of the classes; empty for a numeric target.
    metrics : list of str
        Metrics that apply, for `scores`, `mean` and `summary`.
    confusion : ndarray of shape (n_classes, n_classes)
        Confusion matrix (rows: true class, columns: predicted class).
    pooled : tuple of ndarray
        Held-out rows, their predictions, and the probabilities (None in regression).
    seconds : float
        Mean training time of one fold.
    ratio : float
        Number of test rows divided by the number of training rows.
    is_classification, is_by_fold : bool
        Whether the target is a class; whether each fold has a score of its own.
    """

    name: str
    label: Labels
    trials: tuple[FoldPrediction, ...]
    how: str
    weight: np.ndarray | None = None  # of each row of the table; None if every row counts once
    costs: np.ndarray | None = None  # [n_classes, n_classes]; None if all mistakes cost the same

    @classmethod
    def of(
        cls,
        name: str,
        problem: SupervisedProblem,
        trials: Sequence[FoldPrediction],
        how: str,
        costs: np.ndarray | None = None,
    ) -> CrossValidation:
        """Result of the predictions for the folds of a problem."""
        return cls(name, problem.label, tuple(trials), how, None if problem.is_unweighted else problem.weight, costs)

    @property
    def is_classification(self) -> bool:
        """Whether the target is a class."""
        return self.label.target.classes is not None

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics that apply."""
        applicable = metrics.CLASSIFICATION if self.is_classification else metrics.REGRESSION
        return [*applicable, *(() if self.costs is None else metrics.WITH_COSTS)]

    @property
    def is_by_fold(self) -> bool:
        """Whether each fold has a score of its own; otherwise all predictions are scored together."""
        return len(self.trials) > 1 and min(len(trial.rows) for trial in self.trials) > 1

    @property
    def ratio(self) -> float:
        """Mean of n_test / n_train."""
        return float(np.mean([len(trial.rows) / trial.n_train for trial in self.trials]))

    @property
    def seconds(self) -> float:
        """Mean training time of one fold."""
        return float(np.mean([trial.seconds for trial in self.trials]))

    def scores(self, metric: str) -> np.ndarray:
        """Score of each fold."""
        if metric not in self._known_scores:
            scored = (self._answers(trial.rows, trial.answer, trial.probability) for trial in self.trials)
            self._known_scores[metric] = np.array([metrics.score(metric, rows) for rows in scored])
        return self._known_scores[metric]

    def losses(self, metric: str) -> np.ndarray:
        """Loss of each fold, or of each row if folds have no score of their own; smaller is better."""
        if self.is_by_fold:
            return self.scores(metric) if metric in metrics.LOSSES else 1 - self.scores(metric)
        scored = self._answers(*self.pooled)
        losses = metrics.row_losses(metric, scored)
        return losses if scored.weight is None else losses * scored.weight / scored.weight.mean()

    def mean(self, metric: str) -> float:
        """Mean score of the folds, or the score of all predictions together if folds have none of their own."""
        if self.is_by_fold:
            scores = self.scores(metric)
            return float(np.nanmean(scores)) if np.isfinite(scores).any() else np.nan
        return metrics.score(metric, self._answers(*self.pooled))

    def overall(self, metric: str) -> float:
        """Mean score of the folds; R² of all predictions together, because that of small folds has no lower bound."""
        return metrics.score(metric, self._answers(*self.pooled)) if metric == "R²" else self.mean(metric)

    def summary(self, metric: str) -> Interval:
        """Mean of the folds and its 95 % interval by the corrected resampled t test.

        R² is that of all predictions together: see `overall`. If folds are single rows, or there is only one, all
        predictions are scored together, with a bootstrap interval.
        """
        if metric not in self._known_summaries:
            self._known_summaries[metric] = self._over_folds(metric) if self.is_by_fold else self._over_answers(metric)
        return self._known_summaries[metric]

    @cached_property
    def _known_scores(self) -> dict[str, np.ndarray]:
        return {}

    @cached_property
    def _known_summaries(self) -> dict[str, Interval]:
        return {}

    def _over_folds(self, metric: str) -> Interval:
        found = self._pooled_r2() if metric == "R²" else corrected_interval(self.scores(metric), self.ratio)
        return within(found, metrics.RANGES[metric])

    def _pooled_r2(self) -> Interval:
        """R² of all predictions together; its interval is that of the mean squared error, divided by the total variance."""
        rows, _, _ = self.pooled
        values, error = self.label.values[rows], corrected_interval(self.scores("squared error"), self.ratio)
        weight = self._weights(rows)
        variance = float(np.average((values - np.average(values, weights=weight)) ** 2, weights=weight))
        r2 = self.overall("R²")
        if not variance:
            return Interval(r2, np.nan, np.nan)
        return Interval(r2, r2 - (error.high - error.mean) / variance, r2 + (error.mean - error.low) / variance)

    def _over_answers(self, metric: str) -> Interval:
        scored = self._answers(*self.pooled)
        return bootstrap_interval(lambda sampled: metrics.score(metric, scored.take(sampled)), len(scored.label))

    def _answers(self, rows: np.ndarray, answer: np.ndarray, probability: np.ndarray | None) -> metrics.Answers:
        return metrics.ScoredRows(self.label.values[rows], answer, probability, self._weights(rows), self.costs)

    def _weights(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.weight is None else self.weight[rows]

    @cached_property
    def pooled(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Rows, predictions and probabilities of all folds together."""
        rows = np.concatenate([trial.rows for trial in self.trials])
        answer = np.concatenate([trial.answer for trial in self.trials])
        probabilities = [trial.probability for trial in self.trials if trial.probability is not None]
        return rows, answer, np.concatenate(probabilities) if len(probabilities) == len(self.trials) else None

    @property
    def confusion(self) -> np.ndarray:
        """Confusion matrix of rows or weights: true class (first axis), predicted class (second axis)."""
        rows, predicted, _ = self.pooled
        return metrics.confusion(self.label.values[rows], predicted, len(self.classes), self._weights(rows))

    @property
    def classes(self) -> list[str]:
        """Names of the classes."""
        return list(map(str, self.label.target.classes or ()))

    def calibration(self, bins: int = 10) -> dict[str, np.ndarray]:
        """Calibration curve: mean predicted probability and observed frequency, in bins of equal width.

        For two classes, of the probability of the second; for more, of the probability of the predicted class.
        """
        rows, predicted_class, probability = self.pooled
        if probability is None:
            raise ValueError(f"{self.name} does not predict probabilities")
        predicted, happened = metrics.calibration_inputs(self.label.values[rows], predicted_class, probability)
        bin_index = metrics.bins_of(predicted, bins)
        weight = np.ones(len(rows)) if self.weight is None else self.weight[rows]
        n, total = np.bincount(bin_index, minlength=bins), np.bincount(bin_index, weight, bins)
        used = n > 0
        means = [np.bincount(bin_index, weight * values, bins)[used] / total[used] for values in (predicted, happened)]
        return {"predicted": means[0], "observed": means[1], "rows": n[used]}

    def reject_curve(self) -> RejectCurve:
        """Rejection curve of all held-out rows: accuracy when only the most certain ones are predicted."""
        from baytree.metrics.rejection_curve import curve_of

        rows, predicted, probability = self.pooled
        if probability is None:
            raise ValueError(f"{self.name} does not predict probabilities")
        weight = np.ones(len(rows)) if self.weight is None else self.weight[rows]
        confidence = probability[np.arange(len(rows)), predicted]
        return curve_of("confidence", confidence, self.label.values[rows] == predicted, weight)

    def against(self, other: CrossValidation, metric: str | None = None) -> PairedTest:
        """Paired tests between this model and another one on the same folds.

        McNemar's test counts rows, regardless of their weights.
        """
        metric = metric or self.metrics[0]
        if [trial.rows.tolist() for trial in self.trials] != [trial.rows.tolist() for trial in other.trials]:
            raise ValueError("the two models were not evaluated on the same folds; give both the same cv and random_state")
        differences = self.scores(metric) - other.scores(metric)
        rows, answer, _ = self.pooled
        right = [self.label.values[rows] == predicted for predicted in (answer, other.pooled[1])]
        exact = mcnemar(*right) if self.is_classification and len(np.unique(rows)) == len(rows) else np.nan
        return PairedTest(metric, float(np.nanmean(differences)), corrected_t(differences, self.ratio), exact)

    def to_frame(self) -> Any:
        """Data frame with one row per fold."""
        columns = {metric: self.scores(metric).tolist() for metric in self.metrics}
        seconds = [trial.seconds for trial in self.trials]
        return frame_of({"fold": list(range(len(self.trials))), **columns, "seconds": seconds})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the calibration curve of a classifier, or the scores of the folds of a regression; needs matplotlib."""
        from baytree.rendering.plots import charts

        if self.is_classification:
            points = self.calibration()
            return charts.calibration(points["predicted"], points["observed"], points["rows"], self.name, ax)
        scores = self.scores("RMSE")
        return charts.bars([f"fold {k}" for k in range(len(scores))], scores.tolist(), f"RMSE of {self.name}", ax)

    def __str__(self) -> str:
        table = aligned(_HEADER, self._rows)
        return "\n\n".join([escaped(self._head), table, self._interval_in_words, *self._classes_in_words()])

    def _repr_html_(self) -> str:
        from baytree.display.results import table  # only notebooks need it

        return table(self._head, _HEADER, self._rows, [self._interval_in_words])

    @property
    def _head(self) -> str:
        return f"{self.name} for {self.label.target.name}: {self.how}"

    @property
    def _rows(self) -> list[list[str]]:
        return [[metric, *map(_number, self.summary(metric))] for metric in self.metrics]

    @property
    def _interval_in_words(self) -> str:
        by = "corrected resampled t over the folds" if self.is_by_fold else "bootstrap over all predictions"
        return f"low and high: 95 % interval, {by}"

    def _classes_in_words(self) -> list[str]:
        if not self.is_classification:
            return []
        counts = self.confusion
        return [confusion.by_class(counts, self.classes), confusion.cells(counts, self.classes, "actual, predicted")]


def _number(value: float) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:.4f}" if abs(value) < 1000 else f"{value:.6g}"
