"""A table's rows made ready for logistic regression: dense or sparse, in the design's units."""

from __future__ import annotations

import numpy as np

from baytree import _core
from baytree.engine.blas import chunks, in_order
from baytree.linear.design.design import Design
from baytree.linear.design.features import VALUE
from baytree.linear.design.sparse import SparseMatrix
from baytree.linear.logistic.dense_rows import DenseRows
from baytree.linear.logistic.sparse_rows import SparseRows
from baytree.table.table import SparseColumns, Table

Rows = DenseRows | SparseRows
_BLOCK = 1024


def rows_of(table: Table, design: Design, weight: np.ndarray, k: int, has_gaps: bool) -> tuple[Rows, np.ndarray]:
    """A table's rows in the design's units, and how far each feature lies above its centred form. [q]"""
    weight = weight / weight.sum()
    if not _is_better_compressed(table, design):
        return _dense(table, design, weight, k, has_gaps), np.zeros(len(design) + 1)
    x, above = design.compressed(table)
    x = _constant_last(x)
    _core.check_sparse(x.start, x.code, x.value, x.n_features)
    return SparseRows(x, np.ascontiguousarray(table.label), weight, k), np.append(above, 0.0)


def _is_better_compressed(table: Table, design: Design) -> bool:
    """Text always; many marks, or a sparse matrix, where dense rows would be large."""
    if design.words:
        return True
    cells = len(table) * len(design)
    if isinstance(table.values, SparseColumns):
        return cells > 2_000_000 and design.stored(table) is not None and table.values.matrix.nnz < 0.3 * cells
    return cells > 50_000_000 and (design.layout.level != VALUE).mean() > 0.8


def _dense(table: Table, design: Design, weight: np.ndarray, k: int, has_gaps: bool) -> DenseRows:
    """The caller's own matrix where its columns are not far from 0 in their own units, else a copy in standard units."""
    p = len(design)
    whole = design.layout.view(table)
    usual = (np.abs(design.centre) / 8 <= design.scale) & (design.scale > 1e-100) & (design.scale < 1e100)
    near = p <= 500 and bool(usual.all())
    if whole is not None and near and whole.strides[1] == 8 and not has_gaps:
        return DenseRows(whole, design.centre, design.scale, np.ascontiguousarray(table.label), weight, k)
    x = np.empty((len(table), p))

    def fill(rows: slice) -> None:
        for first in range(rows.start, rows.stop, _BLOCK):
            own = slice(first, min(first + _BLOCK, rows.stop))
            x[own] = design.features(table, own)

    in_order(fill, chunks(len(table)))
    return DenseRows(x, np.zeros(p), np.ones(p), np.ascontiguousarray(table.label), weight, k)


def _constant_last(x: SparseMatrix) -> SparseMatrix:
    n = len(x)
    start = x.start + np.arange(n + 1)
    entry = np.arange(len(x.code)) + np.repeat(np.arange(n), np.diff(x.start))
    code, value = np.full(len(x.code) + n, x.n_features, np.int32), np.ones(len(x.code) + n)
    code[entry], value[entry] = x.code, x.value
    return SparseMatrix(start, code, value, x.n_features + 1)
