"""Encode one raw column as its schema says: float64 in its unit, int32 level codes, or a bag of words.

Strings of a numeric column are parsed with the string format of the schema; if it has none, the format is inferred from
the strings at hand. Values that do not parse and unknown levels become missing with a warning, or raise an error.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import numpy as np

from baytree import _warnings
from baytree.data.encoding.table import Values
from baytree.data.frames.numbers import Codes, Numbers
from baytree.data.frames.raw import MAX_FEW_ROWS, Raw, Strings
from baytree.data.inference.level_matching import LevelMatch, levels_of, matched
from baytree.data.parsing.string_format import StringFormat, numbers, unparsed
from baytree.data.schema.column import Column, Kind, Text


def encode_column(raw: Raw, column: Column, unseen: str, buffers: dict[str, np.ndarray]) -> Values:
    """Return the values of a raw column: float64 [n_rows], int32 [n_rows] (written to `buffers`), or `Tokens`."""
    if column.kind is Kind.NUMERIC:
        return _numbers(raw, column, unseen)
    if column.kind is Kind.TEXT:
        from baytree.data.encoding import bag_of_words as text  # imported here: few tables have text

        return text.encode(documents(raw, column), column.text or Text(), column.levels)
    return _codes(raw, column, unseen, buffers[column.name])


def _numbers(raw: Raw, column: Column, unseen: str) -> np.ndarray:
    if column.form is not None and column.form.part:
        return part(_numbers(raw, whole_date(column), unseen), column.form.part)
    if isinstance(raw, Numbers):
        if raw.unit is None and column.form is not None and column.form.kind == "date":
            return dates(raw.values, column)
        return raw.values if raw.unit == column.unit else _in_unit(raw, column)
    if isinstance(raw, Codes) and all(isinstance(level, (bool, int, float)) for level in raw.levels):
        return np.array([*map(float, raw.levels), np.nan])[raw.codes]
    codes = raw.factorise() if isinstance(raw, Strings) else raw
    read = parse_levels(codes, column)
    _warn_unparsed(read, column, unseen)
    return np.array([*read.values, np.nan])[codes.codes]


def _warn_unparsed(read: ParsedLevels, column: Column, unseen: str) -> None:
    """Warn about values that do not parse and become missing; raise a ValueError with `unseen="error"`."""
    if not read.n_misfits:
        return
    what = "a time of day" if column.unit == "clock" else "a date" if column.unit else "a number"
    if unseen == "error":
        raise ValueError(
            f"column {column.name!r} is numeric, but {read.misfit[:60]!r} is not {what}; "
            "correct the value, or train with the column declared nominal"
        )
    cells = "1 cell" if read.n_misfits == 1 else f"{read.n_misfits:,} cells"
    _warnings.warn(f"column {column.name!r}: {read.misfit[:60]!r} is not {what} and is treated as missing ({cells})")


_SECONDS = {"D": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}


def _in_unit(raw: Numbers, column: Column) -> np.ndarray:
    if raw.unit is None or column.unit is None or (raw.unit == "clock") != (column.unit == "clock"):
        was, now = ("a date", "a number") if column.unit else ("a number", "a date")
        if np.isnan(raw.values).all():
            return raw.values
        raise ValueError(f"column {column.name!r} was {was} in training and is {now} now")
    return raw.values * (_SECONDS[raw.unit] / _SECONDS[column.unit])


def documents(raw: Raw, column: Column) -> Any:
    """Return the documents of a text column (strings and None); raise a ValueError for numbers or non-string levels."""
    if isinstance(raw, Strings):
        return raw.documents()
    if isinstance(raw, Codes) and all(isinstance(level, str) for level in raw.levels):
        names = [*raw.levels, None]
        return [names[code] for code in raw.codes.tolist()]
    if isinstance(raw, Numbers) and np.isnan(raw.values).all():
        return [None] * len(raw.values)
    raise ValueError(f"column {column.name!r} is text, but numbers or categories were given; give strings")


def _codes(raw: Raw, column: Column, unseen: str, result: np.ndarray) -> np.ndarray:
    if column.form is not None and column.form.part:
        days = _numbers(raw, whole_date(column), unseen)
        result[:] = np.where(np.isnan(days), -1, part(np.nan_to_num(days), column.form.part))
        return result
    if isinstance(raw, Strings) and len(raw) <= MAX_FEW_ROWS and column.form is None and _are_known(raw, column, result):
        return result
    codes = levels_of(raw if isinstance(raw, Codes) else raw.factorise(), column.form)
    if codes.levels == column.levels and _same_types(codes.levels, column.levels):
        return _as_int32(codes.codes, result)
    code_of = column.places
    recode = np.array([*(code_of.get(level, -1) for level in codes.levels), -1], np.int32)
    if (recode[:-1] < 0).any():
        _warn_unknown_levels(match := matched(codes, recode, column), column, unseen)
        recode = match.recode
    np.take(recode, codes.codes, out=result, mode="wrap")  # code −1 (missing) wraps to the last entry
    return result


def _are_known(raw: Strings, column: Column, result: np.ndarray) -> bool:
    """Write the codes of a few strings to `result`; return False if one is neither missing nor a level as written."""
    codes = [-1 if document is None else column.places.get(document) for document in raw.documents()]
    if None in codes:
        return False
    result[:] = codes
    return True


def _as_int32(codes: np.ndarray, result: np.ndarray) -> np.ndarray:
    if codes.dtype == np.int32 and codes.flags.c_contiguous:
        return codes
    result[:] = codes
    return result


def _same_types(left: tuple, right: tuple) -> bool:
    return all(isinstance(a, str) == isinstance(b, str) for a, b in zip(left, right, strict=True))


def _warn_unknown_levels(found: LevelMatch, column: Column, unseen: str) -> None:
    """Warn about levels spelled differently or new; raise a ValueError for another type or with `unseen="error"`."""
    if not found.is_any_known:
        _refuse_other_type(found.new, column)
    if found.new and unseen == "error":
        raise ValueError(f"column {column.name!r}: level {found.new[0]!r} was not seen in training; use unseen='missing'")
    for written, level in found.respelled[:3]:
        _warnings.warn(f"column {column.name!r}: {written!r} is read as {level!r}, its spelling in training")
    if found.new:
        listed = ", ".join(map(repr, found.new[:3])) + (" …" if len(found.new) > 3 else "")
        cells = "1 cell" if found.n_new == 1 else f"{found.n_new:,} cells"
        _warnings.warn(f"column {column.name!r}: {listed} was not seen in training and is treated as missing ({cells})")


def _refuse_other_type(new: tuple, column: Column) -> None:
    were_text = [isinstance(level, str) for level in column.levels]
    if not new or not were_text:
        return
    if all(were_text) and not any(isinstance(level, str) for level in new):
        raise ValueError(
            f"column {column.name!r} held strings in training, but {new[0]!r} is not a string; convert it to strings"
        )
    if not any(were_text) and all(isinstance(level, str) for level in new):
        raise ValueError(
            f"column {column.name!r} held numbers in training, but {new[0]!r} is a string; convert it to numbers"
        )


class ParsedLevels(NamedTuple):
    """Number of each level, and the levels that do not parse."""

    values: np.ndarray  # float64 [n_levels]
    misfit: str
    n_misfits: int


def parse_levels(codes: Codes, column: Column) -> ParsedLevels:
    """Parse the levels of a numeric column as numbers in its unit."""
    levels = [str(level) for level in codes.levels]
    count = np.bincount(codes.codes[codes.codes >= 0], minlength=len(levels))
    values = numbers(levels, _form(levels, count, column))
    failed = unparsed(levels, values)
    failed_set = frozenset(failed)
    n_failed = int(sum(count[k] for k, text in enumerate(levels) if text in failed_set)) if failed else 0
    return ParsedLevels(values / _per_unit(column), failed[0] if failed else "", n_failed)


def number(text: str, column: Column) -> float:
    """Parse one string as a number in the unit of the column; NaN if it is none."""
    return float(numbers([text], _form([text], np.ones(1, int), column))[0] / _per_unit(column))


def dates(values: np.ndarray, column: Column) -> np.ndarray:
    """Convert whole numbers that encode dates (20240131, seconds since 1970) to the unit of the column; NaN if invalid."""
    distinct, inverse = np.unique(values, return_inverse=True)
    texts = [f"{value:.0f}" if np.isfinite(value) and value >= 0 else "" for value in distinct.tolist()]
    return (numbers(texts, column.form or StringFormat("date")) / _per_unit(column))[inverse]


def part(days: np.ndarray, which: str) -> np.ndarray:
    """Return the year, the month or the weekday (Monday is 0) of days since 1970: float64, or int64 for weekdays."""
    dates = np.where(np.isnan(days), 0, np.floor(days)).astype("datetime64[D]")
    if which == "weekday":
        return (dates.astype(np.int64) + 3) % 7
    months = dates.astype("datetime64[M]").astype(np.int64)
    numbers = months // 12 + 1970 if which == "year" else months % 12 + 1
    return np.where(np.isnan(days), np.nan, numbers)


def whole_date(column: Column) -> Column:
    """Return the date column, in days, from which a date part is taken."""
    form = msgspec.structs.replace(column.form or StringFormat("date"), part="", source="")
    return Column(column.source, Kind.NUMERIC, unit="D", form=form)


def _form(levels: list[str], count: np.ndarray, column: Column) -> StringFormat:
    """Return the string format of the column; infer it if the column has none, or the date order if the strings fix it."""
    kind = "clock" if column.unit == "clock" else "date" if column.unit else "number"
    form = column.form or StringFormat(kind)
    if column.form is not None and kind != "date":
        return form
    from baytree.data.inference.decide import decide_format  # imported here: plain numbers do not need it
    from baytree.data.inference.evidence import StringEvidence, TableConventions

    evidence = StringEvidence.of(levels, count.tolist())
    inferred = decide_format(column.name, evidence, len(levels), TableConventions.of([evidence])).form
    if column.form is None:
        return inferred if inferred is not None and inferred.kind == kind else form
    return msgspec.structs.replace(form, order=next(iter(evidence.orders))) if len(evidence.orders) == 1 else form


def _per_unit(column: Column) -> float:
    return {"D": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000}.get(column.unit or "", 1)
