"""The statistic of least squares: weight, means and centred products of all features and the target, which add up.

Rows in folds, and the statistic of each fold, in one read of the rows: folds are dealt here and travel with parts.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import Partitions, PartitionValues
from baytree.folds.content_folds import are_repetitions, assign_folds, repeated_rows, row_keys
from baytree.folds.splitters import CV, read_cv
from baytree.linear.design.feature_layout import VALUE
from baytree.linear.scatter.observe import scatter_with_target, scatters_with_target, with_target
from baytree.linear.scatter.scatter import Scatter, aligned
from baytree.statistics.containers import RowArrays

_TRACE = 1e-13  # share of the rows that is none

_TOGETHER = 64  # groups of rows, whose products are in memory at once


class CrossProducts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="products"):
    """The scatter of all rows as one class, the target its last feature."""

    scatter: Scatter

    @classmethod
    def of(cls, table: Table) -> CrossProducts:
        """The statistic of a table's rows, in one read of them."""
        return cls(scatter_with_target(table))

    @classmethod
    def of_groups(cls, table: Table, group: np.ndarray, n_groups: int) -> list[CrossProducts]:
        """The statistic of each group of rows, together in one read of them. group int [n_rows], 0, 1, …"""
        found = []
        for first in range(0, n_groups, _TOGETHER):
            own = np.flatnonzero((group >= first) & (group < first + _TOGETHER))
            some = table if len(own) == len(table) else table.take(own)
            number = min(_TOGETHER, n_groups - first)
            found += scatters_with_target(some, (group[own] - first).astype(np.int32), number)
        return [cls(scatter) for scatter in found]

    def __add__(self, other: CrossProducts) -> CrossProducts:
        return CrossProducts(self.scatter + other.scatter)

    def __sub__(self, other: CrossProducts) -> CrossProducts:
        return CrossProducts(_without_traces(self.scatter - other.scatter))

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(self.scatter.weight[0])

    def check(self, schema: Schema) -> None:
        """Raises an error unless the statistic, read from a file, fits a schema and could have come from rows."""
        self.scatter.check(with_target(schema))
        layout = self.scatter.layout
        if not len(layout) or layout.source[-1] != len(schema) or layout.level[-1] != VALUE:
            raise ValueError("products: the last feature must be the target")
        if not self.scatter.is_pooled:
            raise ValueError("products: all rows are of one class")

    def to_schema(self, old: Schema, new: Schema) -> CrossProducts:
        """The same statistic under a schema with other levels."""
        return CrossProducts(self.scatter.to_schema(with_target(old), with_target(new)))

    def drop_unused_levels(self, schema: Schema) -> tuple[Schema, CrossProducts]:
        """Without the collected levels that no row is left of."""
        smaller, scatter = self.scatter.drop_unused_levels(with_target(schema))
        return msgspec.structs.replace(schema, columns=smaller.columns[:-1]), CrossProducts(scatter)

    def beside(self, other: CrossProducts) -> tuple[CrossProducts, CrossProducts]:
        """Both statistics over the same features, pivot and units."""
        mine, theirs = aligned(self.scatter, other.scatter)
        return CrossProducts(mine), CrossProducts(theirs)


def _without_traces(seen: Scatter) -> Scatter:
    """The statistic with marks that no row is left of at 0, where taking away has left a rounding error."""
    gone = (seen.layout.level != VALUE) & (np.abs(seen.mean[0]) <= _TRACE)
    spread = np.where(gone[:, None] | gone, 0.0, seen.spread)
    return msgspec.structs.replace(seen, mean=np.where(gone, 0.0, seen.mean), spread=spread)


class FoldedTable(msgspec.Struct, frozen=True):
    """Rows, and the fold of each."""

    table: Table
    fold: np.ndarray  # int64 [n_rows], 0, 1, …


class FoldStatistics(msgspec.Struct, frozen=True):
    """The statistic of each fold."""

    folds: tuple[CrossProducts, ...]

    def __add__(self, other: FoldStatistics) -> FoldStatistics:
        return FoldStatistics(tuple(mine + theirs for mine, theirs in zip(self.folds, other.folds, strict=True)))


def products_of_folds(rows: PartitionValues[FoldedTable], n_folds: int) -> tuple[CrossProducts, ...]:
    """The statistic of each fold."""
    return rows.map_reduce(lambda own: FoldStatistics(tuple(CrossProducts.of_groups(own.table, own.fold, n_folds)))).folds


def in_folds(rows: Partitions, cv: CV | np.ndarray) -> tuple[PartitionValues[FoldedTable], int]:
    """The rows in the folds that `cv` asks for, and how many these are; a number deals rows by what is in them."""
    if isinstance(cv, int):
        return _by_contents(rows, cv)
    if not isinstance(cv, np.ndarray):
        label = rows.map_reduce(lambda table: RowArrays.of(table.first, table.label), rows_per_part=None).arrays[0]
        cv = read_cv(cv, rows.n_rows, label, is_classification=False).of_rows(rows.n_rows)
    names, fold = np.unique(cv, return_inverse=True)
    return rows.apply(lambda table: FoldedTable(table, fold[table.first : table.first + len(table)])), len(names)


def _by_contents(rows: Partitions, n_folds: int) -> tuple[PartitionValues[FoldedTable], int]:
    """Rows are dealt by their keys, a row of weight 2 as two; the keys are all that leaves a part."""
    single = rows.apply(repeated_rows if are_repetitions(rows) else lambda table: table)
    first, length, key = single.map_reduce(_keys).arrays
    if len(key) < 2:
        raise ValueError(f"cv={n_folds} needs at least 2 rows; the table has 1 sample")
    n_folds = min(n_folds, len(key))
    fold, start = assign_folds(key, None, n_folds), dict(zip(first.tolist(), np.cumsum(length) - length, strict=True))
    return single.apply(lambda table: FoldedTable(table, fold[start[table.first] :][: len(table)])), n_folds


def _keys(table: Table) -> RowArrays:
    """Where rows stand, how many they are, and their keys."""
    return RowArrays.of(table.first, np.array([table.first]), np.array([len(table)]), row_keys(table))
