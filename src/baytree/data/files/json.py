"""Read tables from JSON and JSON Lines: a list of objects, an object of columns, or one object per line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from baytree.data.files import blocks
from baytree.data.files.binary import FrameSource, as_text, nested_columns
from baytree.data.files.convert import drop_missing_tokens
from baytree.data.files.options import DEFAULT_OPTIONS, FileError, ReadOptions
from baytree.data.schema.notes import Note

if TYPE_CHECKING:
    import polars as pl

_MAX_DEPTH = 64  # of nested values: deeper ones are no table and may exhaust the stack of the parser

_NO_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))


@dataclass(frozen=True)
class JsonLinesFile:
    """File with one JSON object per line as a table source."""

    path: Path
    name: str
    schema: pl.Schema
    missing: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    options: ReadOptions = DEFAULT_OPTIONS

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names: the keys of all objects."""
        return tuple(_names(self.schema))

    @property
    def size(self) -> int:
        """Size of the file in bytes."""
        return self.path.stat().st_size

    def batches(self, progress: Callable[[int], Any] | None = None) -> Iterator[pl.DataFrame]:
        """Yield the rows, one block of lines at a time."""
        import polars as pl

        for block in _lines(self.path, self.name):
            frame = _flat(self.name, pl.read_ndjson(block, schema=self.schema), self.options)
            yield drop_missing_tokens(frame, self.missing)
            if progress:
                progress(len(block))


def open_lines(path: Path, name: str, options: ReadOptions = DEFAULT_OPTIONS) -> JsonLinesFile:
    """Open a JSON Lines file; reads all of it, since any object may introduce a new key."""
    import polars as pl

    schema, row = pl.Schema(), 1
    for block in _lines(path, name):
        _check_line_depths(name, block, row)
        try:
            found = pl.read_ndjson(block, infer_schema_length=None).schema
        except pl.exceptions.PolarsError as error:
            raise _bad_line(name, block, row, str(error)) from None
        empty = [pl.DataFrame(schema=schema), pl.DataFrame(schema=found)]
        schema = pl.concat(empty, how="diagonal_relaxed").schema
        row += block.count(b"\n")
    _flat(name, pl.DataFrame(schema=schema), options)
    if not schema:
        raise FileError(f"{name}: the file is empty")
    known = {column: pl.Float64 if dtype == pl.Null else dtype for column, dtype in schema.items()}
    return JsonLinesFile(path, name, pl.Schema(known), options.missing, options=options)


def open_json(path: Path, name: str, options: ReadOptions = DEFAULT_OPTIONS) -> FrameSource | JsonLinesFile:
    """Open a JSON file: a list of objects, an object of columns, an object that contains one of them, or JSON Lines."""
    import msgspec

    text = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    if _depth(text) > _MAX_DEPTH:
        raise _too_deep(name)
    try:
        content = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if text.lstrip()[:1] == b"{" and b"\n" in text.strip():
            return open_lines(path, name, options)
        raise FileError(f"{name}: this is not JSON ({error})") from None
    return FrameSource(name, _from_json(content, name, options), missing=options.missing)


