"""Rows as narrow codes of their columns, which are kept where the rows are while a tree grows from their counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import msgspec
import numpy as np

from baytree import _core
from baytree.table.table import Table
from baytree.tree.grow.rounds.value_codes import Codes


class CodedRows(msgspec.Struct, frozen=True):
    """Codes of all columns, as narrow as the widest column allows; labels and weights."""

    codes: np.ndarray  # uint8, uint16 or uint32 [n_columns, n_rows]
    label: np.ndarray  # int32 [n_rows]
    weight: np.ndarray | None  # float64 [n_rows]; None where each is 1
    n_classes: int
    first: int  # how many rows come before these

    @classmethod
    def of(cls, codes: Codes, table: Table) -> Self:
        """These rows, coded."""
        narrow = np.empty((len(codes.sizes), len(table)), np.min_scalar_type(max(codes.sizes, default=1) - 1))
        for j, cells in enumerate(narrow):
            codes.put(table, j, cells)
        weight = None if table.is_unweighted else table.weight
        return cls(narrow, np.ascontiguousarray(table.label, np.int32), weight, table.n_classes, table.first)

    def __len__(self) -> int:
        return len(self.label)

    def take(self, rows: np.ndarray) -> Self:
        """These of the rows: bool [n_rows]."""
        weight = None if self.weight is None else self.weight[rows]
        return type(self)(np.ascontiguousarray(self.codes[:, rows]), self.label[rows], weight, self.n_classes, self.first)

    def arrays(self) -> Sequence[np.ndarray]:
        """All that these rows are."""
        known = np.array([self.n_classes, self.first])
        return [self.codes, self.label, known, *([] if self.weight is None else [self.weight])]

    @classmethod
    def from_arrays(cls, arrays: Sequence[np.ndarray]) -> Self:
        """The rows that had these arrays."""
        codes, label, known, *weight = arrays
        return cls(codes, label, weight[0] if weight else None, *known.tolist())


class CodeTests(msgspec.Struct, frozen=True):
    """The tests of a tree on codes: a row at node k with code c goes to child[start[k] + c]; where that is −1, it rests."""

    column: np.ndarray  # int32 [n_nodes], −1 for leaves
    start: np.ndarray  # int64 [n_nodes]
    child: np.ndarray  # int32

    @classmethod
    def of(cls, column: Sequence[int], children: Sequence[np.ndarray]) -> Self:
        """Of each node the column that it tests, and the child that each code goes to."""
        sizes = np.array([len(each) for each in children], np.int64)
        child = np.concatenate(children).astype(np.int32, copy=False)
        return cls(np.array(column, np.int32), np.cumsum(sizes) - sizes, child)

    def places(self, place_of: np.ndarray, rows: CodedRows) -> np.ndarray:
        """int32 [n_rows]: what is said of the node where each row comes to rest."""
        return _core.coded_places(rows.codes, self.column, self.start, self.child, place_of.astype(np.int32, copy=False))


ROOT = CodeTests.of([-1], [np.zeros(0, np.int32)])
