"""Files that are opened as a whole, or carry their own types: Parquet, JSON, NDJSON and Excel, and frames in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from baytree.table.files import arrangement
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
    unread: tuple[str, ...] = ()  # columns of lists or objects

    def batches(self, progress: Callable[[int], Any] | None = None) -> Iterator[pl.DataFrame]:
        """The rows, in row order, a bounded number at a time; columns that are not read are missing."""
        import polars as pl

        size, scanned = _rows_per_batch(len(self.columns)), pl.scan_parquet(self.path, glob=False)
        if self.unread:
            scanned = scanned.with_columns(pl.lit(None, pl.Float64).alias(name) for name in self.unread)
        try:
            # collect_batches is not yet a stable part of polars: it is called here only
            for frame in scanned.collect_batches(chunk_size=size):
                yield without_words(as_text(frame), self.missing)
                if progress:
                    progress(0)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            raise _damaged(self.name, "Parquet", error) from None


def open_parquet(path: Path, name: str, asked: Asked = PLAINLY) -> Parquet:
    """The Parquet file with its columns."""
    import polars as pl

    try:
        schema = pl.read_parquet_schema(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged(name, "Parquet", error) from None
    unread = nested_columns(name, schema, asked)
    return Parquet(path, name, tuple(schema), missing=asked.missing, unread=unread)


def verify_pages(path: Path) -> None:
    """Reads a Parquet file to its end and refuses it where a page does not have its checksum; a page without one passes."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ImportError("verify=True needs pyarrow: pip install pyarrow") from None
    where = ""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            for group in range(file.num_row_groups):
                where = f", row group {group}"
                for _ in file.iter_batches(_rows_per_batch(len(file.schema_arrow)), row_groups=[group], use_threads=False):
                    pass
    except (pa.ArrowException, OSError) as error:
        raise _damaged(f"{path.name}{where}", "Parquet", error) from None


def open_excel(path: Path, name: str, asked: Asked = PLAINLY) -> Frame:
    """A sheet of a workbook, the first that holds something unless one is named; read as a text file is."""
    sheet, notes = sheet_rows(path, name, asked.sheet)
    rows = sheet.rows
    n_filled = sheet.fill_merged(0, len(rows), is_down_only=True)
    found = arrangement.arrange(rows, asked.header)
    cells = rows[found.header] if found.header is not None else rows[0]
    names, told = arrangement.names(cells, found.width, found.header is not None, tuple(asked.keep))
    n, below = arrangement.footers(rows[found.first :], found.width)
    n_filled += sheet.fill_merged(found.first, len(rows) - n)
    if n_filled:
        notes.append(Note("", "merged cells are filled with their value", n_filled, is_doubtful=True))
    body = rows[found.first : len(rows) - n]
    frame = _from_cells(names, body)
    forms, open_notes = open_marks(frame, "", asked)
    columns = [_retyped(series, asked) for series in converted(frame, forms) if series.name]
    return Frame(name, frame.select(columns), None, asked.missing, (*notes, *found.notes, *told, *below, *open_notes))


def _from_cells(names: list[str], rows: Sequence[Sequence[str]]) -> pl.DataFrame:
    import polars as pl

    columns = {name: [row[j].strip() or None if j < len(row) else None for row in rows] for j, name in enumerate(names)}
    filled = {name: cells for name, cells in columns.items() if not name.startswith("column_") or any(cells)}
    return pl.DataFrame(filled, schema=dict.fromkeys(filled, pl.String))


def as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Strings without blanks around them, the empty ones missing, as in a text file."""
    import polars as pl

    texts = [series for series in frame if series.dtype == pl.String]
    changed = [bare for series in texts if (bare := stripped(series)) is not series]
    return frame.with_columns(changed) if changed else frame


def _retyped(column: pl.Series, asked: Asked) -> pl.Series:
    import polars as pl

    if column.dtype != pl.String or column.name in asked.text | asked.words:
        return column
    found = infer(column)
    return convert(found, trim(column)) if found.kind != "text" else stripped(column)


def nested_columns(name: str, schema: Mapping[str, Any], asked: Asked = PLAINLY) -> tuple[str, ...]:
    """The columns of lists or objects that nobody reads; one that is to be read is refused."""
    nested = tuple(column for column, dtype in schema.items() if dtype.is_nested())
    for column in nested:
        if asked.is_read(column):
            remedy = f"leave it out, on the command line with --drop {column!r}"
            raise FileError(f"{name}: column {column!r} holds lists or objects, not single values; {remedy}")
    return nested


def _damaged(name: str, kind: str, error: BaseException) -> FileError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return FileError(f"{name}: this is not {kind}, or the file is damaged or cut short ({reason})")


def _rows_per_batch(n_columns: int) -> int:
    return max(1, CELLS // max(1, n_columns))
