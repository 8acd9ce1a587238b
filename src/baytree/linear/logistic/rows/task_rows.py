"""A table's rows made ready for logistic regression: dense or sparse, in the design's units, a piece of each part."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.blas import chunks, in_order
from baytree.engine.elsewhere import Elsewhere
from baytree.engine.parts import Parts
from baytree.linear.design.design import Design
from baytree.linear.design.feature_layout import VALUE, side_by_side
from baytree.linear.design.look import Look
from baytree.linear.design.sparse import SparseMatrix
from baytree.linear.logistic.rows.dense_piece import DensePiece
from baytree.linear.logistic.rows.dense_rows import DenseRows
from baytree.linear.logistic.rows.sparse_piece import SparsePiece
from baytree.linear.logistic.rows.sparse_rows import SparseRows
from baytree.table.table import Table

Rows = DenseRows | SparseRows
_BLOCK = 8192  # rows whose features are made at a time


class Labels(msgspec.Struct, frozen=True):
    """The classes that occur, and how many scores tell them apart."""

    code: np.ndarray  # int32 [n_classes], the place of each class among those that occur
    k: int  # one where there are two


def rows_of(rows: Parts, design: Design, look: Look, labels: Labels) -> tuple[Rows, np.ndarray]:
    """Rows in the design's units, and how far each feature lies above its centred form. [q]"""
    q, weight = len(design) + 1, look.weight  # what a function holds travels to the rows
    if _is_better_compressed(rows, design, look):
        pieces = rows.made(lambda table: _sparse(table, design, weight, labels))
        above = design.above(is_stored=look.lie.is_sparse and len(design) == design.layout.n_columns)
        return SparseRows(pieces, rows.n_rows, q, labels.k), np.append(above, 0.0)
    lies_plainly = look.lie.is_matrix or (rows.schema.is_numbers and isinstance(rows, Elsewhere))
    if _is_usual(design) and lies_plainly and not look.gaps.any() and len(design) == len(rows.schema):
        plain = rows.kept(lambda table: _piece(side_by_side(table), table, weight, labels), DensePiece)
        return DenseRows(plain, rows.n_rows, q, labels.k, design.centre, design.scale), np.zeros(q)
    # numbers in standard units, indicators as 0 and 1: most of a row is then 0
    is_value, centre, scale = design.layout.level == VALUE, design.centre, design.scale
    raw = msgspec.structs.replace(design, centre=np.where(is_value, centre, 0.0), scale=np.where(is_value, scale, 1.0))
    dense = rows.made(lambda table: _piece(_features(table, raw), table, weight, labels))
    left = np.where(is_value, 0.0, centre), np.where(is_value, 1.0, scale)
    return DenseRows(dense, rows.n_rows, q, labels.k, *left), np.zeros(q)


def _is_better_compressed(rows: Parts, design: Design, look: Look) -> bool:
    """Text always; many marks, or a sparse matrix, where dense rows would be large."""
    if design.words:
        return True
    cells = rows.n_rows * len(design)
    if look.lie.is_sparse:
        return cells > 2_000_000 and rows.total(lambda table: _stored(table, design), rows_per_part=None) < 0.3 * cells
    return cells > 50_000_000 and (design.layout.level != VALUE).mean() > 0.8


def _stored(table: Table, design: Design) -> float:
    """How many numbers a sparse matrix stores; infinitely many where they cannot be used as they are."""
    return np.inf if design.stored(table) is None else float(table.values.matrix.nnz)


def _is_usual(design: Design) -> bool:
    """Whether columns are not far from 0 in their own units, so that the caller's own matrix will do."""
    usual = (np.abs(design.centre) / 8 <= design.scale) & (design.scale > 1e-100) & (design.scale < 1e100)
    return len(design) <= 500 and bool(usual.all())


def _piece(x: np.ndarray, table: Table, total: float, labels: Labels) -> DensePiece:
    return DensePiece(x, labels.code[table.label], table.weight / total, labels.k, table.first)


def _features(table: Table, design: Design) -> np.ndarray:
    """A copy, in the units of the design."""
    x = np.empty((len(table), len(design)))

    def fill(rows: slice) -> None:
        for first in range(rows.start, rows.stop, _BLOCK):
            own = slice(first, min(first + _BLOCK, rows.stop))
            x[own] = design.features(table, own)

    in_order(fill, chunks(len(table)))
    return x


def _sparse(table: Table, design: Design, total: float, labels: Labels) -> SparsePiece:
    x = _constant_last(design.compressed(table)[0])
    _core.check_sparse(x.start, x.code, x.value, x.n_features)
    return SparsePiece(x, labels.code[table.label], table.weight / total, labels.k, table.first)


def _constant_last(x: SparseMatrix) -> SparseMatrix:
    n = len(x)
    start = x.start + np.arange(n + 1)
    entry = np.arange(len(x.code)) + np.repeat(np.arange(n), np.diff(x.start))
    code, value = np.full(len(x.code) + n, x.n_features, np.int32), np.ones(len(x.code) + n)
    code[entry], value[entry] = x.code, x.value
    return SparseMatrix(start, code, value, x.n_features + 1)
