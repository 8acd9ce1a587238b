"""Encode raw frames with a schema: `encode` (predict), `fit_encode` (fit), `extend_encode` (partial_fit).

This is the only way from raw columns to encoded values. Values are validated here once, so that later code need not.
A dense numeric array is passed on as one matrix without copying; other columns are encoded in parallel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from baytree.data.encoding.encode_column import documents, encode_column
from baytree.data.encoding.table import DenseColumns, SparseColumns, Tokens, Values, holds_infinite, refuse_infinite
from baytree.data.frames import read_column
from baytree.data.frames.arrays import number_columns
from baytree.data.frames.numbers import Codes, MatrixColumns, NumberedColumns, Numbers, factorise_together
from baytree.data.frames.raw import MAX_FEW_ROWS, Raw, RawFrame
from baytree.data.parsing.string_format import is_missing_token
from baytree.data.schema.column import Column, Kind, Text
from baytree.data.schema.schema import Schema, Target
from baytree.parallel.threads import map_columns, map_ordered

if TYPE_CHECKING:
    from baytree.data.encoding.bag_of_words import Counted

_ROWS_AT_ONCE = 1 << 16  # rows per task of a thread


def encode(
    frame: RawFrame, schema: Schema, *, unseen: str = "missing", accepts_infinite: bool = False
) -> tuple[Values, ...] | DenseColumns | SparseColumns:
    """Return the values of rows under a known schema; columns are matched by name if they have names, else by position.

    Unknown levels become missing, or raise a ValueError with `unseen="error"`.
    """
    if _is_sparse(frame):
        return _sparse(frame, schema)
    values = _block(frame, schema)
    if values is None:
        frame_columns = aligned(frame, schema)
        buffers, columns = _code_buffers(frame_columns, schema), frame_columns.columns
        values = map_columns(
            schema.columns, frame.n_rows, lambda column: encode_column(columns[column.name], column, unseen, buffers)
        )
    if not accepts_infinite:
        _refuse_infinite(schema, values, frame.n_rows)
    return values


def fit_encode(frame: RawFrame, schema: Schema, accepts_infinite: bool = False) -> tuple[Schema, Any]:
    """Return the values of training rows, and the schema with the vocabularies of its text columns.

    A level outside the declared ones raises a ValueError: in training data it is a mistake, not a new level.
    """
    if _is_sparse(frame):
        return schema, _sparse(frame, schema)
    block = _block(frame, schema)
    if block is not None:
        if not accepts_infinite:
            _refuse_infinite(schema, block, frame.n_rows)
        return schema, block
    matched = aligned(frame, schema)
    buffers = _code_buffers(matched, schema)
    pairs = map_columns(
        schema.columns, frame.n_rows, lambda column: _fit_encode_column(matched.columns[column.name], column, buffers)
    )
    values = tuple(value for _, value in pairs)
    schema = msgspec.structs.replace(schema, columns=tuple(column for column, _ in pairs))
    if not accepts_infinite:
        _refuse_infinite(schema, values, frame.n_rows)
    return schema, values


def encode_partition(frame: RawFrame, schema: Schema, accepts_infinite: bool = False) -> tuple[Values, ...]:
    """Return the values of a partition of the rows from which the schema, including its vocabularies, was inferred."""
    matched = aligned(frame, schema)
    buffers = _code_buffers(matched, schema)
    values = map_columns(
        schema.columns, frame.n_rows, lambda column: _encode_column(matched.columns[column.name], column, buffers)
    )
    if not accepts_infinite:
        _refuse_infinite(schema, values, frame.n_rows)
    return values


def vocabularies(frame: RawFrame, schema: Schema) -> tuple[tuple[str, ...], ...]:
    """Return the sorted words of each text column, and () for other columns."""
    columns = aligned(frame, schema).columns
    return tuple(_vocabulary(columns[column.name], column) for column in schema.columns)


def extend_encode(frame: RawFrame, schema: Schema, target: Target, accepts_infinite: bool = False) -> tuple[Schema, Any]:
    """Return the values of a further batch, and the schema extended by its levels, words and classes."""
    target = schema.target.union(target)
    if _is_sparse(frame):
        return msgspec.structs.replace(schema, target=target), _sparse(frame, schema)
    block = _block(frame, schema)
    if block is not None:
        if not accepts_infinite:
            _refuse_infinite(schema, block, frame.n_rows)
        return msgspec.structs.replace(schema, target=target), block
    matched = aligned(frame, schema)
    from baytree.data.inference.infer import TableProfile  # imported here: only training batches have new levels

    batch = TableProfile.of(matched, {column.name: _kind_of(column) for column in schema.columns}).schema(schema.is_named)
    batch, values = fit_encode(matched, batch, accepts_infinite)
    joint = tuple(column.union(batch[column.name]) for column in schema.columns)
    recoded = tuple(_recoded(*triple) for triple in zip(values, batch.columns, joint, strict=True))
    return msgspec.structs.replace(schema, columns=joint, target=target), recoded


def aligned(frame: RawFrame, schema: Schema) -> RawFrame:
    """Return the frame with the columns of the schema, under its names and in its order.

    Raise a ValueError for a missing column.
    """
    if not (schema.is_named and frame.is_named):
        columns = dict(zip(schema.inputs, frame.columns.values(), strict=True))
        return msgspec.structs.replace(frame, columns={column.name: columns[column.source] for column in schema.columns})
    for name in schema.sources:
        if name not in frame.columns:
            raise ValueError(
                f"column {name!r} of the training data is missing; the columns are {', '.join(map(repr, frame.columns))}"
            )
    pairs = zip(schema.columns, schema.sources, strict=True)
    return msgspec.structs.replace(frame, columns={column.name: frame.columns[name] for column, name in pairs})


def take(frame: RawFrame, rows: np.ndarray) -> RawFrame:
    """Return the rows of a raw frame that the mask selects."""
    matrix = None if frame.matrix is None else frame.matrix[np.flatnonzero(rows)]
    raw_columns = frame.columns
    if isinstance(raw_columns, MatrixColumns):
        selected = raw_columns.take(rows)
        matrix = selected.matrix.array if isinstance(raw_columns, NumberedColumns) else None
        return msgspec.structs.replace(frame, columns=selected, matrix=matrix, n_rows=int(rows.sum()))
    columns = {name: _rows_of(raw, rows) for name, raw in raw_columns.items()}
    return msgspec.structs.replace(frame, columns=columns, matrix=matrix, n_rows=int(rows.sum()))


def _block(frame: RawFrame, schema: Schema) -> DenseColumns | None:
    """Return all columns as one matrix if they are the plain numeric columns of one array, in its order; else None."""
    columns = frame.columns
    if not isinstance(columns, MatrixColumns):
        return None
    if isinstance(columns, NumberedColumns):
        is_same = schema.inputs == columns.names and schema.columns == number_columns(len(columns))
    else:
        is_same = schema.is_named and schema.names == columns.names and schema.is_plain_numbers
    return DenseColumns(columns.matrix.all_doubles()) if is_same else None


def _refuse_infinite(schema: Schema, values: tuple[Values, ...] | DenseColumns, n_rows: int) -> None:
    if isinstance(values, DenseColumns):
        parts = [values.matrix[first : first + _ROWS_AT_ONCE] for first in range(0, n_rows, _ROWS_AT_ONCE)]
        if any(map_ordered(_holds_infinite, parts)):
            refuse_infinite(schema, values)
        return
    if n_rows <= MAX_FEW_ROWS:
        numbers: Any = [
            column_values
            for column, column_values in zip(schema.columns, values, strict=True)
            if column.kind is Kind.NUMERIC
        ]
        if not numbers or not np.isinf(np.concatenate(numbers)).any():
            return
    columns = tuple(zip(schema.columns, values, strict=True))
    if any(map_columns(columns, n_rows, lambda pair: holds_infinite(*pair))):
        refuse_infinite(schema, values)


def _holds_infinite(numbers: np.ndarray) -> bool:
    # a finite sum proves that no element is infinite
    with np.errstate(over="ignore", invalid="ignore"):
        return not np.isfinite(numbers.sum()) and bool(np.isinf(numbers).any())


def _is_sparse(frame: RawFrame) -> bool:
    return frame.matrix is not None and not isinstance(frame.matrix, np.ndarray)


def _sparse(frame: RawFrame, schema: Schema) -> SparseColumns:
    for column in schema.columns:
        if column.kind is not Kind.NUMERIC:
            raise ValueError(f"column {column.name!r} is {column.kind}, but a sparse matrix holds numbers; give a frame")
    return SparseColumns(frame.matrix)


def _code_buffers(frame: RawFrame, schema: Schema) -> dict[str, np.ndarray]:
    """Return one int32 buffer per nominal or ordinal column, allocated in one piece.

    One large allocation is far faster than many small ones. Numeric columns of one array are factorized together here.
    """
    names = [column.name for column in schema.columns if column.kind in (Kind.ORDINAL, Kind.NOMINAL)]
    factorise_together([frame.columns[name] for name in names])
    return dict(zip(names, np.empty((len(names), frame.n_rows), np.int32), strict=True))


def _fit_encode_column(raw: Raw, column: Column, buffers: dict[str, np.ndarray]) -> tuple[Column, Values]:
    if column.kind is not Kind.TEXT:
        return column, _encode_column(raw, column, buffers)
    vocabulary, tokens = _count_tokens(raw, column)
    return msgspec.structs.replace(column, levels=vocabulary), tokens


def _encode_column(raw: Raw, column: Column, buffers: dict[str, np.ndarray]) -> Values:
    return encode_column(raw, column, "error" if column.kind in (Kind.ORDINAL, Kind.NOMINAL) else "missing", buffers)


def _vocabulary(raw: Raw, column: Column) -> tuple[str, ...]:
    return _count_tokens(raw, column)[0] if column.kind is Kind.TEXT else ()


def _count_tokens(raw: Raw, column: Column) -> Counted:
    from baytree.data.encoding import bag_of_words as text  # imported here: few tables have text

    return text.count(documents(raw, column), column.text or Text())


def _kind_of(column: Column) -> Any:
    """Return what is known of a column before its next batch: kind, unit, order of ordinal levels; no nominal levels."""
    if column.kind is Kind.ORDINAL:
        return column
    levels = column.levels if column.kind is Kind.NOMINAL else ()
    missing_tokens = tuple(level for level in levels if isinstance(level, str) and is_missing_token(level))
    return msgspec.structs.replace(column, levels=missing_tokens, declared=False)


def _recoded(values: Values, batch: Column, joint: Column) -> Values:
    """Recode values from the levels of a batch to the joint levels."""
    if batch.levels == joint.levels:
        return values
    code_of = joint.places
    recode = np.array([*(code_of[level] for level in batch.levels), -1], np.int32)
    if isinstance(values, Tokens):
        from baytree.data.encoding import bags  # imported here: few tables have text

        return bags.recode(values, recode[:-1])
    return recode[values]


def _rows_of(raw: Raw, rows: np.ndarray) -> Raw:
    if isinstance(raw, Numbers):
        return raw.take(rows)
    if isinstance(raw, Codes):
        return msgspec.structs.replace(raw, codes=raw.codes[rows])
    selected = [document for document, is_selected in zip(raw.documents(), rows.tolist(), strict=True) if is_selected]
    return read_column(selected, "selected rows")
