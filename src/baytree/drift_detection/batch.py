"""Statistics of new rows in the cells of the training profile: counts only, so that two batches add up exactly."""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np

from baytree import _warnings
from baytree.base.predictor import Predictor
from baytree.data.encoding.table import Table, Tokens, Values
from baytree.data.frames.numbers import Codes, Numbers
from baytree.data.frames.raw import Raw, RawFrame
from baytree.data.inference.level_matching import levels_of, matched
from baytree.data.schema.column import Column, Kind
from baytree.drift_detection.stability import count_groups
from baytree.statistics.counts import Counts
from baytree.statistics.profile import EXACT_EXPONENT, Histogram, Profile, observed

MAX_STORED_LEVELS = 100  # new levels of a column that are stored by name, the first in sort order, so that batches add up


class NewLevels(msgspec.Struct, frozen=True):
    """Levels of one column that did not occur in training: the first ones with their counts, and the total count.

    A level that is stored in a sum was among the first of every part that has it, so sums are exact.
    """

    named: tuple[tuple[str, int], ...] = ()
    n_cells: int = 0

    def __add__(self, other: Self) -> Self:
        counted = dict(self.named)
        for name, n in other.named:
            counted[name] = counted.get(name, 0) + n
        return type(self)(tuple(sorted(counted.items())[:MAX_STORED_LEVELS]), self.n_cells + other.n_cells)


class Batch(msgspec.Struct, frozen=True):
    """Statistics of some rows: distribution and new levels of each column, absent columns, rows outside the profile."""

    rows: int
    columns: tuple[Histogram | Counts, ...]
    new: tuple[NewLevels, ...]
    absent: tuple[int, ...]  # rows that came without the column
    unlike: int  # rows with a new level or a number outside the range of training
    groups: tuple[np.ndarray, ...] = ()  # rows by group of the score and of each column; of scorecards

    @classmethod
    def of(cls, predictor: Predictor, frame: RawFrame) -> Self:
        """Count the rows of a frame."""
        profile = profile_of(predictor)
        columns, n = predictor.schema.columns, frame.n_rows
        if not n:
            return cls.none(predictor)
        absent = tuple(n if column.source not in frame.columns else 0 for column in columns)
        raw = {column.source: frame.columns.get(column.source) or _missing_column(n) for column in columns}
        with _warnings.capture():
            table = predictor.encoded(_with_all_columns(predictor, frame, raw))
        new_levels = [_new_levels(raw[column.source], column) for column in columns]
        observed_columns = tuple(_observed(column, values) for column, values in zip(columns, table.values, strict=True))
        is_unlike = np.zeros(n, bool)
        for values, before, (_, is_new) in zip(table.values, profile.columns, new_levels, strict=True):
            is_unlike |= _is_beyond(values, before) | is_new
        groups = count_groups(predictor, table)
        return cls(n, observed_columns, tuple(levels for levels, _ in new_levels), absent, int(is_unlike.sum()), groups)

    @classmethod
    def none(cls, predictor: Predictor) -> Self:
        """Batch without rows."""
        columns = predictor.schema.columns
        empty = tuple(_observed(column, _empty_column(column)) for column in columns)
        groups = count_groups(predictor, Table(predictor.schema, tuple(map(_empty_column, columns)), np.zeros(0)))
        return cls(0, empty, (NewLevels(),) * len(columns), (0,) * len(columns), 0, groups)

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.rows + other.rows,
            tuple(mine + theirs for mine, theirs in zip(self.columns, other.columns, strict=True)),  # type: ignore
            tuple(mine + theirs for mine, theirs in zip(self.new, other.new, strict=True)),
            tuple(mine + theirs for mine, theirs in zip(self.absent, other.absent, strict=True)),
            self.unlike + other.unlike,
            tuple(mine + theirs for mine, theirs in zip(self.groups, other.groups, strict=True)),
        )


def profile_of(predictor: Predictor) -> Profile:
    """Profile of the training rows; raises ValueError if the model has none."""
    if predictor.profile is None:
        raise ValueError(f"this {predictor.name} stores no profile of its training rows; fit it with profile=True")
    return predictor.profile


def _with_all_columns(predictor: Predictor, frame: RawFrame, raw: dict[str, Raw]) -> RawFrame:
    """Frame with all columns that the model knows; a frame without names is read by position, as in `predict`."""
    if not (predictor.schema.is_named and frame.is_named):
        return frame
    return RawFrame(raw, frame.n_rows)


def _missing_column(n: int) -> Numbers:
    return Numbers.of(np.full(n, np.nan))


def _empty_column(column: Column) -> Values:
    if column.kind is Kind.TEXT:
        return Tokens(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0), np.zeros(0, bool))
    return np.zeros(0) if column.kind is Kind.NUMERIC else np.zeros(0, np.int32)


def _observed(column: Column, values: Values) -> Histogram | Counts:
    return observed(column, values, np.zeros(len(values), np.int32), None, 1)


def _new_levels(raw: Raw, column: Column) -> tuple[NewLevels, np.ndarray]:
    """Levels that did not occur in training, and which rows have one: bool [n_rows]."""
    no_rows = np.zeros(len(raw), bool)
    is_part = column.form is not None and bool(column.form.part)
    if column.kind not in (Kind.NOMINAL, Kind.ORDINAL) or is_part or _is_empty(raw):
        return NewLevels(), no_rows
    codes = levels_of(raw if isinstance(raw, Codes) else raw.factorise(), column.form)
    code_of = column.places
    recode = np.array([*(code_of.get(level, -1) for level in codes.levels), -1], np.int32)
    if not (recode[:-1] < 0).any():
        return NewLevels(), no_rows
    new_names = set(matched(codes, recode, column).new)
    new_codes = [k for k, level in enumerate(codes.levels) if level in new_names]
    count = np.bincount(codes.codes[codes.codes >= 0], minlength=len(codes.levels))[new_codes].tolist()
    named = sorted(zip((str(codes.levels[k]) for k in new_codes), count, strict=True))
    return NewLevels(tuple(named[:MAX_STORED_LEVELS]), sum(count)), np.isin(codes.codes, new_codes)


def _is_empty(raw: Raw) -> bool:
    if not isinstance(raw, Numbers):
        return False
    given = raw.matrix.array[:, raw.column]  # not converted to double: codes beyond 2^53 have no exact one
    return given.dtype.kind == "f" and bool(np.isnan(given).all())


def _is_beyond(values: Values, before: Histogram | Counts) -> np.ndarray:
    """Whether a number lies outside all buckets of training: bool [n_rows]."""
    if isinstance(values, Tokens) or not isinstance(before, Histogram):
        return np.zeros(len(values), bool)
    if not len(before.edges):
        return ~np.isnan(values)
    width = 0.0 if before.exponent[0] == EXACT_EXPONENT else float(np.ldexp(1.0, int(before.exponent[0])))
    return (values < before.edges[0]) | (values > before.edges[-1] + width)
