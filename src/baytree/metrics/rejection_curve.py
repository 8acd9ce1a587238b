"""Rejection curve: accuracy against the proportion of rows that are predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from baytree import param_validation
from baytree._typing import FrameLike, TargetLike, WeightsLike
from baytree._warnings import renamed
from baytree.data.encoding.read_target import read_classes
from baytree.data.encoding.sample import read_truth
from baytree.display.results import TextResult, frame_of
from baytree.display.terminal import in_columns
from baytree.estimators.prediction import Classifier, typicality
from baytree.uncertainty.rejection import RejectionCurvePoints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PRINTED_COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3)  # proportions of predicted rows that are printed

BY = ("confidence", "typicality")


@dataclass(frozen=True, repr=False)
class RejectCurve(TextResult):
    """Accuracy against the proportion of rows that are predicted, most certain rows first. Prints an excerpt.

    Attributes
    ----------
    by : {"confidence", "typicality"}
        Measure by which rows are ranked.
    threshold : ndarray
        Smallest confidence or typicality of a predicted row, decreasing.
    coverage : ndarray
        Proportion of rows that are then predicted, increasing to 1.
    accuracy : ndarray
        Proportion of correct predictions among them.
    """

    by: str
    threshold: np.ndarray
    coverage: np.ndarray
    accuracy: np.ndarray

    def to_frame(self) -> Any:
        """Data frame with one row per threshold."""
        return frame_of({self.by: self.threshold, "answered": self.coverage, "accuracy": self.accuracy})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the curve; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; a new figure by default.
        """
        from baytree.rendering.plots.charts import reject_curve

        return reject_curve(self.coverage, self.accuracy, f"rows answered, by {self.by}", ax)

    def __str__(self) -> str:
        indices = sorted(
            {int(np.searchsorted(self.coverage, coverage - 1e-12)) for coverage in _PRINTED_COVERAGES}, reverse=True
        )
        rows = [[f"{self.coverage[k]:.1%}", f"{self.accuracy[k]:.1%}", f"{self.threshold[k]:.4g}"] for k in indices]
        return "\n".join(in_columns([["answered", "right", f"least {self.by}"], *rows], ">"))

    least = renamed("least", "threshold")
    share = renamed("share", "coverage")


def reject_curve(
    model: Classifier,
    frame: FrameLike,
    target: TargetLike = None,
    *,
    by: str = "confidence",
    sample_weight: WeightsLike = None,
) -> RejectCurve:
    """Accuracy of a classifier that predicts only the rows it is most certain of, for every threshold.

    Parameters
    ----------
    model : classifier
        Fitted classifier of this library.
    frame : data frame, dict of columns or array
        Rows that were not in the training data.
    target : str or array, optional
        Name of the target column, or the classes; by default the target of the model.
    by : {"confidence", "typicality"}, default="confidence"
        What `reject` compares with its threshold: the probability of the predicted class, or the typicality of the row.
    sample_weight : array or str, optional
        Weight of each row, or the name of the weight column.

    Returns
    -------
    RejectCurve
        Prints as a table; `share`, `accuracy`, `least`, `to_frame` and `plot` have all points.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 3.0, 4.0, 2.4, 2.6] * 5, "y": ["a", "a", "b", "b", "b", "a"] * 5}
    >>> curve = bt.reject_curve(bt.NaiveBayesClassifier().fit(rows, "y"), rows)
    >>> print(curve)
    answered   right  least confidence
      100.0%   66.7%            0.5597
       66.7%  100.0%            0.7628
       33.3%  100.0%             0.946
    """
    param_validation.one_of("by", by, BY)
    target_name = model.schema_.target.name if target is None else target
    truth, weight = read_truth(frame, target_name, sample_weight, read_classes, type(model).__name__)
    predictor = model._predictor
    table = predictor.encoded(frame)
    probability, choice = predictor.model.predict(table), predictor.predict_codes(table)
    predicted = np.array(model.classes_.tolist(), dtype=object)[choice]
    labels = np.array([*(truth.target.classes or ()), None], dtype=object)[truth.values]
    certainty = probability[np.arange(len(choice)), choice] if by == "confidence" else typicality(model, frame)
    return curve_of(by, certainty, predicted == labels, np.where(truth.missing, 0.0, weight))


def curve_of(by: str, sure: np.ndarray, is_right: np.ndarray, weight: np.ndarray) -> RejectCurve:
    """One point for each distinct threshold; rows of equal certainty share a point."""
    points = RejectionCurvePoints.of(sure, is_right, weight)
    return RejectCurve(by, points.threshold, points.coverage, points.accuracy)


def plot_reject(
    model: Classifier,
    frame: FrameLike,
    target: TargetLike = None,
    *,
    by: str = "confidence",
    sample_weight: WeightsLike = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot accuracy against the proportion of rows that are predicted, most certain rows first.

    Parameters
    ----------
    model : classifier
        Fitted classifier of this library.
    frame : data frame, dict of columns or array
        Rows that were not in the training data.
    target : str or array, optional
        Name of the target column, or the classes; by default the target of the model.
    by : {"confidence", "typicality"}, default="confidence"
        What `reject` compares with its threshold: the probability of the predicted class, or the typicality of the row.
    sample_weight : array or str, optional
        Weight of each row, or the name of the weight column.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; a new figure by default.

    Returns
    -------
    ax : matplotlib.axes.Axes
        Axes with the plot; `reject_curve` returns the numbers.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "a", "b", "b"]}
    >>> bt.plot_reject(bt.NaiveBayesClassifier().fit(rows, "y"), rows).get_ylabel()
    'accuracy of predicted rows'
    """
    return reject_curve(model, frame, target, by=by, sample_weight=sample_weight).plot(ax)
