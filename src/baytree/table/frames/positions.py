"""Columns that have no names and go by their position: x0, x1, … of numbers, made once for all arrays of one width."""

from __future__ import annotations

from functools import lru_cache

from baytree.table.column import Column, Kind
from baytree.table.frames.numbers import position_names


@lru_cache(maxsize=8)
def number_columns(n_columns: int) -> tuple[Column, ...]:
    """The columns of an array of numbers."""
    return tuple([Column(name, Kind.NUMERIC) for name in position_names(n_columns)])


def are_number_columns(columns: tuple[Column, ...]) -> bool:
    """Whether these are the columns of an array of numbers."""
    return len(columns) > 0 and columns[0].name == "x0" and columns == number_columns(len(columns))
