"""Evaluation of a fitted model on rows with a known target, in memory or remote.

`evaluate_rows` computes an additive statistic (`Confusion` or `Residuals`) of one frame or batch; `evaluate` adds it up over
the table and returns an `Evaluation`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from baytree import param_validation
from baytree._typing import CostsLike, FrameLike, TargetLike, WeightsLike
from baytree.base.labelled_rows import column_named, read_target
from baytree.base.predictor import FittedEstimator, Predictor, is_without_rows
from baytree.data.encoding.read_target import read_part_weights, weight_column
from baytree.data.encoding.sample import warn_of_unlabelled
from baytree.data.encoding.table import check_shape
from baytree.data.frames import read
from baytree.display.results import TextResult, frame_of
from baytree.engine.aggregates import AggregateSource
from baytree.engine.dispatch import remote_source
from baytree.metrics import text
from baytree.metrics.confusion import Confusion
from baytree.metrics.decision_curve import THRESHOLDS, DecisionCurve
from baytree.metrics.residuals import Residuals

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Evaluation(TextResult):
    """Quality of a model's predictions for a table. Prints scores, per-class metrics and the confusion matrix.

    Attributes
    ----------
    name : str
        Name of the model.
    target : str
        Name of the target.
    classes : tuple
        Classes; empty for a numeric target.
    n_rows : int
        Number of rows with a known target and a nonzero weight.
    scores : dict
        All metrics by name, such as ``scores["AUC"]``; the names are those of `cross_validate`.
    confusion : ndarray of shape (n_classes, n_classes)
        Confusion matrix of rows or weights: true class (first axis), predicted class (second axis).
    """

    name: str
    target: str
    classes: tuple
    counted: Judged

    @property
    def n_rows(self) -> int:
        """Number of evaluated rows."""
        return self.counted.n_rows

    @property
    def scores(self) -> dict[str, float]:
        """All metrics by name."""
        return self.counted.scores

    @property
    def confusion(self) -> np.ndarray:
        """Confusion matrix of rows or weights: true class (first axis), predicted class (second axis)."""
        return self._of_classes.counts

    def calibration(self) -> dict[str, np.ndarray]:
        """Calibration curve: mean predicted probability and observed frequency in ten bins of equal width.

        For two classes, of the probability of the second; for more, of the probability of the predicted class.
        """
        return self._of_classes.calibration

    def decision_curve(self, label: object = None, thresholds: ArrayLike | None = None) -> DecisionCurve:
        """Net benefit of acting on rows by the probability of a class (Vickers and Elkin 2006).

        Parameters
        ----------
        label : object, optional
            Class that the action is meant for; by default the second of two classes.
        thresholds : array-like, optional
            Probabilities from which on rows are acted on, above 0 and below 1; by default 0.01, 0.02, …, 0.99.
        """
        counted, label = self._of_classes, self._act_on(label)
        return counted.decision_curve(self.classes.index(label), label, _thresholds(thresholds))

    def _act_on(self, label: object) -> object:
        if label is None and len(self.classes) == 2:
            return self.classes[1]
        found = next((known for known in self.classes if known == label or str(known) == label), None)
        if found is None:
            raise ValueError(f"label={label!r}: give one of the classes {', '.join(map(repr, self.classes))}")
        return found

    def roc(self, label: object = None) -> dict[str, np.ndarray]:
        """ROC curve of a class against the rest: false and true positive rate, and threshold, by descending threshold.

        By default of the second of two classes.
        """
        return self._of_classes.roc(self.classes.index(self._act_on(label)))

    def precision_recall(self, label: object = None) -> dict[str, np.ndarray]:
        """Precision and recall of a class against the rest, and threshold, by descending threshold."""
        return self._of_classes.precision_recall(self.classes.index(self._act_on(label)))

    def plot_roc(self, ax: Axes | None = None) -> Axes:
        """Plot ROC curves: of the second of two classes, or of each class against the rest; needs matplotlib."""
        from baytree.metrics import curves

        return curves.plot_roc(self.name, self.classes, self._of_classes, ax)

    def plot_precision_recall(self, ax: Axes | None = None) -> Axes:
        """Plot precision against recall; dashed lines are the proportions of the classes. Needs matplotlib."""
        from baytree.metrics import curves

        return curves.plot_precision_recall(self.name, self.classes, self._of_classes, ax)

    def plot_lift(self, ax: Axes | None = None) -> Axes:
        """Plot the lift among the rows that are ranked first by probability; needs matplotlib."""
        from baytree.metrics import curves

        return curves.plot_lift(self.name, self.classes, self._of_classes, ax)

    def plot_confusion(self, ax: Axes | None = None) -> Axes:
        """Plot the confusion matrix as a heat map (rows: actual, columns: predicted); needs matplotlib."""
        from baytree.rendering.plots.evaluation_plots import plot_confusion_matrix

        return plot_confusion_matrix(self.confusion, [str(label) for label in self.classes], self.name, ax)

    def to_frame(self) -> Any:
        """Data frame with one row per metric."""
        return frame_of({"metric": list(self.scores), "score": list(self.scores.values())})

    def to_dict(self) -> dict[str, Any]:
        """Scores and confusion matrix (None for numbers) as plain values."""
        confusion = self.confusion.tolist() if self.classes else None
        head = {"model": self.name, "target": self.target, "classes": list(self.classes), "rows": self.n_rows}
        return {**head, "scores": dict(self.scores), "confusion": confusion}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the calibration curve; needs matplotlib."""
        from baytree.rendering.plots.charts import calibration

        points = self.calibration()
        return calibration(points["predicted"], points["observed"], points["rows"], self.name, ax)

    def __str__(self) -> str:
        return text.of(self.counted, [str(label) for label in self.classes])

    def report(self, path: str | os.PathLike = "evaluation.html") -> Path:
        """Write one self-contained HTML page: scores with the baseline, confusion matrix, curves, calibration, errors."""
        from baytree.file_io.atomic import write_file
        from baytree.metrics.evaluation_page import evaluation_page
        from baytree.rendering.page.html_page import to_html

        page = to_html(evaluation_page(self.name, self.target, self.classes, self.counted))
        write_file(path, page.encode("utf-8", "backslashreplace"))
        return Path(path)

    def _repr_html_(self) -> str:
        from baytree.display.results import stacked, table  # only notebooks need it

        scores = [[name, f"{score:.4g}"] for name, score in self.scores.items()]
        views = [table(f"{self.name} for {self.target}: {self.n_rows:,} rows", ["metric", "score"], scores)]
        if self.classes:
            names = [str(label) for label in self.classes]
            rows = [[name, *(f"{count:,.6g}" for count in row)] for name, row in zip(names, self.confusion, strict=True)]
            views.append(table("Confusion matrix (rows: actual, columns: predicted)", ["", *names], rows))
        return stacked(views)

    @property
    def _of_classes(self) -> Confusion:
        if not isinstance(self.counted, Confusion):
            raise ValueError(
                f"{self.name} predicts numbers, which have no confusion matrix and no calibration; use `scores`"
            )
        return self.counted


