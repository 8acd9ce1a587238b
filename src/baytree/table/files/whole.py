"""Files that are opened as a whole, or carry their own types: Parquet, JSON, NDJSON and Excel, and frames in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from baytree.table.files import arrangement, blocks
from baytree.table.files.asked import PLAINLY, Asked
from baytree.table.files.column_types import convert, infer, stripped, trim
from baytree.table.files.conversion import converted, open_marks, without_words
from baytree.table.files.errors import FileError
from baytree.table.files.workbook import sheet_rows
from baytree.table.notes import Note

if TYPE_CHECKING:
    import polars as pl

CELLS = 2_000_000  # in one batch


@dataclass(frozen=True)
class Frame:
    """A table in memory as a source."""

    name: str
    frame: pl.DataFrame
    size: None = None
    missing: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.frame.columns)

    def batches(self, progress: Callable[[int], Any] | None = None) -> Iterator[pl.DataFrame]:
        """The rows, in slices."""
        for frame in self.frame.iter_slices(_rows_per_batch(len(self.columns))):
            yield without_words(frame, self.missing)
            if progress:
                progress(0)


@dataclass(frozen=True)
class Parquet:
    """A Parquet file."""

    path: Path
    name: str
    columns: tuple[str, ...]
    size: None = None
    missing: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    def batches(self, progress: Callable[[int], Any] | None = None) -> Iterator[pl.DataFrame]:
        """The rows, in row order, a bounded number at a time."""
        import polars as pl

        size = _rows_per_batch(len(self.columns))
        try:
            # collect_batches is not yet a stable part of polars: it is called here only
            for frame in pl.scan_parquet(self.path, glob=False).collect_batches(chunk_size=size):
                yield without_words(_as_text(frame), self.missing)
                if progress:
                    progress(0)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            raise _damaged(self.name, "Parquet", error) from None


@dataclass(frozen=True)
class Lines:
    """A file with one JSON object a line."""

    path: Path
    name: str
    schema: pl.Schema
    missing: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns: every key of any object."""
        return tuple(self.schema)

    @property
    def size(self) -> int:
        """The bytes of the file."""
        return self.path.stat().st_size

    def batches(self, progress: Callable[[int], Any] | None = None) -> Iterator[pl.DataFrame]:
        """The rows, a block of lines at a time."""
        import polars as pl

        for block in _lines(self.path, self.name):
            yield without_words(_as_text(pl.read_ndjson(block, schema=self.schema)), self.missing)
            if progress:
                progress(len(block))


