"""String format of a column, stored in its schema, and the parsing of strings by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from baytree.data.parsing import dates
from baytree.data.parsing.numbers import BLANK, convert_unit, numeral, value
from baytree.data.parsing.vocabulary import BOUNDS, MISSING_TOKENS, NO, NUMERIC_MISSING_TOKENS, YES, plain


class StringFormat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the strings of a column are parsed.

    Parameters
    ----------
    kind : {'number', 'date', 'clock', 'truth'}
        Type of value: numbers, dates, times of day, or yes and no in any spelling.
    decimal : {'.', ','}, default='.'
        Decimal mark of ambiguous numbers, such as `1,234`.
    order : {'dmy', 'mdy'}, default='dmy'
        Order of day and month in ambiguous dates.
    part : {'', 'year', 'month', 'weekday'}, default=''
        Part of the date that the column holds instead of the date.
    source : str, default=''
        Column of the date from which the part is taken.
    unit : str, default=''
        Unit to which numbers of a column with several units are converted.

    Examples
    --------
    >>> from baytree.data.parsing.string_format import StringFormat, numbers
    >>> numbers(["1.234,5", "n/a", "12 €"], StringFormat("number", ","))
    array([1234.5,    nan,   12. ])
    """

    kind: Literal["number", "date", "clock", "truth"]
    decimal: str = "."
    order: str = "dmy"
    part: Literal["", "year", "month", "weekday"] = ""
    source: str = ""
    unit: str = ""


def numbers(strings: Sequence[str], form: StringFormat) -> np.ndarray:
    """Parse the strings: float64 [n_strings], NaN for missing tokens and strings that do not parse (see `unparsed`)."""
    if form.kind == "date":
        moments = [dates.parse_date(text.strip(), form.order) for text in strings]
        return np.array([np.nan if found is None else found for found in moments], float)
    if form.kind == "clock":
        clocks = [dates.parse_time(text.strip()) for text in strings]
        return np.array([np.nan if found is None else found for found in clocks], float)
    return np.array([_number(text, form) for text in strings], float)


def unparsed(strings: Sequence[str], read: np.ndarray) -> list[str]:
    """Return the strings that did not parse (NaN in `read`) and are not missing tokens."""
    failed = np.flatnonzero(np.isnan(read)).tolist()
    return [strings[k] for k in failed if not is_missing(strings[k])]


def is_missing(text: str) -> bool:
    """Return whether a string of a numeric or date column is a missing token."""
    word = plain(text)
    return word in MISSING_TOKENS or word in NUMERIC_MISSING_TOKENS


def normalize_booleans(strings: Sequence[str]) -> list[str]:
    """Return the strings with every spelling of yes and no as "yes" and "no"; others unchanged."""
    return ["yes" if plain(text) in YES else "no" if plain(text) in NO else text for text in strings]


def is_missing_token(text: str) -> bool:
    """Return whether a string is a missing token in every column."""
    return len(text) <= 24 and plain(text) in MISSING_TOKENS


def _number(text: str, form: StringFormat) -> float:
    bare = text.strip().strip(BLANK)
    try:
        if "_" not in bare and not (form.decimal == "," and "." in bare):
            return float(bare)
    except ValueError:
        pass
    found = numeral(bare)
    if found is None:
        return np.nan
    size = value(bare, form.decimal)
    if not form.unit or found.unit in ("", form.unit) or found.unit in BOUNDS:
        return size
    in_unit = convert_unit(size, found.unit, form.unit)
    return np.nan if in_unit is None else in_unit
