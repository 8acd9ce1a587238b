"""Decision curve: net benefit of acting on a model's probabilities, by threshold (Vickers and Elkin 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from baytree.display.results import TextResult, frame_of
from baytree.display.terminal import aligned, escaped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

THRESHOLDS = np.arange(1, 100) / 100

_PRINT_STEP = 10  # every n-th threshold is printed if there are many


@dataclass(frozen=True, repr=False)
class DecisionCurve(TextResult):
    """Net benefit of acting on rows by their probability, compared with acting on all rows and on none.

    Acting from a probability t means that an unnecessary action costs t / (1 − t) of the benefit of a necessary one. The net
    benefit is the proportion of rows that are of the class and acted on, minus the proportion of other rows acted on times
    t / (1 − t). Acting on none has benefit 0 (Vickers and Elkin 2006, "Decision curve analysis", Med. Decis. Making 26).

    Attributes
    ----------
    label : object
        Class that the action is meant for.
    threshold : ndarray of shape (n_thresholds,)
        Probabilities from which on rows are acted on.
    model : ndarray of shape (n_thresholds,)
        Net benefit of acting where the model's probability is at least the threshold.
    all_rows : ndarray of shape (n_thresholds,)
        Net benefit of acting on every row.
    """

    label: object
    threshold: np.ndarray
    model: np.ndarray
    all_rows: np.ndarray

    def to_frame(self) -> Any:
        """Data frame with one row per threshold."""
        return frame_of({"threshold": self.threshold, "model": self.model, "all_rows": self.all_rows})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the curve with those of acting on all and on none; needs matplotlib."""
        from baytree.rendering.plots.charts import decision_curve

        return decision_curve(self.threshold, self.model, self.all_rows, str(self.label), ax)

    def __str__(self) -> str:
        step = _PRINT_STEP if len(self.threshold) > 2 * _PRINT_STEP else 1
        chosen = slice(step - 1, None, step)
        columns = zip(self.threshold[chosen], self.model[chosen], self.all_rows[chosen], strict=True)
        rows = [[f"{t:.4g}", f"{model:.4f}", f"{all_rows:.4f}", _best(model, all_rows)] for t, model, all_rows in columns]
        heading = (
            f"net benefit of acting on {escaped(str(self.label))} by probability threshold; acting on no rows is worth 0"
        )
        return f"{heading}\n{aligned(['threshold', 'model', 'all rows', 'best'], rows)}"


def decision_curve(label: object, value: np.ndarray, weight: np.ndarray, threshold: np.ndarray) -> DecisionCurve:
    """Curve from ascending probabilities; `weight` [n_values, 2] has the weight of other rows and of rows of the class."""
    above = np.concatenate([weight[::-1].cumsum(axis=0)[::-1], np.zeros((1, 2))])  # at or above each value
    others, own = above[np.searchsorted(value, threshold, side="left")].T
    total, odds = weight.sum(), threshold / (1 - threshold)
    return DecisionCurve(label, threshold, (own - others * odds) / total, (above[0, 1] - above[0, 0] * odds) / total)


def _best(model: float, all_rows: float) -> str:
    benefits = {"model": model, "all": all_rows, "none": 0.0}
    return ", ".join(name for name, benefit in benefits.items() if benefit == max(benefits.values()))
