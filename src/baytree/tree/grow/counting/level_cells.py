"""The cells of a level's counts by node and column, as merging reads them."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.tree.grow.counting.candidate import Candidate
from baytree.tree.grow.counting.counted import Cells


class Column(msgspec.Struct, frozen=True):
    """What a level's nodes hold of a column."""

    cells: Cells
    n_codes: int
    is_ordered: bool
    is_mean: bool  # the sums are weight, Σ y, Σ y² and not weights per class
    weight: np.ndarray  # float64 [n_cells]

    @classmethod
    def of(cls, cells: Cells, n_codes: int, is_ordered: bool, is_mean: bool) -> Column:
        """With the weight of each code."""
        return cls(cells, n_codes, is_ordered, is_mean, cells.sums[:, 0].copy() if is_mean else cells.sums.sum(axis=1))

    def candidate(self, first: int, last: int, has_missing: bool) -> Candidate:
        """The codes of a node. Missing values are the last level of a nominal column, and float in an ordered one."""
        sums, weight, is_mean = self.cells.sums[first:last], self.weight[first:last], self.is_mean
        if not has_missing:
            return Candidate(statistics=sums, weight=weight, is_ordered=self.is_ordered, is_mean=is_mean)
        if not self.is_ordered:
            last_level = np.roll(np.arange(len(sums)), -1)
            return Candidate(statistics=sums[last_level], weight=weight[last_level], is_ordered=False, is_mean=is_mean)
        return Candidate(
            statistics=sums[1:],
            weight=weight[1:],
            is_ordered=True,
            floating=sums[0],
            floating_weight=float(weight[0]),
            is_mean=is_mean,
        )


class Where(msgspec.Struct, frozen=True):
    """The cells of each node of each column."""

    first: np.ndarray  # int64 [n_nodes, n_columns]
    last: np.ndarray  # int64 [n_nodes, n_columns], exclusive
    has_missing: np.ndarray  # bool [n_nodes, n_columns], the first cell is that of missing values

    @classmethod
    def of(cls, columns: list[Column], places: np.ndarray) -> Where:
        """Of the nodes in these places."""
        keys, n_codes = [column.cells.key for column in columns], np.array([column.n_codes for column in columns], np.int64)
        return cls(*_core.node_spans(keys, n_codes, places))

    def cells(self, at: int, column: int) -> tuple[int, int, bool]:
        """Of a node, by its place among them: the first and the last, and whether the first is that of missing values."""
        return int(self.first[at, column]), int(self.last[at, column]), bool(self.has_missing[at, column])
