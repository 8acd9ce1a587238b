"""What a table is: columns of a kind, their levels, and the target, as a value that can be joined, shown and stored.

A schema as a table that a person can check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from baytree.data.schema.column import Column, Kind, Level, Text, level_map, sorted_levels
from baytree.data.schema.notes import Note
from baytree.display.terminal import in_columns, ruled

__all__ = ["Column", "Kind", "Level", "Schema", "SchemaLike", "Target", "Text", "level_map", "sorted_levels"]


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The column to be predicted: its classes in code order, or None where it is a number.

    `dtype` is the numpy dtype in which the classes came and go back. `order` has all levels where they were declared, also
    those that do not occur: the classes keep that order, whichever of them come first.
    """

    name: str
    classes: tuple[Any, ...] | None = None
    dtype: str = "object"
    declared: bool = False
    order: tuple[Any, ...] = ()

    def union(self, other: Target) -> Target:
        """The target that knows the classes of both: in their declared order, else sorted."""
        if self.classes == other.classes or other.classes is None or self.classes is None:
            return self
        known = set(self.classes)
        new = [label for label in other.classes if label not in known]
        if not new:
            return self
        dtype = _common_dtype(self.dtype, other.dtype)
        if not self.declared:
            return Target(self.name, sorted_levels([*self.classes, *new]), dtype)
        order = tuple(dict.fromkeys([*(self.order or self.classes), *other.order, *new]))
        known.update(new)
        return Target(self.name, tuple(label for label in order if label in known), dtype, True, order)


