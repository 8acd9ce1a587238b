"""Folds of rows by what is in them, for the choice of a penalty."""

from __future__ import annotations

import numpy as np

from baytree import _core
from baytree.engine.blas import chunks, in_order
from baytree.folds.by_weight import dealt_by_weight
from baytree.linear.logistic.rows import Rows
from baytree.linear.logistic.sparse_rows import SparseRows

_MIX = np.uint64(0x9E3779B97F4A7C15)


def with_folds(rows: Rows, total: float, n_folds: int) -> tuple[Rows, np.ndarray]:
    """The rows, equal ones as one per fold, and the fold of each. `total` is the sum of the weights. int64 [n]"""
    dealt = dealt_by_weight(_keys(rows), rows.label, rows.weight, 1 / total, n_folds)
    if dealt.index is None:
        return rows, dealt.fold
    return rows.take(dealt.index).with_weight(dealt.weight), dealt.fold


def _keys(rows: Rows) -> np.ndarray:
    """A number made from each row's features, whatever their order. uint64 [n_rows]"""
    if isinstance(rows, SparseRows):
        entry = _mixed(rows.x.value) ^ (rows.x.code.astype(np.uint64) * _MIX)
        return np.add.reduceat(entry * _MIX, rows.x.start[:-1])  # a row has at least its constant
    key = np.empty(len(rows.x), np.uint64)
    in_order(lambda own: _core.row_hashes(rows.x[own], rows.centre, rows.scale, key[own]), chunks(len(key)))
    return key


def _mixed(values: np.ndarray) -> np.ndarray:
    bits = np.round(values, 9).view(np.uint64) * _MIX  # rounded: sums over repeated rows differ in the last bits
    bits ^= bits >> np.uint64(29)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    return bits ^ (bits >> np.uint64(32))
