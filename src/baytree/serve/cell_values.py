"""Values that came over the wire to raw columns of a schema: each is of its column's kind, or refused by its name."""

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
from baytree.serve.limits import MOST_VALUES, RequestError, named

_NUMBER, _NOTHING = {int, float}, {type(None)}


class RequiredColumns:
    """What a model asks of rows: its columns by the names under which they come, worked out once."""

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
        self._places = {name: _rowwise_places(column) for name, column in self.others}

    def knows(self, name: str) -> bool:
        """Whether training had a column of this name, used or not."""
        return name in self.column or name in self.ignored

    def check_size(self, n_rows: int) -> None:
        """Refuse rows that would have too many values, with the columns that were left out and the probabilities."""
        if n_rows * self._width > MOST_VALUES:
            raise RequestError(413, f"send at most {MOST_VALUES // self._width:,} rows of this model at once")

    def is_rowwise(self, given: Columns) -> bool:
        """Whether no value is read by what stands in other rows: plain numbers, and levels exactly as in training.

        Other values are not: all values of a column decide its type and, of dates, the order of day and month.
        """
        for name, places in self._places.items():
            for value in given.values.get(name, ()):
                if value is not None and (type(value), value) not in places:
                    return False
        return True


def from_json(wanted: RequiredColumns, given: Columns) -> RawFrame:
    """Raw columns of values that have types: a number is a number."""
    wanted.check_size(given.n_rows)
    _refuse_unknown(wanted, given.values)
    n, nothing = given.n_rows, (None,) * given.n_rows
    columns = _plain_numbers({name: given.values.get(name, nothing) for name in wanted.plain}, n)
    for name, column in wanted.others:
        columns[name] = _typed(column, given.values.get(name, nothing))
    return RawFrame({name: columns[name] for name in wanted.names}, n)


def from_text(wanted: RequiredColumns, given: Columns) -> RawFrame:
    """Raw columns of values that are all written, as in CSV."""
    wanted.check_size(given.n_rows)
    for place, name in enumerate(given.values, 1):  # not by its name: a file without names begins with values
        if not wanted.knows(name):
            raise RequestError(422, f"name {place} of the first line is no column of the model; see GET /models/{{name}}")
    nothing = (None,) * given.n_rows
    columns = {
        name: _written(column, [_text(value) for value in given.values.get(name, nothing)])
        for name, column in wanted.column.items()
    }
    return RawFrame(columns, given.n_rows)


def from_raw(wanted: RequiredColumns, given: Mapping[str, Raw], n_rows: int) -> RawFrame:
    """Raw columns of a frame; numbers that are written as strings are read."""
    wanted.check_size(n_rows)
    _refuse_unknown(wanted, given)
    columns = {name: _framed(column, given.get(name), n_rows) for name, column in wanted.column.items()}
    return RawFrame(columns, n_rows)


def _rowwise_places(column: Column) -> frozenset[tuple[type, Value]]:
    """The levels that `is_rowwise` accepts, with their types, since True is 1; none where a column is of another kind."""
    kinds = {type(level) for level in column.levels}
    if column.kind not in (Kind.NOMINAL, Kind.ORDINAL) or column.form is not None or len(kinds) != 1:
        return frozenset()
    is_safe = {str: True, bool: True, int: all(_is_exact(level) for level in column.levels)}.get(kinds.pop(), False)
    return frozenset((type(level), level) for level in column.levels) if is_safe else frozenset()


def _is_exact(value: Value) -> bool:
    """Whether a whole number is a double, also beside missing ones."""
    return type(value) is int and -(1 << 53) <= value <= 1 << 53


def _is_plain(column: Column) -> bool:
    return column.kind is Kind.NUMERIC and column.unit is None and column.form is None


def _refuse_unknown(wanted: RequiredColumns, names: Mapping[str, object]) -> None:
    """A name that training did not have is a mistake: its values would silently be missing."""
    for name in names:
        if not wanted.knows(name):
            raise RequestError(
                422, f"column {named(name)} is none that the model was trained with; see GET /models/{{name}}"
            )


