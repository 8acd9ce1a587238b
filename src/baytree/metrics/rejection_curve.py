"""What saying nothing brings: accuracy against the share of rows that are answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from baytree import param_validation
from baytree._typing import FrameLike, TargetLike, WeightsLike
from baytree.base.model import predict_codes
from baytree.data.encoding.read_target import read_classes
from baytree.data.encoding.sample import read_truth
from baytree.display.results import TextResult, frame_of
from baytree.display.terminal import in_columns
from baytree.estimators.prediction import Classifier, typicality
from baytree.uncertainty.rejection import RejectionCurvePoints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3)  # shares answered that are printed

BY = ("confidence", "typicality")


@dataclass(frozen=True, repr=False)
class RejectCurve(TextResult):
    """Accuracy against the share of rows that are answered, the surest first. Prints some of it.

    Attributes
    ----------
    by : {"confidence", "typicality"}
        By what rows are judged.
    least : ndarray
        The least confidence or typicality of an answer, falling.
    share : ndarray
        The share of rows that are then answered, rising to 1.
    accuracy : ndarray
        The share of right answers among them.
    """

    by: str
    least: np.ndarray
    share: np.ndarray
    accuracy: np.ndarray

    def to_frame(self) -> Any:
        """A data frame, a row for each threshold."""
        return frame_of({self.by: self.least, "answered": self.share, "accuracy": self.accuracy})

    def plot(self, ax: Axes | None = None) -> Axes:
        """The curve; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.
        """
        from baytree.rendering.plots.charts import reject_curve

        return reject_curve(self.share, self.accuracy, f"rows answered, by {self.by}", ax)

    def __str__(self) -> str:
        places = sorted({int(np.searchsorted(self.share, share - 1e-12)) for share in _SHOWN}, reverse=True)
        rows = [[f"{self.share[k]:.1%}", f"{self.accuracy[k]:.1%}", f"{self.least[k]:.4g}"] for k in places]
        return "\n".join(in_columns([["answered", "right", f"least {self.by}"], *rows], ">"))


def reject_curve(
    model: Classifier,
    frame: FrameLike,
    target: TargetLike = None,
    *,
    by: str = "confidence",
    sample_weight: WeightsLike = None,
) -> RejectCurve:
    """How accurate a classifier is where it answers only for the rows that it is surest of.

    Parameters
    ----------
    model : classifier
        A fitted classifier of this library.
    frame : data frame, dict of columns or array
        Rows that it has not learnt from.
    target : str or array, optional
        The name of the target column, or the classes; the model's own target by default.
    by : {"confidence", "typicality"}, default="confidence"
        What `reject` would look at: the probability of the answer, or how usual the row is.
    sample_weight : array or str, optional
        What each row counts for, or the name of the column that says so.

    Returns
    -------
    RejectCurve
        Prints as a table; `share`, `accuracy`, `least`, `to_frame` and `plot` have all of it.

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
    known = model.schema_.target.name if target is None else target
    truth, weight = read_truth(frame, known, sample_weight, read_classes, type(model).__name__)
    table = model._predictor.encoded(frame)
    probability, choice = model.model_.predict(table), predict_codes(model.model_, table)
    answer = np.array(model.classes_.tolist(), dtype=object)[choice]
    labels = np.array([*(truth.target.classes or ()), None], dtype=object)[truth.values]
    sure = probability[np.arange(len(choice)), choice] if by == "confidence" else typicality(model, frame)
    return curve_of(by, sure, answer == labels, np.where(truth.missing, 0.0, weight))


def curve_of(by: str, sure: np.ndarray, is_right: np.ndarray, weight: np.ndarray) -> RejectCurve:
    """A point for each different threshold; rows that are as sure come together."""
    found = RejectionCurvePoints.of(sure, is_right, weight)
    return RejectCurve(by, found.least, found.share, found.accuracy)


def plot_reject(
    model: Classifier,
    frame: FrameLike,
    target: TargetLike = None,
    *,
    by: str = "confidence",
    sample_weight: WeightsLike = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw accuracy against the share of rows that are answered, the surest first.

    Parameters
    ----------
    model : classifier
        A fitted classifier of this library.
    frame : data frame, dict of columns or array
        Rows that it has not learnt from.
    target : str or array, optional
        The name of the target column, or the classes; the model's own target by default.
    by : {"confidence", "typicality"}, default="confidence"
        What `reject` would look at: the probability of the answer, or how usual the row is.
    sample_weight : array or str, optional
        What each row counts for, or the name of the column that says so.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes with the picture; `reject_curve` has its numbers.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "a", "b", "b"]}
    >>> bt.plot_reject(bt.NaiveBayesClassifier().fit(rows, "y"), rows).get_ylabel()
    'right, of those answered'
    """
    return reject_curve(model, frame, target, by=by, sample_weight=sample_weight).plot(ax)
