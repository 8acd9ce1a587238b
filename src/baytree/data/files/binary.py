"""Sources with typed or random-access content: Parquet, Excel workbooks, and frames in memory.

Cells of a workbook are read as text, as displayed, and then parsed like a text file.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from baytree.data.files import header as header_detection
from baytree.data.files.convert import convert_columns, drop_missing_tokens, infer_decimal_marks
from baytree.data.files.csv_parse import convert, infer_reader, strip_blanks, trim
from baytree.data.files.options import DEFAULT_OPTIONS, FileError, ReadOptions
from baytree.data.files.sheet_xml import Range, SheetExtent, measure
from baytree.data.schema.notes import Note

if TYPE_CHECKING:
    import polars as pl

CELLS_PER_BATCH = 2_000_000  # bounds the memory of a batch


@dataclass(frozen=True)
class FrameSource:
    """Frame in memory as a table source."""

    name: str
    frame: pl.DataFrame
    size: None = None
    missing: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names."""
        return tuple(self.frame.columns)

    def batches(self, progress: Callable[[int], Any] | None = None) -> Iterator[pl.DataFrame]:
        """Yield the rows in slices."""
        for frame in self.frame.iter_slices(_rows_per_batch(len(self.columns))):
            yield drop_missing_tokens(frame, self.missing)
            if progress:
                progress(0)


@dataclass(frozen=True)
class Parquet:
    """Parquet file as a table source."""

    path: Path
    name: str
    columns: tuple[str, ...]
    size: None = None
    missing: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    unread: tuple[str, ...] = ()  # columns of lists or objects, returned as missing

    def batches(self, progress: Callable[[int], Any] | None = None) -> Iterator[pl.DataFrame]:
        """Yield the rows in order, a bounded number at a time; columns in `unread` are missing."""
        import polars as pl

        size, scanned = _rows_per_batch(len(self.columns)), pl.scan_parquet(self.path, glob=False)
        if self.unread:
            scanned = scanned.with_columns(pl.lit(None, pl.Float64).alias(name) for name in self.unread)
        try:
            # collect_batches is not stable in polars yet; this is the only call
            for frame in scanned.collect_batches(chunk_size=size):
                yield drop_missing_tokens(as_text(frame), self.missing)
                if progress:
                    progress(0)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            raise _damaged(self.name, "Parquet", error) from None


