"""Sparse (CSR) matrices of features, and how they are built from dense rows, stacked and joined."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core


class SparseMatrix(msgspec.Struct, frozen=True):
    """Rows of features in compressed sparse row format."""

    start: np.ndarray  # int64 [n_rows + 1]
    code: np.ndarray  # int32 [n_entries], feature index
    value: np.ndarray  # float64 [n_entries]
    n_features: int

    def __len__(self) -> int:
        return len(self.start) - 1

    def product(self, weight: np.ndarray) -> np.ndarray:
        """rows @ weight. weight [n_features, k] → [n_rows, k]"""
        out = np.zeros((len(self), weight.shape[1]))
        _core.sparse_product(self.start, self.code, self.value, np.ascontiguousarray(weight), out)
        return out


def entries(x: np.ndarray) -> SparseMatrix:
    """Sparse form of dense rows. Values up to 1e-12 count as 0: they are rounding of subtracting and adding the centre."""
    row, code = np.nonzero(np.abs(x) > 1e-12)
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(x)))]).astype(np.int64)
    return SparseMatrix(start, code.astype(np.int32), x[row, code], x.shape[1])


def stacked(parts: list[SparseMatrix]) -> SparseMatrix:
    """Concatenate matrices by rows."""
    length = np.concatenate([np.diff(part.start) for part in parts])
    start = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    code, value = (np.concatenate(arrays) for arrays in zip(*((p.code, p.value) for p in parts), strict=True))
    return SparseMatrix(start, code, value, parts[0].n_features)


def side_by_side(parts: list[SparseMatrix], n_features: int) -> SparseMatrix:
    """Concatenate matrices by columns; within a row the features stay ascending."""
    length = sum(np.diff(part.start) for part in parts)
    start = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    code, value = np.empty(start[-1], np.int32), np.empty(start[-1])
    at = start[:-1].copy()
    for part in parts:
        own = np.diff(part.start)
        entry = np.repeat(at - part.start[:-1], own) + np.arange(len(part.code))
        code[entry], value[entry] = part.code, part.value
        at += own
    return SparseMatrix(start, code, value, n_features)
