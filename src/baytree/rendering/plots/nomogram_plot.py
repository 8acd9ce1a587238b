"""Nomogram with matplotlib: read the points of each value, add them up, and find the probability of their total."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baytree.rendering.page.model_views import NomogramView
from baytree.rendering.plots.charts import axes, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE_HEIGHT = 0.55  # inches of the figure for each axis of the nomogram

_MAX_NAME, _MAX_TICK = 24, 16  # characters


def plot_nomogram(view: NomogramView, ax: Axes | None = None) -> Axes:
    """An axis of points for each column, their total, and the probability."""
    lines = [
        ("points", 0.0, 100.0, view.points),
        *((scale.name, scale.low, scale.high, scale.ticks) for scale in view.scales),
        ("total points", 0.0, 100.0, view.total),
        ("probability", 0.0, 100.0, view.answer),
    ]
    ax = axes(ax, (9.0, 1.0 + _LINE_HEIGHT * len(lines)))
    for k, (_, low, high, ticks) in enumerate(lines):
        ax.plot([low, high], [-k, -k], color="black", linewidth=1)
        for position, text, row in ticks:
            side = 1 if row else -1
            ax.plot([position, position], [-k, -k + 0.1 * side], color="black", linewidth=1)
            ax.text(
                position, -k + 0.16 * side, literal(text[:_MAX_TICK]), ha="center", va="bottom" if row else "top", size=7
            )
    ax.set_yticks([-k for k in range(len(lines))], [literal(name[:_MAX_NAME]) for name, *_ in lines])
    ax.set_xticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_title(literal(view.label))
    return ax
