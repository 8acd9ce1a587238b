"""A comparison on a page."""

from __future__ import annotations

from typing import Any

import msgspec


class ModelView(msgspec.Struct, frozen=True):
    """A line of the leaderboard, and what opens below it."""

    name: str
    short: str
    score: float
    text: str
    low: float  # of the interval, from 0 to 100
    high: float
    dot: float
    folds: tuple[float, ...]  # of each fold, from 0 to 100
    beside: tuple[str, ...]
    size: str
    seconds: str
    is_as_good: bool
    is_chosen: bool
    reason: str
    classes: tuple[str, ...]
    confusion: tuple[tuple[float, ...], ...]
    roc: tuple[tuple[str, str, str], ...]  # class, path and area, in a box of 200 by 200
    calibration: str
    bins: tuple[tuple[float, float, float], ...]  # place, place and radius
    words: str
    sections: tuple[Any, ...] = ()  # of the model's own page
    place: int = 0  # of the model among those that can be opened as a whole


class LeaderboardView(msgspec.Struct, frozen=True):
    """Models on the same folds, the best first."""

    metric: str
    head: str
    advice: str
    rule: str
    notes: tuple[str, ...]
    beside: tuple[str, ...]
    ends: tuple[str, str]
    models: tuple[ModelView, ...]
    id: str = "leaderboard"
    title: str = "Leaderboard"
