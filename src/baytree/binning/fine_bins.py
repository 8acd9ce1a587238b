"""Fine bins of a column and their sums of the target: the statistic from which coarse bins are derived.

A cell is a fine bin: an interval of a number, a level, a special value, or missing. The sums of a cell are the weight of
each class, or the weight, total and total square of a numeric target. They are exact, so they add up over parts in any
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.column import Column, Kind
from baytree.engine.partitions import Partitions
from baytree.engine.quantiles import quantile_edges
from baytree.engine.worker_results import StatisticTuple
from baytree.statistics.binning import bin_codes
from baytree.statistics.counts import Counts
from baytree.statistics.moments import Moments

MAX_FINE_BINS = 256  # of a numeric column: up to this number of different values, each is a bin


class FineBins(msgspec.Struct, frozen=True):
    """Fine bins of a column, in order: intervals (or levels), special values, missing.

    An interval is closed above: its upper edge belongs to it, and the last interval has no edge.
    """

    column: Column
    edges: np.ndarray  # float64 [n_intervals − 1], ascending; empty for levels
    special: np.ndarray  # float64 [n_special], ascending
    sums: np.ndarray  # float64 [n_intervals + n_special + 1, n_classes], or [..., 3]: weight, total, total square
    is_number: bool = False  # whether the target is a number

    @property
    def n_ordered(self) -> int:
        """Number of intervals or levels."""
        return len(self.sums) - len(self.special) - 1

    @property
    def weight(self) -> np.ndarray:
        """Weight of the rows of each cell. [n_cells]"""
        return self.sums[:, 0] if self.is_number else self.sums.sum(axis=1)

    def cells_of(self, values: np.ndarray) -> np.ndarray:
        """Cell of each value: int32 [n_rows]."""
        return cells_of(self.column, self.edges, self.special, values, self.n_ordered)


def fine_bins(rows: Partitions, j: int, special: Sequence[float] = (), max_bins: int = MAX_FINE_BINS) -> FineBins:
    """Fine bins of column j: one pass for its quantiles if it is numeric, and one for the sums."""
    chosen = np.unique(np.asarray(special, np.float64))
    ordinary = rows.map_partitions(partial(_without, j, chosen)) if len(chosen) else rows
    is_numeric = rows.schema.columns[j].kind is Kind.NUMERIC
    edges = quantile_edges(ordinary, [j], max_bins)[0] if is_numeric else _NO_EDGES
    return _with_sums(rows, [_Cells(j, edges, chosen)])[0]


def fine_bins_of_all(rows: Partitions, max_bins: int = MAX_FINE_BINS) -> list[FineBins]:
    """Fine bins of every column, in as many passes over the rows as those of one column."""
    numeric = [j for j, column in enumerate(rows.schema.columns) if column.kind is Kind.NUMERIC]
    edges = dict(zip(numeric, quantile_edges(rows, numeric, max_bins) if numeric else (), strict=True))
    return _with_sums(rows, [_Cells(j, edges.get(j, _NO_EDGES), _NO_EDGES) for j in range(len(rows.schema))])


def cells_of(column: Column, edges: np.ndarray, special: np.ndarray, values: np.ndarray, n_ordered: int) -> np.ndarray:
    """Cell of each value, the last for missing: int32 [n_rows]."""
    is_numeric = column.kind is Kind.NUMERIC
    cell = bin_codes(values, edges) if is_numeric else np.asarray(values, np.int32).copy()
    cell[cell < 0] = n_ordered + len(special)
    if len(special):
        found = np.minimum(np.searchsorted(special, values), len(special) - 1)
        is_special = special[found] == values
        cell[is_special] = n_ordered + found[is_special]
    return cell


_NO_EDGES = np.empty(0)


class _Cells(NamedTuple):
    """Column, edges and special values of fine bins whose sums are not known yet."""

    j: int
    edges: np.ndarray
    special: np.ndarray

    def n_ordered(self, column: Column) -> int:
        return len(self.edges) + 1 if column.kind is Kind.NUMERIC else len(column.levels)


def _with_sums(rows: Partitions, cells: Sequence[_Cells]) -> list[FineBins]:
    """Fine bins with the sums of the target, in one pass."""
    observed = rows.map_reduce(partial(_observe_all, cells)).values
    return [_fine_bins(rows.schema.columns[own.j], own, sums) for own, sums in zip(cells, observed, strict=True)]


def _fine_bins(column: Column, cells: _Cells, observed: Counts | Moments) -> FineBins:
    if isinstance(observed, Moments):
        sums = np.stack([part.rounded()[:, 0] for part in (observed.weight, observed.total, observed.square)], axis=1)
        return FineBins(column, cells.edges, cells.special, sums, is_number=True)
    return FineBins(column, cells.edges, cells.special, observed.known())


def _observe_all(cells: Sequence[_Cells], table: Table) -> StatisticTuple:
    return StatisticTuple(tuple(_observe(own, table) for own in cells))


def _without(j: int, special: np.ndarray, table: Table) -> Table:
    """Rows with the special values of column j missing, so that they do not affect its quantiles."""
    values = np.where(np.isin(table.values[j], special), np.nan, table.values[j])
    columns = [values if k == j else table.values[k] for k in range(len(table.schema))]
    return msgspec.structs.replace(table, values=tuple(columns))


def _observe(cells: _Cells, table: Table) -> Counts | Moments:
    """Sums of the target in each cell of a part."""
    column = table.schema.columns[cells.j]
    n_ordered = cells.n_ordered(column)
    cell = cells_of(column, cells.edges, cells.special, np.ascontiguousarray(table.values[cells.j]), n_ordered)
    weight, n_cells = None if table.is_unweighted else table.weight, n_ordered + len(cells.special) + 1
    if table.schema.target.classes is None:
        return Moments.of(np.ascontiguousarray(table.label, np.float64)[:, None], cell, weight, n_cells)
    return Counts.of(cell, table.label, weight, n_cells, table.n_classes)