def open_parquet(path: Path, name: str, asked: Asked = PLAINLY) -> Parquet:
    """The Parquet file with its columns."""
    import polars as pl

    try:
        schema = pl.read_parquet_schema(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged(name, "Parquet", error) from None
    _check_flat(name, schema)
    return Parquet(path, name, tuple(schema), missing=asked.missing)


def open_lines(path: Path, name: str, asked: Asked = PLAINLY) -> Lines:
    """The file of JSON lines with its columns; all of it is read, for any object may bring a new key."""
    import polars as pl

    schema, row = pl.Schema(), 1
    for block in _lines(path, name):
        try:
            found = pl.read_ndjson(block, infer_schema_length=None).schema
        except pl.exceptions.PolarsError as error:
            raise _bad_line(name, block, row, str(error)) from None
        empty = [pl.DataFrame(schema=schema), pl.DataFrame(schema=found)]
        schema = pl.concat(empty, how="diagonal_relaxed").schema
        row += block.count(b"\n")
    _check_flat(name, schema)
    if not schema:
        raise FileError(f"{name}: the file is empty")
    known = {column: pl.Float64 if dtype == pl.Null else dtype for column, dtype in schema.items()}
    return Lines(path, name, pl.Schema(known), asked.missing)


def open_json(path: Path, name: str, asked: Asked = PLAINLY) -> Frame | Lines:
    """A JSON file: a list of objects, an object of columns, an object that holds one of them, or one object a line."""
    import msgspec

    try:
        content = msgspec.json.decode(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if path.read_bytes().lstrip()[:1] == b"{" and b"\n" in path.read_bytes().strip():
            return open_lines(path, name, asked)
        raise FileError(f"{name}: this is not JSON ({error})") from None
    return Frame(name, _from_json(content, name), missing=asked.missing)


def open_excel(path: Path, name: str, asked: Asked = PLAINLY) -> Frame:
    """A sheet of a workbook, the first that holds something unless one is named; read as a text file is."""
    rows, notes = sheet_rows(path, name, asked.sheet)
    found = arrangement.arrange(rows, asked.header)
    cells = rows[found.header] if found.header is not None else rows[0]
    names, told = arrangement.names(cells, found.width, found.header is not None, tuple(asked.keep))
    n, below = arrangement.footers(rows[found.first :], found.width)
    body = rows[found.first : len(rows) - n]
    frame = _from_cells(names, body)
    forms, open_notes = open_marks(frame, "", asked)
    columns = [_retyped(series, asked) for series in converted(frame, forms) if series.name]
    return Frame(
        name, frame.select(columns), None, asked.missing, (*notes, *found.notes, *told, *below, *open_notes)
    )


def _from_cells(names: list[str], rows: Sequence[Sequence[str]]) -> pl.DataFrame:
    import polars as pl

    columns = {name: [row[j].strip() or None if j < len(row) else None for row in rows] for j, name in enumerate(names)}
    filled = {name: cells for name, cells in columns.items() if not name.startswith("column_") or any(cells)}
    return pl.DataFrame(filled, schema=dict.fromkeys(filled, pl.String))


def _from_json(content: Any, name: str) -> pl.DataFrame:
    import polars as pl

    if isinstance(content, dict):
        tables = [value for value in content.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
        if len(tables) == 1:
            content = tables[0]
        elif content and all(isinstance(value, list) for value in content.values()):
            lengths = {len(value) for value in content.values()}
            if len(lengths) > 1:
                raise FileError(f"{name}: its columns differ in length")
            return _flat(name, pl.DataFrame(content, strict=False))
    if not isinstance(content, list) or not content or not all(isinstance(row, dict) for row in content):
        raise FileError(f'{name}: a table is a list of objects, [{{"column": value, ...}}, ...]')
    keys = list(dict.fromkeys(key for row in content for key in row))
    return _flat(name, pl.DataFrame({key: _cells(key, content) for key in keys}, strict=False))


def _cells(key: str, rows: list[dict]) -> list[Any]:
    """The values of a key; as text where they are of several types, as a person would write them."""
    values = [row.get(key) for row in rows]
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or len(kinds) < 2:
        return values
    return [value if value is None or isinstance(value, (str, dict, list)) else str(value) for value in values]


def _flat(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    for series in frame:
        if series.dtype == pl.Struct:
            fields = series.struct.unnest()
            frame = frame.drop(series.name).with_columns(column.alias(f"{series.name}.{column.name}") for column in fields)
    _check_flat(name, frame.schema)
    return _as_text(frame)


def _as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Strings without blanks around them, the empty ones missing, as in a text file."""
    import polars as pl

    columns = [stripped(series) for series in frame if series.dtype == pl.String]
    return frame.with_columns(columns) if columns else frame


def _retyped(column: pl.Series, asked: Asked) -> pl.Series:
    import polars as pl

    if column.dtype != pl.String or column.name in asked.text | asked.words:
        return column
    found = infer(column)
    return convert(found, trim(column)) if found.kind != "text" else stripped(column)


def _lines(path: Path, name: str) -> Iterator[bytes]:
    with open(path, "rb", buffering=0) as stream:
        for block in blocks.blocks(stream, name, quote=b""):
            if block.strip():
                yield block.removeprefix(b"\xef\xbb\xbf")


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


def _check_flat(name: str, schema: Mapping[str, Any]) -> None:
    for column, dtype in schema.items():
        if dtype.is_nested():
            raise FileError(f"{name}: column {column!r} holds lists or objects, not single values")


def _damaged(name: str, kind: str, error: BaseException) -> FileError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return FileError(f"{name}: this is not {kind}, or the file is damaged or cut short ({reason})")


def _rows_per_batch(n_columns: int) -> int:
    return max(1, CELLS // max(1, n_columns))
