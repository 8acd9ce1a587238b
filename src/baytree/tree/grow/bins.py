"""Numbers as ranks: the edges that part a numeric column into bins of similar weight, and a number's code among them."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import numpy as np

from baytree.table.schema import Column, Kind, Schema
from baytree.table.table import Table


class Bins(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="bins"):
    """The edges of each numeric column: bin k holds edge[k − 1] < x ≤ edge[k]. Other columns have none."""

    edges: np.ndarray  # float64 [n_edges], column after column
    start: np.ndarray  # int64 [n_columns + 1]
    is_cut: np.ndarray  # bool [n_columns], the columns that are numeric

    def __post_init__(self) -> None:
        if self.edges.dtype != np.float64 or self.start.dtype != np.int64 or self.is_cut.dtype != np.bool_:
            raise ValueError("not bins: arrays of another type")
        if self.edges.ndim != 1 or self.is_cut.ndim != 1 or self.start.shape != (len(self.is_cut) + 1,):
            raise ValueError("not bins: arrays of another shape")
        if self.start[0] != 0 or self.start[-1] != len(self.edges) or np.any(np.diff(self.start) < 0):
            raise ValueError("not bins: the edges of a column are not where they should be")
        rises = np.diff(self.edges) > 0
        rises[self.start[1:-1][(self.start[1:-1] > 0) & (self.start[1:-1] < len(self.edges))] - 1] = True
        if np.isnan(self.edges).any() or not rises.all():
            raise ValueError("not bins: the edges of a column do not rise")

    @classmethod
    def of(cls, table: Table, n_bins: int) -> Bins:
        """Edges at the quantiles of the training rows."""
        is_cut = np.array([column.kind is Kind.NUMERIC for column in table.schema], bool)
        edges = [
            quantile_edges(values, table.weight, n_bins) if numeric else np.zeros(0)
            for values, numeric in zip(table.values, is_cut, strict=True)
        ]
        start = np.concatenate([[0], np.cumsum([len(each) for each in edges])]).astype(np.int64)
        return cls(edges=np.concatenate([np.zeros(0), *edges]), start=start, is_cut=is_cut)

    def of_column(self, j: int) -> np.ndarray:
        """The edges of column j."""
        return self.edges[self.start[j] : self.start[j + 1]]

    def check(self, schema: Schema) -> None:
        """Raises an error where the bins belong to other columns."""
        if self.is_cut.tolist() != [column.kind is Kind.NUMERIC for column in schema.columns]:
            raise ValueError("the bins belong to other columns than the schema has")

    def coded(self, table: Table, used: set[int] | None = None) -> Table:
        """The table with every column as int32 codes, −1 where missing; a column that is not used is all missing."""
        nothing = np.broadcast_to(np.int32(-1), len(table))
        codes = tuple(
            self._code_column(j, table.values[j]) if used is None or j in used else nothing for j in range(len(self.is_cut))
        )
        return msgspec.structs.replace(table, schema=self.schema(table.schema), values=codes)

    def schema(self, schema: Schema) -> Schema:
        """The schema of the coded table: a numeric column is ordinal, and its levels are the bins in words."""
        columns = tuple(
            _ranked(column, self.of_column(j)) if self.is_cut[j] else column for j, column in enumerate(schema.columns)
        )
        return msgspec.structs.replace(schema, columns=columns)

    def n_levels(self, schema: Schema) -> np.ndarray:
        """int32 [n_columns]: the number of codes of each column."""
        return np.where(self.is_cut, np.diff(self.start) + 1, [len(c.levels) for c in schema.columns]).astype(np.int32)

    def _code_column(self, j: int, values: np.ndarray) -> np.ndarray:
        if not self.is_cut[j]:
            return values
        code = np.searchsorted(self.of_column(j), values).astype(np.int32)
        code[np.isnan(values)] = -1
        return code


def quantile_edges(values: np.ndarray, weight: np.ndarray, n_bins: int) -> np.ndarray:
    """The upper edges of all bins but the last, each a value that occurs; every value its own bin where they are few."""
    known = ~np.isnan(values)
    distinct, place = np.unique(values[known], return_inverse=True)
    if len(distinct) <= n_bins:
        return distinct[:-1] + 0.0
    reached = np.cumsum(np.bincount(place, weight[known], len(distinct)))
    goal = reached[-1] * np.arange(1, n_bins) / n_bins
    last = np.searchsorted(reached, goal * (1 - 1e-12))
    return distinct[np.unique(last[last < len(distinct) - 1])] + 0.0


def interval(column: Column, low: float | None, high: float | None) -> str:
    """low < x ≤ high in words; None where a side is open."""
    if low is None:
        return "any" if high is None else f"≤ {column.show(high)}"
    return f"> {column.show(low)}" if high is None else f"> {column.show(low)}, ≤ {column.show(high)}"


def _ranked(column: Column, edges: np.ndarray) -> Column:
    sides = [None, *edges.tolist(), None]
    levels = tuple(interval(column, low, high) for low, high in pairwise(sides))
    return Column(column.name, Kind.ORDINAL, levels, True)
