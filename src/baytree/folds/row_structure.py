"""Groups and times of rows, which folds must respect: read from columns or arrays, and named in messages.

A column that is named as `groups` or `time` is no feature: `read_structure` names the columns that must be left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Self

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from baytree import _warnings, param_validation
from baytree._warnings import did_you_mean
from baytree.data.encoding import encode
from baytree.data.encoding.sample import schema_of
from baytree.data.frames import read_column
from baytree.data.frames.numbers import Codes
from baytree.data.frames.raw import Raw, RawFrame
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema

GroupsLike = ArrayLike | str | None  # name of a column, or the group of each row

TimeLike = ArrayLike | str | None  # name of a column, or the time of each row

GapLike = float | timedelta | None  # days for dates, else the unit of the column


class RowStructure(msgspec.Struct, frozen=True):
    """Group and time of each row; None if the rows are independent in that respect."""

    groups: np.ndarray | None = None  # int64 [n_rows], codes
    time: np.ndarray | None = None  # float64 [n_rows]; dates in days or microseconds
    group_name: str = ""  # name of the column; "" for an array
    time_name: str = ""
    unit: str | None = None  # unit of the time column: "D", "us" or None
    gap: float = 0.0  # time between training and test rows: days, or the unit of the column
    test_size: float | None = None  # rows of each test block: a number, or a proportion

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that hold the groups and times, which are no features."""
        return tuple(dict.fromkeys(name for name in (self.group_name, self.time_name) if name))

    @property
    def ticks(self) -> float:
        """Units of the time column in one unit of the gap, which is a day for dates."""
        return 86_400e6 if self.unit == "us" else 1.0

    def without_columns(self, declared: Any) -> Any:
        """Declarations (a mapping or a schema) without those of the columns that are no features."""
        if not isinstance(declared, Mapping) or isinstance(declared, Schema):
            return declared
        return {name: kind for name, kind in declared.items() if name not in self.columns} or None

    def take(self, rows: np.ndarray) -> Self:
        """Structure of these rows (indices or a mask)."""
        if self is NO_STRUCTURE:
            return self
        groups, time = (None if each is None else each[rows] for each in (self.groups, self.time))
        return msgspec.structs.replace(self, groups=groups, time=time)

    def part(self, rows: np.ndarray) -> Self:
        """Structure of the training rows of a fold: they may span less than the gap, which is then left out."""
        own = self.take(rows)
        if own.time is None or not own.gap or np.ptp(own.time) > 2 * own.gap * own.ticks:
            return own
        return msgspec.structs.replace(own, gap=0.0)


NO_STRUCTURE = RowStructure()


def read_structure(
    frame: RawFrame,
    groups: GroupsLike = None,
    time: TimeLike = None,
    gap: GapLike = None,
    test_size: float | None = None,
    declared: object = None,
) -> RowStructure:
    """Groups and times of the rows of a frame; `declared` are the kinds of columns that the user declares.

    Raises ValueError for an unknown column, groups of another length, missing groups and times, and a gap without times.
    """
    group_name = groups if isinstance(groups, str) else ""
    codes = None if groups is None else _group_codes(frame, groups)
    if time is None:
        if gap is not None or test_size is not None:
            raise ValueError("gap= and test_size= need time=, the column that orders the rows")
        return NO_STRUCTURE if groups is None else RowStructure(codes, None, group_name)
    values, unit = _times(frame, time, declared)
    name = time if isinstance(time, str) else ""
    return RowStructure(codes, values, group_name, name, unit, _gap(gap, unit), _test_size(test_size))


def _gap(gap: GapLike, unit: str | None) -> float:
    """Gap in days for dates, else in the unit of the column."""
    if gap is None:
        return 0.0
    if isinstance(gap, np.timedelta64):
        gap = gap.astype("timedelta64[us]").item()
    if isinstance(gap, timedelta):
        if unit is None:
            raise ValueError(f"gap={gap!r} is a duration, but the time column holds numbers; give a number")
        return gap / timedelta(days=1)
    value = param_validation.number("gap", gap, 0)
    if not np.isfinite(value):
        raise ValueError(f"gap={gap!r}: give a finite number, of days if the times are dates")
    return float(value)


def _test_size(test_size: float | None) -> float | None:
    return None if test_size is None else param_validation.positive("test_size", test_size)


def _column(frame: RawFrame, name: str, parameter: str) -> Raw:
    if not frame.is_named:
        raise ValueError(f"{parameter}={name!r}: the columns have no names; give a frame or a dict of columns")
    if name not in frame.columns:
        raise ValueError(f"{parameter}={name!r}: {did_you_mean('column', name, list(frame.columns))}")
    return frame.columns[name]


def _group_codes(frame: RawFrame, groups: ArrayLike | str) -> np.ndarray:
    """Code of the group of each row: int64 [n_rows]."""
    is_named = isinstance(groups, str)
    raw = _column(frame, groups, "groups") if isinstance(groups, str) else read_column(groups, "groups")
    codes = raw if isinstance(raw, Codes) else raw.factorise()
    if len(codes.codes) != frame.n_rows:
        raise ValueError(
            f"groups has {len(codes.codes):,} values for {frame.n_rows:,} rows; give one per row, or the name of a column"
        )
    missing = codes.codes < 0
    if missing.any():
        what = f"column {groups!r} of groups" if is_named else "groups"
        raise ValueError(
            f"{what} has no value in {int(missing.sum()):,} rows, the first is row {int(np.argmax(missing))}; "
            "leave these rows out, or give each a group of its own"
        )
    return np.unique(codes.codes, return_inverse=True)[1].astype(np.int64)


def _times(frame: RawFrame, time: ArrayLike | str, declared: object) -> tuple[np.ndarray, str | None]:
    """Time of each row (float64 [n_rows]) and the unit of the column."""
    name = time if isinstance(time, str) else "time"
    raw = _column(frame, time, "time") if isinstance(time, str) else read_column(time, name)
    if len(raw) != frame.n_rows:
        raise ValueError(
            f"time has {len(raw):,} values for {frame.n_rows:,} rows; give one per row, or the name of a column"
        )
    alone = RawFrame({name: raw}, frame.n_rows)
    kind = declared.get(name, "keep") if isinstance(declared, Mapping) else "keep"
    with _warnings.capture():  # the column is no feature, so notes on training are no news
        schema, values = encode.fit_encode(alone, schema_of(alone, {name: kind}))
    column = schema.columns[0] if schema.columns else None
    if column is None or column.kind not in (Kind.NUMERIC, Kind.ORDINAL):
        raise ValueError(f"time={name!r} holds no dates or numbers; declare schema={{{name!r}: 'date'}} if they are dates")
    times = values[0] if column.kind is Kind.NUMERIC else np.where(values[0] < 0, np.nan, values[0].astype(np.float64))
    missing = np.isnan(times)
    if missing.any():
        raise ValueError(
            f"time column {name!r} has no value in {int(missing.sum()):,} of {len(times):,} rows, the first is row "
            f"{int(np.argmax(missing))}; leave these rows out, or fill in their times"
        )
    return np.ascontiguousarray(times, np.float64), column.unit if column.unit in ("D", "us") else None
