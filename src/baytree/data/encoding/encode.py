"""The only way in: raw columns and a schema to an encoded table, checked once so that nothing behind has to check again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from baytree.data.encoding.encode_column import documents, encoded
from baytree.data.encoding.table import DenseColumns, SparseColumns, Tokens, Values, holds_infinite, refuse_infinite
from baytree.data.frames import read_column
from baytree.data.frames.arrays import number_columns
from baytree.data.frames.numbers import Codes, MatrixColumns, NumberedColumns, Numbers, factorise_together
from baytree.data.frames.raw import FEW, Raw, RawFrame
from baytree.data.parsing.string_format import is_missing_token
from baytree.data.schema.column import Column, Kind, Text
from baytree.data.schema.schema import Schema, Target
from baytree.parallel.threads import map_columns, map_ordered

if TYPE_CHECKING:
    from baytree.data.encoding.bag_of_words import Counted

_ROWS_AT_ONCE = 1 << 16


def encode(
    frame: RawFrame, schema: Schema, *, unseen: str = "missing", accepts_infinite: bool = False
) -> tuple[Values, ...] | DenseColumns | SparseColumns:
    """The values of rows under a known schema: by name where columns have names, else by position.

    A level that the schema does not know is missing, or refused with `unseen="error"`.
    """
    if _is_sparse(frame):
        return _sparse(frame, schema)
    values = _block(frame, schema)
    if values is None:
        found = aligned(frame, schema)
        room, columns = _room(found, schema), found.columns
        values = map_columns(
            schema.columns, frame.n_rows, lambda column: encoded(columns[column.name], column, unseen, room)
        )
    if not accepts_infinite:
        _refuse_infinite(schema, values, frame.n_rows)
    return values


def fit_encode(frame: RawFrame, schema: Schema, accepts_infinite: bool = False) -> tuple[Schema, Any]:
    """The values of the rows to be learnt from, and the schema with the vocabularies of its text columns.

    A level outside the declared ones is refused here: in training it is a mistake, not news.
    """
    if _is_sparse(frame):
        return schema, _sparse(frame, schema)
    block = _block(frame, schema)
    if block is not None:
        if not accepts_infinite:
            _refuse_infinite(schema, block, frame.n_rows)
        return schema, block
    found = aligned(frame, schema)
    room = _room(found, schema)
    pairs = map_columns(schema.columns, frame.n_rows, lambda column: _learnt(found.columns[column.name], column, room))
    values = tuple(value for _, value in pairs)
    schema = msgspec.structs.replace(schema, columns=tuple(column for column, _ in pairs))
    if not accepts_infinite:
        _refuse_infinite(schema, values, frame.n_rows)
    return schema, values


def encode_partition(frame: RawFrame, schema: Schema, accepts_infinite: bool = False) -> tuple[Values, ...]:
    """The values of some of the rows that a schema was made from, with the vocabularies of its text columns."""
    found = aligned(frame, schema)
    room = _room(found, schema)
    values = map_columns(schema.columns, frame.n_rows, lambda column: _again(found.columns[column.name], column, room))
    if not accepts_infinite:
        _refuse_infinite(schema, values, frame.n_rows)
    return values


def vocabularies(frame: RawFrame, schema: Schema) -> tuple[tuple[str, ...], ...]:
    """The words of each text column, sorted; none for any other column."""
    columns = aligned(frame, schema).columns
    return tuple(_vocabulary(columns[column.name], column) for column in schema.columns)


def extend_encode(frame: RawFrame, schema: Schema, target: Target, accepts_infinite: bool = False) -> tuple[Schema, Any]:
    """The values of a further batch, and the schema that also knows its levels, words and classes."""
    target = schema.target.union(target)
    if _is_sparse(frame):
        return msgspec.structs.replace(schema, target=target), _sparse(frame, schema)
    block = _block(frame, schema)
    if block is not None:
        if not accepts_infinite:
            _refuse_infinite(schema, block, frame.n_rows)
        return msgspec.structs.replace(schema, target=target), block
    found = aligned(frame, schema)
    from baytree.data.inference.infer import TableProfile  # only rows to learn from have new levels

    batch = TableProfile.of(found, {column.name: _kind_of(column) for column in schema.columns}).schema(schema.is_named)
    batch, values = fit_encode(found, batch, accepts_infinite)
    joint = tuple(column.union(batch[column.name]) for column in schema.columns)
    recoded = tuple(_recoded(*triple) for triple in zip(values, batch.columns, joint, strict=True))
    return msgspec.structs.replace(schema, columns=joint, target=target), recoded


def aligned(frame: RawFrame, schema: Schema) -> RawFrame:
    """The columns that a schema asks for, under its names and in its order."""
    if not (schema.is_named and frame.is_named):
        columns = dict(zip(schema.inputs, frame.columns.values(), strict=True))
        return msgspec.structs.replace(frame, columns={column.name: columns[column.source] for column in schema.columns})
    for name in schema.sources:
        if name not in frame.columns:
            raise ValueError(
                f"column {name!r} was there in training and is missing now; "
                f"the columns are {', '.join(map(repr, frame.columns))}"
            )
    pairs = zip(schema.columns, schema.sources, strict=True)
    return msgspec.structs.replace(frame, columns={column.name: frame.columns[name] for column, name in pairs})


def take(frame: RawFrame, rows: np.ndarray) -> RawFrame:
    """The rows of a raw frame that a mask keeps."""
    matrix = None if frame.matrix is None else frame.matrix[np.flatnonzero(rows)]
    given = frame.columns
    if isinstance(given, MatrixColumns):
        taken = given.take(rows)
        matrix = taken.matrix.array if isinstance(given, NumberedColumns) else None
        return msgspec.structs.replace(frame, columns=taken, matrix=matrix, n_rows=int(rows.sum()))
    columns = {name: _rows_of(raw, rows) for name, raw in given.items()}
    return msgspec.structs.replace(frame, columns=columns, matrix=matrix, n_rows=int(rows.sum()))


def _block(frame: RawFrame, schema: Schema) -> DenseColumns | None:
    """The columns all at once, where they are those of one array of numbers, in its order and taken as they are."""
    given = frame.columns
    if not isinstance(given, MatrixColumns):
        return None
    if isinstance(given, NumberedColumns):
        are_these = schema.inputs == given.names and schema.columns == number_columns(len(given))
    else:
        are_these = schema.is_named and schema.names == given.names and schema.is_plain_numbers
    return DenseColumns(given.matrix.all_doubles()) if are_these else None


def _refuse_infinite(schema: Schema, values: tuple[Values, ...] | DenseColumns, n_rows: int) -> None:
    if isinstance(values, DenseColumns):
        parts = [values.matrix[first : first + _ROWS_AT_ONCE] for first in range(0, n_rows, _ROWS_AT_ONCE)]
        if any(map_ordered(_holds_infinite, parts)):
            refuse_infinite(schema, values)
        return
    if n_rows <= FEW:
        numbers: Any = [given for column, given in zip(schema.columns, values, strict=True) if column.kind is Kind.NUMERIC]
        if not numbers or not np.isinf(np.concatenate(numbers)).any():
            return
    columns = tuple(zip(schema.columns, values, strict=True))
    if any(map_columns(columns, n_rows, lambda pair: holds_infinite(*pair))):
        refuse_infinite(schema, values)


def _holds_infinite(numbers: np.ndarray) -> bool:
    # a finite sum tells at once that nothing in it is infinite
    with np.errstate(over="ignore", invalid="ignore"):
        return not np.isfinite(numbers.sum()) and bool(np.isinf(numbers).any())


def _is_sparse(frame: RawFrame) -> bool:
    return frame.matrix is not None and not isinstance(frame.matrix, np.ndarray)


def _sparse(frame: RawFrame, schema: Schema) -> SparseColumns:
    for column in schema.columns:
        if column.kind is not Kind.NUMERIC:
            raise ValueError(f"column {column.name!r} is {column.kind}, but a sparse matrix holds numbers; give a frame")
    return SparseColumns(frame.matrix)


def _room(frame: RawFrame, schema: Schema) -> dict[str, np.ndarray]:
    """Memory for all coded columns in one piece: the system hands out one large piece far faster than many.

    Columns of numbers that lie in one array get their codes here, together.
    """
    names = [column.name for column in schema.columns if column.kind in (Kind.ORDINAL, Kind.NOMINAL)]
    factorise_together([frame.columns[name] for name in names])
    return dict(zip(names, np.empty((len(names), frame.n_rows), np.int32), strict=True))


def _learnt(raw: Raw, column: Column, room: dict[str, np.ndarray]) -> tuple[Column, Values]:
    if column.kind is not Kind.TEXT:
        return column, _again(raw, column, room)
    vocabulary, tokens = _counted(raw, column)
    return msgspec.structs.replace(column, levels=vocabulary), tokens


def _again(raw: Raw, column: Column, room: dict[str, np.ndarray]) -> Values:
    return encoded(raw, column, "error" if column.kind in (Kind.ORDINAL, Kind.NOMINAL) else "missing", room)


def _vocabulary(raw: Raw, column: Column) -> tuple[str, ...]:
    return _counted(raw, column)[0] if column.kind is Kind.TEXT else ()


def _counted(raw: Raw, column: Column) -> Counted:
    from baytree.data.encoding import bag_of_words as text  # few tables have text

    return text.count(documents(raw, column), column.text or Text())


def _kind_of(column: Column) -> Any:
    """What is known of a column before its next batch: its kind, its unit, the order of its ranks; not its levels."""
    if column.kind is Kind.ORDINAL:
        return column
    levels = column.levels if column.kind is Kind.NOMINAL else ()
    kept = tuple(level for level in levels if isinstance(level, str) and is_missing_token(level))
    return msgspec.structs.replace(column, levels=kept, declared=False)


def _recoded(values: Values, batch: Column, joint: Column) -> Values:
    """Values coded by a batch's own levels, coded by the joint levels."""
    if batch.levels == joint.levels:
        return values
    place = joint.places
    recode = np.array([*(place[level] for level in batch.levels), -1], np.int32)
    if isinstance(values, Tokens):
        from baytree.data.encoding import bags  # few tables have text

        return bags.recode(values, recode[:-1])
    return recode[values]


def _rows_of(raw: Raw, rows: np.ndarray) -> Raw:
    if isinstance(raw, Numbers):
        return raw.take(rows)
    if isinstance(raw, Codes):
        return msgspec.structs.replace(raw, codes=raw.codes[rows])
    kept = [document for document, is_kept in zip(raw.documents(), rows.tolist(), strict=True) if is_kept]
    return read_column(kept, "kept rows")
