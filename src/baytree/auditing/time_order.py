"""Findings about time: a column of dates or times, and how much the table changes from its first to its last quarter."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from baytree.auditing.counts import CountedBins
from baytree.auditing.result import Finding, listed
from baytree.data.encoding.table import Table, Tokens
from baytree.data.frames.numbers import Numbers
from baytree.data.frames.raw import RawFrame
from baytree.data.parsing.vocabulary import Pattern, is_moment_name
from baytree.data.schema.column import Kind
from baytree.statistics import binning

_PERIOD = Pattern(r"(?:^|[_\W])(?:year|years?|yr|month|week|quarter|season|epoch|period|jahr|monat)(?:$|[_\W\d])")

_BIRTH = Pattern(r"birth|dob|born")

YEARS = (1800.0, 2200.0)

MIN_TIMES = 3  # distinct times of a column that orders the rows

SIGNIFICANCE = 0.01  # family-wise error rate of the tests for drift (Holm)

MAX_DRIFT_BINS = 10


class TimeColumn(NamedTuple):
    """Column that orders the rows in time."""

    name: str
    values: np.ndarray  # float64 [n_rows]
    is_date: bool
    place: int | None  # index in the table; None if it is no feature


def time_columns(table: Table, frame: RawFrame, left_out: tuple[str, ...]) -> list[TimeColumn]:
    """Columns of dates, years, and numbers with the name of a time along which the rows are sorted."""
    found = []
    for j, (column, values) in enumerate(zip(table.schema.columns, table.values, strict=True)):
        if isinstance(values, Tokens) or column.kind is not Kind.NUMERIC or (column.form is not None and column.form.part):
            continue
        if _is_time(column.name, values, column.unit in ("D", "us")):
            found.append(TimeColumn(column.name, values, column.unit in ("D", "us"), j))
    for name in left_out:
        raw = frame.columns.get(name)
        if isinstance(raw, Numbers) and _is_time(name, raw.values, raw.unit in ("D", "us")):
            found.append(TimeColumn(name, raw.values, raw.unit in ("D", "us"), None))
    return sorted(found, key=lambda each: not each.is_date)


def _is_time(name: str, values: np.ndarray, is_date: bool) -> bool:
    known = values[~np.isnan(values)]
    if not len(known) or known.min() == known.max() or len(np.unique(known)) < MIN_TIMES or _BIRTH.search(name.lower()):
        return False
    if is_date:
        return 2 * len(known) > len(values)
    if np.any(known != np.floor(known)) or len(known) < len(values):
        return False
    is_year = bool(YEARS[0] <= known.min() and known.max() <= YEARS[1])
    named = is_moment_name(name) or bool(_PERIOD.search(name.lower()))
    return named and (is_year or bool((np.diff(values) >= 0).all()))


def time_findings(
    table: Table, bins: tuple[CountedBins | None, ...], columns: list[TimeColumn], is_given: bool
) -> list[Finding]:
    """Finding on the first of the columns; `is_given` if folds respect it already."""
    if not columns:
        return []
    first = columns[0]
    drift = drift_of(table, bins, first, [each.place for each in columns])
    figure = {"changed": len(drift.changed), "columns": drift.n_columns, "distance": drift.distance}
    if is_given and not drift.changed:
        return []
    subject = f"{first.name!r} orders the rows in time"
    if not drift.changed:
        what = "no column differs significantly between its first and last quarter"
    else:
        what = (
            f"{len(drift.changed)} of {drift.n_columns} columns differ between its first and last quarter, most of all "
            f"{drift.changed[0]!r} (distance {drift.distance:.2f})"
        )
    remedy = f"to test on later rows than those of training, give time={first.name!r}"
    if is_given:
        remedy = f"expect new rows to differ as well; fit on recent rows, or leave out {listed(drift.changed, 2)}"
    return [Finding("time", tuple(each.name for each in columns), f"{subject}; {what}", remedy, figure)]


class TimeDrift(NamedTuple):
    """Columns whose distribution differs between two parts of the rows, the largest distance first."""

    changed: list[str]
    n_columns: int
    distance: float  # total variation of the first of them, from 0 to 1


def drift_of(
    table: Table, bins: tuple[CountedBins | None, ...], time: TimeColumn, excluded: Collection[int | None]
) -> TimeDrift:
    """Compare the first quarter of the rows with the last, column by column and in the target: chi², Holm.

    `excluded` are the columns that are times themselves.
    """
    known = np.flatnonzero(~np.isnan(time.values))
    order = known[np.argsort(time.values[known], kind="stable")]
    n = len(order) // 4
    if n < 10:
        return TimeDrift([], 0, 0.0)
    quarters = order[:n], order[-n:]
    coded = [(table.schema.target.name, _target_codes(table))]
    for j, own in enumerate(bins):
        if own is not None and j not in excluded:
            coded.append((table.schema.columns[j].name, _few(own.codes(table.values[j]) + 1, own)))
    tests = [(name, *_test(codes, *quarters)) for name, codes in coded]
    p = np.array([each[2] for each in tests])
    rank = np.argsort(p, kind="stable")
    adjusted = np.maximum.accumulate(p[rank] * (len(p) - np.arange(len(p))))
    changed = sorted((tests[k] for k in rank[adjusted < SIGNIFICANCE]), key=lambda each: -each[1])
    return TimeDrift([name for name, *_ in changed], len(tests), changed[0][1] if changed else 0.0)


def _target_codes(table: Table) -> np.ndarray:
    if table.n_classes:
        return table.label
    return binning.bin_codes(table.label, binning.quantile_cuts(table.label, np.ones(len(table)), MAX_DRIFT_BINS))


def _few(codes: np.ndarray, own: CountedBins) -> np.ndarray:
    """Codes of a number in at most `MAX_DRIFT_BINS` bins; levels stay."""
    if own.cuts is None or own.n_codes <= MAX_DRIFT_BINS:
        return codes
    return np.where(codes > 0, 1 + (codes - 1) * MAX_DRIFT_BINS // own.n_codes, 0)


def _test(codes: np.ndarray, first: np.ndarray, last: np.ndarray) -> tuple[float, float]:
    """Total variation between two parts of the rows, and the p-value of Pearson's test."""
    n_codes = int(codes.max()) + 1
    counts = np.stack([np.bincount(codes[rows], minlength=n_codes) for rows in (first, last)]).astype(np.float64)
    proportions = counts / counts.sum(axis=1, keepdims=True)
    distance = float(np.abs(proportions[0] - proportions[1]).sum() / 2)
    is_rare = counts.sum(axis=0) < 10  # too few rows for the approximation: together they are one cell
    pooled = np.concatenate([counts[:, ~is_rare], counts[:, is_rare].sum(axis=1, keepdims=True)], axis=1)
    return distance, binning.chi_square_tail(*binning.chi_square(pooled))