class Schema(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """The columns in order and the target. Prints as a table that a person can check.

    Parameters
    ----------
    columns : tuple of Column
        The columns that are learnt from.
    target : Target
        The column to be predicted; without a name where none is known yet.
    inputs : tuple of str
        The names of all columns that were given, in order, also of those that are left out.
    is_named : bool, default=True
        False where the rows came as an array: columns then go by their position.
    notes : tuple of Note, default=()
        What a person should be told about how the table was read.
    numbers_left_out : tuple of str, default=()
        The inputs of numbers that are not learnt from.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.NaiveBayesClassifier().fit({"size": [1.0, 2.0], "y": ["a", "b"]}, "y").schema_)
    column  kind     levels
    -----------------------
    size    numeric
    y       target   a, b
    """

    columns: tuple[Column, ...]
    target: Target = Target("")  # without a name where no target is known yet
    inputs: tuple[str, ...] = ()  # every column that was given, in order, also those that only identify rows
    is_named: bool = True  # False where the rows came as an array: columns go by position
    notes: tuple[Note, ...] = ()
    numbers_left_out: tuple[str, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple([column.name for column in self.columns])

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes of the target in code order; none where it is a number."""
        return self.target.classes or ()

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """For each column the name of the given one that it is read from."""
        return tuple(column.source for column in self.columns)

    @cached_property
    def is_numbers(self) -> bool:
        """Whether there are columns, and all of them numbers or dates."""
        return {column.kind for column in self.columns} == {Kind.NUMERIC}

    @cached_property
    def is_plain_numbers(self) -> bool:
        """Whether all columns are numbers that are taken as they come."""
        return all(c.kind is Kind.NUMERIC and c.unit is None and c.form is None for c in self.columns)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns that were given but are not learnt from: they only identify rows, or were dropped."""
        kept = {column.source for column in self.columns}
        return tuple(name for name in self.inputs if name not in kept)

    def per_input(self, values: np.ndarray, combine: np.ufunc = np.add) -> np.ndarray:
        """Numbers of the columns as numbers of the inputs: [n_columns] → [n_inputs], 0 for inputs that are left out.

        The numbers of columns that are parts of one input, as the year and month of a date, are combined.
        """
        place = {name: i for i, name in enumerate(self.inputs)}
        found = np.zeros(len(self.inputs))
        combine.at(found, [place[source] for source in self.sources], values)
        return found

    def with_numbers_left_out(self, coef: np.ndarray, column: np.ndarray, axis: int = -1) -> np.ndarray:
        """Coefficients of features with a 0 in the place of each input of numbers that is left out.

        `column` [n_features] is the column of each feature; features are in the order of columns.
        """
        place = {name: i for i, name in enumerate(self.inputs)}
        inputs = np.array([place[source] for source in self.sources], np.int64)[column]
        before = np.searchsorted(inputs, [place[name] for name in self.numbers_left_out])
        return np.insert(coef, before, 0.0, axis=axis) if len(before) else coef

    def union(self, other: Schema) -> Schema:
        """The schema that knows the levels and classes of both; a column must be of one kind in both."""
        columns = tuple(column.union(other[column.name]) for column in self.columns)
        notes = tuple(dict.fromkeys((*self.notes, *other.notes)))
        return msgspec.structs.replace(self, columns=columns, target=self.target.union(other.target), notes=notes)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, name: str) -> Column:
        column = self._by_name.get(name)
        if column is None:
            raise ValueError(f"no column {name!r}; the columns are {', '.join(map(repr, self.names))}")
        return column

    def table(self) -> str:
        """The columns, their kinds and levels, without the notes."""
        return schema_text(self)

    def _repr_html_(self) -> str:
        from baytree.display.results import table  # only a notebook asks for it

        (header, *rows), of = schema_rows(self), f" for {self.target.name}" if self.target.name else ""
        return table(f"{len(self.columns)} columns{of}", header, rows)

    def __str__(self) -> str:
        return "\n".join([schema_text(self), *(f"- {note}" for note in self.notes)])


SchemaLike = Mapping[str, Any] | Schema | None  # what a user declares of columns, by name


def _common_dtype(left: str, right: str) -> str:
    if "object" in (left, right) or left == right:
        return left if left == right else "object"
    return np.result_type(np.dtype(left), np.dtype(right)).str


_WIDTH = 80  # characters of a line

_SHOWN_NAME, _SHOWN_LEVELS = 40, 24  # characters of a name at most, of levels at least


def schema_text(schema: Schema) -> str:
    """The columns, their kinds and levels, without the notes."""
    return ruled(in_columns(schema_rows(schema), "<"))


def schema_rows(schema: Schema) -> list[tuple[str, str, str]]:
    """The header, and a row for each column."""
    named = {name: _shortened(name) for name in (*schema.inputs, *schema.names, schema.target.name)}
    room = max(_SHOWN_LEVELS, _WIDTH - max(map(len, ["column", *named.values()])) - len("left out") - 4)
    listed = [("column", "kind", "levels")]
    listed += [(named[c.name], c.kind.value, _levels_in_words(c, room)) for c in schema.columns]
    listed += [(named[name], "left out", _why(schema, name)) for name in schema.left_out]
    if schema.target.name:
        classes = schema.target.classes
        listed.append((named[schema.target.name], "target", "a number" if classes is None else _listed(classes, room)))
    return listed


def _why(schema: Schema, name: str) -> str:
    """Why a column is left out: the first of its notes that says so."""
    said = (note.done for note in schema.notes if note.column == name and "left out" in note.done)
    words = re.sub("^is left out[:,] ", "", next(said, "only identifies rows"))
    return re.sub(", such as .*", "", words.removesuffix(", so it only identifies rows"))


def _shortened(name: str) -> str:
    return name if len(name) <= _SHOWN_NAME else f"{name[: _SHOWN_NAME - 1]}…"


def _levels_in_words(column: Column, room: int) -> str:
    if column.kind is Kind.TEXT:
        return f"{len(column.levels)} words" if column.levels else "words"
    if column.kind is Kind.NUMERIC:
        return "time of day" if column.unit == "clock" else f"date ({column.unit})" if column.unit else ""
    return _listed(column.levels, room, " < " if column.kind is Kind.ORDINAL else ", ")


def _listed(levels: Sequence[Any], room: int, separator: str = ", ") -> str:
    """The levels, or as many of them as there is room for and the number of all."""
    names = [str(level) for level in levels]
    shown = separator.join(names)
    if len(shown) <= room:
        return shown
    rest = f"… ({len(names):,} levels)"
    kept = next(k for k in range(len(names), -1, -1) if len(separator.join([*names[:k], rest])) <= room or k == 0)
    return separator.join([*names[:kept], rest])