def _from_json(content: Any, name: str, options: ReadOptions) -> pl.DataFrame:
    import polars as pl

    content = _as_rows(content)
    if isinstance(content, dict):
        tables = [value for value in content.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
        if len(tables) == 1:
            content = tables[0]
        elif content and all(isinstance(value, list) for value in content.values()):
            lengths = {len(value) for value in content.values()}
            if len(lengths) > 1:
                raise FileError(f"{name}: its columns differ in length")
            return _flat(name, pl.DataFrame(content, strict=False), options)
    if not isinstance(content, list) or not content or not all(isinstance(row, dict) for row in content):
        raise FileError(f'{name}: a table is a list of objects, [{{"column": value, ...}}, ...]')
    keys = list(dict.fromkeys(key for row in content for key in row))
    return _flat(name, pl.DataFrame({key: _cells(key, content) for key in keys}, strict=False), options)


def _as_rows(content: Any) -> Any:
    """Convert other layouts of tables to rows: header and rows separate or together, columns by row name."""
    if isinstance(content, dict) and isinstance(content.get("columns"), list) and isinstance(content.get("data"), list):
        content = [content["columns"], *content["data"]]
    if isinstance(content, dict) and content and all(isinstance(value, dict) for value in content.values()):
        keys = list(dict.fromkeys(key for column in content.values() for key in column))
        return [{name: column.get(key) for name, column in content.items()} for key in keys]
    if isinstance(content, list) and len(content) > 1 and all(isinstance(row, list) for row in content):
        names = [str(name) for name in content[0]]
        return [dict(zip(names, row, strict=False)) for row in content[1:]]
    return content


def _cells(key: str, rows: list[dict]) -> list[Any]:
    """Return the values of a key; as strings if their types are mixed."""
    values = [row.get(key) for row in rows]
    kinds = {type(value) for value in values if value is not None}
    if int in kinds and any(isinstance(value, int) and abs(value) >= 2**127 for value in values):
        return [_as_double(key, value) if isinstance(value, int) else value for value in values]
    if kinds <= {int, float} or len(kinds) < 2:
        return values
    return [value if value is None or isinstance(value, (str, dict, list)) else str(value) for value in values]


def _as_double(key: str, value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise FileError(f"column {key!r} holds a whole number beyond the range of doubles; write it as a string") from None


def _names(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield column names; a nested object yields one name per field, prefixed by the column."""
    for column, dtype in schema.items():
        fields = getattr(dtype, "fields", None)
        yield from (f"{column}.{field.name}" for field in fields) if fields else (column,)


def _flat(name: str, frame: pl.DataFrame, options: ReadOptions) -> pl.DataFrame:
    import polars as pl

    for series in frame:
        if series.dtype == pl.Struct:
            fields = series.struct.unnest()
            named = [column.alias(f"{series.name}.{column.name}") for column in fields]
            frame = frame.select(new for old in frame for new in (named if old.name == series.name else [old]))
    unread = nested_columns(name, frame.schema, options)
    return as_text(frame.with_columns(pl.lit(None, pl.Float64).alias(column) for column in unread))


def _lines(path: Path, name: str) -> Iterator[bytes]:
    with open(path, "rb", buffering=0) as stream:
        for block in blocks.blocks(stream, name, quote=b""):
            if block.strip():
                yield block.removeprefix(b"\xef\xbb\xbf")


def _check_line_depths(name: str, block: bytes, row: int) -> None:
    """Raise a FileError for deeply nested values, which would exhaust the stack of the parser; flat lines cost one count."""
    if block.count(b"{") + block.count(b"[") <= block.count(b"\n") + _MAX_DEPTH:
        return
    for at, line in enumerate(block.split(b"\n"), start=row):
        if _depth(line) > _MAX_DEPTH:
            raise _too_deep(f"{name}, line {at:,}")


def _depth(text: bytes) -> int:
    """Return the nesting depth of objects and lists; 0 if there are too few brackets to exceed the limit."""
    if text.count(b"{") + text.count(b"[") <= _MAX_DEPTH:
        return 0
    outside = b"".join(text.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])
    marks = np.frombuffer(outside.translate(None, _NO_BRACKETS), np.uint8)
    depth = np.cumsum(np.where((marks == ord("{")) | (marks == ord("[")), 1, -1))
    return int((depth - np.minimum.accumulate(depth)).max(initial=0)) + 1


def _too_deep(position: str) -> FileError:
    return FileError(f"{position}: values are nested more than {_MAX_DEPTH} levels deep; a table has one value per cell")


def _bad_line(name: str, block: bytes, row: int, reason: str) -> FileError:
    import msgspec

    for at, line in enumerate(block.splitlines(), start=row):
        try:
            found = msgspec.json.decode(line or b"{}")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return FileError(f"{name}, line {at:,}: this is not JSON ({error})")
        if not isinstance(found, dict):
            return FileError(f'{name}, line {at:,}: each line must be an object, {{"column": value, ...}}')
    return FileError(f"{name}, after line {row - 1:,}: {reason.splitlines()[0]}")
