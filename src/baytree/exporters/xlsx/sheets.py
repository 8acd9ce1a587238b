"""Sheets of a workbook before they are written: tables of the model, and columns of formulas.

Formulas hold no name and no level, only references, so text from a table is never read as a formula. `ROW` stands for the
number of the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

ROW = "§"

MODEL, CALCULATION = "Model", "Calculation"

MAX_LENGTH = 4_000  # characters of a formula; Excel allows 8,192

_MAX_COLUMNS = 16_000  # of the calculation; Excel allows 16,384

_FIRST_TABLE_ROW = 3

Cell = float | str


def letters(column: int) -> str:
    """Name of a column, from 0.

    >>> letters(0), letters(26), letters(701)
    ('A', 'AA', 'ZZ')
    """
    found = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        found = chr(65 + rest) + found
    return found


class ModelTable(NamedTuple):
    """Table of the model: its title, the names of its columns, and its rows; `first` is the row of the first one, from 1."""

    title: str
    header: tuple[str, ...]
    columns: tuple[tuple[Cell, ...], ...]
    first: int


class ModelSheet:
    """Tables of the model, one below the other; equal tables are stored once."""

    def __init__(self) -> None:
        self.tables: list[ModelTable] = []
        self._next = _FIRST_TABLE_ROW
        self._known: dict[tuple, list[str]] = {}

    def add(self, title: str, header: Sequence[str], columns: Sequence[Sequence[Cell]]) -> list[str]:
        """Ranges of the columns of a table."""
        stored = tuple(map(tuple, columns))
        key = (title, tuple(header), stored)
        if key not in self._known:
            n_rows = len(stored[0])
            first = self._next + 2
            self.tables.append(ModelTable(title, tuple(header), stored, first))
            self._next = first + n_rows + 1
            last = first + n_rows - 1
            names = [letters(k) for k in range(len(stored))]
            self._known[key] = [f"{MODEL}!${name}${first}:${name}${last}" for name in names]
        return self._known[key]


class Calculation:
    """Columns of formulas, each computed from the input cells and from columns before it."""

    def __init__(self) -> None:
        self.columns: list[tuple[str, str]] = []  # name and formula
        self._known: dict[str, str] = {}

    def store(self, formula: str, name: str = "") -> str:
        """Reference to a cell that holds a value."""
        if formula not in self._known:
            self._known[formula] = self._append(formula, name)
        return self._known[formula]

    def store_all(self, formulas: Sequence[str], name: str = "") -> list[str]:
        """References to cells next to each other."""
        return [self._append(each, name) for each in formulas]

    def _append(self, formula: str, name: str) -> str:
        if len(formula) > 2 * MAX_LENGTH:
            raise ValueError("a formula is longer than a cell of Excel allows; export to Python or SQL")
        if len(self.columns) >= _MAX_COLUMNS:
            raise ValueError(
                f"the model needs more than {_MAX_COLUMNS:,} columns of formulas, which a sheet does not have; export to "
                "Python or SQL"
            )
        self.columns.append((name, formula))
        return f"{letters(len(self.columns) - 1)}{ROW}"

    def short(self, formula: str) -> str:
        """The formula itself, or a reference if it is long."""
        return formula if len(formula) <= MAX_LENGTH // 8 else self.store(formula)


def number(value: float) -> str:
    """Number in a formula; one that Excel cannot hold is replaced by the nearest.

    >>> number(-0.5), number(float("-inf"))
    ('(-0.5)', '(-1E+305)')
    """
    value = max(min(float(value), 1e305), -1e305)
    text = str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value).upper()
    return f"({text})" if value < 0 else text