def evaluate(
    model: FittedEstimator | Predictor,
    frame: FrameLike,
    target: TargetLike = None,
    *,
    sample_weight: WeightsLike = None,
    costs: CostsLike = None,
) -> Evaluation:
    """Evaluate a fitted model on rows whose target is known.

    Use rows that were not in the training data, otherwise the scores are optimistic. All scores come from exact sums that
    add up over the parts of a table, so they are the same from memory, from disk, from Dask and from Spark. Of more than
    65,536 different probabilities, the area under the curve uses the first nine bits of each (of its distance from 1, if
    that is smaller); the median error uses the first twelve bits of as many different errors.

    Parameters
    ----------
    model : estimator
        Fitted model of this library.
    frame : data frame, dict of columns, array, `baytree.scan`, Dask or Spark frame
        Rows, in memory or remote.
    target : str or array, optional
        Name of the target column, or the labels; by default the target of the model.
    sample_weight : array or str, optional
        Weight of each row, or the name of the weight column.
    costs : matrix or dict of dicts, optional
        Cost of predicting one class when another is true, by default the model's own. The expected cost is that of
        predicting the class of minimum expected cost, by the probabilities of the model.

    Returns
    -------
    Evaluation
        Prints as a table; use `scores`, `confusion`, `calibration`, `decision_curve` and `to_frame` for the numbers.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 3.0, 4.0] * 5, "y": ["a", "a", "b", "b"] * 5}
    >>> model = bt.NaiveBayesClassifier().fit(rows, "y")
    >>> bt.evaluate(model, {"x": [1.0, 2.0, 4.0, 2.0], "y": ["a", "a", "b", "b"]}).scores["accuracy"]
    0.75
    """
    predictor = model if isinstance(model, Predictor) else model._predictor
    predictor.check_target()
    target_name = predictor.schema.target.name if target is None else target
    cost_matrix = costs_of(predictor, costs)
    source = remote_source(frame)
    if source is None:
        counted = evaluate_rows(predictor, target_name, sample_weight, cost_matrix, frame)
    elif isinstance(source, AggregateSource):
        counted = _evaluate_in_database(predictor, source, target_name, sample_weight, cost_matrix)
    else:
        _refuse_arrays(target_name, sample_weight)
        counted = source.map_reduce(partial(evaluate_rows, predictor, target_name, sample_weight, cost_matrix))
    _check_counts(counted, target_name if isinstance(target_name, str) else predictor.schema.target.name)
    model_target = predictor.schema.target
    return Evaluation(predictor.name, model_target.name, model_target.classes or (), counted)


