"""Page records of `bt.compare` (the leaderboard), `bt.audit` (findings) and `bt.diff` (changes and flips)."""

from __future__ import annotations

from typing import Any

import msgspec


class ModelView(msgspec.Struct, frozen=True):
    """Line of the leaderboard, and the details below it."""

    name: str
    short: str
    score: float
    text: str
    low: float  # ends of the interval, from 0 to 100
    high: float
    dot: float
    folds: tuple[float, ...]  # score of each fold, from 0 to 100
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
    bins: tuple[tuple[float, float, float], ...]  # x, y and radius
    words: str
    sections: tuple[Any, ...] = ()  # of the model's own page
    place: int = 0  # index among the models whose page is included


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


class FindingView(msgspec.Struct, frozen=True):
    """Finding of an audit, and the numbers behind it as text."""

    kind: str
    columns: tuple[str, ...]
    message: str
    remedy: str
    figures: str


class FindingsView(msgspec.Struct, frozen=True):
    """Findings of an audit, the most serious first."""

    head: str
    findings: tuple[FindingView, ...]
    left_out: tuple[str, ...]
    id: str = "audit"
    title: str = "Audit"


class DriftColumnView(msgspec.Struct, frozen=True):
    """Column in training and in the new rows."""

    name: str
    is_changed: bool
    figures: tuple[tuple[str, str], ...]
    bars: tuple[tuple[float, float], ...]  # training, new rows; relative to the highest
    labels: tuple[str, ...]  # of the bars; empty for numbers
    ends: tuple[str, str]  # of the axis of numbers


class DriftView(msgspec.Struct, frozen=True):
    """All columns, those that have changed and have the largest effect first."""

    head: str
    columns: tuple[DriftColumnView, ...]
    hidden: int
    id: str = "drift"
    title: str = "Columns"


class ChangeView(msgspec.Struct, frozen=True):
    """Value of one fact before and after; a dash for none."""

    place: str
    what: str
    old: str
    new: str
    size: float  # relative to the largest of its table, from 0 to 1


class ChangesView(msgspec.Struct, frozen=True):
    """Changes of the schema or of the model, the largest first."""

    id: str
    title: str
    changes: tuple[ChangeView, ...]
    n_changes: int
    note: str = ""


class FlipGroupView(msgspec.Struct, frozen=True):
    """Rows that change from one prediction to another because of one column."""

    old: str
    new: str
    column: str
    rows: int
    share: float  # relative to the most frequent group, from 0 to 1


class FlippedView(msgspec.Struct, frozen=True):
    """Row with different predictions."""

    row: int
    old: str
    new: str
    column: str
    old_effect: str
    new_effect: str


class FlipsView(msgspec.Struct, frozen=True):
    """Rows with different predictions, grouped and one by one."""

    n_rows: int
    n_flipped: int
    ways: tuple[FlipGroupView, ...]
    n_ways: int
    rows: tuple[FlippedView, ...]
    unit: str  # unit of the effects, as text
    id: str = "rows"
    title: str = "Rows"
