"""Summary of a scorecard: the bins of each column with their rows, rates and points."""

from __future__ import annotations

import msgspec


class CardColumnSummary(msgspec.Struct, frozen=True):
    """Column of a scorecard: its bins in order, that of missing values last."""

    column: str
    coefficient: float  # of the weight of evidence
    information_value: float
    shape: str | None  # order of the rates: up, down, peak, valley
    bins: tuple[str, ...]
    points: tuple[int, ...]
    woe: tuple[float, ...]  # for the good class
    weight: tuple[float, ...]  # of the training rows
    good: tuple[float, ...]  # of them of the good class


class ScorecardSummary(msgspec.Struct, frozen=True, tag="scorecard"):
    """Scorecard: base points and the points of each bin, the column with the widest range of points first."""

    target: str
    good: str  # class whose odds rise with the score
    bad: str
    base_points: int
    base_odds: float  # good to bad, at `base_points`
    points_to_double: float
    start: int  # points of every row
    columns: tuple[CardColumnSummary, ...]
    unused: tuple[tuple[str, float], ...]  # columns without points, with their information values
    weight: float  # of the training rows
    n_good: float  # of them of the good class
