"""Generic charts by matplotlib, which is imported only when a chart is drawn, and only in this folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from baytree.display.palette import ACCENT, QUIET, class_colour, legend_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes(ax: Axes | None, size: tuple[float, float] = (7.0, 4.0)) -> Axes:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise ModuleNotFoundError("a picture needs matplotlib; pip install 'baytree[plot]'") from None
    ax = pyplot.subplots(figsize=size, layout="constrained")[1]
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def literal(text: object) -> str:
    r"""Text that matplotlib shows literally: a dollar sign would start a formula."""
    return str(text).replace("$", r"\$")


def legend(ax: Axes, classes: Sequence[str]) -> None:
    """Add a legend of the classes' colours, if there are classes."""
    if not classes:
        return
    from matplotlib.patches import Patch

    labels = legend_labels([str(name) for name in classes])
    handles = [Patch(facecolor=class_colour(code), label=literal(name)) for code, name in enumerate(labels)]
    ax.legend(handles=handles, frameon=False, loc="upper left", ncols=min(6, len(handles)), fontsize="small")


def bars(names: Sequence[str], values: Sequence[float], title: str, ax: Axes | None = None) -> Axes:
    """Horizontal bars, the first on top; NaN has no bar."""
    ax = axes(ax, (7.0, 1.0 + 0.28 * len(names)))
    positions = np.arange(len(names))
    ax.barh(positions, np.nan_to_num(values), color=ACCENT)
    ax.set_yticks(positions, [literal(name) for name in names])
    ax.invert_yaxis()
    ax.set_title(literal(title))
    return ax


def intervals(
    names: Sequence[str], means: np.ndarray, low: np.ndarray, high: np.ndarray, title: str, ax: Axes | None = None
) -> Axes:
    """A point with its interval per name, the first on top."""
    ax = axes(ax, (7.0, 1.0 + 0.35 * len(names)))
    positions = np.arange(len(names))
    ax.errorbar(means, positions, xerr=[means - low, high - means], fmt="o", color=ACCENT, ecolor=QUIET, capsize=3)
    ax.set_yticks(positions, [literal(name) for name in names])
    ax.invert_yaxis()
    ax.set_title(literal(title))
    ax.grid(axis="x", alpha=0.3)
    return ax


def band(
    x: np.ndarray, mean: np.ndarray, error: np.ndarray, labels: tuple[str, str], mark: int, ax: Axes | None = None
) -> Axes:
    """Line with a band of one standard error; the point at index `mark` is highlighted."""
    ax = axes(ax)
    ax.fill_between(x, mean - error, mean + error, color=QUIET, alpha=0.3, linewidth=0)
    ax.plot(x, mean, color=ACCENT, marker="o", markersize=3)
    ax.plot(x[mark], mean[mark], marker="o", color=ACCENT, markersize=9)
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    return ax


def calibration(predicted: np.ndarray, observed: np.ndarray, weight: np.ndarray, title: str, ax: Axes | None = None) -> Axes:
    """Calibration plot: observed proportion against predicted probability; calibrated points are on the diagonal."""
    ax = axes(ax, (4.5, 4.5))
    ax.plot([0, 1], [0, 1], color=QUIET, linewidth=1)
    ax.scatter(predicted, observed, s=10 + 90 * weight / max(weight.max(), 1), color=ACCENT)
    ax.set_xlabel("predicted probability")
    ax.set_ylabel("observed proportion")
    ax.set_title(literal(title))
    return ax


def decision_curve(
    threshold: np.ndarray, model: np.ndarray, all_rows: np.ndarray, title: str, ax: Axes | None = None
) -> Axes:
    """Decision curve (Vickers and Elkin, 2006): net benefit of acting by the model, on all rows and on none."""
    ax = axes(ax, (5.5, 4))
    ax.plot(threshold, all_rows, color=QUIET, linewidth=1, linestyle="--", label="all rows")
    ax.axhline(0, color=QUIET, linewidth=1, label="none")
    ax.plot(threshold, model, color=ACCENT, label="model")
    highest = max(float(model.max()), float(all_rows.max()), 0.0) or 0.01
    ax.set_ylim(-0.25 * highest, 1.1 * highest)  # the curve for all rows is unbounded below
    ax.set_xlabel("threshold probability")
    ax.set_ylabel("net benefit")
    ax.set_title(literal(title))
    ax.legend()
    return ax


def reject_curve(share: np.ndarray, accuracy: np.ndarray, label: str, ax: Axes | None = None) -> Axes:
    """Accuracy against the proportion of rows that are predicted."""
    ax = axes(ax, (5.0, 4.0))
    ax.plot(share, accuracy, color=ACCENT, linewidth=2, drawstyle="steps-post")
    ax.axhline(accuracy[-1], color=QUIET, linewidth=1, linestyle="--")
    ax.set_xlim(0, 1)
    ax.set_xlabel(label)
    ax.set_ylabel("accuracy of predicted rows")
    return ax


def bars_with_line(
    names: Sequence[str],
    proportions: Sequence[float],
    values: Sequence[float],
    label: str,
    title: str,
    ax: Axes | None = None,
) -> Axes:
    """A bar of each name's share, and a line through the values on a second axis."""
    ax = axes(ax)
    positions = np.arange(len(names))
    ax.bar(positions, proportions, color=QUIET, alpha=0.5)
    ax.set_xticks(positions, [literal(name) for name in names], rotation=30, ha="right")
    ax.set_ylabel("proportion of rows")
    ax.set_title(literal(title))
    second = ax.twinx()
    second.plot(positions, values, "o-", color=ACCENT)
    second.set_ylabel(literal(label))
    return ax
