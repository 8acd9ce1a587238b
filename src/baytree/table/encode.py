"""The only way in: raw columns and a schema to an encoded table, checked once so that nothing behind has to check again."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from baytree import notices
from baytree.engine.threads import by_columns
from baytree.table.frames import Codes, Numbers, Raw, RawFrame, Strings, factorise_together, read_column
from baytree.table.infer import Census, levels_of
from baytree.table.reading import strings
from baytree.table.reading.forms import is_nothing
from baytree.table.reading.matching import Matched, matched
from baytree.table.schema import Column, Kind, Schema, Target, Text
from baytree.table.table import SparseColumns, Tokens, Values, holds_infinite, refuse_infinite
from baytree.table.text import bags
from baytree.table.text import count as text


def encode(
    frame: RawFrame, schema: Schema, *, unseen: str = "missing", accepts_infinite: bool = False
) -> tuple[Values, ...] | SparseColumns:
    """The values of rows under a known schema: by name where columns have names, else by position.

    A level that the schema does not know is missing, or refused with `unseen="error"`.
    """
    if _is_sparse(frame):
        return _sparse(frame, schema)
    found = aligned(frame, schema)
    room = _room(found, schema)
    columns = found.columns
    values = by_columns(schema.columns, frame.n_rows, lambda column: _encoded(columns[column.name], column, unseen, room))
    if not accepts_infinite:
        _refuse_infinite(schema, values, frame.n_rows)
    return values


def learn(frame: RawFrame, schema: Schema, accepts_infinite: bool = False) -> tuple[Schema, Any]:
    """The values of the rows to be learnt from, and the schema with the vocabularies of its text columns.

    A level outside the declared ones is refused here: in training it is a mistake, not news.
    """
    if _is_sparse(frame):
        return schema, _sparse(frame, schema)
    found = aligned(frame, schema)
    room = _room(found, schema)
    pairs = by_columns(schema.columns, frame.n_rows, lambda column: _learnt(found.columns[column.name], column, room))
    values = tuple(value for _, value in pairs)
    schema = msgspec.structs.replace(schema, columns=tuple(column for column, _ in pairs))
    if not accepts_infinite:
        _refuse_infinite(schema, values, frame.n_rows)
    return schema, values


def more(frame: RawFrame, schema: Schema, target: Target, accepts_infinite: bool = False) -> tuple[Schema, Any]:
    """The values of a further batch, and the schema that also knows its levels, words and classes."""
    target = schema.target.union(target)
    if _is_sparse(frame):
        return msgspec.structs.replace(schema, target=target), _sparse(frame, schema)
    found = aligned(frame, schema)
    batch = Census.of(found, {column.name: _kind_of(column) for column in schema.columns}).schema(schema.is_named)
    batch, values = learn(found, batch, accepts_infinite)
    joint = tuple(column.union(batch[column.name]) for column in schema.columns)
    recoded = tuple(_recoded(*triple) for triple in zip(values, batch.columns, joint, strict=True))
    return msgspec.structs.replace(schema, columns=joint, target=target), recoded


def aligned(frame: RawFrame, schema: Schema) -> RawFrame:
    """The columns that a schema asks for, under its names and in its order."""
    if not (schema.is_named and frame.is_named):
        columns = dict(zip(schema.inputs, frame.columns.values(), strict=True))
        return msgspec.structs.replace(frame, columns={column.name: columns[column.source] for column in schema.columns})
    for column in schema.columns:
        if column.source not in frame.columns:
            raise ValueError(
                f"column {column.source!r} was there in training and is missing now; "
                f"the columns are {', '.join(map(repr, frame.columns))}"
            )
    return msgspec.structs.replace(frame, columns={c.name: frame.columns[c.source] for c in schema.columns})


def take(frame: RawFrame, rows: np.ndarray) -> RawFrame:
    """The rows of a raw frame that a mask keeps."""
    matrix = None if frame.matrix is None else frame.matrix[np.flatnonzero(rows)]
    columns = {name: _rows_of(raw, rows) for name, raw in frame.columns.items()}
    return msgspec.structs.replace(frame, columns=columns, matrix=matrix, n_rows=int(rows.sum()))


def weights(given: Any, n_rows: int) -> tuple[np.ndarray, bool]:
    """The weights of the rows and whether all are 1: finite, none negative, not all zero."""
    if given is None:
        return np.ones(n_rows), True
    weight = np.asarray(given, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weight.shape}; give one weight for each of the {n_rows} rows")
    for is_wrong, what in ((np.isnan(weight), "NaN"), (np.isinf(weight), "infinite"), (weight < 0, "negative")):
        if is_wrong.any():
            row = int(np.argmax(is_wrong))
            raise ValueError(f"sample_weight, row {row}: {weight[row]} is {what}; weights are finite and not negative")
    if not weight.any():
        raise ValueError(
            "Sample weights are all zero: no row counts; sample_weight must contain at least one non-zero number"
        )
    return weight, bool((weight == 1).all())


def _refuse_infinite(schema: Schema, values: tuple[Values, ...], n_rows: int) -> None:
    columns = tuple(zip(schema.columns, values, strict=True))
    if any(by_columns(columns, n_rows, lambda pair: holds_infinite(*pair))):
        refuse_infinite(schema, values)


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
        return column, _encoded(raw, column, "missing" if column.kind is Kind.NUMERIC else "error", room)
    vocabulary, tokens = text.count(_documents(raw, column), column.text or Text())
    return msgspec.structs.replace(column, levels=vocabulary), tokens


def _kind_of(column: Column) -> Any:
    """What is known of a column before its next batch: its kind, its unit, the order of its ranks; not its levels."""
    if column.kind is Kind.ORDINAL:
        return column
    levels = column.levels if column.kind is Kind.NOMINAL else ()
    kept = tuple(level for level in levels if isinstance(level, str) and is_nothing(level))
    return msgspec.structs.replace(column, levels=kept, declared=False)


def _recoded(values: Values, batch: Column, joint: Column) -> Values:
    """Values coded by a batch's own levels, coded by the joint levels."""
    if batch.levels == joint.levels:
        return values
    place = _places(joint)
    recode = np.array([*(place[level] for level in batch.levels), -1], np.int32)
    if isinstance(values, Tokens):
        return bags.recode(values, recode[:-1])
    return recode[values]


