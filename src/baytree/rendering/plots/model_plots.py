"""Plots of models: class-conditional distributions, discriminant axes, coefficient paths, losses, splines and trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import numpy as np

from baytree.display.palette import ACCENT, QUIET, class_colour
from baytree.rendering.plots.charts import axes, legend, literal
from baytree.rendering.tree_layout import CARD_HEIGHT, ROW_HEIGHT, TreeDrawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_densities(values: np.ndarray, density: np.ndarray, classes: Sequence[object], ax: Axes | None = None) -> Axes:
    """Density curve per class. density [n_values, n_classes]"""
    ax = axes(ax)
    for k, label in enumerate(classes):
        ax.plot(values, density[:, k], label=literal(label), color=class_colour(k))
    ax.set_ylabel("density")
    return ax


def plot_probabilities(
    names: Sequence[str], probability: np.ndarray, classes: Sequence[object], ax: Axes | None = None
) -> Axes:
    """Grouped bars: per name a bar for each class. probability [n_names, n_classes]"""
    ax = axes(ax)
    width, middle = 0.8 / len(classes), (len(classes) - 1) / 2
    for k, label in enumerate(classes):
        positions = np.arange(len(names)) + (k - middle) * width
        ax.bar(positions, probability[:, k], width, label=literal(label), color=class_colour(k))
    ax.set_xticks(range(len(names)), [literal(name) for name in names], rotation=30, ha="right")
    ax.set_ylabel("probability")
    return ax


_MAX_PATH_LABELS = 8  # features of a regularization path with a colour and a label; smaller ones are grey

_MAX_FEATURES = 30  # features of a coefficient plot, those of largest effect: their labels still fit its height


def plot_axes(coordinates: np.ndarray, label: np.ndarray, classes: Sequence[object], ax: Axes | None = None) -> Axes:
    """Scatter plot of the first two discriminant axes, or histograms along the only one. coordinates [n_rows, n_axes]"""
    ax = axes(ax, (8.0, 4.5))
    for k, name in enumerate(classes):
        own = coordinates[label == k]
        if coordinates.shape[1] > 1:
            ax.scatter(own[:, 0], own[:, 1], s=12, alpha=0.7, label=literal(name), color=class_colour(k))
        elif coordinates.shape[1] == 1:
            ax.hist(own[:, 0], bins=30, alpha=0.6, label=literal(name), color=class_colour(k))
    ax.set_xlabel("discriminant axis 1")
    ax.set_ylabel("discriminant axis 2" if coordinates.shape[1] > 1 else "rows")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)  # next to the points, not on them
    return ax


def ring(coordinates: np.ndarray, which: np.ndarray, label: str, ax: Axes) -> Axes:
    """Draw circles around selected rows of a plot of discriminant axes. which bool [n_rows]"""
    if coordinates.shape[1] > 1 and which.any():
        own = coordinates[which]
        ax.scatter(own[:, 0], own[:, 1], s=60, facecolors="none", edgecolors="0.2", linewidths=1, label=label)
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return ax


def plot_path(lambdas: np.ndarray, importance: np.ndarray, names: Sequence[str], ax: Axes | None = None) -> Axes:
    """Coefficients per standard deviation against log10 λ, weakest penalty on the right. importance [n, k, p]"""
    ax = axes(ax)
    x = np.log10(lambdas)
    largest = np.argsort(-np.abs(importance).max(axis=(0, 1)), kind="stable")[:_MAX_PATH_LABELS].tolist()
    ends = []
    for j, name in enumerate(names):
        colour = class_colour(largest.index(j)) if j in largest else QUIET
        for k in range(importance.shape[1]):
            ax.plot(x, importance[:, k, j], linewidth=1.4 if j in largest else 0.7, color=colour, zorder=2 + (j in largest))
        if j in largest:
            k = int(np.argmax(np.abs(importance).max(axis=0)[:, j]))
            at = int(np.argmax(np.abs(importance[:, k, j])))
            ends.append((float(importance[-1 if abs(importance[-1, k, j]) else at, k, j]), literal(name), colour))
    ax.invert_xaxis()
    label_lines(ax, ends, float(x.min()))
    ax.set_xlabel("log10 λ")
    ax.set_ylabel("coefficient per standard deviation")
    return ax


def label_lines(ax: Axes, ends: Sequence[tuple[float, str, str]], x: float) -> None:
    """Label the ends of lines to their right without overlap, each with a thin line to its end; (y, label, colour)."""
    low, high = ax.get_ylim()
    gap, at = 0.055 * (high - low), -np.inf
    for y, label, colour in sorted(ends):
        at = max(y, at + gap)
        ax.annotate(
            label, (x, y), (1.03, (at - low) / (high - low)), textcoords=("axes fraction", "axes fraction"), color=colour,
            va="center", fontsize=8, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5},
        )  # fmt: skip


class CoefficientLike(Protocol):
    """Coefficient of a feature, of one class or of a number."""

    feature: str
    column: str  # empty for the intercept
    estimate: float
    importance: float
    interval: tuple[float, float] | None


def plot_coefficients(groups: Mapping[str, Sequence[CoefficientLike]], ax: Axes | None = None) -> Axes:
    """Effect of a standard deviation of each feature, largest on top, with intervals if there are any.

    `groups` has the coefficients of each class, or of the target alone under an empty name.
    """
    by_feature = {name: {row.feature: row for row in rows if row.column and row.estimate} for name, rows in groups.items()}
    largest: dict[str, float] = {}
    for rows in by_feature.values():
        for feature, row in rows.items():
            largest[feature] = max(largest.get(feature, 0.0), abs(row.importance))
    shown = sorted(largest, key=lambda feature: -largest[feature])[:_MAX_FEATURES]
    ax = axes(ax, (6.4, 1.2 + 0.28 * len(shown)))
    step = 0.5 / max(len(groups), 1)
    for k, (name, rows) in enumerate(by_feature.items()):
        colour = class_colour(k) if len(groups) > 1 else ACCENT
        for position, feature in enumerate(shown):
            if feature not in rows:
                continue
            row, y = rows[feature], position + (k - (len(groups) - 1) / 2) * step
            label = literal(name) if name and position == next(p for p, each in enumerate(shown) if each in rows) else None
            ax.plot(row.importance, y, "o", color=colour, markersize=5, label=label)
            if row.interval is not None:
                ends = [end * row.importance / row.estimate for end in row.interval]
                ax.plot(ends, [y, y], "-", color=colour, linewidth=1.2)
    ax.axvline(0, linestyle=":", linewidth=1, color=QUIET)
    ax.set_yticks(range(len(shown)), [literal(feature) for feature in shown])
    ax.invert_yaxis()
    ax.set_xlabel("change per standard deviation")
    if len(groups) > 1:
        ax.legend(frameon=False, fontsize="small")
    return ax


def plot_curve(lambdas: np.ndarray, mean: np.ndarray, error: np.ndarray, choices: tuple[int, int], ax: Axes | None) -> Axes:
    """Held-out loss with its standard error against log10 λ, and the two choices: minimum and one standard error."""
    ax = axes(ax)
    x = np.log10(lambdas)
    ax.errorbar(x, mean, yerr=error, fmt="o-", color=ACCENT, markersize=4, linewidth=1, capsize=2)
    ax.axvline(x[choices[0]], linestyle="--", linewidth=1, label="least loss", color=ACCENT)
    ax.axvline(x[choices[1]], linestyle=":", linewidth=1, label="one standard error", color=QUIET)
    ax.set_xlabel("log10 λ")
    ax.set_ylabel("held-out loss")
    ax.legend()
    return ax


def plot_loss(curves: Sequence[Sequence[float]], ax: Axes | None = None) -> Axes:
    """Objective after each step of a solver; one line per class if classes were fitted one against the rest."""
    ax = axes(ax)
    for curve in curves:
        ax.plot(np.arange(len(curve)), curve, linewidth=1.5)
    if max(len(curve) for curve in curves) > 1:
        ax.set_xscale("symlog")
    ax.set_xlabel("step")
    ax.set_ylabel("mean loss + penalty")
    return ax


_PANELS_PER_ROW = 3

_PANEL_INCHES = 3.6, 2.8  # width and height of a panel


class SplineAxis(msgspec.Struct, frozen=True):
    """Axis of a spline plot: values of a column; for nominal columns the codes, with the levels."""

    name: str
    values: np.ndarray
    levels: tuple[str, ...] = ()


class SplineCurve(msgspec.Struct, frozen=True):
    """Contribution of one column, or of two together, to each score."""

    axes: tuple[SplineAxis, ...]
    effect: np.ndarray  # float64 [length of each axis …, n_scores]
    scores: tuple[str, ...]  # classes, or the target
    unit: str  # unit of the contribution


def plot_splines(curves: Sequence[SplineCurve]) -> Figure:
    """One panel per column; for pairs, one per score."""
    panels = [(curve, k) for curve in curves for k in (range(len(curve.scores)) if len(curve.axes) > 1 else [0])]
    across = max(1, min(_PANELS_PER_ROW, len(panels)))
    down = max(1, -(-len(panels) // across))
    figure: Any = axes(None, (_PANEL_INCHES[0] * across, _PANEL_INCHES[1] * down)).figure
    figure.clear()
    for index, (curve, k) in enumerate(panels):
        ax = figure.add_subplot(down, across, index + 1)
        _map(curve, k, ax) if len(curve.axes) > 1 else _line(curve, ax)
    if panels and len(panels[0][0].axes) == 1 and len(panels[0][0].scores) > 1:
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside upper center", frameon=False)
    if not panels:
        figure.text(0.5, 0.5, "a constant: no column is used", ha="center")
    return figure


def _line(curve: SplineCurve, ax: Axes) -> None:
    (column,) = curve.axes
    for k, score in enumerate(curve.scores):
        ax.plot(column.values, curve.effect[:, k], "o" if column.levels else "-", linewidth=1.5, label=literal(score))
    ax.axhline(0, linestyle=":", linewidth=1, color="0.5")
    _name(ax, column, "x")
    ax.set_ylabel(literal(curve.unit), fontsize="small")


def _map(curve: SplineCurve, k: int, ax: Axes) -> None:
    first, second = curve.axes
    mesh = ax.pcolormesh(first.values, second.values, curve.effect[:, :, k].T, shading="nearest", cmap="RdBu_r")
    largest = float(np.abs(curve.effect[:, :, k]).max()) or 1.0
    mesh.set_clim(-largest, largest)
    ax.figure.colorbar(mesh, ax=ax)
    _name(ax, first, "x")
    _name(ax, second, "y")
    ax.set_title(literal(curve.scores[k] if len(curve.scores) > 1 else curve.unit), fontsize="small")


def _name(ax: Axes, column: SplineAxis, side: str) -> None:
    (ax.set_xlabel if side == "x" else ax.set_ylabel)(literal(column.name), fontsize="small")
    if column.levels:
        (ax.set_xticks if side == "x" else ax.set_yticks)(
            column.values, [literal(level) for level in column.levels], fontsize="x-small"
        )


_INK, _EDGE = "#1f2933", "#9aa5b1"


def plot_tree(drawing: TreeDrawing, ax: Axes | None = None) -> Axes:
    """Draw a decision tree on the given axes, or on new ones."""
    height = drawing.depth * ROW_HEIGHT + CARD_HEIGHT
    ax = axes(ax, (max(4.0, drawing.width / 90), max(2.5, height / 90)))
    ax.set_xlim(-10, drawing.width + 10)
    ax.set_ylim(height + 10, -30)
    ax.axis("off")
    for position in range(len(drawing.cards)):
        _draw_card(ax, drawing, position)
    legend(ax, drawing.classes)
    return ax


def _draw_card(ax: Axes, drawing: TreeDrawing, position: int) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    card, middle = drawing.cards[position], float(drawing.middle[position])
    left, top = middle - card.width / 2, card.depth * ROW_HEIGHT
    if card.parent >= 0:
        parent_bottom = float(drawing.middle[card.parent]), top - ROW_HEIGHT + CARD_HEIGHT
        ax.plot([parent_bottom[0], middle], [parent_bottom[1], top], color=_EDGE, linewidth=1, zorder=1)
        halo = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        ax.text(middle, top - 12, literal(card.branch), ha="center", va="center", fontsize=7, color=_INK, bbox=halo)
    is_leaf = not card.question
    edge = class_colour(card.prediction) if is_leaf and drawing.classes else _EDGE
    box = FancyBboxPatch((left, top), card.width, CARD_HEIGHT, "round,pad=0,rounding_size=8", fc="white", ec=edge, zorder=2)
    ax.add_patch(box)
    heading = card.answer if is_leaf else f"{card.question}?"
    ax.text(middle, top + 18, literal(heading), ha="center", va="center", fontsize=8, weight="bold", color=_INK)
    ax.text(middle, top + 35, literal(card.summary), ha="center", va="center", fontsize=7, color=_INK)
    start, bar_width = left + 8, card.width - 16
    for code, proportion in enumerate(card.shares):
        corner = start, top + CARD_HEIGHT - 16
        ax.add_patch(Rectangle(corner, proportion * bar_width, 8, color=class_colour(code), zorder=3))
        start += proportion * bar_width
