"""A number that can show how it was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baytree.show.names import number
from baytree.show.terminal import in_columns


class Measure(float):
    """A number that can show how it was found: `print` gives the table, otherwise it is a float like any other.

    Attributes
    ----------
    name : str
        What was measured.
    header : tuple of str
        The names of the table's columns.
    rows : tuple of tuples
        The table of the calculation, the result in the last row.
    """

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, value: float, name: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> Measure:
        """The number with its table."""
        measure = cls(value)
        measure.name, measure.header, measure.rows = name, tuple(header), tuple(map(tuple, rows))
        return measure

    def __str__(self) -> str:
        cells = [list(self.header), *([_shown(cell) for cell in row] for row in self.rows)]
        return "\n".join([f"{self.name} = {float(self):.4f}", *in_columns(cells, "<>")])

    def __repr__(self) -> str:
        return float.__repr__(self)

    def _repr_html_(self) -> str:
        from baytree.show.notebook import table  # only a notebook asks for it

        rows = [[_shown(cell) for cell in row] for row in self.rows]
        return table(f"{self.name} = {float(self):.4f}", self.header, rows)


def _shown(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    return number(float(cell)) if float(cell) == int(cell) else f"{cell:.4f}"
