"""What sets two models apart, on a page."""

from __future__ import annotations

import msgspec


class ChangeView(msgspec.Struct, frozen=True):
    """What is said in one place, before and after; a dash where nothing is."""

    place: str
    what: str
    old: str
    new: str
    size: float  # beside the largest of its table, from 0 to 1


class ChangesView(msgspec.Struct, frozen=True):
    """Changes of the schema or of the model, the largest first."""

    id: str
    title: str
    changes: tuple[ChangeView, ...]
    n_changes: int
    note: str = ""


class WayView(msgspec.Struct, frozen=True):
    """Rows that go from one answer to another through one column."""

    old: str
    new: str
    column: str
    rows: int
    share: float  # beside the commonest way, from 0 to 1


class FlippedView(msgspec.Struct, frozen=True):
    """A row that is answered otherwise."""

    row: int
    old: str
    new: str
    column: str
    old_effect: str
    new_effect: str


class FlipsView(msgspec.Struct, frozen=True):
    """The rows that are answered otherwise, by their ways and one by one."""

    n_rows: int
    n_flipped: int
    ways: tuple[WayView, ...]
    n_ways: int
    rows: tuple[FlippedView, ...]
    unit: str  # what an effect is
    id: str = "rows"
    title: str = "Rows"
