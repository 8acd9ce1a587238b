"""The cells of a workbook as text, as a person sees them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from baytree.table.files.errors import FileError
from baytree.table.notes import Note


def sheet_rows(path: Path, name: str, sheet: str | None) -> tuple[list[list[str]], list[Note]]:
    """The rows of a sheet, and what is told: which other sheets there are."""
    import polars as pl

    try:
        import fastexcel

        book = fastexcel.read_excel(path)
        names = list(book.sheet_names)
    except (Exception, pl.exceptions.PanicException) as error:  # the reader has error types of its own
        raise damaged(name, error) from None
    if sheet is not None and sheet not in names:
        raise FileError(f"{name}: there is no sheet {sheet!r}; the sheets are {', '.join(map(repr, names))}")
    for found in [sheet] if sheet is not None else names:
        rows = _rows(book, found, name)
        if rows:
            return rows, _others(found, names) if sheet is None else []
    raise FileError(f"{name}: the first sheet is empty" if len(names) < 2 else f"{name}: every sheet is empty")


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


def _rows(book: Any, sheet: str, name: str) -> list[list[str]]:
    import polars as pl

    try:
        frame = book.load_sheet(sheet, header_row=None, dtypes="string").to_polars()
    except (Exception, pl.exceptions.PanicException) as error:
        if "empty" in str(error).lower() or "no data" in str(error).lower():
            return []
        raise damaged(name, error) from None
    rows = [[cell or "" for cell in row] for row in frame.iter_rows()]
    return [[_as_seen(cell) for cell in row] for row in rows if any(cell.strip() for cell in row)]


def _as_seen(cell: str) -> str:
    """A date at midnight without its time."""
    return cell.removesuffix(" 00:00:00") if cell.endswith(" 00:00:00") else cell