def _rows_of(raw: Raw, rows: np.ndarray) -> Raw:
    if isinstance(raw, Numbers):
        return raw.take(rows)
    if isinstance(raw, Codes):
        return msgspec.structs.replace(raw, codes=raw.codes[rows])
    kept = [document for document, is_kept in zip(raw.documents(), rows.tolist(), strict=True) if is_kept]
    return read_column(kept, "kept rows")


def _encoded(raw: Raw, column: Column, unseen: str, room: dict[str, np.ndarray]) -> Values:
    if column.kind is Kind.NUMERIC:
        return _numbers(raw, column, unseen)
    if column.kind is Kind.TEXT:
        return text.encode(_documents(raw, column), column.text or Text(), column.levels)
    return _codes(raw, column, unseen, room[column.name])


def _numbers(raw: Raw, column: Column, unseen: str) -> np.ndarray:
    if column.form is not None and column.form.part:
        return strings.part(_numbers(raw, strings.whole_date(column), unseen), column.form.part)
    if isinstance(raw, Numbers):
        if raw.unit is None and column.form is not None and column.form.kind == "date":
            return strings.dates(raw.values, column)
        return raw.values if raw.unit == column.unit else _in_unit(raw, column)
    if isinstance(raw, Codes) and all(isinstance(level, (bool, int, float)) for level in raw.levels):
        return np.array([*map(float, raw.levels), np.nan])[raw.codes]
    codes = raw.factorise() if isinstance(raw, Strings) else raw
    read = strings.read(codes, column)
    _tell_misfits(read, column, unseen)
    return np.array([*read.values, np.nan])[codes.codes]


def _tell_misfits(read: strings.Read, column: Column, unseen: str) -> None:
    """Names the cells that are not what the column holds; they are missing, unless that is an error."""
    if not read.n_misfits:
        return
    what = "a time of day" if column.unit == "clock" else "a date" if column.unit else "a number"
    if unseen == "error":
        raise ValueError(
            f"column {column.name!r} is numeric, but {read.misfit[:60]!r} is not {what}; "
            "correct the value, or train with the column declared nominal"
        )
    cells = "1 cell" if read.n_misfits == 1 else f"{read.n_misfits:,} cells"
    notices.warn(f"column {column.name!r}: {read.misfit[:60]!r} is not {what} and is taken as missing ({cells})")


