"""`CrossProducts`: the mergeable statistic of least squares: weight, means and centred cross products of features and
target.

`in_folds` and `products_of_folds` compute it for each fold of a cross-validation in one pass over the rows; folds are
assigned locally and sent to the partitions.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import LocalPartitionValues, Partitions, PartitionValues
from baytree.folds.content_folds import are_repetitions, assign_folds, repeated_rows, row_keys
from baytree.folds.splitters import CV, read_cv
from baytree.folds.structured_folds import as_array, fold_numbers, is_test, is_train
from baytree.linear.design.feature_layout import VALUE
from baytree.linear.scatter.observe import scatter_with_target, scatters_with_target, with_target
from baytree.linear.scatter.scatter import Scatter, aligned
from baytree.parallel.threads import sum_in_order
from baytree.statistics.containers import RowArrays

_MIN_PRESENT_PROPORTION = 1e-13  # proportion of the rows below which a 0/1 feature counts as absent

_MAX_GROUPS = 64  # maximum number of groups whose cross products are in memory together


class CrossProducts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="products"):
    """Scatter of all rows as one class, with the target as last feature."""

    scatter: Scatter

    @classmethod
    def of(cls, table: Table) -> CrossProducts:
        """Statistic of a table's rows, in one pass."""
        return cls(scatter_with_target(table))

    @classmethod
    def of_groups(cls, table: Table, group: np.ndarray, n_groups: int) -> list[CrossProducts]:
        """Statistic of each group of rows, in one pass per `_MAX_GROUPS` groups. group int [n_rows], 0, 1, …"""
        scatters = []
        for first in range(0, n_groups, _MAX_GROUPS):
            in_batch = np.flatnonzero((group >= first) & (group < first + _MAX_GROUPS))
            batch = table if len(in_batch) == len(table) else table.take(in_batch)
            size = min(_MAX_GROUPS, n_groups - first)
            scatters += scatters_with_target(batch, (group[in_batch] - first).astype(np.int32), size)
        return [cls(scatter) for scatter in scatters]

    def __add__(self, other: CrossProducts) -> CrossProducts:
        return CrossProducts(self.scatter + other.scatter)

    def __sub__(self, other: CrossProducts) -> CrossProducts:
        return CrossProducts(_without_traces(self.scatter - other.scatter))

    @property
    def weight(self) -> float:
        """Total weight of the rows."""
        return float(self.scatter.weight[0])

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless a statistic read from a file fits the schema and could have come from rows."""
        self.scatter.check(with_target(schema))
        layout = self.scatter.layout
        if not len(layout) or layout.source[-1] != len(schema) or layout.level[-1] != VALUE:
            raise ValueError("products: the last feature must be the target")
        if not self.scatter.is_pooled:
            raise ValueError("products: the scatter must be pooled over all rows")

    def to_schema(self, old: Schema, new: Schema) -> CrossProducts:
        """The same statistic under a schema with other levels."""
        return CrossProducts(self.scatter.to_schema(with_target(old), with_target(new)))

    def drop_unused_levels(self, schema: Schema) -> tuple[Schema, CrossProducts]:
        """Schema and statistic without the inferred levels that have no rows left."""
        smaller, scatter = self.scatter.drop_unused_levels(with_target(schema))
        return msgspec.structs.replace(schema, columns=smaller.columns[:-1]), CrossProducts(scatter)

    def beside(self, other: CrossProducts) -> tuple[CrossProducts, CrossProducts]:
        """Both statistics with the same features, pivot and units."""
        left, right = aligned(self.scatter, other.scatter)
        return CrossProducts(left), CrossProducts(right)


def _without_traces(statistic: Scatter) -> Scatter:
    """Statistic in which 0/1 features without remaining rows are exactly 0, without the rounding left by subtraction."""
    is_absent = (statistic.layout.level != VALUE) & (np.abs(statistic.mean[0]) <= _MIN_PRESENT_PROPORTION)
    spread = np.where(is_absent[:, None] | is_absent, 0.0, statistic.spread)
    return msgspec.structs.replace(statistic, mean=np.where(is_absent, 0.0, statistic.mean), spread=spread)


class FoldedTable(msgspec.Struct, frozen=True):
    """Rows, and the fold of each."""

    table: Table
    fold: np.ndarray  # array of folds (see `folds.structured_folds.as_array`), whose numbers begin at 0


def products_of_pairs(
    rows: Partitions, cv: CV | np.ndarray
) -> tuple[CrossProducts, list[tuple[CrossProducts, CrossProducts]], PartitionValues[FoldedTable]]:
    """Statistic of all rows, those of the training and test rows of each fold, and the rows with their folds."""
    if not isinstance(cv, (int, np.ndarray)):
        label = rows.map_reduce(lambda table: RowArrays.of(table.first, table.label), rows_per_part=None).arrays[0]
        cv = as_array(read_cv(cv, rows.n_rows, label, is_classification=False), rows.n_rows)
    if isinstance(cv, np.ndarray) and cv.ndim == 2:
        return _products_of_roles(rows, cv)
    folded, n_folds = in_folds(rows, cv)
    folds = products_of_folds(folded, n_folds)
    total = sum_in_order(folds)
    return total, [(total - fold, fold) for fold in folds], folded


def _products_of_roles(
    rows: Partitions, fold: np.ndarray
) -> tuple[CrossProducts, list[tuple[CrossProducts, CrossProducts]], PartitionValues[FoldedTable]]:
    """Statistics of rows whose folds are no partition: training and test rows are summed one by one."""
    table = rows.gather()

    def products(of: np.ndarray) -> CrossProducts:
        return CrossProducts.of(table.take(np.flatnonzero(of)))

    pairs = [(products(is_train(fold, k)), products(is_test(fold, k))) for k in fold_numbers(fold)]
    return CrossProducts.of(table), pairs, LocalPartitionValues([FoldedTable(table, fold)])


class FoldStatistics(msgspec.Struct, frozen=True):
    """Statistic of each fold; additive over partitions."""

    folds: tuple[CrossProducts, ...]

    def __add__(self, other: FoldStatistics) -> FoldStatistics:
        return FoldStatistics(tuple(left + right for left, right in zip(self.folds, other.folds, strict=True)))


def products_of_folds(rows: PartitionValues[FoldedTable], n_folds: int) -> tuple[CrossProducts, ...]:
    """Statistic of each fold."""
    return rows.map_reduce(lambda own: FoldStatistics(tuple(CrossProducts.of_groups(own.table, own.fold, n_folds)))).folds


def in_folds(rows: Partitions, cv: int | np.ndarray) -> tuple[PartitionValues[FoldedTable], int]:
    """Rows in these folds, and the number of folds. A number of folds assigns rows by their contents."""
    if isinstance(cv, int):
        return _by_contents(rows, cv)
    fold_names, fold = np.unique(cv, return_inverse=True)
    return rows.apply(lambda table: FoldedTable(table, fold[table.first : table.first + len(table)])), len(fold_names)


def _by_contents(rows: Partitions, n_folds: int) -> tuple[PartitionValues[FoldedTable], int]:
    """Rows assigned to folds by their hashes, a row of weight 2 as two; only the hashes leave a partition."""
    unit_rows = rows.apply(repeated_rows if are_repetitions(rows) else lambda table: table)
    first, length, key = unit_rows.map_reduce(_keys).arrays
    if len(key) < 2:
        raise ValueError(f"cv={n_folds} needs at least 2 rows; the table has 1 sample")
    n_folds = min(n_folds, len(key))
    fold, start = assign_folds(key, None, n_folds), dict(zip(first.tolist(), np.cumsum(length) - length, strict=True))
    return unit_rows.apply(lambda table: FoldedTable(table, fold[start[table.first] :][: len(table)])), n_folds


def _keys(table: Table) -> RowArrays:
    """Index of the first row, number of rows, and row hashes of a partition."""
    return RowArrays.of(table.first, np.array([table.first]), np.array([len(table)]), row_keys(table))
