"""One thing that is not the same in two models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

Value = float | str


class Change(msgspec.Struct, frozen=True):
    """What a model says in one place, before and after.

    Attributes
    ----------
    place : str
        A column, a level, a coefficient, a distribution, or a node.
    what : str
        What is said there: of which class, or which property.
    old, new : float, str or None
        What was said and what is; None where nothing is.
    size : float
        How large the change is, so that changes can be sorted: differences of probabilities, or in units of the spread of a
        column; of a node, the share of the training rows that reach it.
    old_where, new_where : str
        Of a node, its id and the way to it.
    """

    place: str
    what: str
    old: Value | None
    new: Value | None
    size: float = 1.0
    old_where: str = ""
    new_where: str = ""


class Fact(NamedTuple):
    """What a model says in one place, and the unit in which a change of it is measured."""

    value: Value
    unit: float = 1.0


Facts = Mapping[tuple[str, str], Fact]  # by place and what is said there


def changes_of(old: Facts, new: Facts) -> tuple[Change, ...]:
    """The facts that differ, the largest changes first."""
    return sorted_changes(
        _change(key, old.get(key), new.get(key))
        for key in sorted({*old, *new})
        if not _are_equal(old.get(key), new.get(key))
    )


def sorted_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The largest changes first; of equals as they come."""
    return tuple(sorted(changes, key=lambda change: -change.size))


def told(value: Value | None) -> str:
    """A value as a person reads it; a dash where there is none."""
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def are_equal(old: Value | None, new: Value | None) -> bool:
    """Whether the same is said; what is no number is no number in both."""
    return old == new or (old != old and new != new)


def _are_equal(old: Fact | None, new: Fact | None) -> bool:
    return old is not None and new is not None and are_equal(old.value, new.value)


def _change(key: tuple[str, str], old: Fact | None, new: Fact | None) -> Change:
    before, after = (None if fact is None else fact.value for fact in (old, new))
    return Change(*key, before, after, _size(old, new))


def _size(old: Fact | None, new: Fact | None) -> float:
    """The distance in the larger unit; 1 where there is nothing to subtract, or no number comes of it."""
    if old is None or new is None or isinstance(old.value, str) or isinstance(new.value, str):
        return 1.0
    size = abs(new.value - old.value) / (max(old.unit, new.unit) or 1.0)
    return size if math.isfinite(size) else 1.0
