"""Pictures of splines: a curve for each column, a map for each pair of columns that act together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from baytree.show.pictures.charts import axes, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ACROSS = 3  # panels beside each other
_PANEL = 3.6, 2.8  # inches


class Axis(msgspec.Struct, frozen=True):
    """A column of a picture: its values, which are the places of levels where there are some."""

    name: str
    values: np.ndarray
    levels: tuple[str, ...] = ()


class Curve(msgspec.Struct, frozen=True):
    """What one column, or two together, add to each score."""

    axes: tuple[Axis, ...]
    effect: np.ndarray  # float64 [len of each axis …, n_scores]
    scores: tuple[str, ...]  # classes, or the target
    unit: str  # what is added to


def plot_splines(curves: Sequence[Curve]) -> Figure:
    """A panel for each curve; of pairs one for each score."""
    panels = [(curve, k) for curve in curves for k in (range(len(curve.scores)) if len(curve.axes) > 1 else [0])]
    across = max(1, min(_ACROSS, len(panels)))
    down = max(1, -(-len(panels) // across))
    figure: Any = axes(None, (_PANEL[0] * across, _PANEL[1] * down)).figure
    figure.clear()
    for place, (curve, k) in enumerate(panels):
        ax = figure.add_subplot(down, across, place + 1)
        _map(curve, k, ax) if len(curve.axes) > 1 else _line(curve, ax)
    if panels and len(panels[0][0].axes) == 1 and len(panels[0][0].scores) > 1:
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside upper center", frameon=False)
    if not panels:
        figure.text(0.5, 0.5, "a constant: no column is used", ha="center")
    return figure


def _line(curve: Curve, ax: Axes) -> None:
    (column,) = curve.axes
    for k, score in enumerate(curve.scores):
        ax.plot(column.values, curve.effect[:, k], "o" if column.levels else "-", linewidth=1.5, label=literal(score))
    ax.axhline(0, linestyle=":", linewidth=1, color="0.5")
    _name(ax, column, "x")
    ax.set_ylabel(literal(curve.unit), fontsize="small")


def _map(curve: Curve, k: int, ax: Axes) -> None:
    first, second = curve.axes
    shown = ax.pcolormesh(first.values, second.values, curve.effect[:, :, k].T, shading="nearest", cmap="RdBu_r")
    largest = float(np.abs(curve.effect[:, :, k]).max()) or 1.0
    shown.set_clim(-largest, largest)
    ax.figure.colorbar(shown, ax=ax)
    _name(ax, first, "x")
    _name(ax, second, "y")
    ax.set_title(literal(curve.scores[k] if len(curve.scores) > 1 else curve.unit), fontsize="small")


def _name(ax: Axes, column: Axis, side: str) -> None:
    (ax.set_xlabel if side == "x" else ax.set_ylabel)(literal(column.name), fontsize="small")
    if column.levels:
        (ax.set_xticks if side == "x" else ax.set_yticks)(
            column.values, [literal(level) for level in column.levels], fontsize="x-small"
        )
