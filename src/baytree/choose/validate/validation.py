"""How well a model does on rows that it has not learnt from: cross-validation, with intervals and paired tests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from baytree.choose import metrics
from baytree.choose.problem import Problem
from baytree.choose.validate.folds import Folds
from baytree.choose.validate.significance import (
    Interval,
    bootstrap_interval,
    corrected_interval,
    corrected_t,
    mcnemar,
    within,
)
from baytree.choose.validate.trials import Trial, trials
from baytree.show.results import Shown, frame_of
from baytree.show.terminal import aligned, escaped
from baytree.table.labels import Labels


def cross_validate(
    estimator: Any,
    frame: Any,
    target: Any,
    *,
    cv: Any = 10,
    groups: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> CrossValidation:
    """How well an estimator answers for rows that it has not learnt from.

    Parameters
    ----------
    estimator : estimator
        Any classifier or regressor, also a Pipeline: everything in it is learnt anew in each fold, so a selector inside
        never sees the rows that are kept back. Additive models learn by taking the fold's statistics away.
    frame, target :
        A table and the name of its target column, or columns and labels apart.
    cv : int, "loo", float, splitter, or list of (train, test)
        A number of shuffled folds, stratified by class; leave-one-out; a share to hold out; any of scikit-learn's splitters.
    groups : array, optional
        Rows of one group stay together.
    random_state : int
        The seed that shuffles the rows.
    n_jobs : int, optional
        How many threads share the folds; all cores by default. Their number changes no result.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 3.0, 4.0] * 5, "y": ["a", "a", "b", "b"] * 5}
    >>> bt.cross_validate(bt.NaiveBayesClassifier(), rows, "y", cv=5).summary("accuracy").mean
    1.0
    """
    from sklearn.base import is_classifier

    task = "classification" if is_classifier(estimator) else "regression"
    problem = Problem.of(frame, target, task, getattr(estimator, "schema", None)).without_identifiers()
    folds = Folds.of(problem, cv, groups, random_state)
    answered = tuple(trials(estimator, problem, folds.parts, n_jobs))
    return CrossValidation(type(estimator).__name__, problem.label, answered, folds.how)


class PairedTest(NamedTuple):
    """Whether two models that answered for the same rows differ: `difference` is the first less the second."""

    metric: str
    difference: float
    corrected_t: float
    mcnemar: float

    def __str__(self) -> str:
        tests = f"p = {self.corrected_t:.3g} by the corrected resampled t"
        also = "" if np.isnan(self.mcnemar) else f", p = {self.mcnemar:.3g} by McNemar"
        return f"{self.metric}: difference {self.difference:+.4f}, {tests}{also}"


@dataclass(frozen=True, repr=False)
class CrossValidation(Shown):
    """What an estimator answered for the rows kept back in each fold. Prints scores, classes and confusions."""

    name: str
    label: Labels
    trials: tuple[Trial, ...]
    how: str

    @property
    def is_classification(self) -> bool:
        """Whether classes were predicted."""
        return self.label.target.classes is not None

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics that apply."""
        return list(metrics.CLASSIFICATION if self.is_classification else metrics.REGRESSION)

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
            scores = [self._score(metric, trial.rows, trial.answer, trial.probability) for trial in self.trials]
            self._known_scores[metric] = np.array(scores)
        return self._known_scores[metric]

    def mean(self, metric: str) -> float:
        """The mean of the folds, or the score of all answers together where folds have none of their own."""
        if self.is_by_fold:
            scores = self.scores(metric)
            return float(np.nanmean(scores)) if np.isfinite(scores).any() else np.nan
        return self._score(metric, *self.pooled)

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
        rows, answer, probability = self.pooled

        def score(drawn: np.ndarray) -> float:
            return self._score(metric, rows[drawn], answer[drawn], None if probability is None else probability[drawn])

        return bootstrap_interval(score, len(rows))

    @cached_property
    def pooled(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Rows, answers and probabilities of all folds together."""
        rows = np.concatenate([trial.rows for trial in self.trials])
        answer = np.concatenate([trial.answer for trial in self.trials])
        if any(trial.probability is None for trial in self.trials):
            return rows, answer, None
        return rows, answer, np.concatenate([trial.probability for trial in self.trials])

    @property
    def confusion(self) -> np.ndarray:
        """Rows by their class (first axis) and the class answered (second axis)."""
        rows, answer, _ = self.pooled
        n = len(self.label.target.classes)
        return np.bincount(self.label.values[rows] * n + answer, minlength=n * n).reshape(n, n)

    def calibration(self, bins: int = 10) -> dict[str, np.ndarray]:
        """Predicted probabilities, in bins of equal width, against what happened.

        Of two classes the probability of the second is looked at; of more, that of the class that was answered.
        """
        rows, answer, probability = self.pooled
        if probability is None:
            raise ValueError(f"{self.name} gives no probabilities")
        if probability.shape[1] == 2:
            predicted, happened = probability[:, 1], self.label.values[rows] == 1
        else:
            predicted, happened = probability[np.arange(len(rows)), answer], self.label.values[rows] == answer
        place = np.minimum((predicted * bins).astype(int), bins - 1)
        n = np.bincount(place, minlength=bins)
        used = n > 0
        means = [np.bincount(place, values, bins)[used] / n[used] for values in (predicted, happened)]
        return {"predicted": means[0], "observed": means[1], "rows": n[used]}

    def against(self, other: CrossValidation, metric: str | None = None) -> PairedTest:
        """The paired tests between this model and another that answered for the same rows in the same folds."""
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

    def plot(self, ax: Any = None) -> Any:
        """The calibration curve of a classifier, or the scores of the folds of a regression; needs matplotlib."""
        from baytree.show import charts

        if self.is_classification:
            points = self.calibration()
            return charts.calibration(points["predicted"], points["observed"], points["rows"], self.name, ax)
        scores = self.scores("RMSE")
        return charts.bars([f"fold {k}" for k in range(len(scores))], scores.tolist(), f"RMSE of {self.name}", ax)

    def __str__(self) -> str:
        rows = [[metric, *map(_number, self.summary(metric))] for metric in self.metrics]
        head = f"{self.name} for {escaped(self.label.target.name)}: {self.how}"
        table = aligned(["", "mean", "low", "high"], rows)
        of_classes = [self._classes_in_words(), self._confusion_in_words()] if self.is_classification else []
        return "\n\n".join([head, table, self._interval_in_words, *of_classes])

    @property
    def _interval_in_words(self) -> str:
        by = "corrected resampled t over the folds" if self.is_by_fold else "bootstrap over all answers"
        return f"low and high: 95 % interval, {by}"

    def _classes_in_words(self) -> str:
        cells = self.confusion
        with np.errstate(invalid="ignore", divide="ignore"):
            precision, recall = np.diag(cells) / cells.sum(axis=0), np.diag(cells) / cells.sum(axis=1)
            f1 = 2 * precision * recall / (precision + recall)
        columns = (self.label.target.classes, cells.sum(axis=1).tolist(), precision, recall, f1)
        rows = [[str(label), n, _number(p), _number(r), _number(f)] for label, n, p, r, f in zip(*columns, strict=True)]
        return aligned(["class", "rows", "precision", "recall", "F1"], rows)

    def _confusion_in_words(self) -> str:
        names = [escaped(str(label)) for label in self.label.target.classes]
        rows = [[name, *cells] for name, cells in zip(names, self.confusion.tolist(), strict=True)]
        return aligned(["is, answered as", *names], rows)

    def _score(self, metric: str, rows: np.ndarray, answer: np.ndarray, probability: np.ndarray | None) -> float:
        return metrics.score(metric, self.label.values[rows], answer, probability)


def _number(value: float) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:.4f}" if abs(value) < 1000 else f"{value:.6g}"
