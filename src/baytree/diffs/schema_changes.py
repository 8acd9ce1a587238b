"""What sets two schemas apart: columns, kinds, levels, how they are read, and the target with its classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from baytree.diffs.change import Change
from baytree.table.schema import Column, Kind, Schema, Target


def schema_changes(old: Schema, new: Schema) -> tuple[Change, ...]:
    """The columns in the order of the names, then the target."""
    before, after = ({column.name: column for column in schema.columns} for schema in (old, new))
    names = sorted({*before, *after})
    columns = [change for name in names for change in _of_column(name, before.get(name), after.get(name))]
    return (*columns, *_of_target(old.target, new.target))


def _of_column(name: str, old: Column | None, new: Column | None) -> Iterator[Change]:
    if old is None or new is None:
        yield Change(name, "column", _told(old and old.kind), _told(new and new.kind))
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
            yield Change(name, what, _told(before), _told(after))


def _of_target(old: Target, new: Target) -> Iterator[Change]:
    if old.name != new.name:
        yield Change("target", "name", old.name, new.name)
    if (old.classes is None) != (new.classes is None):
        yield Change("target", "kind", _kind(old), _kind(new))
        return
    yield from _of_levels("target", "class", old.classes or (), new.classes or ())


def _of_levels(name: str, what: str, old: Sequence[Any], new: Sequence[Any]) -> Iterator[Change]:
    """Levels that only one has; where both have the same, their order."""
    before, after = set(old), set(new)
    yield from (Change(name, what, _told(level), None) for level in old if level not in after)
    yield from (Change(name, what, None, _told(level)) for level in new if level not in before)
    first, second = ([level for level in levels if level in before & after] for levels in (old, new))
    if first != second:
        yield Change(name, f"order of {what}s", " < ".join(map(str, first)), " < ".join(map(str, second)))


def _kind(target: Target) -> str:
    return "a number" if target.classes is None else "classes"


def _told(value: object) -> str | None:
    return None if value is None else str(value)
