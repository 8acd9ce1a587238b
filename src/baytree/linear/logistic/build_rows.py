"""Prepare a table's rows for logistic regression: dense or sparse, in the design's units, one block per partition.

`with_folds` assigns the rows to folds by their contents for the choice of a penalty; only a hash of each row leaves its
partition.
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
from baytree.linear.design.sparse import SparseMatrix, entries, stacked
from baytree.linear.logistic.dense_block import DenseBlock
from baytree.linear.logistic.rows import DenseRows, SparseRows
from baytree.linear.logistic.sparse_block import SparseBlock
from baytree.parallel.blas import chunks, in_order

Rows = DenseRows | SparseRows

_BLOCK = 8192  # rows per block when features are computed


class ClassCodes(msgspec.Struct, frozen=True):
    """Codes of the classes that occur, and the number of scores."""

    code: np.ndarray  # int32 [n_classes], index of each class among those that occur
    k: int  # 1 for two classes


def rows_of(
    rows: Partitions, design: Design, look: RowSummary, labels: ClassCodes, *, compress: bool
) -> tuple[Rows, np.ndarray]:
    """Rows in the design's units, and by how much each of their features exceeds its centred form. [q]

    `compress` allows sparse rows where features are dense in principle but mostly 0, that is, one-hot levels.
    """
    q, weight = len(design) + 1, look.weight  # local variables: whatever a closure holds is sent to the workers
    if _is_better_sparse(rows, design, look):
        sparse_blocks = rows.apply(lambda table: _sparse(table, design, weight, labels))
        above = design.above(is_stored=look.lie.is_sparse and len(design) == design.layout.n_columns)
        return SparseRows(sparse_blocks, rows.n_rows, q, labels.k), np.append(above, 0.0)
    is_stored_plainly = look.lie.is_matrix or (rows.schema.is_numbers and isinstance(rows, RemotePartitions))
    if _is_usual(design) and is_stored_plainly and not look.gaps.any() and len(design) == len(rows.schema):
        dense_blocks = rows.apply_and_persist(lambda table: _piece(side_by_side(table), table, weight, labels), DenseBlock)
        return DenseRows(dense_blocks, rows.n_rows, q, labels.k, design.centre, design.scale), np.zeros(q)
    # numbers in standard units, indicators as 0 and 1: most of a row is then 0
    is_value, centre, scale = design.layout.level == VALUE, design.centre, design.scale
    raw = msgspec.structs.replace(design, centre=np.where(is_value, centre, 0.0), scale=np.where(is_value, scale, 1.0))
    remaining = np.where(is_value, 0.0, centre), np.where(is_value, 1.0, scale)
    if compress and _is_mostly_zero(rows, design):
        blocks = rows.apply(lambda table: _one_hot(table, raw, remaining, weight, labels))
        above = np.append(remaining[0] / remaining[1], 0.0)
        return SparseRows(blocks, rows.n_rows, q, labels.k, rescales=True), above
    dense = rows.apply(lambda table: _piece(_features(table, raw), table, weight, labels))
    return DenseRows(dense, rows.n_rows, q, labels.k, *remaining), np.zeros(q)


def _is_better_sparse(rows: Partitions, design: Design, look: RowSummary) -> bool:
    """Whether rows must be sparse: always with text; with many one-hot features or a sparse matrix if dense rows would be
    large.
    """
    if design.words:
        return True
    cells = rows.n_rows * len(design)
    if look.lie.is_sparse:
        return cells > 2_000_000 and rows.map_reduce(lambda table: _stored(table, design), rows_per_part=None) < 0.3 * cells
    return cells > 50_000_000 and (design.layout.level != VALUE).mean() > 0.8


# largest proportion of numbers that are not 0 in sparse rows; an entry takes about three times as long as a dense number
_MAX_DENSITY = 0.3


def _is_mostly_zero(rows: Partitions, design: Design) -> bool:
    """Whether one-hot levels make rows of this process mostly 0. Remote rows stay dense: they need the whole Hessian in few
    passes.
    """
    is_indicator = design.layout.level != VALUE
    # a row has at most one level of each column
    n_entries = int(np.count_nonzero(~is_indicator)) + len(np.unique(design.layout.source[is_indicator]))
    return not isinstance(rows, RemotePartitions) and n_entries <= _MAX_DENSITY * len(design)


def _stored(table: Table, design: Design) -> float:
    """Number of stored entries of a sparse matrix; inf if they cannot be used unchanged."""
    return np.inf if design.stored(table) is None else float(table.values.matrix.nnz)


def _is_usual(design: Design) -> bool:
    """Whether no column is far from 0 relative to its deviation, so that the caller's own matrix can be used unscaled."""
    is_usual = (np.abs(design.centre) / 8 <= design.scale) & (design.scale > 1e-100) & (design.scale < 1e100)
    return len(design) <= 500 and bool(is_usual.all())


