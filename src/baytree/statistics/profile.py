"""What a table looked like: the distribution of each column in each class, small, and additive like any statistic.

A model keeps the profile of the rows that it has learnt from. Questions in an interview, pages and drift read it; no answer
of the model does.
"""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np

from baytree.statistics.counts import Counts
from baytree.statistics.sketch import Sketch
from baytree.table.schema import Column, Kind, Schema, level_map
from baytree.table.table import Table, Tokens

MOST_CELLS = 1 << 20  # rows times columns; a larger table is told with rows that are given, so that learning stays fast


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="profile"):
    """How many rows there were, and for each column the weight of its levels or numbers in each class.

    Where the target is a number there is one class, and the numbers of the target have a sketch of their own. Of text only
    the weight of the rows that have one is kept.
    """

    rows: np.ndarray  # int64 [1]
    columns: tuple[Sketch | Counts, ...]
    target: Sketch | None = None

    @classmethod
    def of(cls, table: Table) -> Self:
        """The profile of these rows, whose labels are known."""
        is_number = table.schema.target.classes is None
        label = np.zeros(len(table), np.int32) if is_number else table.label
        weight, n_classes = None if table.is_unweighted else table.weight, max(table.n_classes, 1)
        pairs = zip(table.schema.columns, table.values, strict=True)
        columns = tuple(_observed(column, values, label, weight, n_classes) for column, values in pairs)
        target = Sketch.of(table.label, label, weight, 1) if is_number else None
        return cls(np.array([len(table)]), columns, target)

    def __add__(self, other: Self) -> Self:
        columns = tuple(mine + theirs for mine, theirs in zip(self.columns, other.columns, strict=True))  # type: ignore
        target = None if self.target is None or other.target is None else self.target + other.target
        return type(self)(self.rows + other.rows, columns, target)

    def __sub__(self, other: Self) -> Self:
        columns = tuple(mine - theirs for mine, theirs in zip(self.columns, other.columns, strict=True))  # type: ignore
        target = None if self.target is None or other.target is None else self.target - other.target
        return type(self)(self.rows - other.rows, columns, target)

    def grown(self, old: Schema, new: Schema) -> Self:
        """The same profile under a schema with other levels or classes."""
        if old == new:
            return self
        classes = np.zeros(1, np.int64) if new.target.classes is None else level_map(old.classes, new.classes)
        pairs = zip(self.columns, old.columns, strict=True)
        columns = tuple(_regrown(seen, column, new[column.name], classes) for seen, column in pairs)
        return msgspec.structs.replace(self, columns=columns)

    def check(self, schema: Schema) -> None:
        """Raises an error where the profile, read from a file, does not fit the schema."""
        n_classes = max(len(schema.classes), 1)
        if self.rows.shape != (1,) or self.rows.dtype != np.int64 or len(self.columns) != len(schema):
            raise ValueError("the profile does not fit the columns")
        for column, seen in zip(schema.columns, self.columns, strict=True):
            _check(column, seen, n_classes)
        if (self.target is None) is (schema.target.classes is None):
            raise ValueError("the profile does not fit the target")
        if self.target is not None:
            self.target.check(1)


def is_small(schema: Schema, n_rows: int) -> bool:
    """Whether the profile of so many rows takes no time worth mentioning."""
    return n_rows * max(len(schema), 1) <= MOST_CELLS


def _observed(
    column: Column, values: np.ndarray | Tokens, label: np.ndarray, weight: np.ndarray | None, n_classes: int
) -> Sketch | Counts:
    if isinstance(values, Tokens):
        return Counts.of(-values.missing.astype(np.int32), label, weight, 1, n_classes)
    if column.kind is Kind.NUMERIC:
        return Sketch.of(np.ascontiguousarray(values), label, weight, n_classes)
    return Counts.of(values, label, weight, len(column.levels), n_classes)


def _regrown(seen: Sketch | Counts, old: Column, new: Column, classes: np.ndarray) -> Sketch | Counts:
    if isinstance(seen, Sketch):
        return seen.recoded(classes)
    levels = np.zeros(1, np.int64) if old.kind is Kind.TEXT else level_map(old.levels, new.levels)
    return seen.recoded([levels], classes)


def _check(column: Column, seen: Sketch | Counts, n_classes: int) -> None:
    if isinstance(seen, Sketch) != (column.kind is Kind.NUMERIC):
        raise ValueError(f"the profile of column {column.name!r} is not of its kind")
    if isinstance(seen, Sketch):
        seen.check(n_classes)
    else:
        seen.check(1 if column.kind is Kind.TEXT else len(column.levels), n_classes)
