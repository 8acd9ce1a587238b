"""What an estimator answered for the rows kept back: scores with intervals, confusions, calibration and paired tests."""

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
    """What an estimator answered for the rows kept back in each fold. Prints scores, classes and confusions.

    Attributes
    ----------
    name : str
        The name of the estimator.
    label : Labels
        The true labels of all rows.
    trials : tuple of Trial
        The answers of each fold.
    how : str
        How the folds were made, in words.
    weight : ndarray or None
        How much each row counts; None where each counts once.
    costs : ndarray or None
        What each mistake costs; None where all cost the same.
    classes : list of str
        The names of the classes; none where the target is a number.
    metrics : list of str
        The metrics that apply, for `scores`, `mean` and `summary`.
    confusion : ndarray of shape (n_classes, n_classes)
        How often each class (rows) was taken for each (columns).
    pooled : tuple of ndarray
        The rows that were answered for, their answers, and the probabilities (None in regression).
    seconds : float
        How long learning one fold took.
    ratio : float
        The number of rows answered for over that of rows learnt from.
    is_classification, is_by_fold : bool
        Whether classes were predicted; whether each fold has a score of its own.
    """

    name: str
    label: Labels
    trials: tuple[FoldPrediction, ...]
    how: str
    weight: np.ndarray | None = None  # of each row of the table; None where each counts once
    costs: np.ndarray | None = None  # [n_classes, n_classes] of mistakes; None where all cost the same

    @classmethod
    def of(
        cls,
        name: str,
        problem: SupervisedProblem,
        trials: Sequence[FoldPrediction],
        how: str,
        costs: np.ndarray | None = None,
    ) -> CrossValidation:
        """The result of these trials on the folds of a problem."""
        return cls(name, problem.label, tuple(trials), how, None if problem.is_unweighted else problem.weight, costs)

    @property
    def is_classification(self) -> bool:
        """Whether classes were predicted."""
        return self.label.target.classes is not None

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics that apply."""
        own = metrics.CLASSIFICATION if self.is_classification else metrics.REGRESSION
        return [*own, *(() if self.costs is None else metrics.WITH_COSTS)]

    @property
    def is_by_fold(self) -> bool:
        """Whether each fold has a score of its own; otherwise all answers are scored together."""
        return len(self.trials) > 1 and min(len(trial.rows) for trial in self.trials) > 1

    @property
    def ratio(self) -> float:
        """n_test / n_train, on average."""
        return float(np.mean([len(trial.rows) / trial.n_train for trial in self.trials]))

    @property
    def seconds(self) -> float:
        """The mean time of learning one fold."""
        return float(np.mean([trial.seconds for trial in self.trials]))

    def scores(self, metric: str) -> np.ndarray:
        """The score of each fold."""
        if metric not in self._known_scores:
            answers = (self._answers(trial.rows, trial.answer, trial.probability) for trial in self.trials)
            self._known_scores[metric] = np.array([metrics.score(metric, given) for given in answers])
        return self._known_scores[metric]

    def losses(self, metric: str) -> np.ndarray:
        """The loss in each fold, or of each row where folds have no score of their own: less is better."""
        if self.is_by_fold:
            return self.scores(metric) if metric in metrics.LOSSES else 1 - self.scores(metric)
        answers = self._answers(*self.pooled)
        losses = metrics.row_losses(metric, answers)
        return losses if answers.weight is None else losses * answers.weight / answers.weight.mean()

    def mean(self, metric: str) -> float:
        """The mean of the folds, or the score of all answers together where folds have none of their own."""
        if self.is_by_fold:
            scores = self.scores(metric)
            return float(np.nanmean(scores)) if np.isfinite(scores).any() else np.nan
        return metrics.score(metric, self._answers(*self.pooled))

    def summary(self, metric: str) -> Interval:
        """The mean of the folds and its 95 % interval by the corrected resampled t.

        Where folds are single rows, or there is only one, all answers are scored together and the interval is a bootstrap.
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
        return within(corrected_interval(self.scores(metric), self.ratio), metrics.RANGES[metric])

    def _over_answers(self, metric: str) -> Interval:
        answers = self._answers(*self.pooled)
        return bootstrap_interval(lambda drawn: metrics.score(metric, answers.take(drawn)), len(answers.label))

    def _answers(self, rows: np.ndarray, answer: np.ndarray, probability: np.ndarray | None) -> metrics.Answers:
        return metrics.ScoredRows(self.label.values[rows], answer, probability, self._weights(rows), self.costs)

    def _weights(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.weight is None else self.weight[rows]

    @cached_property
    def pooled(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Rows, answers and probabilities of all folds together."""
        rows = np.concatenate([trial.rows for trial in self.trials])
        answer = np.concatenate([trial.answer for trial in self.trials])
        given = [trial.probability for trial in self.trials if trial.probability is not None]
        return rows, answer, np.concatenate(given) if len(given) == len(self.trials) else None

    @property
    def confusion(self) -> np.ndarray:
        """Rows, or their weights, by their class (first axis) and the class answered (second axis)."""
        rows, answer, _ = self.pooled
        return metrics.confusion(self.label.values[rows], answer, len(self.classes), self._weights(rows))

    @property
    def classes(self) -> list[str]:
        """The names of the classes."""
        return list(map(str, self.label.target.classes or ()))

    def calibration(self, bins: int = 10) -> dict[str, np.ndarray]:
        """Predicted probabilities, in bins of equal width, against what happened.

        Of two classes the probability of the second is looked at; of more, that of the class that was answered.
        """
        rows, answer, probability = self.pooled
        if probability is None:
            raise ValueError(f"{self.name} gives no probabilities")
        predicted, happened = metrics.calibration_inputs(self.label.values[rows], answer, probability)
        place = metrics.bins_of(predicted, bins)
        weight = np.ones(len(rows)) if self.weight is None else self.weight[rows]
        n, total = np.bincount(place, minlength=bins), np.bincount(place, weight, bins)
        used = n > 0
        means = [np.bincount(place, weight * values, bins)[used] / total[used] for values in (predicted, happened)]
        return {"predicted": means[0], "observed": means[1], "rows": n[used]}

    def reject_curve(self) -> RejectCurve:
        """How accurate the answers are where only the surest of them are given, of all rows that were kept back."""
        from baytree.metrics.rejection_curve import curve_of

        rows, answer, probability = self.pooled
        if probability is None:
            raise ValueError(f"{self.name} gives no probabilities")
        weight = np.ones(len(rows)) if self.weight is None else self.weight[rows]
        sure = probability[np.arange(len(rows)), answer]
        return curve_of("confidence", sure, self.label.values[rows] == answer, weight)

    def against(self, other: CrossValidation, metric: str | None = None) -> PairedTest:
        """The paired tests between this model and another that answered for the same rows in the same folds.

        McNemar's test counts rows, whatever they weigh.
        """
        metric = metric or self.metrics[0]
        if [trial.rows.tolist() for trial in self.trials] != [trial.rows.tolist() for trial in other.trials]:
            raise ValueError("the two models were not tried on the same folds; give both the same cv and random_state")
        differences = self.scores(metric) - other.scores(metric)
        rows, answer, _ = self.pooled
        right = [self.label.values[rows] == given for given in (answer, other.pooled[1])]
        exact = mcnemar(*right) if self.is_classification and len(np.unique(rows)) == len(rows) else np.nan
        return PairedTest(metric, float(np.nanmean(differences)), corrected_t(differences, self.ratio), exact)

    def to_frame(self) -> Any:
        """A data frame, one row per fold."""
        columns = {metric: self.scores(metric).tolist() for metric in self.metrics}
        seconds = [trial.seconds for trial in self.trials]
        return frame_of({"fold": list(range(len(self.trials))), **columns, "seconds": seconds})

    def plot(self, ax: Axes | None = None) -> Axes:
        """The calibration curve of a classifier, or the scores of the folds of a regression; needs matplotlib."""
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
        from baytree.display.results import table  # only a notebook asks for it

        return table(self._head, _HEADER, self._rows, [self._interval_in_words])

    @property
    def _head(self) -> str:
        return f"{self.name} for {self.label.target.name}: {self.how}"

    @property
    def _rows(self) -> list[list[str]]:
        return [[metric, *map(_number, self.summary(metric))] for metric in self.metrics]

    @property
    def _interval_in_words(self) -> str:
        by = "corrected resampled t over the folds" if self.is_by_fold else "bootstrap over all answers"
        return f"low and high: 95 % interval, {by}"

    def _classes_in_words(self) -> list[str]:
        if not self.is_classification:
            return []
        counts = self.confusion
        return [confusion.by_class(counts, self.classes), confusion.cells(counts, self.classes, "is, answered as")]


def _number(value: float) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:.4f}" if abs(value) < 1000 else f"{value:.6g}"
