"""Schema of a table: its columns, target and notes, as a value that can be merged, printed and stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from baytree.data.schema.column import Column, Kind, Level, Text, level_map, sorted_levels
from baytree.data.schema.notes import Note, left_out_reason
from baytree.display.terminal import TERMINAL_WIDTH, in_columns, ruled

__all__ = ["Column", "Kind", "Level", "Schema", "SchemaLike", "Target", "Text", "level_map", "sorted_levels"]


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Column to predict: its classes in code order, or None for a numeric target.

    A model of columns alone has `NO_TARGET`, whose name is empty and whose one class is that of every row.

    `dtype` is the NumPy dtype of the given classes, in which predictions are returned. `order` holds all declared levels,
    also those that do not occur: classes keep this order, whichever of them come first.
    """

    name: str
    classes: tuple[Any, ...] | None = None
    dtype: str = "object"
    declared: bool = False
    order: tuple[Any, ...] = ()

    def union(self, other: Target) -> Target:
        """Return the target with the classes of both, in declared order or sorted."""
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


NO_TARGET = Target("", ("",))


class Schema(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """Columns in order, and the target. Prints as a table.

    Parameters
    ----------
    columns : tuple of Column
        Columns used by the model.
    target : Target
        Column to predict; its name is empty if not yet known.
    inputs : tuple of str
        Names of all given columns, in order, including those that are left out.
    is_named : bool, default=True
        False if the rows were an array: columns are then matched by position.
    notes : tuple of Note, default=()
        Notes on how the table was read.
    numbers_left_out : tuple of str, default=()
        Numeric inputs that are left out.

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
    target: Target = Target("")  # name is empty if the target is not yet known
    inputs: tuple[str, ...] = ()  # every given column, in order, including identifiers
    is_named: bool = True  # False if the rows were an array: columns are matched by position
    notes: tuple[Note, ...] = ()
    numbers_left_out: tuple[str, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple([column.name for column in self.columns])

    @property
    def classes(self) -> tuple[Any, ...]:
        """Classes of the target in code order; empty for a numeric target."""
        return self.target.classes or ()

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """For each column, the name of the given column from which it is computed."""
        return tuple(column.source for column in self.columns)

    @cached_property
    def is_numbers(self) -> bool:
        """Whether there are columns and all are numbers or dates."""
        return {column.kind for column in self.columns} == {Kind.NUMERIC}

    @cached_property
    def is_plain_numbers(self) -> bool:
        """Whether all columns are numeric without unit or string format."""
        return all(c.kind is Kind.NUMERIC and c.unit is None and c.form is None for c in self.columns)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Given columns that are not used: identifiers or dropped columns."""
        used = {column.source for column in self.columns}
        return tuple(name for name in self.inputs if name not in used)

    def per_input(self, values: np.ndarray, combine: np.ufunc = np.add) -> np.ndarray:
        """Aggregate values of columns to inputs: [n_columns] → [n_inputs], 0 for inputs that are left out.

        Values of columns that are parts of one input, such as year and month of a date, are combined with `combine`.
        """
        index_of = {name: i for i, name in enumerate(self.inputs)}
        result = np.zeros(len(self.inputs))
        combine.at(result, [index_of[source] for source in self.sources], values)
        return result

    def with_numbers_left_out(self, coef: np.ndarray, column: np.ndarray, axis: int = -1, fill: float = 0.0) -> np.ndarray:
        """Return coefficients of features with `fill` inserted for each numeric input that is left out.

        `column` [n_features] is the column of each feature; features are in the order of columns.
        """
        index_of = {name: i for i, name in enumerate(self.inputs)}
        inputs = np.array([index_of[source] for source in self.sources], np.int64)[column]
        before = np.searchsorted(inputs, [index_of[name] for name in self.numbers_left_out])
        return np.insert(coef, before, fill, axis=axis) if len(before) else coef

    def without_left_out(self) -> Schema:
        """The schema of the same table without the columns that are not learnt from."""
        gone = set(self.left_out)
        return msgspec.structs.replace(
            self,
            inputs=tuple(name for name in self.inputs if name not in gone),
            notes=tuple(note for note in self.notes if note.column not in gone),
            numbers_left_out=(),
        )

    def union(self, other: Schema) -> Schema:
        """Return the schema with the levels and classes of both; raise a ValueError if a column differs in kind."""
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
        """Return the columns, their kinds and levels as text, without the notes."""
        return schema_text(self)

    def _repr_html_(self) -> str:
        from baytree.display.results import table  # imported here: only notebooks need it

        (header, *rows), of = schema_rows(self), f" for {self.target.name}" if self.target.name else ""
        return table(f"{len(self.columns)} columns{of}", header, rows)

    def __str__(self) -> str:
        return "\n".join([schema_text(self), *(f"- {note}" for note in self.notes)])


SchemaLike = Mapping[str, Any] | Schema | None  # declarations of columns by name, or a Schema


def _common_dtype(left: str, right: str) -> str:
    if "object" in (left, right) or left == right:
        return left if left == right else "object"
    return np.result_type(np.dtype(left), np.dtype(right)).str


_SHOWN_NAME, _SHOWN_LEVELS = 40, 24  # max characters of a name, min characters of levels


def schema_text(schema: Schema) -> str:
    """Return the columns, their kinds and levels as text, without the notes."""
    return ruled(in_columns(schema_rows(schema), "<"))


def schema_rows(schema: Schema) -> list[tuple[str, str, str]]:
    """Return the header and one row (column, kind, levels) per column."""
    named = {name: _shortened(name) for name in (*schema.inputs, *schema.names, schema.target.name)}
    width = max(_SHOWN_LEVELS, TERMINAL_WIDTH - max(map(len, ["column", *named.values()])) - len("left out") - 4)
    listed = [("column", "kind", "levels")]
    listed += [(named[c.name], c.kind.value, _levels_text(c, width)) for c in schema.columns]
    listed += [(named[name], "left out", _left_out_reason(schema, name)) for name in schema.left_out]
    if schema.target.name:
        classes = schema.target.classes
        listed.append((named[schema.target.name], "target", "a number" if classes is None else _listed(classes, width)))
    return listed


def _left_out_reason(schema: Schema, name: str) -> str:
    """Return why a column is left out: from its first note that gives a reason."""
    reasons = (left_out_reason(note) for note in schema.notes if note.column == name)
    return next((reason for reason in reasons if reason), "only identifies rows")


def _shortened(name: str) -> str:
    return name if len(name) <= _SHOWN_NAME else f"{name[: _SHOWN_NAME - 1]}…"


def _levels_text(column: Column, width: int) -> str:
    if column.kind is Kind.TEXT:
        return f"{len(column.levels)} words" if column.levels else "words"
    if column.kind is Kind.NUMERIC:
        return "time of day" if column.unit == "clock" else f"date ({column.unit})" if column.unit else ""
    return _listed(column.levels, width, " < " if column.kind is Kind.ORDINAL else ", ")


def _listed(levels: Sequence[Any], width: int, separator: str = ", ") -> str:
    """Return the levels; if they need more than `width` characters, their number and as many of the first as fit."""
    names = [str(level) for level in levels]
    text = separator.join(names)
    if len(text) <= width:
        return text
    head, text = f"{len(names):,} levels", ""
    for n in range(1, len(names)):
        longer = f"{head}: {separator.join(names[:n])}, +{len(names) - n:,}"
        if len(longer) > width:
            break
        text = longer
    return text or head
