"""Rows of a scorecard as cells of fine bins: equal rows are grouped, so that no sum depends on their order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Self

import msgspec
import numpy as np

from baytree.binning.fine_bins import FineBins
from baytree.data.encoding.table import Table
from baytree.engine.partitions import Partitions
from baytree.folds.content_folds import assign_folds_by_weight, mix_bits

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class CodedRows(msgspec.Struct, frozen=True):
    """Groups of rows with equal cells, sorted by a hash of them. Groups of parts add up."""

    cells: np.ndarray  # uint16 or int32 [n_groups, n_columns]
    weight: np.ndarray  # float64 [n_groups, 2], of each class
    key: np.ndarray  # uint64 [n_groups]

    @classmethod
    def of(cls, fine: Sequence[tuple[int, FineBins]], table: Table) -> Self:
        """Groups of the rows of a part."""
        kind = np.uint16 if all(len(each.sums) <= 1 << 16 for _, each in fine) else np.int32
        cells = np.empty((len(table), len(fine)), kind)
        key = np.zeros(len(table), np.uint64)
        for k, (j, each) in enumerate(fine):
            own = each.cells_of(np.ascontiguousarray(table.values[j])).astype(np.int64)
            cells[:, k] = own
            key = mix_bits(key * _MULTIPLIER + mix_bits(own.view(np.uint64) + _MULTIPLIER))
        weight = np.zeros((len(table), 2))
        weight[np.arange(len(table)), table.label] = table.weight
        return cls._grouped(cells, weight, key)

    def __add__(self, other: Self) -> Self:
        return self._grouped(
            np.concatenate([self.cells, other.cells]),
            np.concatenate([self.weight, other.weight]),
            np.concatenate([self.key, other.key]),
        )

    @classmethod
    def _grouped(cls, cells: np.ndarray, weight: np.ndarray, key: np.ndarray) -> Self:
        order = np.lexsort((weight[:, 1], weight[:, 0], key))
        key = key[order]
        first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])) if len(key) else np.empty(0, np.int64)
        total = np.add.reduceat(weight[order], first, axis=0) if len(first) else weight
        return cls(cells[order[first]], total, key[first])

    def sum_of(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """Values of the cells of each column, added up. float64 [n_groups]"""
        total = np.zeros(len(self.key))
        for k, own in enumerate(values):
            total += own[self.cells[:, k]]
        return total

    def matrix(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """Values of the cells of each column. float64 [n_groups, n_columns]"""
        found = np.empty((len(self.key), len(values)))
        for k, own in enumerate(values):
            found[:, k] = own[self.cells[:, k]]
        return found

    def sums(self, k: int, n_cells: int, weight: np.ndarray) -> np.ndarray:
        """Weight of each class in each cell of a column, for these weights of the groups. float64 [n_cells, 2]"""
        return np.stack([np.bincount(self.cells[:, k], weight[:, c], n_cells) for c in (0, 1)], axis=1)

    def folds(self, n_folds: int) -> np.ndarray:
        """Weight of each group and class in each fold; equal rows are spread over the folds. [n_folds, n_groups, 2]"""
        group, label = np.nonzero(self.weight)
        given = assign_folds_by_weight(self.key[group], label.astype(np.int64), self.weight[group, label], 1.0, n_folds)
        index = np.arange(len(group)) if given.index is None else given.index
        found = np.zeros((n_folds, *self.weight.shape))
        np.add.at(found, (given.fold, group[index], label[index]), given.weight)
        return found


def coded_rows(rows: Partitions, fine: Sequence[tuple[int, FineBins]]) -> CodedRows:
    """Groups of all rows by the cells of these columns; from an engine come two bytes per cell, not the rows."""
    return rows.map_reduce(partial(CodedRows.of, tuple(fine)))
