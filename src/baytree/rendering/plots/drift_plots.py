"""Plot of drift: the distribution of each changed column in training and in the new rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from baytree.display.palette import ACCENT, QUIET
from baytree.rendering.plots.charts import axes, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ColumnChange(NamedTuple):
    """Distance between training and new rows of a column."""

    column: str
    distance: float
    effect: float
    is_alarming: bool


def plot_changes(changes: Sequence[ColumnChange], title: str, ax: Axes | None = None) -> Axes:
    """Distance of each column between 0 (equal) and 1 (disjoint), largest effect on top; changed columns are blue."""
    ax = axes(ax, (6.4, 1.2 + 0.32 * len(changes)))
    positions = list(range(len(changes)))
    colours = [ACCENT if change.is_alarming else QUIET for change in changes]
    ax.barh(positions, [change.distance for change in changes], color=colours)
    for position, change in zip(positions, changes, strict=True):
        if change.is_alarming:
            text = f"  effect on predictions {change.effect:.3g}"
            ax.text(change.distance, position, text, va="center", fontsize="small")
    ax.set_yticks(positions, [literal(change.column) for change in changes])
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    ax.set_xlabel("distance between training and new rows")
    ax.set_title(literal(title), loc="left")
    return ax
