"""What a table is once it is inside: kinds, columns, a schema, and encoded values checked at the door.

A `Column` names a column, its kind and its levels; a `Schema` is the columns and the target; a `Table` is rows
encoded by a schema. Nothing behind this module looks at a data frame, and nothing behind it checks values again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any, Literal

import msgspec
import numpy as np


class Kind(StrEnum):
    """What the values of a column mean."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    TEXT = "text"


Level = str | int | float | bool
"""A category, rank, word or class as the user wrote it. Other hashables work too, but cannot be saved to a file."""


class Text(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a text column becomes counts: the options of its bag of words.

    >>> Text(ngrams=(1, 2), min_df=2).ngrams
    (1, 2)
    """

    ngrams: tuple[int, int] = (1, 1)
    min_df: int | float = 1  # an int counts documents, a float is their share
    max_df: int | float = 1.0
    stop_words: tuple[str, ...] | Literal["english"] | None = None
    tfidf: bool = False
    lowercase: bool = True
    hashing: int | None = None


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A named column: its kind, and its levels in code order (categories, ranks or vocabulary).

    `declared` tells that the levels were given (a categorical dtype, `schema=`), not collected from the rows: declared
    levels keep their order when tables are joined, collected ones are kept sorted. `unit` is the unit of a date.
    """

    name: str
    kind: Kind
    levels: tuple[Any, ...] = ()
    declared: bool = False
    unit: str | None = None
    text: Text | None = None

    def show(self, value: float | int) -> str:
        """The value in the user's own words: a level's name, a date, or a short number; `missing` where there is none.

        >>> Column("size", Kind.ORDINAL, ("S", "M")).show(1)
        'M'
        """
        if value != value or (self.levels and value < 0):
            return "missing"
        if self.levels:
            return str(self.levels[int(value)])
        if self.unit:
            return str(np.datetime64(int(value), self.unit))
        return f"{value:.6g}"


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The column to be predicted: its classes in code order, or None where it is a number.

    `dtype` is the numpy dtype in which the classes came and go back.
    """

    name: str
    classes: tuple[Any, ...] | None = None
    dtype: str = "object"
    declared: bool = False


class Schema(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The columns in order and the target. Prints as a table that a person can check."""

    columns: tuple[Column, ...]
    target: Target | None = None
    named: bool = True  # False where the rows came as an array: columns go by position
    left_out: tuple[str, ...] = ()  # columns that only identify rows

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise ValueError(f"no column {name!r}; the columns are {', '.join(map(repr, self.names))}")

    def __str__(self) -> str:
        return _schema_table(self)


class Tokens(msgspec.Struct, frozen=True):
    """A text column encoded: for each row the vocabulary codes that occur and how often (compressed sparse rows)."""

    start: np.ndarray  # int64 [n_rows + 1]
    code: np.ndarray  # int32 [n_entries], ascending within a row
    count: np.ndarray  # float64 [n_entries]
    missing: np.ndarray  # bool [n_rows]

    def __len__(self) -> int:
        return len(self.start) - 1


Values = np.ndarray | Tokens


class Table(msgspec.Struct, frozen=True):
    """Rows encoded by a schema, checked once: lengths, types, ranges, finite weights.

    values[j] is float64 with NaN (numeric), int32 codes with -1 (ordinal, nominal), or `Tokens` (text). Numeric columns
    may be strided views of the caller's array: nothing here is ever written to. `label` is int32 class codes, float64
    numbers, or None; `weight` is float64 and always there.
    """

    schema: Schema
    values: tuple[Values, ...]
    weight: np.ndarray  # [n_rows]
    label: np.ndarray | None = None  # [n_rows]
    is_unweighted: bool = False  # every weight is 1

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def n_classes(self) -> int:
        """The number of classes of the target; 0 where there is none."""
        target = self.schema.target
        return len(target.classes) if target and target.classes is not None else 0

    def take(self, rows: np.ndarray) -> Table:
        """The table of these rows (indices or a mask)."""
        return Table(
            self.schema,
            tuple(_take(values, rows) for values in self.values),
            self.weight[rows],
            None if self.label is None else self.label[rows],
            self.is_unweighted,
        )

    def select(self, columns: Sequence[int]) -> Table:
        """The table of these columns only, in this order."""
        schema = Schema(
            tuple(self.schema.columns[j] for j in columns), self.schema.target, self.schema.named, self.schema.left_out
        )
        return Table(schema, tuple(self.values[j] for j in columns), self.weight, self.label, self.is_unweighted)


def _take(values: Values, rows: np.ndarray) -> Values:
    if not isinstance(values, Tokens):
        return values[rows]
    rows = np.flatnonzero(rows) if rows.dtype == bool else np.asarray(rows)
    length = np.diff(values.start)[rows]
    start = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    entry = np.repeat(values.start[rows] - start[:-1], length) + np.arange(start[-1])
    return Tokens(start, values.code[entry], values.count[entry], values.missing[rows])


_SHOWN_LEVELS = 60  # characters


def _schema_table(schema: Schema) -> str:
    rows = [("column", "kind", "levels"), *((c.name, c.kind.value, _levels_in_words(c)) for c in schema.columns)]
    rows += [(name, "left out", "only identifies rows") for name in schema.left_out]
    if schema.target:
        classes = schema.target.classes
        rows.append((schema.target.name, "target", "a number" if classes is None else _listed(classes)))
    width = [max(len(row[i]) for row in rows) for i in range(2)]
    lines = [f"{name:<{width[0]}}  {kind:<{width[1]}}  {levels}".rstrip() for name, kind, levels in rows]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def _levels_in_words(column: Column) -> str:
    if column.kind is Kind.TEXT:
        return f"{len(column.levels)} words" if column.levels else "words"
    if column.kind is Kind.NUMERIC:
        return f"date ({column.unit})" if column.unit else ""
    return _listed(column.levels, " < " if column.kind is Kind.ORDINAL else ", ")


def _listed(levels: Sequence[Any], separator: str = ", ") -> str:
    names = [str(level) for level in levels]
    shown = separator.join(names)
    if len(shown) <= _SHOWN_LEVELS:
        return shown
    kept = next(k for k in range(len(names), -1, -1) if len(separator.join(names[:k])) <= _SHOWN_LEVELS - 16)
    return separator.join([*names[:kept], f"… ({len(names)} levels)"])
