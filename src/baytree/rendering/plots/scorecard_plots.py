"""Plot of a scorecard's column: the points of its bins, and the proportion of the good class in each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baytree.rendering.plots.charts import bars_with_line
from baytree.rendering.scorecard_text import occurring
from baytree.summary.scorecard import CardColumnSummary

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_points(column: CardColumnSummary, good: str, ax: Axes | None = None) -> Axes:
    """Share of the rows of each bin as bars, and its points as a line."""
    bins = occurring(column)
    total = sum(column.weight) or 1.0
    shares, points = [column.weight[k] / total for k in bins], [float(column.points[k]) for k in bins]
    return bars_with_line([column.bins[k] for k in bins], shares, points, f"points for {good}", column.column, ax)
