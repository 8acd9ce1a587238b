"""Detect where the table lies in a sheet: header, row of units, lines above the header, totals and remarks below.

A sheet is a list of rows of string cells. Whether the first row is a header is decided by comparing its cells with the
types of the cells below. All findings are returned as notes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from baytree.data.parsing import dates
from baytree.data.parsing.numbers import numeral
from baytree.data.parsing.string_format import is_missing
from baytree.data.schema.notes import Note, left_out

Cells = Sequence[str]

_TOTAL = re.compile(
    r"\W*(grand[ -]?total|sub[ -]?totals?|totals?|summe|gesamt(summe)?|insgesamt|sum|somme|suma|totale?|mean|average|avg\.?"
    r"|mittelwert|durchschnitt|median|std\.?( dev\.?)?|count|anzahl|overall)\b.*", re.IGNORECASE
)  # fmt: skip

_REMARK = re.compile(r"\W*(sources?|notes?|quelle|anmerkung|hinweis|stand|legend|remark|fuente|nota)\b.*[:.]", re.IGNORECASE)

_RULER = re.compile(r"\s*(?::?-{2,}:?|={2,})\s*")

_UNIT = re.compile(r"[\[(].*[\])]|%|°[CFK]|[kmcµ]?[gml][²³]?|[a-zA-Z]{1,3}/[a-zA-Z]{1,3}|\W")

_SAMPLE_ROWS = 50  # rows below the header that are examined

_MAX_FOOTERS = 6  # rows of totals and remarks at the end; more are rows of the table

_MIN_NUMERIC = 0.8  # proportion of numbers in a numeric column: the others may be footnotes or missing tokens

_MIN_REPEATED = 0.8  # a first row is no header if so many of its cells also occur below it


class SheetLayout(NamedTuple):
    """Position of the header, a row of units and the first row of the table, with notes."""

    header: int | None  # index of the header row; None if there is none
    first: int  # index of the first row of the table
    width: int
    units: int | None = None
    has_row_names: bool = False  # the header lacks the name of the first column
    notes: tuple[Note, ...] = ()


def detect_sheet_layout(rows: Sequence[Cells], header_row: int | None = None) -> SheetLayout:
    """Return the layout of a sheet; `header_row` counts from 1: 0 for none, None to detect it."""
    width = modal_width(rows)
    top = _find_top(rows, width) if header_row is None else max(header_row - 1, 0)
    notes = [_lines_above_note(rows[:top])] if top and header_row is None else []
    body = rows[top + 1 :]
    has_row_names = len(rows[top]) == width - 1 and width > 2 and sum(len(row) == width for row in body) > len(body) / 2
    has_header = header_row != 0 if header_row is not None else is_header(rows[top], body)
    if not has_header:
        sample = ", ".join(repr(cell) for cell in rows[top][:3])
        message = f"the first row ({sample} …) is not a header: the columns are called column_1, column_2 and so on"
        note = Note("", message, 0, "header", str(top + 1), is_doubtful=True)
        return SheetLayout(None, top, width, None, False, (*notes, note))
    units = top + 1 if len(body) > 2 and (_is_ruler(body[0]) or are_units(body[0], body[1:])) else None
    if units is not None and not _is_ruler(body[0]):
        listed = ", ".join(cell for cell in rows[units] if cell)
        message = f"the row below the header holds units ({listed}) and is left out"
        notes.append(Note("", message, 0, "header", str(units + 1)))
    return SheetLayout(top, top + 1 if units is None else units + 1, width, units, has_row_names, tuple(notes))


def footers(rows: Sequence[Cells], width: int) -> tuple[int, list[Note]]:
    """Return the number of rows at the end that are totals or remarks, and notes on them."""
    n, notes = 0, []
    numeric = [_is_numeric([row[j] for row in rows if j < len(row)]) for j in range(width)]
    while n < min(_MAX_FOOTERS, len(rows) - 3):
        row = rows[-1 - n]
        if not any(cell.strip() for cell in row):
            n += 1
        elif _is_remark(row, rows[: -1 - n], width):
            notes.append(Note("", f"a remark below the table is left out: {_first_text(row)[:60]!r}"))
            n += 1
        elif _is_total(row, rows[: -1 - n], numeric):
            notes.append(Note("", f"a row of totals at the end is left out: {_first_text(row)[:60]!r}", is_doubtful=True))
            n += 1
        else:
            break
    return (n, notes) if notes else (0, [])


def modal_width(rows: Sequence[Cells]) -> int:
    """Return the most frequent number of cells of non-empty rows; the larger one of ties."""
    widths = Counter(len(row) for row in rows if any(cell.strip() for cell in row))
    return max(widths, key=lambda width: (widths[width], width)) if widths else 1


def is_header(head: Cells, body: Sequence[Cells]) -> bool:
    """Return whether a row holds the names of the columns below it."""
    below = [[row[j] for row in body[:_SAMPLE_ROWS] if j < len(row) and row[j].strip()] for j in range(len(head))]
    numeric = [_is_numeric(cells) for cells in below]
    over = [is_amount(head[j]) for j in range(len(head)) if numeric[j] and head[j].strip()]
    if len(body) < 2 or not any(cell.strip() for cell in head):
        return True
    if over:
        return not all(over) or _are_counted(head)
    named = [j for j in range(len(head)) if head[j].strip() and len(below[j]) > 2]
    repeated = [j for j in named if head[j] in below[j]]
    return len(named) < 2 or len(repeated) < _MIN_REPEATED * len(named)


def are_units(row: Cells, body: Sequence[Cells]) -> bool:
    """Return whether a row holds the units of the numbers below it."""
    columns = [[other[j] for other in body[:_SAMPLE_ROWS] if j < len(other)] for j in range(len(row))]
    numeric = [j for j, cells in enumerate(columns) if _is_numeric(cells)]
    words = [j for j in numeric if row[j].strip() and not is_amount(row[j]) and not is_missing(row[j])]
    amounts = [j for j in numeric if is_amount(row[j])]
    others = sorted(set(range(len(row))) - set(numeric))
    repeated = [j for j in others if row[j].strip() and row[j] in columns[j]]
    return bool(words) and not amounts and not repeated and 2 * len(words) >= len(numeric) and all(len(c) < 20 for c in row)


def names(cells: Cells, width: int, is_header: bool, keep: Sequence[str] = ()) -> tuple[list[str], list[Note]]:
    """Return unique column names and notes; the first name is empty if the column only numbers the rows."""
    if not is_header:
        return [f"column_{k}" for k in range(1, width + 1)], []
    found, notes = [cell.strip() for cell in cells], []
    start = 0
    if not found[0] and len(found) > 1 and "column_1" not in keep:
        message = left_out("it has no name and is assumed to hold row numbers")
        notes.append(Note("column_1", message, 0, "keep", is_doubtful=True))
        start = 1
    found[start:] = [name or f"column_{k}" for k, name in enumerate(found[start:], start=start + 1)]
    for name in sorted(name for name, count in Counter(found).items() if count > 1):
        positions = [k for k, other in enumerate(found) if other == name]
        for number, k in enumerate(positions[1:], start=2):
            found[k] = _free(f"{name}_{number}", found)
        listed = ", ".join(repr(found[k]) for k in positions[1:])
        numbers = ", ".join(str(k + 1) for k in positions)
        message = f"columns {numbers} are all called {name!r}; the later ones are renamed to {listed}"
        notes.append(Note("", message, is_doubtful=True))
    return found, notes


def may_be_values(names: Sequence[str]) -> bool:
    """Return whether some column names are numbers or dates, as if the first row were not a header."""
    return any(map(is_amount, names))


def is_amount(text: str) -> bool:
    """Return whether a cell is a number, a code of digits, a date or a time."""
    bare = text.strip()
    return len(bare) < 48 and (numeral(bare) is not None or dates.match_date(bare) is not None)


def _find_top(rows: Sequence[Cells], width: int) -> int:
    """Return the first row that can be a header: as wide as the table and not nearly empty."""
    for k, row in enumerate(rows[:-1]):
        filled = sum(bool(cell.strip()) for cell in row)
        if filled < width and _are_names(rows[k + 1], rows[k + 2 :], width):
            continue
        if len(row) == width and (filled > width / 2 if width > 2 else filled == width or not row[0].strip()):
            return k
        if len(row) == width - 1 == filled and width > 2 and k + 1 < len(rows) and len(rows[k + 1]) == width:
            return k
    return 0


def _are_names(row: Cells, body: Sequence[Cells], width: int) -> bool:
    """Return whether a row holds column names, so that an incomplete row above it is a title or names column groups."""
    if len(row) != width or len(set(row)) < width or any(not cell.strip() or is_amount(cell) for cell in row):
        return False
    below = [[other[j] for other in body[:_SAMPLE_ROWS] if j < len(other)] for j in range(width)]
    return any(map(_is_numeric, below)) and not any(map(_UNIT.fullmatch, row))


def _is_ruler(row: Cells) -> bool:
    filled = [cell for cell in row if cell.strip()]
    return bool(filled) and all(map(_RULER.fullmatch, filled))


def _lines_above_note(rows: Sequence[Cells]) -> Note:
    lines = "1 line above the header is" if len(rows) == 1 else f"{len(rows)} lines above the header are"
    text = " ".join(cell for row in rows for cell in row if cell.strip())[:60]
    return Note("", f"{lines} left out: {text!r}", 0, "header", "1")


def _is_numeric(cells: Sequence[str]) -> bool:
    known = [cell for cell in cells[-_SAMPLE_ROWS:] if cell.strip() and not is_missing(cell)]
    return len(known) > 1 and sum(map(is_amount, known)) >= _MIN_NUMERIC * len(known)


def _are_counted(cells: Cells) -> bool:
    """Return whether names are years or consecutive numbers from 0 or 1, as written for unnamed columns."""
    whole = [int(cell) for cell in cells if cell.strip().isdecimal()]
    steps = {b - a for a, b in pairwise(whole)}
    are_numbers = len(whole) == len(cells) > 2 and whole[0] in (0, 1) and steps == {1}
    return are_numbers or (len(whole) > 1 and all(1800 <= year <= 2200 for year in whole) and len(steps) == 1)


def _is_remark(row: Cells, above: Sequence[Cells], width: int) -> bool:
    """Return whether a row is a remark: text in the first cell only, below a table whose rows have more cells."""
    filled = [j for j, cell in enumerate(row) if cell.strip()]
    others = [sum(bool(cell.strip()) for cell in other) for other in above[-20:]]
    is_single_cell = width > 1 and filled == [0] and all(n != 1 for n in others) and any(others)
    has_keyword = 0 < len(row) < width and bool(_REMARK.match(row[0]))
    return has_keyword or (is_single_cell and not is_amount(row[0]) and not _TOTAL.fullmatch(row[0]))


def _is_total(row: Cells, above: Sequence[Cells], numeric: Sequence[bool]) -> bool:
    """Return whether a row is labelled as a total, unlike any row above, and holds numbers in numeric columns."""
    words = [j for j, cell in enumerate(row) if j < len(numeric) and cell.strip() and not is_amount(cell)]
    if not words or not _TOTAL.fullmatch(row[words[0]].strip()):
        return False
    j = words[0]
    is_named_so_above = any(j < len(other) and _TOTAL.fullmatch(other[j].strip()) for other in above)
    return not is_named_so_above and (len(words) == 1 or numeric[j])


def _first_text(row: Cells) -> str:
    return next((cell for cell in row if cell.strip()), "")


def _free(name: str, selected: Sequence[str]) -> str:
    while name in selected:
        name += "_"
    return name