def _evaluate_in_database(
    predictor: Predictor, rows: Any, target: TargetLike, sample_weight: WeightsLike, costs: np.ndarray | None
) -> Confusion:
    """Statistic of the predictions for rows of a database, from the counts of equal predictions."""
    from baytree.exporters.in_database import counted_predictions  # slow import, only needed for databases

    if not isinstance(target, str) or sample_weight is not None or predictor.schema.target.classes is None:
        raise ValueError(
            "evaluate in a database needs a classifier and the name of the target column, and takes no weights; for others "
            "export the rows and use bt.scan"
        )
    groups = counted_predictions(predictor, rows, target)
    given = rows.labels_of(target, [group[0] for group in groups])
    labels = read_target(predictor.schema.target, given)
    if labels.unseen is not None:
        raise ValueError(f"column {target!r}: class {labels.unseen!r} was not seen in training; drop such rows")
    counts = np.array([group[-1] for group in groups], np.float64)
    known = labels.is_known
    probability = np.array([group[1:-1] for group in groups], np.float64).reshape(len(groups), -1)[known]
    n_unlabelled = int(counts[~known].sum())
    truth, choice = labels.values[known], predictor.choose(probability)
    return Confusion.of_groups(truth, choice, probability, counts[known], costs, n_unlabelled)


def _thresholds(given: ArrayLike | None) -> np.ndarray:
    if given is None:
        return THRESHOLDS
    thresholds = np.atleast_1d(np.asarray(given, float))
    if thresholds.ndim != 1 or not ((thresholds > 0) & (thresholds < 1)).all():
        raise ValueError(f"thresholds={given!r}: give probabilities above 0 and below 1")
    return thresholds


def _refuse_arrays(target: TargetLike, sample_weight: WeightsLike) -> None:
    for given, what in ((target, "target"), (sample_weight, "sample_weight")):
        if given is not None and not isinstance(given, str):
            raise ValueError(f"remote rows need their {what} as a column: give its name")


def _check_counts(counted: Judged, target: str) -> None:
    if counted.n_unlabelled and counted.n_rows:
        warn_of_unlabelled(counted.n_unlabelled, target)
    if not counted.n_rows:
        raise ValueError(f"no row has a value in the target column {target!r} and a nonzero weight")


Judged = Confusion | Residuals


def evaluate_rows(
    predictor: Predictor, y: TargetLike, sample_weight: WeightsLike, costs: np.ndarray | None, frame: FrameLike
) -> Judged:
    """Statistic of a model's predictions for rows; rows without a target or of weight 0 are skipped.

    `y` is the labels or the name of their column, `sample_weight` likewise; `costs` is [n_classes, n_classes] or None.
    """
    target = predictor.schema.target
    if is_without_rows(frame):
        return _without_rows(predictor, 0, costs)
    labels = read_target(target, column_named(frame, y) if isinstance(y, str) else y)
    check_shape(read(frame), len(labels.values), predictor.name)
    if labels.unseen is not None:
        raise ValueError(f"column {target.name!r}: class {labels.unseen!r} was not seen in training; drop such rows")
    weight, is_unweighted = _weights(sample_weight, frame, len(labels.values))
    is_counted = labels.is_known & (weight > 0)
    n_unlabelled = int((~labels.is_known).sum())
    if not is_counted.any():
        return _without_rows(predictor, n_unlabelled, costs)
    table = predictor.encoded(frame)
    table = table if is_counted.all() else table.take(np.flatnonzero(is_counted))
    truth, row_weights = labels.values[is_counted], None if is_unweighted else weight[is_counted]
    predicted = predictor.model.predict(table)
    if target.classes is None:
        result: Judged = Residuals.of(truth, predicted[:, 0], row_weights)
    else:
        result = Confusion.of(truth, predictor.predict_codes(table), predicted, row_weights, costs)
    return msgspec.structs.replace(result, n_unlabelled=n_unlabelled)


def costs_of(predictor: Predictor, costs: CostsLike) -> np.ndarray | None:
    """Validated misclassification costs, by default the model's own, or None. float64 [n_classes, n_classes]"""
    target = predictor.schema.target
    if costs is not None and target.classes is None:
        raise ValueError(f"costs apply to classes, but the target {target.name!r} is a number; omit costs")
    checked = param_validation.costs(costs, target.classes or ())
    if checked is None:
        return None if predictor.costs is None else predictor.costs.amounts
    return checked.amounts


def _without_rows(predictor: Predictor, n_unlabelled: int, costs: np.ndarray | None) -> Judged:
    classes = predictor.schema.target.classes
    return Residuals.none(n_unlabelled) if classes is None else Confusion.none(len(classes), n_unlabelled, costs)


def _weights(given: WeightsLike, frame: FrameLike, n_rows: int) -> tuple[np.ndarray, bool]:
    return read_part_weights(weight_column(read(frame), given) if isinstance(given, str) else given, n_rows)
