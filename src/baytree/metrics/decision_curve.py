"""What it is worth to act on a model's probabilities, by the threshold at which one acts (Vickers and Elkin 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from baytree.display.results import TextResult, frame_of
from baytree.display.terminal import aligned, escaped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

THRESHOLDS = np.arange(1, 100) / 100

_PRINTED = 10  # every how manieth threshold is printed, where there are many


@dataclass(frozen=True, repr=False)
class DecisionCurve(TextResult):
    """The net benefit of acting on rows by their probability, beside acting on all of them and on none.

    Who acts from a probability t on says that a needless act costs t / (1 − t) of what a needed one is worth. The net
    benefit is the share of rows that are of the class and acted on, less that of the others that are acted on, times
    t / (1 − t); acting on none is worth 0 (Vickers and Elkin 2006, "Decision curve analysis", Medical Decision Making 26).

    Attributes
    ----------
    label : object
        The class that an act is meant for.
    threshold : ndarray of shape (n_thresholds,)
        The probabilities from which on one acts.
    model : ndarray of shape (n_thresholds,)
        The net benefit of acting where the model's probability is at least the threshold.
    all_rows : ndarray of shape (n_thresholds,)
        The net benefit of acting on every row.
    """

    label: object
    threshold: np.ndarray
    model: np.ndarray
    all_rows: np.ndarray

    def to_frame(self) -> Any:
        """A data frame, one row per threshold."""
        return frame_of({"threshold": self.threshold, "model": self.model, "all_rows": self.all_rows})

    def plot(self, ax: Axes | None = None) -> Axes:
        """The curve beside those of acting on all and on none; needs matplotlib."""
        from baytree.rendering.plots.charts import decision_curve

        return decision_curve(self.threshold, self.model, self.all_rows, str(self.label), ax)

    def __str__(self) -> str:
        step = _PRINTED if len(self.threshold) > 2 * _PRINTED else 1
        chosen = slice(step - 1, None, step)
        columns = zip(self.threshold[chosen], self.model[chosen], self.all_rows[chosen], strict=True)
        rows = [[f"{t:.4g}", f"{model:.4f}", f"{all_rows:.4f}", _best(model, all_rows)] for t, model, all_rows in columns]
        head = f"net benefit of acting on {escaped(str(self.label))} from a probability on; acting on none is worth 0"
        return f"{head}\n{aligned(['from', 'by the model', 'on all rows', 'best'], rows)}"


def decision_curve(label: object, value: np.ndarray, weight: np.ndarray, threshold: np.ndarray) -> DecisionCurve:
    """The curve of ascending probabilities; `weight` [n_values, 2] is that of the other rows, and of those of the class."""
    above = np.concatenate([weight[::-1].cumsum(axis=0)[::-1], np.zeros((1, 2))])  # from each value on
    others, own = above[np.searchsorted(value, threshold, side="left")].T
    total, odds = weight.sum(), threshold / (1 - threshold)
    return DecisionCurve(label, threshold, (own - others * odds) / total, (above[0, 1] - above[0, 0] * odds) / total)


def _best(model: float, all_rows: float) -> str:
    worth = {"model": model, "all": all_rows, "none": 0.0}
    return ", ".join(name for name, benefit in worth.items() if benefit == max(worth.values()))