def open_parquet(path: Path, name: str, options: ReadOptions = DEFAULT_OPTIONS) -> Parquet:
    """Open a Parquet file and read its column names."""
    import polars as pl

    try:
        schema = pl.read_parquet_schema(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged(name, "Parquet", error) from None
    unread = nested_columns(name, schema, options)
    return Parquet(path, name, tuple(schema), missing=options.missing, unread=unread)


def verify_pages(path: Path) -> None:
    """Read a Parquet file to its end and raise a FileError if a page fails its checksum; pages without one pass."""
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


def open_excel(path: Path, name: str, options: ReadOptions = DEFAULT_OPTIONS) -> FrameSource:
    """Read the named or first non-empty sheet of a workbook; header, footer and types are detected as in a text file."""
    sheet, notes = sheet_rows(path, name, options.sheet)
    rows = sheet.rows
    n_filled = sheet.fill_merged(0, len(rows), is_down_only=True)
    layout = header_detection.detect_sheet_layout(rows, options.header)
    cells = rows[layout.header] if layout.header is not None else rows[0]
    names, name_notes = header_detection.names(cells, layout.width, layout.header is not None, tuple(options.keep))
    n_footers, footer_notes = header_detection.footers(rows[layout.first :], layout.width)
    n_filled += sheet.fill_merged(layout.first, len(rows) - n_footers)
    if n_filled:
        notes.append(Note("", "merged cells are filled with their value", n_filled, is_doubtful=True))
    body = rows[layout.first : len(rows) - n_footers]
    frame = _from_cells(names, body)
    formats, open_notes = infer_decimal_marks(frame, "", options)
    columns = [_convert_by_type(series, options) for series in convert_columns(frame, formats) if series.name]
    return FrameSource(
        name, frame.select(columns), None, options.missing, (*notes, *layout.notes, *name_notes, *footer_notes, *open_notes)
    )


def _from_cells(names: list[str], rows: Sequence[Sequence[str]]) -> pl.DataFrame:
    import polars as pl

    columns = {name: [row[j].strip() or None if j < len(row) else None for row in rows] for j, name in enumerate(names)}
    filled = {name: cells for name, cells in columns.items() if not name.startswith("column_") or any(cells)}
    return pl.DataFrame(filled, schema=dict.fromkeys(filled, pl.String))


def as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Strip blanks around strings and make empty strings missing, as in a text file."""
    import polars as pl

    texts = [series for series in frame if series.dtype == pl.String]
    changed = [bare for series in texts if (bare := strip_blanks(series)) is not series]
    return frame.with_columns(changed) if changed else frame


def _convert_by_type(column: pl.Series, options: ReadOptions) -> pl.Series:
    import polars as pl

    if column.dtype != pl.String or column.name in options.text | options.words:
        return column
    found = infer_reader(column)
    return convert(found, trim(column)) if found.kind != "text" else strip_blanks(column)


def nested_columns(name: str, schema: Mapping[str, Any], options: ReadOptions = DEFAULT_OPTIONS) -> tuple[str, ...]:
    """Return the columns of lists or objects that are not read; raise a FileError for one that is."""
    nested = tuple(column for column, dtype in schema.items() if dtype.is_nested())
    for column in nested:
        if options.is_read(column):
            remedy = f"leave it out, on the command line with --drop {column!r}"
            raise FileError(f"{name}: column {column!r} holds lists or objects, not single values; {remedy}")
    return nested


def _damaged(name: str, kind: str, error: BaseException) -> FileError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return FileError(f"{name}: this is not {kind}, or the file is damaged or cut short ({reason})")


def _rows_per_batch(n_columns: int) -> int:
    return max(1, CELLS_PER_BATCH // max(1, n_columns))


class Sheet(NamedTuple):
    """Non-empty rows of a sheet."""

    rows: list[list[str]]
    numbers: list[int]  # row numbers, ascending
    first_column: int = 1
    merged: Sequence[Range] = ()

    def fill_merged(self, first: int, last: int, is_down_only: bool = False) -> int:
        """Write the value of merged ranges into their empty cells in rows `first` … `last` − 1; return how many were filled.

        `is_down_only` fills no cells to the right: a title or the name of a group of columns is not the name of each column.
        """
        width, n_filled, n_visited = max(map(len, self.rows), default=0), 0, 0
        for each in self.merged:
            start, end = bisect_left(self.numbers, each.first_row), bisect_right(self.numbers, each.last_row)
            left = each.first_column - self.first_column
            right = left + 1 if is_down_only else min(each.last_column - self.first_column + 1, width)
            is_inside = start < end and self.numbers[start] == each.first_row and 0 <= left < width
            value = self.rows[start][left] if is_inside else ""
            n_visited += (end - start) * (right - left)
            # ranges of a valid sheet do not overlap: the limit bounds the work on damaged files
            if not value.strip() or n_visited > width * len(self.rows):
                continue
            for k in range(max(start, first), min(end, last)):
                for j in range(left, right):
                    if not self.rows[k][j].strip():
                        self.rows[k][j] = value
                        n_filled += 1
        return n_filled


def sheet_rows(path: Path, name: str, sheet: str | None) -> tuple[Sheet, list[Note]]:
    """Return the named or first non-empty sheet, and a note on the other sheets."""
    book = _open_book(path, name)
    names = list(book.sheet_names)
    if sheet is not None and sheet not in names:
        raise FileError(f"{name}: there is no sheet {sheet!r}; the sheets are {', '.join(map(repr, names))}")
    for found in [sheet] if sheet is not None else names:
        extent, merged = measure(path, name, found) if path.suffix.lower() in (".xlsx", ".xlsm") else (None, [])
        laid_out = _rows(book, found, name)
        if laid_out.rows:
            return _with_positions(laid_out, extent, merged), _others(found, names) if sheet is None else []
    raise FileError(f"{name}: the first sheet is empty" if len(names) < 2 else f"{name}: every sheet is empty")


def sheet_names(path: Path, name: str) -> list[str]:
    """Return the names of the sheets of a workbook."""
    return list(_open_book(path, name).sheet_names)


def _open_book(path: Path, name: str) -> Any:
    import polars as pl

    try:
        import fastexcel

        return fastexcel.read_excel(path)
    except (Exception, pl.exceptions.PanicException) as error:  # fastexcel has its own error types
        raise damaged(name, error) from None


def damaged(name: str, error: BaseException) -> FileError:
    """Return the error for a workbook that cannot be read."""
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return FileError(f"{name}: this is not Excel, or the file is damaged or cut short ({reason})")


def _others(sheet: str, names: list[str]) -> list[Note]:
    others = [name for name in names if name != sheet]
    if not others:
        return []
    listed = ", ".join(map(repr, others))
    return [Note("", f"the sheet {sheet!r} is read; there are also {listed}", 0, "sheet", others[0], is_doubtful=True)]


def _with_positions(sheet: Sheet, extent: SheetExtent | None, merged: Sequence[Range]) -> Sheet:
    """Return the sheet with the row and column numbers of the workbook and its merged ranges."""
    if not merged or extent is None or extent.last_column - extent.first_column + 1 != len(sheet.rows[0]):
        return sheet
    numbers = [number + extent.first_row - 1 for number in sheet.numbers]
    return sheet._replace(numbers=numbers, first_column=extent.first_column, merged=merged)


def _rows(book: Any, sheet: str, name: str) -> Sheet:
    import polars as pl

    try:
        frame = book.load_sheet(sheet, header_row=None, dtypes="string").to_polars()
    except (Exception, pl.exceptions.PanicException) as error:
        if "empty" in str(error).lower() or "no data" in str(error).lower():
            return Sheet([], [])
        raise damaged(name, error) from None
    rows = [[cell or "" for cell in row] for row in frame.iter_rows()]
    filled = [k for k, row in enumerate(rows) if any(cell.strip() for cell in row)]
    return Sheet([[_as_displayed(cell) for cell in rows[k]] for k in filled], [k + 1 for k in filled])


def _as_displayed(cell: str) -> str:
    """Remove the time of a date at midnight, as the cell is displayed."""
    return cell.removesuffix(" 00:00:00") if cell.endswith(" 00:00:00") else cell
