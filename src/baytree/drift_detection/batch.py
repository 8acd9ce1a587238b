"""What new rows look like beside the profile of training: counts only, so that those of two batches add up exactly."""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np

from baytree import _warnings
from baytree.base.predictor import Predictor
from baytree.data.encoding.table import Tokens, Values
from baytree.data.frames.numbers import Codes, Numbers
from baytree.data.frames.raw import Raw, RawFrame
from baytree.data.inference.level_matching import levels_of, matched
from baytree.data.schema.column import Column, Kind
from baytree.statistics.counts import Counts
from baytree.statistics.profile import EXACT, Histogram, Profile, observed

MOST_NEW = 100  # new levels of a column that are kept by name: the first ones in their order


class NewLevels(msgspec.Struct, frozen=True):
    """Levels of one column that training did not have: the first by name with their cells, and the cells of all of them.

    A level that is kept in a sum was among the first of every part that has it, so sums are exact.
    """

    named: tuple[tuple[str, int], ...] = ()
    n_cells: int = 0

    def __add__(self, other: Self) -> Self:
        counted = dict(self.named)
        for name, n in other.named:
            counted[name] = counted.get(name, 0) + n
        return type(self)(tuple(sorted(counted.items())[:MOST_NEW]), self.n_cells + other.n_cells)


class Batch(msgspec.Struct, frozen=True):
    """Of some rows: the numbers or levels of each column, the new ones, rows without the column, rows unlike any before."""

    rows: int
    columns: tuple[Histogram | Counts, ...]
    new: tuple[NewLevels, ...]
    absent: tuple[int, ...]  # rows that came without the column
    unlike: int  # rows with a value beyond all that training had

    @classmethod
    def of(cls, predictor: Predictor, frame: RawFrame) -> Self:
        """What these rows look like."""
        profile = profile_of(predictor)
        columns, n = predictor.schema.columns, frame.n_rows
        if not n:
            return cls.none(predictor)
        absent = tuple(n if column.source not in frame.columns else 0 for column in columns)
        raw = {column.source: frame.columns.get(column.source) or _nothing(n) for column in columns}
        with _warnings.capture():
            table = predictor.encoded(_given(predictor, frame, raw))
        told = [_new_levels(raw[column.source], column) for column in columns]
        seen = tuple(_observed(column, values) for column, values in zip(columns, table.values, strict=True))
        strange = np.zeros(n, bool)
        for values, before, (_, is_new) in zip(table.values, profile.columns, told, strict=True):
            strange |= _is_beyond(values, before) | is_new
        return cls(n, seen, tuple(levels for levels, _ in told), absent, int(strange.sum()))

    @classmethod
    def none(cls, predictor: Predictor) -> Self:
        """What no row looks like."""
        columns = predictor.schema.columns
        empty = tuple(_observed(column, _no_values(column)) for column in columns)
        return cls(0, empty, (NewLevels(),) * len(columns), (0,) * len(columns), 0)

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.rows + other.rows,
            tuple(mine + theirs for mine, theirs in zip(self.columns, other.columns, strict=True)),  # type: ignore
            tuple(mine + theirs for mine, theirs in zip(self.new, other.new, strict=True)),
            tuple(mine + theirs for mine, theirs in zip(self.absent, other.absent, strict=True)),
            self.unlike + other.unlike,
        )


def profile_of(predictor: Predictor) -> Profile:
    """The profile of the rows that a model has learnt from."""
    if predictor.profile is None:
        raise ValueError(f"this {predictor.name} keeps no profile of the rows that it has learnt from; fit it with one")
    return predictor.profile


def _given(predictor: Predictor, frame: RawFrame, raw: dict[str, Raw]) -> RawFrame:
    """The rows with all columns that the model knows; rows without names go by position, as in `predict`."""
    if not (predictor.schema.is_named and frame.is_named):
        return frame
    return RawFrame(raw, frame.n_rows)


def _nothing(n: int) -> Numbers:
    return Numbers.of(np.full(n, np.nan))


def _no_values(column: Column) -> Values:
    if column.kind is Kind.TEXT:
        return Tokens(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0), np.zeros(0, bool))
    return np.zeros(0) if column.kind is Kind.NUMERIC else np.zeros(0, np.int32)


def _observed(column: Column, values: Values) -> Histogram | Counts:
    return observed(column, values, np.zeros(len(values), np.int32), None, 1)


def _new_levels(raw: Raw, column: Column) -> tuple[NewLevels, np.ndarray]:
    """The levels that training did not have, and which rows have one: bool [n_rows]."""
    nobody = np.zeros(len(raw), bool)
    is_part = column.form is not None and bool(column.form.part)
    if column.kind not in (Kind.NOMINAL, Kind.ORDINAL) or is_part or _is_empty(raw):
        return NewLevels(), nobody
    codes = levels_of(raw if isinstance(raw, Codes) else raw.factorise(), column.form)
    place = column.places
    recode = np.array([*(place.get(level, -1) for level in codes.levels), -1], np.int32)
    if not (recode[:-1] < 0).any():
        return NewLevels(), nobody
    new = set(matched(codes, recode, column).new)
    which = [k for k, level in enumerate(codes.levels) if level in new]
    count = np.bincount(codes.codes[codes.codes >= 0], minlength=len(codes.levels))[which].tolist()
    named = sorted(zip((str(codes.levels[k]) for k in which), count, strict=True))
    return NewLevels(tuple(named[:MOST_NEW]), sum(count)), np.isin(codes.codes, which)


def _is_empty(raw: Raw) -> bool:
    if not isinstance(raw, Numbers):
        return False
    given = raw.matrix.array[:, raw.column]  # not as doubles: codes beyond 2^53 have none
    return given.dtype.kind == "f" and bool(np.isnan(given).all())


def _is_beyond(values: Values, before: Histogram | Counts) -> np.ndarray:
    """Whether a number lies outside all buckets of training: bool [n_rows]."""
    if isinstance(values, Tokens) or not isinstance(before, Histogram):
        return np.zeros(len(values), bool)
    if not len(before.edges):
        return ~np.isnan(values)
    width = 0.0 if before.exponent[0] == EXACT else float(np.ldexp(1.0, int(before.exponent[0])))
    return (values < before.edges[0]) | (values > before.edges[-1] + width)
