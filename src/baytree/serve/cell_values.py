"""Conversion of cell values from requests to raw columns of a model's schema.

Every value is checked against the kind of its column; errors name the column and never the value. `from_json` takes typed
values, `from_text` strings, and `from_raw` columns of a frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from baytree.base.predictor import Predictor
from baytree.data.encoding import encode_column
from baytree.data.frames import read_column
from baytree.data.frames.numbers import NumberMatrix, Numbers
from baytree.data.frames.raw import Raw, RawFrame, Strings
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.serve.json_body import Columns, Value
from baytree.serve.limits import MAX_ENCODED_VALUES, RequestError, shown_name

_NUMBER, _NONE_TYPE = {int, float}, {type(None)}


class RequiredColumns:
    """The columns that a model requires, under the names of the request; computed once per model."""

    def __init__(self, predictor: Predictor):
        schema = predictor.schema
        sources = dict.fromkeys(column.source for column in schema.columns)
        self.schema = schema
        self.names = tuple(sources if schema.is_named else schema.inputs)
        self.ignored = {*schema.inputs, schema.target.name} - set(self.names)
        by_source = {column.source: column for column in schema.columns}
        self.column: dict[str, Column | None] = {name: by_source.get(name) for name in self.names}
        self.plain = tuple(name for name, column in self.column.items() if column is None or _is_plain(column))
        self.others = tuple((name, column) for name, column in self.column.items() if column and not _is_plain(column))
        self._width = max(len(self.names), len(schema.columns), len(schema.classes))
        self._rowwise_levels = {name: _rowwise_levels(column) for name, column in self.others}

    def knows(self, name: str) -> bool:
        """Return whether the training table had a column of this name, used or not."""
        return name in self.column or name in self.ignored

    def check_size(self, n_rows: int) -> None:
        """Raise RequestError if the encoded rows, with missing columns and probabilities, would have too many values."""
        if n_rows * self._width > MAX_ENCODED_VALUES:
            raise RequestError(413, f"send at most {MAX_ENCODED_VALUES // self._width:,} rows of this model in one request")

    def is_rowwise(self, received: Columns) -> bool:
        """Return whether no value depends on other rows: plain numbers, and levels exactly as in training.

        Other values do: the type of a column, and the order of day and month in dates, are inferred from all its values.
        """
        for name, levels in self._rowwise_levels.items():
            for value in received.values.get(name, ()):
                if value is not None and (type(value), value) not in levels:
                    return False
        return True


def from_json(required: RequiredColumns, received: Columns) -> RawFrame:
    """Convert typed values to raw columns: a number is a number."""
    required.check_size(received.n_rows)
    _refuse_unknown(required, received.values)
    n, missing_values = received.n_rows, (None,) * received.n_rows
    columns = _plain_numbers({name: received.values.get(name, missing_values) for name in required.plain}, n)
    for name, column in required.others:
        columns[name] = _typed_column(column, received.values.get(name, missing_values))
    return RawFrame({name: columns[name] for name in required.names}, n)


def from_text(required: RequiredColumns, received: Columns) -> RawFrame:
    """Convert values that are all strings, as in CSV, to raw columns."""
    required.check_size(received.n_rows)
    # names the position, since the first line of a file without header contains values
    for position, name in enumerate(received.values, 1):
        if not required.knows(name):
            raise RequestError(
                422, f"name {position} of the first line is not a column of the model; see GET /models/{{name}}"
            )
    missing_values = (None,) * received.n_rows
    columns = {
        name: _parsed_column(column, [_text(value) for value in received.values.get(name, missing_values)])
        for name, column in required.column.items()
    }
    return RawFrame(columns, received.n_rows)


def from_raw(required: RequiredColumns, received: Mapping[str, Raw], n_rows: int) -> RawFrame:
    """Convert columns of a frame to raw columns; strings in numeric columns are parsed."""
    required.check_size(n_rows)
    _refuse_unknown(required, received)
    columns = {name: _frame_column(column, received.get(name), n_rows) for name, column in required.column.items()}
    return RawFrame(columns, n_rows)


def _rowwise_levels(column: Column) -> frozenset[tuple[type, Value]]:
    """Return the levels that `is_rowwise` accepts with their types, since True == 1; empty for columns of other kinds."""
    kinds = {type(level) for level in column.levels}
    if column.kind not in (Kind.NOMINAL, Kind.ORDINAL) or column.form is not None or len(kinds) != 1:
        return frozenset()
    is_safe = {str: True, bool: True, int: all(_is_exact(level) for level in column.levels)}.get(kinds.pop(), False)
    return frozenset((type(level), level) for level in column.levels) if is_safe else frozenset()


def _is_exact(value: Value) -> bool:
    """Return whether an integer is exact as a double, so that its column may contain missing values."""
    return type(value) is int and -(1 << 53) <= value <= 1 << 53


def _is_plain(column: Column) -> bool:
    return column.kind is Kind.NUMERIC and column.unit is None and column.form is None


def _refuse_unknown(required: RequiredColumns, names: Mapping[str, object]) -> None:
    """Raise RequestError for an unknown column: ignoring a misspelt name would silently give missing values."""
    for name in names:
        if not required.knows(name):
            raise RequestError(422, f"column {shown_name(name)} is not a column of the model; see GET /models/{{name}}")


def _plain_numbers(received: Mapping[str, Sequence[Value]], n_rows: int) -> dict[str, Raw]:
    names = tuple(received)
    for name, values in received.items():
        kinds = set(map(type, values)) - _NONE_TYPE
        if not kinds <= _NUMBER:
            raise RequestError(422, f"column {shown_name(name)} must contain numbers")
        if int in kinds and any(type(value) is int and not _is_exact(value) for value in values):
            raise RequestError(422, f"column {shown_name(name)}: a whole number beyond 2^53 is not exact as a double")
    rows_by_column = np.array([*received.values()], dtype=np.float64).reshape(len(names), n_rows)  # None becomes NaN
    matrix = NumberMatrix(rows_by_column.T, names)
    return {name: Numbers(matrix, j) for j, name in enumerate(names)}


def _typed_column(column: Column, values: Sequence[Value]) -> Raw:
    """Convert values of a column of levels, text, dates, or numbers with a string format."""
    kinds = set(map(type, values)) - _NONE_TYPE
    if column.kind is Kind.TEXT or _has_words(column):
        if not kinds <= {str}:
            raise RequestError(422, f"column {shown_name(column.source)} must contain strings")
    elif column.kind is Kind.NUMERIC or _is_part(column):
        takes_numbers = column.unit is None or (column.form is not None and column.form.kind == "date")
        if not kinds <= ({str, *_NUMBER} if takes_numbers else {str}):
            raise RequestError(
                422, f"column {shown_name(column.source)} must contain {'numbers' if takes_numbers else 'dates as strings'}"
            )
        if str in kinds:
            return _parsed_column(column, [_text(value) for value in values])
    return _read(column, values)


def _parsed_column(column: Column | None, texts: list[str | None]) -> Raw:
    raw = read_column(texts, "")
    if column is None or column.kind is not Kind.NUMERIC or _is_part(column) or not isinstance(raw, Strings):
        return raw
    codes = raw.factorise()
    read = encode_column.parse_levels(codes, column)
    if read.n_misfits:
        raise RequestError(
            422,
            f"column {shown_name(column.source)} must contain {'dates' if column.unit else 'numbers'}; "
            "one cell cannot be parsed",
        )
    if np.isinf(read.values).any():
        raise _infinite_error(column)
    return Numbers.of(np.array([*read.values, np.nan])[codes.codes], unit=column.unit)


def _frame_column(column: Column | None, raw: Raw | None, n_rows: int) -> Raw:
    if raw is None or column is None:
        return _empty(n_rows)
    if isinstance(raw, Strings):
        return _parsed_column(column, list(raw.documents()))
    if column.kind is Kind.NUMERIC and isinstance(raw, Numbers):
        values = raw.matrix.array[:, raw.column]
        if values.dtype.kind == "f" and np.isinf(values).any():
            raise _infinite_error(column)
    return raw


def _infinite_error(column: Column) -> RequestError:
    return RequestError(422, f"column {shown_name(column.source)}: a number is infinite, or beyond the range of doubles")


def _read(column: Column, values: Sequence[Value]) -> Raw:
    try:
        return read_column(list(values), column.source)
    except (ValueError, TypeError, OverflowError):
        raise RequestError(
            422, f"column {shown_name(column.source)}: its values are of several types, or too large"
        ) from None


def _has_words(column: Column) -> bool:
    return (
        not _is_part(column) and column.kind is not Kind.NUMERIC and all(isinstance(level, str) for level in column.levels)
    )


def _is_part(column: Column) -> bool:
    return column.form is not None and bool(column.form.part)


def _text(value: Value) -> str | None:
    return None if value is None or value == "" else str(value)


def _empty(n_rows: int) -> Numbers:
    return Numbers.of(np.full(n_rows, np.nan))


def encoding_error(schema: Schema, error: Exception) -> RequestError:
    """Return the error for rows that cannot be encoded; names the column of `error`, but not its value."""
    message = str(error)
    column = next(
        (
            candidate.source
            for candidate in schema.columns
            if repr(candidate.name) in message or repr(candidate.source) in message
        ),
        None,
    )
    if column is None:
        return RequestError(422, "the rows do not match the columns of the model; see GET /models/{name}")
    return RequestError(
        422, f"column {shown_name(column)} has a value that the model does not accept; see GET /models/{{name}}"
    )