_SECONDS = {"D": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}


def _in_unit(raw: Numbers, column: Column) -> np.ndarray:
    if raw.unit is None or column.unit is None or (raw.unit == "clock") != (column.unit == "clock"):
        was, now = ("a date", "a number") if column.unit else ("a number", "a date")
        if np.isnan(raw.values).all():
            return raw.values
        raise ValueError(f"column {column.name!r} was {was} in training and is {now} now")
    return raw.values * (_SECONDS[raw.unit] / _SECONDS[column.unit])


def _documents(raw: Raw, column: Column) -> Any:
    if isinstance(raw, Strings):
        return raw.documents()
    if isinstance(raw, Codes) and all(isinstance(level, str) for level in raw.levels):
        names = [*raw.levels, None]
        return [names[code] for code in raw.codes.tolist()]
    if isinstance(raw, Numbers) and np.isnan(raw.values).all():
        return [None] * len(raw.values)
    raise ValueError(f"column {column.name!r} is text, but numbers or categories were given; give strings")


def _codes(raw: Raw, column: Column, unseen: str, result: np.ndarray) -> np.ndarray:
    if column.form is not None and column.form.part:
        days = _numbers(raw, strings.whole_date(column), unseen)
        result[:] = np.where(np.isnan(days), -1, strings.part(np.nan_to_num(days), column.form.part))
        return result
    codes = levels_of(raw if isinstance(raw, Codes) else raw.factorise(), column.form)
    if codes.levels == column.levels and _same_types(codes.levels, column.levels):
        return _widened(codes.codes, result)
    place = _places(column)
    recode = np.array([*(place.get(level, -1) for level in codes.levels), -1], np.int32)
    if (recode[:-1] < 0).any():
        _tell_unseen(found := matched(codes, recode, column), column, unseen)
        recode = found.recode
    np.take(recode, codes.codes, out=result, mode="wrap")  # −1, missing, wraps to the last entry
    return result


def _widened(codes: np.ndarray, result: np.ndarray) -> np.ndarray:
    if codes.dtype == np.int32 and codes.flags.c_contiguous:
        return codes
    result[:] = codes
    return result


def _same_types(left: tuple, right: tuple) -> bool:
    return all(isinstance(a, str) == isinstance(b, str) for a, b in zip(left, right, strict=True))


def _places(column: Column) -> dict[Any, int]:
    return {level: code for code, level in enumerate(column.levels)}


def _tell_unseen(found: Matched, column: Column, unseen: str) -> None:
    """Names levels that were written otherwise, or are new; refuses what cannot be meant, and what is asked to be."""
    if not found.is_any_known:
        _refuse_other_type(found.new, column)
    if found.new and unseen == "error":
        raise ValueError(f"column {column.name!r}: level {found.new[0]!r} was not seen in training; use unseen='missing'")
    for written, level in found.alike[:3]:
        notices.warn(f"column {column.name!r}: {written!r} is taken for {level!r}, as it was written in training")
    if found.new:
        listed = ", ".join(map(repr, found.new[:3])) + (" …" if len(found.new) > 3 else "")
        cells = "1 cell" if found.n_new == 1 else f"{found.n_new:,} cells"
        notices.warn(f"column {column.name!r}: {listed} was not seen in training and is taken as missing ({cells})")


def _refuse_other_type(new: tuple, column: Column) -> None:
    were_text = [isinstance(level, str) for level in column.levels]
    if not new or not were_text:
        return
    if all(were_text) and not any(isinstance(level, str) for level in new):
        raise ValueError(f"column {column.name!r} held strings in training, but {new[0]!r} is none; convert it to strings")
    if not any(were_text) and all(isinstance(level, str) for level in new):
        raise ValueError(
            f"column {column.name!r} held numbers in training, but {new[0]!r} is a string; convert it to numbers"
        )