def _piece(x: np.ndarray, table: Table, total: float, labels: ClassCodes) -> DenseBlock:
    return DenseBlock(x, labels.code[table.label], table.weight / total, labels.k, table.first)


def _features(table: Table, design: Design) -> np.ndarray:
    """Dense features in the units of the design, as a new array. [n_rows, n_features]"""
    x = np.empty((len(table), len(design)))

    def fill(rows: slice) -> None:
        for first in range(rows.start, rows.stop, _BLOCK):
            block = slice(first, min(first + _BLOCK, rows.stop))
            x[block] = design.features(table, block)

    in_order(fill, chunks(len(table)))
    return x


def _sparse(table: Table, design: Design, total: float, labels: ClassCodes) -> SparseBlock:
    x = _constant_last(design.compressed(table)[0])
    _core.check_sparse(x.start, x.code, x.value, x.n_features)
    return SparseBlock(x, labels.code[table.label], table.weight / total, labels.k, table.first)


def _one_hot(
    table: Table, raw: Design, remaining: tuple[np.ndarray, np.ndarray], total: float, labels: ClassCodes
) -> SparseBlock:
    """Sparse rows of features that `raw` leaves at 0 and 1, in the units that remain; hashed as dense rows are."""
    centre, scale = remaining
    key, parts = np.empty(len(table), np.uint64), []
    for first in range(0, max(len(table), 1), _BLOCK):
        x = raw.features(table, slice(first, min(first + _BLOCK, len(table))))
        if len(x):
            _core.row_hashes(x, centre, scale, key[first : first + len(x)])
        block = entries(x)
        parts.append(msgspec.structs.replace(block, value=block.value / scale[block.code]))
    x = _constant_last(stacked(parts))
    _core.check_sparse(x.start, x.code, x.value, x.n_features)
    return SparseBlock(x, labels.code[table.label], table.weight / total, labels.k, table.first, hashes=key)


def _constant_last(x: SparseMatrix) -> SparseMatrix:
    n = len(x)
    start = x.start + np.arange(n + 1)
    entry = np.arange(len(x.code)) + np.repeat(np.arange(n), np.diff(x.start))
    code, value = np.full(len(x.code) + n, x.n_features, np.int32), np.ones(len(x.code) + n)
    code[entry], value[entry] = x.code, x.value
    return SparseMatrix(start, code, value, x.n_features + 1)


def with_folds(rows: Rows, total: float, n_folds: int) -> tuple[Rows, int]:
    """Rows assigned to folds, equal rows merged into one per fold, and the number of folds that have rows. `total`: sum of
    the weights.
    """
    assignment = assign_folds_by_weight(rows.row_hashes(), rows.labels(), rows.weights(), 1 / total, n_folds)
    number, n_folds = numbered(assignment.fold)
    if assignment.index is None:
        return rows.in_folds(number), n_folds
    return rows.dealt(assignment.index, assignment.weight, number), n_folds


def numbered(fold: np.ndarray) -> tuple[np.ndarray, int]:
    """Array of folds, renumbered as 0, 1, …, and how many there are. int64 [n], or int8 [n, n_folds] as it is"""
    if fold.ndim == 2:
        return fold, fold.shape[1]
    fold_names, number = np.unique(fold, return_inverse=True)
    return number.astype(np.int64), len(fold_names)
