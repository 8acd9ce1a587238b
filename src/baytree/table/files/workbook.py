"""The cells of a workbook as text, as a person sees them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from baytree.table.files.errors import FileError
from baytree.table.files.sheet_parts import Extent, Range, measure
from baytree.table.notes import Note


class Sheet(NamedTuple):
    """The rows of a sheet that are not empty."""

    rows: list[list[str]]
    numbers: list[int]  # of the rows, rising
    first_column: int = 1
    merged: Sequence[Range] = ()

    def fill_merged(self, first: int, last: int, is_down_only: bool = False) -> int:
        """Write the value of merged ranges into their empty cells of the rows from `first` to `last`; return how many.

        `is_down_only` fills no cells to the right: a title, or the name of a group of columns, is no name of each.
        """
        width, n_filled, n_visited = max(map(len, self.rows), default=0), 0, 0
        for each in self.merged:
            start, end = bisect_left(self.numbers, each.first_row), bisect_right(self.numbers, each.last_row)
            left = each.first_column - self.first_column
            right = left + 1 if is_down_only else min(each.last_column - self.first_column + 1, width)
            is_inside = start < end and self.numbers[start] == each.first_row and 0 <= left < width
            value = self.rows[start][left] if is_inside else ""
            n_visited += (end - start) * (right - left)
            if not value.strip() or n_visited > width * len(self.rows):  # ranges of a sheet do not overlap
                continue
            for k in range(max(start, first), min(end, last)):
                for j in range(left, right):
                    if not self.rows[k][j].strip():
                        self.rows[k][j] = value
                        n_filled += 1
        return n_filled


def sheet_rows(path: Path, name: str, sheet: str | None) -> tuple[Sheet, list[Note]]:
    """A sheet, and what is told: which other sheets there are."""
    book = _opened(path, name)
    names = list(book.sheet_names)
    if sheet is not None and sheet not in names:
        raise FileError(f"{name}: there is no sheet {sheet!r}; the sheets are {', '.join(map(repr, names))}")
    for found in [sheet] if sheet is not None else names:
        extent, merged = measure(path, name, found) if path.suffix.lower() in (".xlsx", ".xlsm") else (None, [])
        laid_out = _rows(book, found, name)
        if laid_out.rows:
            return _placed(laid_out, extent, merged), _others(found, names) if sheet is None else []
    raise FileError(f"{name}: the first sheet is empty" if len(names) < 2 else f"{name}: every sheet is empty")


def sheet_names(path: Path, name: str) -> list[str]:
    """The names of the sheets of a workbook."""
    return list(_opened(path, name).sheet_names)


def _opened(path: Path, name: str) -> Any:
    import polars as pl

    try:
        import fastexcel

        return fastexcel.read_excel(path)
    except (Exception, pl.exceptions.PanicException) as error:  # the reader has error types of its own
        raise damaged(name, error) from None


def damaged(name: str, error: BaseException) -> FileError:
    """What is said of a workbook that cannot be read."""
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return FileError(f"{name}: this is not Excel, or the file is damaged or cut short ({reason})")


def _others(sheet: str, names: list[str]) -> list[Note]:
    others = [name for name in names if name != sheet]
    if not others:
        return []
    listed = ", ".join(map(repr, others))
    return [Note("", f"the sheet {sheet!r} is read; there are also {listed}", 0, "sheet", others[0], is_doubtful=True)]


def _placed(sheet: Sheet, extent: Extent | None, merged: Sequence[Range]) -> Sheet:
    """The sheet with its rows and columns numbered as in the workbook, and its merged ranges."""
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
    return Sheet([[_as_seen(cell) for cell in rows[k]] for k in filled], [k + 1 for k in filled])


def _as_seen(cell: str) -> str:
    """A date at midnight without its time."""
    return cell.removesuffix(" 00:00:00") if cell.endswith(" 00:00:00") else cell
