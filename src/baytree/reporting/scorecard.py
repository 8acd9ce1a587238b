"""Page record of a scorecard: its bins with bars, and what its calculator needs."""

from __future__ import annotations

import numpy as np

from baytree.display.terminal import number
from baytree.rendering.page.model_views import CardBinView, CardColumnView, ScorecardView
from baytree.rendering.scorecard_text import log_odds_scale, occurring, scale_sentence
from baytree.summary.scorecard import CardColumnSummary, ScorecardSummary


def scorecard_view(summary: ScorecardSummary) -> ScorecardView:
    """Card with bars on a common scale."""
    points = [each.points[k] for each in summary.columns for k in occurring(each)]
    low, high = min(points, default=0), max(points, default=0)
    low, high = min(low, 0), max(high, 0, low + 1)

    def position(amount: int) -> float:
        return 100 * (amount - low) / (high - low)

    def column(each: CardColumnSummary) -> CardColumnView:
        shown = occurring(each)
        bins = []
        for k in shown:
            ends = sorted((position(0), position(each.points[k])))
            rate = f"{each.good[k] / each.weight[k]:.3f}" if each.weight[k] else ""
            bins.append(
                CardBinView(each.bins[k], number(each.weight[k]), rate, f"{each.woe[k]:+.2f}", each.points[k], *ends)
            )
        return CardColumnView(each.column, tuple(bins), int(np.argmax([each.weight[k] for k in shown])))

    per_point, shift = log_odds_scale(summary)
    unused = ", ".join(name for name, _ in summary.unused)
    return ScorecardView(
        summary.good,
        scale_sentence(summary),
        summary.start,
        per_point,
        shift,
        position(0),
        tuple(map(column, summary.columns)),
        f"Columns without points: {unused}." if unused else "",
    )
