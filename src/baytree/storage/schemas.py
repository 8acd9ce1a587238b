"""What a schema must be to go into a model file, and to come out of one."""

from __future__ import annotations

import re
from typing import Any, Self

import msgspec
import numpy as np

from baytree.storage.stored_arrays import check_strings
from baytree.table.notes import Note
from baytree.table.reading.forms import Form
from baytree.table.schema import Column, Kind, Level, Schema, Target, Text


class StoredColumn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A column as it is written: its form only where it has one."""

    name: str
    kind: Kind
    levels: tuple[Any, ...] = ()
    declared: bool = False
    unit: str | None = None
    text: Text | None = None
    form: Form | msgspec.UnsetType = msgspec.UNSET


class StoredSchema(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A schema as it is written: its notes and the numbers that it leaves out only where there are some."""

    columns: tuple[StoredColumn, ...]
    target: Target = Target("")
    inputs: tuple[str, ...] = ()
    is_named: bool = True
    notes: tuple[Note, ...] | msgspec.UnsetType = msgspec.UNSET
    numbers_left_out: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET

    @classmethod
    def of(cls, schema: Schema) -> Self:
        """A schema as it is written."""
        fields = [msgspec.structs.asdict(column) for column in schema.columns]
        columns = tuple(StoredColumn(**each | {"form": each["form"] or msgspec.UNSET}) for each in fields)
        notes, left_out = schema.notes or msgspec.UNSET, schema.numbers_left_out or msgspec.UNSET
        return cls(columns, _narrowed(schema.target), schema.inputs, schema.is_named, notes, left_out)

    def schema(self) -> Schema:
        """The schema that was written."""
        fields = [msgspec.structs.asdict(column) for column in self.columns]
        columns = tuple(Column(**each | {"form": each["form"] or None}) for each in fields)
        return Schema(columns, self.target, self.inputs, self.is_named, self.notes or (), self.numbers_left_out or ())


def _narrowed(target: Target) -> Target:
    """Arrays of strings may be wider than their strings, as numpy makes whole numbers 21 wide; those of the file are not."""
    if target.classes is None or "U" not in target.dtype:
        return target
    before, _, width = target.dtype.partition("U")
    return msgspec.structs.replace(target, dtype=f"{before}U{min(int(width), _width(target.classes))}")


def _width(classes: tuple) -> int:
    return max((len(str(label)) for label in classes), default=0)


def refuse_odd_labels(schema: Schema) -> None:
    """Raises an error where a level or a class is nothing that JSON can hold."""
    places = [(f"column {column.name!r}", column.levels) for column in schema.columns]
    places.append(("the target", schema.classes))
    for place, levels in places:
        for level in levels:
            if not isinstance(level, Level) or (isinstance(level, float) and not np.isfinite(level)):
                raise ValueError(
                    f"{place} has the level {level!r} of type {type(level).__name__}, which a model file cannot hold; "
                    "convert it to strings or numbers before fitting"
                )


def check_schema(schema: Schema) -> None:
    """Raises an error where a schema from a file could not have come from a table."""
    sources = {column.source for column in schema.columns}
    if len(set(schema.names)) < len(schema.columns) or not sources <= set(schema.inputs):
        raise ValueError("the schema names a column twice, or one that was never given")
    if not set(schema.numbers_left_out) <= set(schema.inputs) - sources:
        raise ValueError("the schema leaves out a column that it has, or one that was never given")
    for column in schema.columns:
        _check_levels(column.levels, f"column {column.name!r}")
        if column.kind is Kind.TEXT and not all(isinstance(word, str) for word in column.levels):
            raise ValueError(f"column {column.name!r} has words that are no strings")
        if column.unit is not None and column.unit not in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "clock"):
            raise ValueError(f"column {column.name!r} has the unit {column.unit!r}, which is none")
    if not schema.target.name:
        raise ValueError("the schema has no target")
    if schema.target.classes is not None:
        _check_levels(schema.target.classes, "the target")
        _check_class_type(schema.target.dtype, schema.target.classes)


def _check_levels(levels: tuple, place: str) -> None:
    if not all(isinstance(level, (str, int, float, bool)) for level in levels) or len(set(levels)) < len(levels):
        raise ValueError(f"the levels of {place} are not distinct strings, numbers or booleans")


def _check_class_type(dtype: str, classes: tuple) -> None:
    if not re.fullmatch(r"object|[<>|=]?(?:[iu][1248]|f[248]|b1|U\d{1,7})", dtype):
        raise ValueError(f"classes cannot have the type {dtype!r}")
    if "U" in dtype and int(dtype.rpartition("U")[2]) > _width(classes):
        raise ValueError(f"classes of the type {dtype!r} would be wider than any class")
    if "U" in dtype:
        check_strings(len(classes), int(dtype.rpartition("U")[2]))
    if dtype != "object":
        np.array(classes, dtype=dtype)
