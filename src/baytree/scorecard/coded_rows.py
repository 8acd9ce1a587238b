"""Rows of a scorecard as bin codes: equal rows are grouped, so that no sum depends on their order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Self

import msgspec
import numpy as np

from baytree.additive.axis import Axis
from baytree.data.encoding.table import Table
from baytree.engine.partitions import Partitions
from baytree.folds.content_folds import assign_folds_by_weight, mix_bits

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class CodedRows(msgspec.Struct, frozen=True):
    """Groups of rows with equal bins, sorted by a hash of their codes. Groups of parts add up."""

    codes: np.ndarray  # uint8 or int32 [n_groups, n_columns]
    weight: np.ndarray  # float64 [n_groups, 2], of each class
    key: np.ndarray  # uint64 [n_groups]

    @classmethod
    def of(cls, axes: Sequence[Axis], table: Table) -> Self:
        """Groups of the rows of a part."""
        kind = np.uint8 if all(axis.n_bins <= 256 for axis in axes) else np.int32
        codes = np.empty((len(table), len(axes)), kind)
        key = np.zeros(len(table), np.uint64)
        for k, axis in enumerate(axes):
            own = axis.bins(np.ascontiguousarray(table.values[axis.column]))
            codes[:, k] = own
            key = mix_bits(key * _MULTIPLIER + mix_bits(own.view(np.uint64) + _MULTIPLIER))
        weight = np.zeros((len(table), 2))
        weight[np.arange(len(table)), table.label] = table.weight
        return cls._grouped(codes, weight, key)

    def __add__(self, other: Self) -> Self:
        return self._grouped(
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.weight, other.weight]),
            np.concatenate([self.key, other.key]),
        )

    @classmethod
    def _grouped(cls, codes: np.ndarray, weight: np.ndarray, key: np.ndarray) -> Self:
        order = np.lexsort((weight[:, 1], weight[:, 0], key))
        key = key[order]
        first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])) if len(key) else np.empty(0, np.int64)
        total = np.add.reduceat(weight[order], first, axis=0) if len(first) else weight
        return cls(codes[order[first]], total, key[first])

    def evidence(self, woe: Sequence[np.ndarray]) -> np.ndarray:
        """Weight of evidence of each column. float64 [n_groups, n_columns]"""
        found = np.empty((len(self.key), len(woe)))
        for k, own in enumerate(woe):
            found[:, k] = own[self.codes[:, k]]
        return found

    def sums(self, k: int, n_bins: int, weight: np.ndarray) -> np.ndarray:
        """Weight of each class in each bin of a column, for these weights of the groups. float64 [n_bins, 2]"""
        return np.stack([np.bincount(self.codes[:, k], weight[:, c], n_bins) for c in (0, 1)], axis=1)

    def folds(self, n_folds: int) -> np.ndarray:
        """Weight of each group and class in each fold; equal rows are spread over the folds. [n_folds, n_groups, 2]"""
        group, label = np.nonzero(self.weight)
        given = assign_folds_by_weight(self.key[group], label.astype(np.int64), self.weight[group, label], 1.0, n_folds)
        index = np.arange(len(group)) if given.index is None else given.index
        found = np.zeros((n_folds, *self.weight.shape))
        np.add.at(found, (given.fold, group[index], label[index]), given.weight)
        return found


def coded_rows(rows: Partitions, axes: Sequence[Axis]) -> CodedRows:
    """Groups of all rows; from an engine come one byte per cell and the weights, not the rows."""
    return rows.map_reduce(partial(CodedRows.of, tuple(axes)))
