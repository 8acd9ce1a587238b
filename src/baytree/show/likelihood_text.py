"""What a column looks like in each class, as rows of a table: a name, and a cell for each class."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import floor, inf, isfinite, log10
from typing import Any

from baytree.show.tree.condition_text import distance, mean, shown
from baytree.summary.bayes import (
    MOST_WORDS,
    Amount,
    IntervalShares,
    KernelDensity,
    LevelShares,
    Likelihood,
    Normal,
    TellingWords,
)

_MOST_LEVELS = 20  # of a column


def likelihood_rows(likelihood: Likelihood) -> list[list[str]]:
    """The rows of one column."""
    return _PRINTERS[type(likelihood)](likelihood)


def _levels(likelihood: LevelShares) -> list[list[str]]:
    rows = list(zip(likelihood.levels, likelihood.probability, strict=True))
    told = rows if len(rows) <= _MOST_LEVELS else rows[: _MOST_LEVELS - 1]
    table = [[f"{likelihood.column} = {level}", *(f"{p:.3f}" for p in row)] for level, row in told]
    return table if len(told) == len(rows) else [*table, _rest(likelihood, len(told))]


def _rest(likelihood: LevelShares, first: int) -> list[str]:
    """The share of all levels that are not told one by one."""
    shares = [sum(cells) for cells in zip(*likelihood.probability[first:], strict=True)]
    return [f"{likelihood.column} = … {len(likelihood.levels) - first:,} more levels", *(f"{p:.3f}" for p in shares)]


def _intervals(likelihood: IntervalShares) -> list[list[str]]:
    rows = zip(interval_names(likelihood), likelihood.probability, strict=True)
    return [[name, *(f"{p:.3f}" for p in row)] for name, row in rows]


def interval_names(likelihood: IntervalShares) -> list[str]:
    column, cuts = likelihood.column, [shown(cut, likelihood.unit) for cut in likelihood.cuts]
    if not cuts:
        return [f"{column} = any"]
    inner = [f"{low} < {column} ≤ {high}" for low, high in pairwise(cuts)]
    return [f"{column} ≤ {cuts[0]}", *inner, f"{column} > {cuts[-1]}"]


def _normal(likelihood: Normal) -> list[list[str]]:
    pairs, unit = zip(likelihood.mean, likelihood.scale, strict=True), likelihood.unit
    place = _as_exact if unit is None else (lambda center, scale: mean(center, scale, unit))
    return [[likelihood.column, *(f"{place(center, scale)} ± {distance(scale, unit)}" for center, scale in pairs)]]


def _as_exact(center: float, scale: float) -> str:
    """The mean to the place of its scale's third digit: what lies below tells nothing; six digits at most.

    >>> _as_exact(1.46522, 0.194), _as_exact(3702.32, 460.0)
    ('1.465', '3702')
    """
    if not 0 < scale < inf or not isfinite(center):
        return shown(center, None)
    places = 2 - floor(log10(scale))
    digits = places + 1 + (floor(log10(abs(center))) if center else 0)
    return f"{center:.{places}f}" if 0 <= places <= 12 and digits <= 6 else shown(center, None)


def _kernels(likelihood: KernelDensity) -> list[list[str]]:
    classes, unit = zip(likelihood.mean, likelihood.width, likelihood.number, strict=True), likelihood.unit
    cells = (
        f"{mean(center, width, unit)} ± {distance(width, unit)} ({number} kernels)" for center, width, number in classes
    )
    return [[likelihood.column, *cells]]


def _amount(likelihood: Amount) -> list[list[str]]:
    return [[f"{likelihood.column}, {likelihood.quantity}", *(f"{amount:.4g}" for amount in likelihood.amount)]]


def _words(likelihood: TellingWords) -> list[list[str]]:
    rows = ([words[k] if k < len(words) else "" for words in likelihood.words] for k in range(MOST_WORDS))
    return [[f"{likelihood.column}, word {k}", *row] for k, row in enumerate(rows, 1)]


_PRINTERS: dict[type, Callable[[Any], list[list[str]]]] = {
    LevelShares: _levels,
    IntervalShares: _intervals,
    Normal: _normal,
    KernelDensity: _kernels,
    Amount: _amount,
    TellingWords: _words,
}
