"""Adapter for polars columns."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from baytree import _core
from baytree.data.frames.arrays import array_column
from baytree.data.frames.numbers import SECRET, Codes, Numbers, booleans, whole_dates, whole_spans, with_missing
from baytree.data.frames.objects import object_column
from baytree.data.frames.raw import Raw, Strings

if TYPE_CHECKING:
    import polars as pl


def polars_column(series: pl.Series, name: str) -> Raw:
    """Return the raw column of a polars Series; raise a TypeError for nested and binary types."""
    import polars as pl

    dtype = series.dtype
    if dtype == pl.Float64:
        return array_column(series.to_numpy(), name)
    kind = str(dtype).split("(")[0]
    if isinstance(dtype, pl.Enum):
        return Codes(series.to_physical().cast(int).fill_null(-1).to_numpy(), tuple(dtype.categories), False, True)
    if kind in ("Categorical", "String", "Utf8"):
        return _polars_strings(series)
    if kind == "Boolean":
        return booleans(series.cast(int).fill_null(-1).to_numpy())
    if kind == "Time":
        return Numbers.of(series.cast(int).cast(float).to_numpy() / 1e9, unit="clock")
    if isinstance(dtype, (pl.Date, pl.Datetime, pl.Duration)):
        return _polars_dates(series, "D" if isinstance(dtype, pl.Date) else dtype.time_unit)
    if kind == "Null":
        return Numbers.of(np.full(len(series), np.nan))
    if kind in ("List", "Array", "Struct", "Object", "Binary"):
        raise TypeError(f"column {name!r} holds {kind} values; give numbers, strings, dates or booleans")
    if kind in ("Int128", "UInt128"):  # NumPy has no 128-bit integers
        return object_column(series.to_list(), name)
    is_whole = kind.startswith(("Int", "UInt"))
    if is_whole and series.null_count():
        return with_missing(series.fill_null(0).to_numpy(), series.is_null().to_numpy(), name)
    return array_column(series.to_numpy() if is_whole else series.cast(float).to_numpy(), name)


def _polars_strings(series: pl.Series) -> Strings:
    def factorise() -> Codes:
        import polars as pl

        text = series if series.dtype == pl.String else series.cast(pl.String)
        return Codes(*_core.string_codes(string_views(text), SECRET))

    return Strings(len(series), cache(factorise), series.to_list, str(series.dtype).startswith("Categorical"))


def string_views(text: pl.Series) -> object:
    """Return the strings as an Arrow stream without the column name: polars aborts the process for a name with a NUL."""
    return text.alias("").__arrow_c_stream__()


def _polars_dates(series: pl.Series, unit: str) -> Numbers:
    physical = series.to_physical().cast(int)
    read = whole_spans if str(series.dtype).startswith("Duration") else whole_dates
    if not series.null_count():
        return read(physical.to_numpy(), np.zeros(len(series), bool), unit)
    return read(physical.fill_null(0).to_numpy(), series.is_null().to_numpy(), unit)
