"""How well a fitted model answers for a table in memory, on disk, on Dask or on Spark: statistics that add up over parts.

Answers of a fitted model held against what is true of rows: statistics of a frame, or of a batch, that add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from baytree import param_validation
from baytree._typing import CostsLike, FrameLike, TargetLike, WeightsLike
from baytree.base.labelled_rows import column_named, read_target
from baytree.base.model import predict_codes
from baytree.base.predictor import Predictor, is_without_rows
from baytree.data.encoding.read_target import read_part_weights, weight_column
from baytree.data.encoding.sample import warn_of_unlabelled
from baytree.data.encoding.table import check_shape
from baytree.data.frames import read
from baytree.display.results import TextResult, frame_of
from baytree.engine.dispatch import remote_source
from baytree.metrics import text
from baytree.metrics.confusion import Confusion
from baytree.metrics.decision_curve import THRESHOLDS, DecisionCurve
from baytree.metrics.residuals import Residuals

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class FittedEstimator(Protocol):
    """A fitted estimator."""

    @property
    def _predictor(self) -> Predictor: ...


@dataclass(frozen=True, repr=False)
class Evaluation(TextResult):
    """How well a model answered for a table. Prints its scores, classes and confusions.

    Attributes
    ----------
    name : str
        The name of the model.
    target : str
        What was predicted.
    classes : tuple
        The classes; none where the target is a number.
    n_rows : int
        How many rows were answered for: those with a known target and a weight that is not 0.
    scores : dict
        Every metric by its name, such as ``scores["AUC"]``: the names are those of `cross_validate`.
    confusion : ndarray of shape (n_classes, n_classes)
        The rows, or their weights, by their class (first axis) and the class answered.
    """

    name: str
    target: str
    classes: tuple
    counted: Judged

    @property
    def n_rows(self) -> int:
        """How many rows were answered for."""
        return self.counted.n_rows

    @property
    def scores(self) -> dict[str, float]:
        """Every metric by its name."""
        return self.counted.scores

    @property
    def confusion(self) -> np.ndarray:
        """Rows, or their weights, by their class (first axis) and the class answered (second axis)."""
        return self._of_classes.counts

    def calibration(self) -> dict[str, np.ndarray]:
        """Predicted probabilities, in ten bins of equal width, against what happened.

        Of two classes the probability of the second is looked at; of more, that of the class that was answered.
        """
        return self._of_classes.calibration

    def decision_curve(self, label: object = None, thresholds: ArrayLike | None = None) -> DecisionCurve:
        """The net benefit of acting on rows by the probability of a class (Vickers and Elkin 2006).

        Parameters
        ----------
        label : object, optional
            The class that an act is meant for: of two classes the second where none is named.
        thresholds : array-like, optional
            The probabilities from which on one acts, above 0 and below 1; every hundredth by default.
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

    def to_frame(self) -> Any:
        """A data frame, one row per metric."""
        return frame_of({"metric": list(self.scores), "score": list(self.scores.values())})

    def plot(self, ax: Axes | None = None) -> Axes:
        """The calibration curve; needs matplotlib."""
        from baytree.rendering.plots.charts import calibration

        points = self.calibration()
        return calibration(points["predicted"], points["observed"], points["rows"], self.name, ax)

    def __str__(self) -> str:
        return text.of(self.counted, [str(label) for label in self.classes])

    @property
    def _of_classes(self) -> Confusion:
        if not isinstance(self.counted, Confusion):
            raise ValueError(f"{self.name} predicts numbers: they have no confusion and no calibration; look at `scores`")
        return self.counted


