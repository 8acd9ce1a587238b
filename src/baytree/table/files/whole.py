"""Files that carry their own types: Parquet, NDJSON and Excel, and frames already in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from baytree.table.files import blocks
from baytree.table.files.column_types import convert, infer, trim
from baytree.table.files.errors import FileError

if TYPE_CHECKING:
    import polars as pl

CELLS = 2_000_000  # in one batch


@dataclass(frozen=True)
class Frame:
    """A table in memory as a source."""

    name: str
    frame: pl.DataFrame
    size: None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.frame.columns)

    def batches(self, progress: Callable[[int], Any] | None = None) -> Iterator[pl.DataFrame]:
        """The rows, in slices."""
        for frame in self.frame.iter_slices(_rows_per_batch(len(self.columns))):
            yield frame
            if progress:
                progress(0)


@dataclass(frozen=True)
class Parquet:
    """A Parquet file."""

    path: Path
    name: str
    columns: tuple[str, ...]
    size: None = None

    def batches(self, progress: Callable[[int], Any] | None = None) -> Iterator[pl.DataFrame]:
        """The rows, in row order, a bounded number at a time."""
        import polars as pl

        size = _rows_per_batch(len(self.columns))
        try:
            # collect_batches is not yet a stable part of polars: it is called here only
            for frame in pl.scan_parquet(self.path, glob=False).collect_batches(chunk_size=size):
                yield frame
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
            yield pl.read_ndjson(block, schema=self.schema)
            if progress:
                progress(len(block))


def open_parquet(path: Path, name: str) -> Parquet:
    """The Parquet file with its columns."""
    import polars as pl

    try:
        schema = pl.read_parquet_schema(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged(name, "Parquet", error) from None
    _check_flat(name, schema)
    return Parquet(path, name, tuple(schema))


def open_lines(path: Path, name: str) -> Lines:
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
    return Lines(path, name, pl.Schema(known))


def open_excel(path: Path, name: str) -> Frame:
    """The first sheet of an Excel file. Columns of text are read as text in a CSV file is."""
    import polars as pl

    try:
        frame = pl.read_excel(path)
    except pl.exceptions.NoDataError:
        raise FileError(f"{name}: the first sheet is empty") from None
    except (Exception, pl.exceptions.PanicException) as error:  # the reader has error types of its own
        raise _damaged(name, "Excel", error) from None
    return Frame(name, frame.with_columns(_retyped(column) for column in frame if column.dtype == pl.String))


def _retyped(column: pl.Series) -> pl.Series:
    return convert(infer(column), trim(column))


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
