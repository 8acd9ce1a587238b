"""Scorecards as text: the points of each bin, as analysts print them."""

from __future__ import annotations

import math

from baytree.display.terminal import counted, in_columns, number, shortened
from baytree.rendering.linear_text import wrapped
from baytree.summary.scorecard import CardColumnSummary, ScorecardSummary

_MAX_NAME_LENGTH = 40


def scorecard_lines(summary: ScorecardSummary) -> list[str]:
    """Scale, points of every row, and a line per bin."""
    lines = [
        f"scorecard for {summary.target}: points count for {summary.good}, {counted(len(summary.columns), 'column')}",
        wrapped(scale_sentence(summary)),
        "",
    ]
    rows = [["", "points", f"P({summary.good})", "rows"], ["every row", f"{summary.start:+d}", "", f"{summary.weight:,.6g}"]]
    for column in summary.columns:
        rows.append([column.column, "", "", ""])
        rows += _bins(column)
    lines += in_columns(rows, "<>")
    if summary.unused:
        names = ", ".join(f"{name} ({value:.3f})" for name, value in summary.unused)
        lines += ["", wrapped(f"no points, with information value ({len(summary.unused)}): {names}")]
    return lines


def scale_sentence(summary: ScorecardSummary) -> str:
    """What a score means."""
    return (
        f"{summary.base_points:,} points are odds of {number(summary.base_odds)} : 1 ({summary.good} to {summary.bad}); "
        f"{number(summary.points_to_double)} points more double the odds"
    )


def log_odds_scale(summary: ScorecardSummary) -> tuple[float, float]:
    """Log-odds of the good class: of one point, and of 0 points."""
    per_point = math.log(2.0) / summary.points_to_double
    return per_point, math.log(summary.base_odds) - summary.base_points * per_point


def occurring(column: CardColumnSummary) -> list[int]:
    """Bins that a reader needs: those with training rows, and the others if they have points."""
    return [k for k, weight in enumerate(column.weight) if weight > 0 or column.points[k]]


def _bins(column: CardColumnSummary) -> list[list[str]]:
    found = []
    for k in occurring(column):
        rate = f"{column.good[k] / column.weight[k]:.3f}" if column.weight[k] else ""
        name = f"  {shortened(column.bins[k], _MAX_NAME_LENGTH)}"
        found.append([name, f"{column.points[k]:+d}", rate, f"{column.weight[k]:,.6g}"])
    return found