def evaluate(
    model: FittedEstimator | Predictor,
    frame: FrameLike,
    target: TargetLike = None,
    *,
    sample_weight: WeightsLike = None,
    costs: CostsLike = None,
) -> Evaluation:
    """How well a fitted model answers for rows whose target is known.

    Rows that the model has learnt from make it look better than it is: give others. All scores come from sums that add up
    over the parts of a table, without rounding: they are the same from memory, from disk, from Dask and from Spark. Of more
    than 65,536 different probabilities, the area under the curve takes the first nine bits of each (of what it lacks of 1,
    where that is less), and the median of as many different errors their first twelve.

    Parameters
    ----------
    model : estimator
        A fitted model of this library.
    frame : data frame, dict of columns, array, `baytree.scan`, Dask or Spark frame
        The rows, wherever they are.
    target : str or array, optional
        The name of the target column, or the labels; the model's own target by default.
    sample_weight : array or str, optional
        What each row counts for, or the name of the column that says so.
    costs : matrix or dict of dicts, optional
        What predicting one class costs when another is true, as in trees. The expected cost is that of answering the class
        of least expected cost, by the probabilities of the model.

    Returns
    -------
    Evaluation
        Prints as a table; `scores`, `confusion`, `calibration`, `decision_curve` and `to_frame` have the numbers.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 3.0, 4.0] * 5, "y": ["a", "a", "b", "b"] * 5}
    >>> model = bt.NaiveBayesClassifier().fit(rows, "y")
    >>> bt.evaluate(model, {"x": [1.0, 2.0, 4.0, 2.0], "y": ["a", "a", "b", "b"]}).scores["accuracy"]
    0.75
    """
    predictor = model if isinstance(model, Predictor) else model._predictor
    named = predictor.schema.target.name if target is None else target
    amounts = costs_of(predictor, costs)
    far = remote_source(frame)
    if far is None:
        counted = evaluate_rows(predictor, named, sample_weight, amounts, frame)
    else:
        _refuse_arrays(named, sample_weight)
        counted = far.map_reduce(partial(evaluate_rows, predictor, named, sample_weight, amounts))
    _tell(counted, named if isinstance(named, str) else predictor.schema.target.name)
    known = predictor.schema.target
    return Evaluation(predictor.name, known.name, known.classes or (), counted)


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
            raise ValueError(f"rows that are not in memory have their {what} as a column: give its name")


def _tell(counted: Judged, target: str) -> None:
    if counted.n_unlabelled and counted.n_rows:
        warn_of_unlabelled(counted.n_unlabelled, target)
    if not counted.n_rows:
        raise ValueError(f"no row has a value in the target column {target!r}, and a weight that is not 0")


Judged = Confusion | Residuals


def evaluate_rows(
    predictor: Predictor, y: TargetLike, sample_weight: WeightsLike, costs: np.ndarray | None, frame: FrameLike
) -> Judged:
    """How a model fares on rows whose target is known; those without one, or of weight 0, are passed over.

    `y` is the labels or the name of their column, `sample_weight` likewise; `costs` are of mistakes, [n_classes, n_classes].
    """
    target = predictor.schema.target
    if is_without_rows(frame):
        return _of_none(predictor, 0, costs)
    labels = read_target(target, column_named(frame, y) if isinstance(y, str) else y)
    check_shape(read(frame), len(labels.values), predictor.name)
    if labels.unseen is not None:
        raise ValueError(f"column {target.name!r}: class {labels.unseen!r} was not seen in training; leave such rows out")
    weight, is_unweighted = _weights(sample_weight, frame, len(labels.values))
    counts = labels.is_known & (weight > 0)
    n_unlabelled = int((~labels.is_known).sum())
    if not counts.any():
        return _of_none(predictor, n_unlabelled, costs)
    table = predictor.encoded(frame)
    table = table if counts.all() else table.take(np.flatnonzero(counts))
    truth, own = labels.values[counts], None if is_unweighted else weight[counts]
    answers = predictor.model.predict(table)
    if target.classes is None:
        found: Judged = Residuals.of(truth, answers[:, 0], own)
    else:
        found = Confusion.of(truth, predict_codes(predictor.model, table), answers, own, costs)
    return msgspec.structs.replace(found, n_unlabelled=n_unlabelled)


def costs_of(predictor: Predictor, costs: CostsLike) -> np.ndarray | None:
    """What mistakes cost, checked: [n_classes, n_classes], in the order of the model's classes."""
    target = predictor.schema.target
    if costs is not None and target.classes is None:
        raise ValueError(f"costs are of classes, but {target.name!r} is a number; leave costs out")
    checked = param_validation.costs(costs, target.classes or ())
    return None if checked is None else checked.amounts


def _of_none(predictor: Predictor, n_unlabelled: int, costs: np.ndarray | None) -> Judged:
    classes = predictor.schema.target.classes
    return Residuals.none(n_unlabelled) if classes is None else Confusion.none(len(classes), n_unlabelled, costs)


def _weights(given: WeightsLike, frame: FrameLike, n_rows: int) -> tuple[np.ndarray, bool]:
    return read_part_weights(weight_column(read(frame), given) if isinstance(given, str) else given, n_rows)
