"""How well a fitted model answers for a table in memory, on disk, on Dask or on Spark: statistics that add up over parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from baytree.choose import verdicts
from baytree.choose.confusion import Confusion
from baytree.choose.decision_curve import THRESHOLDS, DecisionCurve
from baytree.choose.judging import Judged, costs_of, judged
from baytree.engine.engines import elsewhere
from baytree.given import CostsLike, FrameLike, TargetLike, WeightsLike
from baytree.predictor import Predictor
from baytree.show.results import Shown, frame_of
from baytree.table.sample import warn_of_unlabelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Fitted(Protocol):
    """A fitted estimator."""

    @property
    def _predictor(self) -> Predictor: ...


@dataclass(frozen=True, repr=False)
class Evaluation(Shown):
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
        from baytree.show.pictures.charts import calibration

        points = self.calibration()
        return calibration(points["predicted"], points["observed"], points["rows"], self.name, ax)

    def __str__(self) -> str:
        return verdicts.of(self.counted, [str(label) for label in self.classes])

    @property
    def _of_classes(self) -> Confusion:
        if not isinstance(self.counted, Confusion):
            raise ValueError(f"{self.name} predicts numbers: they have no confusion and no calibration; look at `scores`")
        return self.counted


def evaluate(
    model: Fitted | Predictor,
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
    far = elsewhere(frame)
    if far is None:
        counted = judged(predictor, named, sample_weight, amounts, frame)
    else:
        _refuse_arrays(named, sample_weight)
        counted = far.total(partial(judged, predictor, named, sample_weight, amounts))
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
