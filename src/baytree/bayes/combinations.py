"""The joint table by counting: which combinations of levels occur, and how much each of them weighs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import msgspec
import numpy as np

from baytree.statistics.counts import Counts
from baytree.statistics.exact import ExactSum
from baytree.table.schema import Kind, Schema, level_map
from baytree.table.table import Table


class Combinations(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="combinations"):
    """The combinations that occur in complete rows, in order, each with its exact weight; the class comes last."""

    code: np.ndarray  # int32 [n_combinations, n_columns + 1]
    weight: ExactSum  # [n_combinations]

    @classmethod
    def of(cls, table: Table) -> Self:
        """The combinations of the rows that know every column."""
        rows = np.column_stack([*table.values, table.label]).astype(np.int32)
        complete = (rows >= 0).all(axis=1)
        code, place = np.unique(rows[complete], axis=0, return_inverse=True)
        weight = None if table.is_unweighted else table.weight[complete]
        one = np.zeros(int(complete.sum()), np.int32)
        counts = Counts.of(place.ravel().astype(np.int32), one, weight, len(code), 1)
        return cls(code, _flat(counts.cells.take(np.arange(1, len(code) + 1))))

    def __add__(self, other: Self) -> Self:
        return self._combined(other, ExactSum.__add__)

    def __sub__(self, other: Self) -> Self:
        left = self._combined(other, ExactSum.__sub__)
        kept = np.flatnonzero(left.weight.limbs.any(axis=1))
        return type(self)(left.code[kept], left.weight.take(kept))

    def grown(self, old: Schema, new: Schema) -> Self:
        """The same combinations under a schema with other levels or classes."""
        if old.columns == new.columns and old.target == new.target:
            return self
        places = [level_map(new.columns[j].levels, column.levels) for j, column in enumerate(old.columns)]
        places.append(level_map(new.classes, old.classes))
        code = np.column_stack([place[self.code[:, j]] for j, place in enumerate(places)]).astype(np.int32)
        order = np.lexsort(code.T[::-1])
        return type(self)(code[order], self.weight.take(order))

    def shrunk(self, schema: Schema) -> tuple[Schema, Self]:
        """Without the collected levels and classes that no row is left of."""
        if not len(self.code):
            raise ValueError("every learnt row would be forgotten, and a model of nothing is no model")
        columns = []
        for j, column in enumerate(schema.columns):
            used = set(np.unique(self.code[:, j]).tolist())
            kept = tuple(level for code, level in enumerate(column.levels) if column.declared or code in used)
            columns.append(msgspec.structs.replace(column, levels=kept))
        used = set(np.unique(self.code[:, -1]).tolist())
        classes = tuple(label for code, label in enumerate(schema.classes) if code in used)
        target = msgspec.structs.replace(schema.target, classes=classes)
        smaller = msgspec.structs.replace(schema, columns=tuple(columns), target=target)
        return smaller, self.grown(schema, smaller)

    def check(self, schema: Schema) -> None:
        """Raises an error unless every code is a level and every combination has its weight."""
        check_codes(self.code, schema)
        self.weight.check((len(self.code),))

    def _combined(self, other: Self, operation: Callable[[ExactSum, ExactSum], ExactSum]) -> Self:
        both = np.concatenate([self.code, other.code])
        code, place = np.unique(both, axis=0, return_inverse=True)
        place = place.ravel()
        ours, theirs = (np.full(len(code), -1) for _ in range(2))
        ours[place[: len(self.code)]] = np.arange(len(self.code))
        theirs[place[len(self.code) :]] = np.arange(len(other.code))
        return type(self)(code, operation(self.weight.take(ours), other.weight.take(theirs)))


def level_counts(schema: Schema) -> tuple[int, ...]:
    """The number of levels of each column, and of classes."""
    return (*(len(column.levels) for column in schema.columns), len(schema.classes))


def check_codes(code: np.ndarray, schema: Schema) -> None:
    """Raises an error unless combinations ascend and every code is a level of the schema."""
    if any(column.kind not in (Kind.NOMINAL, Kind.ORDINAL) for column in schema.columns):
        raise ValueError("a joint table has nominal and ordinal columns")
    if code.dtype != np.int32 or code.ndim != 2 or code.shape[1] != len(schema) + 1:
        raise ValueError("combinations have a code for each column and the class")
    if len(code) and ((code < 0).any() or (code.max(axis=0) >= np.array(level_counts(schema))).any()):
        raise ValueError("a combination holds a code that is no level")
    if len(np.unique(code, axis=0)) < len(code):
        raise ValueError("a combination stands twice")


def _flat(cells: ExactSum) -> ExactSum:
    return ExactSum(np.ascontiguousarray(cells.limbs[:, 0]), cells.low)
