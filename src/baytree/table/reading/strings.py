"""Strings of a column as numbers, by the form that its schema has, or where it has none by what they look like."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import numpy as np

from baytree.table.frames import Codes
from baytree.table.reading.forms import Form, misfits, numbers
from baytree.table.schema import Column, Kind


class Read(NamedTuple):
    """The number of each level, and the cells that are none."""

    values: np.ndarray  # [n_levels]
    misfit: str
    n_misfits: int


def read(codes: Codes, column: Column) -> Read:
    """The levels of a numeric column as numbers in its unit."""
    levels = [str(level) for level in codes.levels]
    count = np.bincount(codes.codes[codes.codes >= 0], minlength=len(levels))
    values = numbers(levels, _form(levels, count, column))
    lost = misfits(levels, values)
    gone = frozenset(lost)
    n_lost = int(sum(count[k] for k, text in enumerate(levels) if text in gone)) if lost else 0
    return Read(values / _per_unit(column), lost[0] if lost else "", n_lost)


def number(text: str, column: Column) -> float:
    """One string as a number in the unit of the column; NaN where it is none."""
    return float(numbers([text], _form([text], np.ones(1, int), column))[0] / _per_unit(column))


def dates(values: np.ndarray, column: Column) -> np.ndarray:
    """Whole numbers that are dates (20240131, seconds since 1970) in the unit of the column; NaN where they are none."""
    distinct, place = np.unique(values, return_inverse=True)
    texts = [f"{value:.0f}" if np.isfinite(value) and value >= 0 else "" for value in distinct.tolist()]
    return (numbers(texts, column.form or Form("date")) / _per_unit(column))[place]


def part(days: np.ndarray, which: str) -> np.ndarray:
    """The year, the month, or the day of the week (Monday is 0) of days since 1970."""
    dates = np.where(np.isnan(days), 0, np.floor(days)).astype("datetime64[D]")
    if which == "weekday":
        return (dates.astype(np.int64) + 3) % 7
    months = dates.astype("datetime64[M]").astype(np.int64)
    numbers = months // 12 + 1970 if which == "year" else months % 12 + 1
    return np.where(np.isnan(days), np.nan, numbers)


def whole_date(column: Column) -> Column:
    """The date that a part is taken from, in days."""
    form = msgspec.structs.replace(column.form or Form("date"), part="", source="")
    return Column(column.source, Kind.NUMERIC, unit="D", form=form)


def _form(levels: list[str], count: np.ndarray, column: Column) -> Form:
    """The column's own form; where the strings say otherwise, or it has none, the one that they ask for."""
    kind = "clock" if column.unit == "clock" else "date" if column.unit else "number"
    form = column.form or Form(kind)
    if column.form is not None and kind != "date":
        return form
    from baytree.table.reading.decide import decide  # numbers as they come need no evidence of what they are
    from baytree.table.reading.decision import Habits
    from baytree.table.reading.evidence import Evidence

    seen = Evidence.of(levels, count.tolist())
    asked = decide(column.name, seen, len(levels), Habits.of([seen])).form
    if column.form is None:
        return asked if asked is not None and asked.kind == kind else form
    return msgspec.structs.replace(form, order=next(iter(seen.orders))) if len(seen.orders) == 1 else form


def _per_unit(column: Column) -> float:
    return {"D": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000}.get(column.unit or "", 1)
