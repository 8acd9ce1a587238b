"""Changes between two models: the record of one change, comparison of facts, and comparison of schemas."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema, Target

Value = float | str


class Change(msgspec.Struct, frozen=True):
    """One difference between two models.

    Attributes
    ----------
    place : str
        A column, a level, a coefficient, a distribution, or a node.
    what : str
        The class or the property that differs.
    old, new : float, str or None
        The value in the old and in the new model; None if there is none.
    size : float
        The size of the change, by which changes are sorted: a difference of probabilities, or in units of a column's
        standard deviation; for a node, the proportion of the training rows that reach it.
    old_where, new_where : str
        For a node, its id and the path to it.
    """

    place: str
    what: str
    old: Value | None
    new: Value | None
    size: float = 1.0
    old_where: str = ""
    new_where: str = ""


class ComparableFact(NamedTuple):
    """A value that a model states, and the unit in which changes of it are measured."""

    value: Value
    unit: float = 1.0


Facts = Mapping[tuple[str, str], ComparableFact]  # by place and property


def changes_of(old: Facts, new: Facts) -> tuple[Change, ...]:
    """Facts that differ, the largest changes first."""
    return sorted_changes(
        _change(key, old.get(key), new.get(key))
        for key in sorted({*old, *new})
        if not _are_equal(old.get(key), new.get(key))
    )


def sorted_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Sort changes by size, the largest first; stable."""
    return tuple(sorted(changes, key=lambda change: -change.size))


def format_value(value: Value | None) -> str:
    """Format a value for display; a dash for None."""
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def are_equal(old: Value | None, new: Value | None) -> bool:
    """Whether two values are equal; NaN equals NaN."""
    return old == new or (old != old and new != new)


def _are_equal(old: ComparableFact | None, new: ComparableFact | None) -> bool:
    return old is not None and new is not None and are_equal(old.value, new.value)


def _change(key: tuple[str, str], old: ComparableFact | None, new: ComparableFact | None) -> Change:
    before, after = (None if fact is None else fact.value for fact in (old, new))
    return Change(*key, before, after, _size(old, new))


def _size(old: ComparableFact | None, new: ComparableFact | None) -> float:
    """Difference in the larger of both units; 1 if values are absent, are text, or have no finite difference."""
    if old is None or new is None or isinstance(old.value, str) or isinstance(new.value, str):
        return 1.0
    size = abs(new.value - old.value) / (max(old.unit, new.unit) or 1.0)
    return size if math.isfinite(size) else 1.0


def schema_changes(old: Schema, new: Schema) -> tuple[Change, ...]:
    """Differences of the columns in the order of their names, then of the target."""
    before, after = ({column.name: column for column in schema.columns} for schema in (old, new))
    names = sorted({*before, *after})
    columns = [change for name in names for change in _of_column(name, before.get(name), after.get(name))]
    return (*columns, *_of_target(old.target, new.target))


def _of_column(name: str, old: Column | None, new: Column | None) -> Iterator[Change]:
    if old is None or new is None:
        yield Change(name, "column", _text_or_none(old and old.kind), _text_or_none(new and new.kind))
        return
    if old.kind is not new.kind:
        yield Change(name, "kind", old.kind.value, new.kind.value)
        return
    yield from _of_levels(name, "word" if old.kind is Kind.TEXT else "level", old.levels, new.levels)
    for what, before, after in (
        ("date unit", old.unit, new.unit),
        ("reading", old.form, new.form),
        ("words", old.text, new.text),
    ):
        if before != after:
            yield Change(name, what, _text_or_none(before), _text_or_none(after))


def _of_target(old: Target, new: Target) -> Iterator[Change]:
    if old.name != new.name:
        yield Change("target", "name", old.name, new.name)
    if (old.classes is None) != (new.classes is None):
        yield Change("target", "kind", _kind(old), _kind(new))
        return
    yield from _of_levels("target", "class", old.classes or (), new.classes or ())


def _of_levels(name: str, what: str, old: Sequence[Any], new: Sequence[Any]) -> Iterator[Change]:
    """Levels that only one schema has; if both have the same levels, differences of their order."""
    before, after = set(old), set(new)
    yield from (Change(name, what, _text_or_none(level), None) for level in old if level not in after)
    yield from (Change(name, what, None, _text_or_none(level)) for level in new if level not in before)
    first, second = ([level for level in levels if level in before & after] for levels in (old, new))
    if first != second:
        yield Change(name, f"order of {what}s", " < ".join(map(str, first)), " < ".join(map(str, second)))


def _kind(target: Target) -> str:
    return "a number" if target.classes is None else "classes"


def _text_or_none(value: object) -> str | None:
    return None if value is None else str(value)
