"""ROC, precision–recall and lift curves of an evaluation, drawn from its additive sums.

The curves come from the weights of the distinct probabilities (`Confusion.chances`), so they are the same for rows in
memory, on disk and on a cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from baytree.metrics import scores
from baytree.metrics.confusion import Confusion
from baytree.rendering.plots.evaluation_plots import (
    Curve,
    plot_lift_curves,
    plot_precision_recall_curves,
    plot_roc_curves,
    shown_classes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_roc(title: str, classes: tuple, counted: Confusion, ax: Axes | None) -> Axes:
    """ROC curves: of the second of two classes, or of each class against the rest."""
    curves = []
    for code, label in _drawn(classes, counted):
        points = counted.roc(code)
        x, y = points["false_positive_rate"], points["true_positive_rate"]
        curves.append(Curve(label, code, x, y, float(np.trapezoid(y, x))))
    return plot_roc_curves(curves, title, ax)


def plot_precision_recall(title: str, classes: tuple, counted: Confusion, ax: Axes | None) -> Axes:
    """Precision against recall, with the average precision of each class."""
    curves, baseline, total = [], [], counted.counts.sum()
    for code, label in _drawn(classes, counted):
        points = counted.precision_recall(code)
        steps = np.diff(points["recall"], prepend=0.0)
        x, y = np.append(0.0, points["recall"]), np.append(points["precision"][:1], points["precision"])
        curves.append(Curve(label, code, x, y, float(steps @ points["precision"])))
        baseline.append(float(counted.counts[code].sum() / total))
    return plot_precision_recall_curves(curves, baseline, title, ax)


def plot_lift(title: str, classes: tuple, counted: Confusion, ax: Axes | None) -> Axes:
    """Lift against the proportion of rows, with the lift of the first tenth of the rows."""
    curves = []
    for code, label in _drawn(classes, counted):
        points = counted.lift(code)
        first = float(np.interp(0.1, points["proportion"], points["lift"]))
        curves.append(Curve(label, code, points["proportion"], points["lift"], first))
    return plot_lift_curves(curves, title, ax)


def _drawn(classes: tuple, counted: Confusion) -> list[tuple[int, str]]:
    """Classes with a curve and a colour of their own, without those that no row has: code and label."""
    names = shown_classes([str(label) for label in classes])
    present = counted.counts.sum(axis=1) > 0
    return [(code, names[code]) for code in scores.with_curves(len(classes)) if code < len(names) and present[code]]
