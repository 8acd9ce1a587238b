"""A table's rows made ready for logistic regression: dense or sparse, in the design's units, a piece of each part.

Folds of rows by what is in them, for the choice of a penalty: a key of each row is all that leaves its part.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.engine.partitions import Partitions
from baytree.engine.remote import RemotePartitions
from baytree.folds.content_folds import assign_folds_by_weight
from baytree.linear.design.design import Design
from baytree.linear.design.feature_layout import VALUE, side_by_side
from baytree.linear.design.row_summary import RowSummary
from baytree.linear.design.sparse import SparseMatrix
from baytree.linear.logistic.dense_block import DenseBlock
from baytree.linear.logistic.rows import DenseRows, SparseRows
from baytree.linear.logistic.sparse_block import SparseBlock
from baytree.parallel.blas import chunks, in_order

Rows = DenseRows | SparseRows

_BLOCK = 8192  # rows whose features are made at a time


class ClassCodes(msgspec.Struct, frozen=True):
    """The classes that occur, and how many scores tell them apart."""

    code: np.ndarray  # int32 [n_classes], the place of each class among those that occur
    k: int  # one where there are two


def rows_of(rows: Partitions, design: Design, look: RowSummary, labels: ClassCodes) -> tuple[Rows, np.ndarray]:
    """Rows in the design's units, and how far each feature lies above its centred form. [q]"""
    q, weight = len(design) + 1, look.weight  # what a function holds travels to the rows
    if _is_better_compressed(rows, design, look):
        pieces = rows.apply(lambda table: _sparse(table, design, weight, labels))
        above = design.above(is_stored=look.lie.is_sparse and len(design) == design.layout.n_columns)
        return SparseRows(pieces, rows.n_rows, q, labels.k), np.append(above, 0.0)
    lies_plainly = look.lie.is_matrix or (rows.schema.is_numbers and isinstance(rows, RemotePartitions))
    if _is_usual(design) and lies_plainly and not look.gaps.any() and len(design) == len(rows.schema):
        plain = rows.apply_and_persist(lambda table: _piece(side_by_side(table), table, weight, labels), DenseBlock)
        return DenseRows(plain, rows.n_rows, q, labels.k, design.centre, design.scale), np.zeros(q)
    # numbers in standard units, indicators as 0 and 1: most of a row is then 0
    is_value, centre, scale = design.layout.level == VALUE, design.centre, design.scale
    raw = msgspec.structs.replace(design, centre=np.where(is_value, centre, 0.0), scale=np.where(is_value, scale, 1.0))
    dense = rows.apply(lambda table: _piece(_features(table, raw), table, weight, labels))
    left = np.where(is_value, 0.0, centre), np.where(is_value, 1.0, scale)
    return DenseRows(dense, rows.n_rows, q, labels.k, *left), np.zeros(q)


def _is_better_compressed(rows: Partitions, design: Design, look: RowSummary) -> bool:
    """Text always; many marks, or a sparse matrix, where dense rows would be large."""
    if design.words:
        return True
    cells = rows.n_rows * len(design)
    if look.lie.is_sparse:
        return cells > 2_000_000 and rows.map_reduce(lambda table: _stored(table, design), rows_per_part=None) < 0.3 * cells
    return cells > 50_000_000 and (design.layout.level != VALUE).mean() > 0.8


def _stored(table: Table, design: Design) -> float:
    """How many numbers a sparse matrix stores; infinitely many where they cannot be used as they are."""
    return np.inf if design.stored(table) is None else float(table.values.matrix.nnz)


def _is_usual(design: Design) -> bool:
    """Whether columns are not far from 0 in their own units, so that the caller's own matrix will do."""
    usual = (np.abs(design.centre) / 8 <= design.scale) & (design.scale > 1e-100) & (design.scale < 1e100)
    return len(design) <= 500 and bool(usual.all())


def _piece(x: np.ndarray, table: Table, total: float, labels: ClassCodes) -> DenseBlock:
    return DenseBlock(x, labels.code[table.label], table.weight / total, labels.k, table.first)


def _features(table: Table, design: Design) -> np.ndarray:
    """A copy, in the units of the design."""
    x = np.empty((len(table), len(design)))

    def fill(rows: slice) -> None:
        for first in range(rows.start, rows.stop, _BLOCK):
            own = slice(first, min(first + _BLOCK, rows.stop))
            x[own] = design.features(table, own)

    in_order(fill, chunks(len(table)))
    return x


def _sparse(table: Table, design: Design, total: float, labels: ClassCodes) -> SparseBlock:
    x = _constant_last(design.compressed(table)[0])
    _core.check_sparse(x.start, x.code, x.value, x.n_features)
    return SparseBlock(x, labels.code[table.label], table.weight / total, labels.k, table.first)


def _constant_last(x: SparseMatrix) -> SparseMatrix:
    n = len(x)
    start = x.start + np.arange(n + 1)
    entry = np.arange(len(x.code)) + np.repeat(np.arange(n), np.diff(x.start))
    code, value = np.full(len(x.code) + n, x.n_features, np.int32), np.ones(len(x.code) + n)
    code[entry], value[entry] = x.code, x.value
    return SparseMatrix(start, code, value, x.n_features + 1)


def with_folds(rows: Rows, total: float, n_folds: int) -> tuple[Rows, int]:
    """The rows in folds, equal ones as one per fold, and how many folds have rows. `total` is the sum of the weights."""
    dealt = assign_folds_by_weight(rows.row_hashes(), rows.labels(), rows.weights(), 1 / total, n_folds)
    number, n_folds = numbered(dealt.fold)
    if dealt.index is None:
        return rows.in_folds(number), n_folds
    return rows.dealt(dealt.index, dealt.weight, number), n_folds


def numbered(fold: np.ndarray) -> tuple[np.ndarray, int]:
    """The folds as 0, 1, …, and how many there are. int64 [n]"""
    names, number = np.unique(fold, return_inverse=True)
    return number.astype(np.int64), len(names)
