"""How a column of a text file is read: the narrowest type that holds its values, widened as later ones ask.

The order of widening is whole number, number, text. Dates (ISO 8601) are dates as long as every value is one.
Digits with a leading zero (`01234`) are a code, not a number: text. True and false stay the words they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from baytree import _core
from baytree.table.frames.polars import string_views

if TYPE_CHECKING:
    import polars as pl

MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")
"""What stands for a missing value in text files and spreadsheets, in every column, quoted or not."""


@dataclass(frozen=True)
class Reading:
    """How one column is read."""

    name: str
    kind: str = "whole number"  # or number, date, date and time, text
    by_text: bool = False  # parsed as text, then trimmed and converted
    is_fixed: bool = False  # asked for, so never widened
    is_free: bool = False  # text in which words for no value stay: what they mean is decided with the whole column

    @property
    def parsed(self) -> pl.DataType | type[pl.DataType]:
        """The type in which the parser itself delivers the column."""
        import polars as pl

        direct = {"whole number": pl.Int64, "number": pl.Float64}
        return pl.String if self.by_text else direct.get(self.kind, pl.String)


def infer(values: pl.Series) -> Reading:
    """The narrowest reading of a sample of text."""
    trimmed = trim(values)
    is_padded = not values.equals(trimmed, null_equal=True)
    kind = _kind_of(trimmed.drop_nulls())
    return Reading(values.name, kind, by_text=kind != "text" and (is_padded or kind.startswith("date")))


def widened(reading: Reading, values: pl.Series) -> Reading:
    """The reading that also holds these values (text); the same one where it already does."""
    found = infer(values)
    if trim(values).null_count() == len(values):
        return reading
    kind = _join(reading.kind, found.kind)
    return replace(reading, kind=kind, by_text=kind != "text" and (reading.by_text or found.by_text))


def first_misfit(reading: Reading, values: pl.Series) -> int:
    """The position of the first value that the reading cannot hold; the first value where it can hold all."""
    trimmed = trim(values)
    lost = trimmed.is_not_null() & convert(reading, trimmed).is_null()
    return lost.arg_max() or 0


def trim(values: pl.Series) -> pl.Series:
    """The values without blanks around them; what then stands for a missing value is missing."""
    trimmed = values.str.strip_chars(" \t")
    return trimmed.set(trimmed.is_in(MISSING).fill_null(False), None)


def stripped(values: pl.Series) -> pl.Series:
    """The values without blanks around them; the empty one is missing."""
    if not _core.has_margins(string_views(values)):  # as a rule; to make all strings anew takes ten times as long
        return values
    bare = values.str.strip_chars(" \t")
    return bare.set((bare == "").fill_null(False), None)


def convert(reading: Reading, trimmed: pl.Series) -> pl.Series:
    """Text converted to the reading's type; missing where it cannot be."""
    import polars as pl

    match reading.kind:
        case "whole number":
            return trimmed.cast(pl.Int64, strict=False)
        case "number":
            return trimmed.cast(pl.Float64, strict=False)
        case "date":
            return trimmed.str.to_date("%Y-%m-%d", strict=False)
        case "date and time":
            return trimmed.str.replace("T", " ", literal=True).str.to_datetime(
                "%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit="us"
            )
    return trimmed


_CODE = r"^[+-]?0[0-9]"  # a leading zero
_TOO_LONG = r"^[+-]?[0-9]{17,}$"  # as a float it would lose digits: it names something
_KINDS = ("whole number", "number", "date", "date and time")


def _kind_of(present: pl.Series) -> str:
    if present.str.contains(_CODE).any():
        return "text"
    for kind in _KINDS:
        if convert(Reading(present.name, kind), present).null_count() == 0:
            return "text" if kind.endswith("number") and present.str.contains(_TOO_LONG).any() else kind
    return "text"


def _join(a: str, b: str) -> str:
    numbers = {"whole number", "number"}
    if a == b:
        return a
    return "number" if {a, b} == numbers else "text"