def _plain_numbers(given: Mapping[str, Sequence[Value]], n_rows: int) -> dict[str, Raw]:
    names = tuple(given)
    for name, values in given.items():
        kinds = set(map(type, values)) - _NOTHING
        if not kinds <= _NUMBER:
            raise RequestError(422, f"column {named(name)} takes numbers")
        if int in kinds and any(type(value) is int and not _is_exact(value) for value in values):
            raise RequestError(422, f"column {named(name)}: a whole number beyond 2^53 is no exact double")
    lying = np.array([*given.values()], dtype=np.float64).reshape(len(names), n_rows)  # None is NaN
    matrix = NumberMatrix(lying.T, names)
    return {name: Numbers(matrix, j) for j, name in enumerate(names)}


def _typed(column: Column, values: Sequence[Value]) -> Raw:
    """A column of levels, of text, of dates, or of numbers that are written in a form of their own."""
    kinds = set(map(type, values)) - _NOTHING
    if column.kind is Kind.TEXT or _has_words(column):
        if not kinds <= {str}:
            raise RequestError(422, f"column {named(column.source)} takes strings")
    elif column.kind is Kind.NUMERIC or _is_part(column):
        takes_numbers = column.unit is None or (column.form is not None and column.form.kind == "date")
        if not kinds <= ({str, *_NUMBER} if takes_numbers else {str}):
            raise RequestError(
                422, f"column {named(column.source)} takes {'numbers' if takes_numbers else 'dates as strings'}"
            )
        if str in kinds:
            return _written(column, [_text(value) for value in values])
    return _read(column, values)


def _written(column: Column | None, texts: list[str | None]) -> Raw:
    raw = read_column(texts, "")
    if column is None or column.kind is not Kind.NUMERIC or _is_part(column) or not isinstance(raw, Strings):
        return raw
    codes = raw.factorise()
    read = encode_column.parse_levels(codes, column)
    if read.n_misfits:
        raise RequestError(
            422, f"column {named(column.source)} takes {'dates' if column.unit else 'numbers'}; one cell is none"
        )
    if np.isinf(read.values).any():
        raise _infinite(column)
    return Numbers.of(np.array([*read.values, np.nan])[codes.codes], unit=column.unit)


def _framed(column: Column | None, raw: Raw | None, n_rows: int) -> Raw:
    if raw is None or column is None:
        return _empty(n_rows)
    if isinstance(raw, Strings):
        return _written(column, list(raw.documents()))
    if column.kind is Kind.NUMERIC and isinstance(raw, Numbers):
        given = raw.matrix.array[:, raw.column]
        if given.dtype.kind == "f" and np.isinf(given).any():
            raise _infinite(column)
    return raw


def _infinite(column: Column) -> RequestError:
    return RequestError(422, f"column {named(column.source)}: a number is infinite, or beyond the range of doubles")


def _read(column: Column, values: Sequence[Value]) -> Raw:
    try:
        return read_column(list(values), column.source)
    except (ValueError, TypeError, OverflowError):
        raise RequestError(422, f"column {named(column.source)}: its values are of several types, or too large") from None


def _has_words(column: Column) -> bool:
    return not _is_part(column) and column.kind is not Kind.NUMERIC and all(isinstance(each, str) for each in column.levels)


def _is_part(column: Column) -> bool:
    return column.form is not None and bool(column.form.part)


def _text(value: Value) -> str | None:
    return None if value is None or value == "" else str(value)


def _empty(n_rows: int) -> Numbers:
    return Numbers.of(np.full(n_rows, np.nan))


def encoding_refusal(schema: Schema, error: Exception) -> RequestError:
    """What is said where a table cannot be encoded: the column that the error names, without its value."""
    told = str(error)
    column = next((each.source for each in schema.columns if repr(each.name) in told or repr(each.source) in told), None)
    if column is None:
        return RequestError(422, "the rows do not fit the columns of the model; see GET /models/{name}")
    return RequestError(422, f"column {named(column)} has a value that the model cannot take; see GET /models/{{name}}")
