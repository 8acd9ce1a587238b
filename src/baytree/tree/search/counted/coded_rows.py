"""Rows as column codes, with the node of each, for multiway classification trees.

Levels are codes already; numbers are coded by their rank among the distinct values of all rows, so that thresholds are
exact.
"""

from __future__ import annotations

from functools import partial

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.engine.partitions import Partitions, PartitionValues
from baytree.tree.search.counted.counts import CodeSums, DepthCounts


class DistinctValueCodes(msgspec.Struct, frozen=True):
    """Values that the codes of each column stand for; adding those of partitions gives those of all rows."""

    values: list[np.ndarray]  # float64 [n_codes], values of a column with thresholds; empty if it has levels
    levels: np.ndarray  # int32 [n_columns], 0 if the column has thresholds

    def __add__(self, other: DistinctValueCodes) -> DistinctValueCodes:
        return DistinctValueCodes(
            [np.union1d(mine, theirs) for mine, theirs in zip(self.values, other.values, strict=True)], self.levels
        )

    @property
    def n_codes(self) -> np.ndarray:
        """Number of codes of each column, int32 [n_columns]."""
        return np.where(self.levels > 0, self.levels, [len(values) for values in self.values]).astype(np.int32)


class RankedRows(msgspec.Struct, frozen=True):
    """Rows of positive weight as column codes, with the node of each."""

    codes: list[np.ndarray]  # int32 [n_rows], −1 if missing
    coding: DistinctValueCodes
    label: np.ndarray  # int32 [n_rows]
    weight: np.ndarray  # float64 [n_rows]; empty if all are 1
    at: np.ndarray  # int32 [n_rows]
    n_classes: int
    n_threads: int


class RowsOfClasses(msgspec.Struct, frozen=True):
    """Weight of each class, total weight and number of rows."""

    weight: np.ndarray  # float64 [n_classes]
    total: float
    n_rows: int

    @classmethod
    def of(cls, rows: RankedRows) -> RowsOfClasses:
        """Class weights of these rows."""
        weight = rows.weight if len(rows.weight) else np.ones(len(rows.label))
        return cls(np.bincount(rows.label, weight, rows.n_classes), float(weight.sum()), len(rows.label))

    def __add__(self, other: RowsOfClasses) -> RowsOfClasses:
        return RowsOfClasses(self.weight + other.weight, self.total + other.total, self.n_rows + other.n_rows)


def coded_rows(rows: Partitions, n_threads: int) -> tuple[PartitionValues[RankedRows], DistinctValueCodes]:
    """Coded rows at the root, and the values of the codes: the distinct values of all rows."""
    ranked = rows.apply(partial(_ranked, n_threads))
    coding = ranked.map_reduce(lambda own: own.coding)
    return ranked.apply(partial(_recoded, coding)), coding


def count_classes(n_codes: np.ndarray, is_open: np.ndarray, index_of_node: np.ndarray, rows: RankedRows) -> DepthCounts:
    """Counts of the nodes selected by `index_of_node`; `is_open` [n_nodes, n_columns] are the columns to be counted."""
    counts, sums, cells = _core.count_classes(
        rows.codes, n_codes, index_of_node[rows.at], rows.label, rows.weight, rows.n_classes, is_open, rows.n_threads
    )
    return DepthCounts(counts, sums, tuple(CodeSums(key, weights[:, None]) for key, weights in cells))


def stepped_down(
    column: np.ndarray, rank: np.ndarray, first: np.ndarray, missing: np.ndarray, rows: RankedRows
) -> RankedRows:
    """Move the rows at nodes with a column to the child that they follow."""
    return msgspec.structs.replace(rows, at=_core.step_down(rows.codes, rows.at, column, rank, first, missing))


def _ranked(n_threads: int, table: Table) -> RankedRows:
    """Code numbers by rank among the distinct values of this partition; ordinal codes stand for themselves."""
    table = table if table.weight.all() else table.take(table.weight > 0)
    kinds = [column.kind for column in table.schema]
    numbers = [np.ascontiguousarray(v, float) for v, kind in zip(table.values, kinds, strict=True) if kind is Kind.NUMERIC]
    ranks = iter(_core.rank_values(numbers, n_threads))
    coded = [next(ranks) if kind is Kind.NUMERIC else _level_codes(table, j) for j, kind in enumerate(kinds)]
    levels = [max(len(c.levels), 1) if c.kind is Kind.NOMINAL else 0 for c in table.schema]
    coding = DistinctValueCodes([values for _, values in coded], np.array(levels, np.int32))
    weight = np.zeros(0) if table.is_unweighted else np.ascontiguousarray(table.weight, float)
    label, at = np.ascontiguousarray(table.label, np.int32), np.zeros(len(table), np.int32)
    return RankedRows([codes for codes, _ in coded], coding, label, weight, at, table.n_classes, n_threads)


def _level_codes(table: Table, j: int) -> tuple[np.ndarray, np.ndarray]:
    column = table.schema.columns[j]
    n_cut = len(column.levels) if column.kind is Kind.ORDINAL else 0
    return np.ascontiguousarray(table.values[j], np.int32), np.arange(n_cut, dtype=float)


def _recoded(coding: DistinctValueCodes, rows: RankedRows) -> RankedRows:
    """Recode rows from the codes of their partition to those of all rows."""
    each = zip(rows.codes, rows.coding.values, coding.values, strict=True)
    return msgspec.structs.replace(rows, codes=[_merge_codes(*column) for column in each], coding=coding)


def _merge_codes(codes: np.ndarray, codes_here: np.ndarray, every: np.ndarray) -> np.ndarray:
    if len(codes_here) == len(every):
        return codes
    return np.append(np.searchsorted(every, codes_here), -1).astype(np.int32)[codes]  # code −1 reads the last entry
