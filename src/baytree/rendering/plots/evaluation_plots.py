"""Plots of how well a model predicts, and of why: curves, confusion matrix, residuals, partial dependence, waterfall.

Each function draws arrays or a record on given axes, or on those of a new figure, and returns the axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from baytree.display.palette import ACCENT, CLASS_COLOURS, NEGATIVE, OTHER, POSITIVE, QUIET, class_colour
from baytree.rendering.explanation import ExplanationTable
from baytree.rendering.plots.charts import axes, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_MATRIX_NUMBERS = 12  # classes of a confusion matrix whose cells have room for a number

MAX_WATERFALL_BARS = 12  # contributions that are drawn one by one; smaller ones are drawn as their sum


class Curve(NamedTuple):
    """Curve of one class against the rest."""

    label: str
    code: int  # of the class, which has the colour
    x: np.ndarray
    y: np.ndarray
    score: float  # area or average, in the legend


def plot_roc_curves(curves: Sequence[Curve], title: str, ax: Axes | None = None) -> Axes:
    """ROC curves: true positive rate against false positive rate."""
    ax = axes(ax, (5.0, 4.6))
    ax.plot([0, 1], [0, 1], color=QUIET, linewidth=1, linestyle="--")
    _draw_curves(curves, "AUC", ax)
    ax.set_xlabel("false positive rate")
    ax.set_ylabel("true positive rate")
    ax.set_title(literal(title))
    ax.legend(loc="lower right", frameon=False, fontsize="small")
    return ax


def plot_precision_recall_curves(
    curves: Sequence[Curve], baseline: Sequence[float], title: str, ax: Axes | None = None
) -> Axes:
    """Precision against recall; dashed lines are the proportions of the classes, the precision of a random ranking."""
    ax = axes(ax, (5.0, 4.6))
    for curve, proportion in zip(curves, baseline, strict=True):
        ax.axhline(proportion, color=class_colour(curve.code), linewidth=1, linestyle="--", alpha=0.6)
    _draw_curves(curves, "average precision", ax, drawstyle="steps-pre")
    ax.set_xlabel("recall")
    ax.set_ylabel("precision")
    ax.set_ylim(0, 1.03)
    ax.set_title(literal(title))
    ax.legend(loc="lower left", frameon=False, fontsize="small")
    return ax


def plot_lift_curves(curves: Sequence[Curve], title: str, ax: Axes | None = None) -> Axes:
    """Lift: proportion of a class among the rows ranked first, relative to its proportion in all rows."""
    ax = axes(ax, (5.4, 4.2))
    ax.axhline(1, color=QUIET, linewidth=1, linestyle="--")
    _draw_curves(curves, "lift of the first tenth", ax)
    ax.set_xlim(0, 1)
    ax.set_xlabel("proportion of rows, most probable first")
    ax.set_ylabel("lift")
    ax.set_title(literal(title))
    ax.legend(loc="upper right", frameon=False, fontsize="small")
    return ax


def _draw_curves(curves: Sequence[Curve], score: str, ax: Axes, drawstyle: str = "default") -> None:
    for curve in curves:
        label = literal(f"{curve.label} ({score} {curve.score:.3f})")
        ax.plot(curve.x, curve.y, color=class_colour(curve.code), linewidth=2, label=label, drawstyle=drawstyle)


def plot_confusion_matrix(counts: np.ndarray, classes: Sequence[str], title: str, ax: Axes | None = None) -> Axes:
    """Confusion matrix as a heat map: the colour is the proportion of the row, the number the rows or weight.

    Rows are actual classes, columns predicted ones. Beyond `MAX_MATRIX_NUMBERS` classes cells have no numbers.
    """
    size = 2.2 + 0.5 * min(len(classes), 20)
    ax = axes(ax, (size + 0.8, size))
    total = counts.sum(axis=1, keepdims=True)
    proportion = np.divide(counts, total, out=np.zeros(counts.shape), where=total > 0)
    from matplotlib.colors import LinearSegmentedColormap

    ax.imshow(proportion, cmap=LinearSegmentedColormap.from_list("accent", ["#ffffff", ACCENT]), vmin=0, vmax=1)
    if len(classes) <= MAX_MATRIX_NUMBERS:
        for i, j in np.ndindex(counts.shape):
            colour = "white" if proportion[i, j] > 0.6 else "#1d2327"
            ax.text(j, i, f"{counts[i, j]:,.6g}", ha="center", va="center", color=colour, fontsize="small")
    names = [literal(name) for name in classes]
    ax.set_xticks(range(len(names)), names, rotation=30 if max(map(len, names)) > 4 else 0, ha="right")
    ax.set_yticks(range(len(names)), names)
    ax.set_xlabel("predicted")
    ax.set_ylabel("actual")
    ax.set_title(literal(title))
    ax.spines[:].set_visible(False)
    return ax


def plot_residual_points(predicted: np.ndarray, truth: np.ndarray, target: str, title: str, ax: Axes | None = None) -> Axes:
    """Residuals (actual − predicted) against predictions, with the mean residual of ten groups of equal size."""
    ax = axes(ax)
    residual = truth - predicted
    ax.axhline(0, color=QUIET, linewidth=1, linestyle="--")
    opacity = min(1.0, max(0.08, 300 / max(len(predicted), 1)))
    ax.scatter(predicted, residual, s=12, alpha=opacity, color=ACCENT, linewidths=0)
    order = np.argsort(predicted, kind="stable")
    groups = [part for part in np.array_split(order, min(10, max(1, len(order) // 5))) if len(part)]
    if len(groups) > 1:
        middle, mean = zip(*((predicted[part].mean(), residual[part].mean()) for part in groups), strict=True)
        ax.plot(middle, mean, color=NEGATIVE, linewidth=2, marker="o", markersize=4, label="mean of a group")
        ax.legend(frameon=False, fontsize="small")
    ax.set_xlabel(literal(f"predicted {target}"))
    ax.set_ylabel("actual − predicted")
    ax.set_title(literal(title))
    return ax


class PartialDependence(msgspec.Struct, frozen=True):
    """Predictions with one column set to each of some values."""

    column: str
    values: np.ndarray  # float64 [n_values]; codes of the levels
    levels: tuple[str, ...]  # empty for numbers
    mean: np.ndarray  # float64 [n_values, n_outputs]
    individual: np.ndarray  # float64 [n_curves, n_values, n_outputs]
    outputs: tuple[str, ...]  # classes, or the target
    codes: tuple[int, ...]  # of the classes, which have the colours


def plot_dependence(dependence: PartialDependence, ax: Axes | None = None) -> Axes:
    """Partial dependence: the mean prediction against the values of a column; thin lines are single rows (ICE)."""
    ax = axes(ax, (5.6, 4.2))
    positions = np.arange(len(dependence.levels)) if dependence.levels else dependence.values
    for k, (name, code) in enumerate(zip(dependence.outputs, dependence.codes, strict=True)):
        colour = class_colour(code)
        if len(dependence.individual):
            ax.plot(positions, dependence.individual[:, :, k].T, color=colour, linewidth=0.6, alpha=0.18)
        (line,) = ax.plot(positions, dependence.mean[:, k], color=colour, linewidth=2.4, label=literal(name))
        if dependence.levels:
            line.set(marker="o", linestyle="none")
    if dependence.levels:
        ax.set_xticks(positions, [literal(level) for level in dependence.levels], rotation=30, ha="right")
    ax.set_xlabel(literal(dependence.column))
    if len(dependence.outputs) > 1:
        ax.set_ylabel("mean predicted probability")
        ax.legend(frameon=False, fontsize="small")
    else:
        ax.set_ylabel(literal(dependence.outputs[0]))
    return ax


def plot_waterfall(table: ExplanationTable, ax: Axes | None = None) -> Axes:
    """Explanation as a waterfall: from the start, contribution by contribution, to the sum. Infinite ones are not drawn."""
    lines = [(name, amount) for name, amount in zip(table.names, table.amounts, strict=True) if np.isfinite(amount)]
    lines.sort(key=lambda line: -abs(line[1]))
    shown, rest = lines[:MAX_WATERFALL_BARS], lines[MAX_WATERFALL_BARS:]
    if rest:
        shown.append((f"{len(rest)} smaller contributions", sum(amount for _, amount in rest)))
    start = table.start if np.isfinite(table.start) else 0.0
    ax = axes(ax, (6.6, 1.4 + 0.36 * (len(shown) + 2)))
    at = start
    for position, (_, amount) in enumerate(shown, 1):
        ax.barh(position, amount, left=at, color=POSITIVE if amount > 0 else NEGATIVE, height=0.62)
        ax.plot([at + amount, at + amount], [position, position + 1], color=QUIET, linewidth=0.8)
        at += amount
    ax.plot([start, start], [0, 1], color=QUIET, linewidth=0.8)
    ax.plot([start, at], [0, len(shown) + 1], "o", color=ACCENT)
    ends = [start, *(amount for _, amount in shown), at]
    names = ["start", *(name for name, _ in shown), "sum"]
    labels = [f"{literal(name)}  {amount:+.3g}" for name, amount in zip(names, ends, strict=True)]
    ax.set_yticks(range(len(labels)), labels)
    ax.invert_yaxis()
    ax.use_sticky_edges = False
    ax.margins(x=0.08)
    if not table.is_number:
        ax.axvline(0, color=QUIET, linewidth=0.8, linestyle=":")
    ax.set_xlabel(literal(table.title))
    ax.set_title(literal(table.answer), fontsize="medium", loc="left")
    return ax


def shown_classes(classes: Sequence[str]) -> list[str]:
    """Classes that have a colour of their own: all of at most eight, else the first seven."""
    return list(classes[: len(CLASS_COLOURS) if len(classes) <= len(CLASS_COLOURS) else OTHER])
