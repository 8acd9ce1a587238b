"""What a column looks like in each class, as rows of a table: a name, and a cell for each class."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from baytree.show.conditions import distance, shown
from baytree.summary import MOST_WORDS, Amount, IntervalShares, KernelDensity, LevelShares, Likelihood, Normal, TellingWords


def likelihood_rows(likelihood: Likelihood) -> list[list[str]]:
    """The rows of one column."""
    return _PRINTERS[type(likelihood)](likelihood)


def _levels(likelihood: LevelShares) -> list[list[str]]:
    rows = zip(likelihood.levels, likelihood.probability, strict=True)
    return [[f"{likelihood.column} = {level}", *(f"{p:.3f}" for p in row)] for level, row in rows]


def _intervals(likelihood: IntervalShares) -> list[list[str]]:
    rows = zip(_interval_names(likelihood), likelihood.probability, strict=True)
    return [[name, *(f"{p:.3f}" for p in row)] for name, row in rows]


def _interval_names(likelihood: IntervalShares) -> list[str]:
    column, cuts = likelihood.column, [shown(cut, likelihood.unit) for cut in likelihood.cuts]
    if not cuts:
        return [f"{column} = any"]
    inner = [f"{low} < {column} ≤ {high}" for low, high in pairwise(cuts)]
    return [f"{column} ≤ {cuts[0]}", *inner, f"{column} > {cuts[-1]}"]


def _normal(likelihood: Normal) -> list[list[str]]:
    pairs, unit = zip(likelihood.mean, likelihood.scale, strict=True), likelihood.unit
    return [[likelihood.column, *(f"{shown(mean, unit)} ± {distance(scale, unit)}" for mean, scale in pairs)]]


def _kernels(likelihood: KernelDensity) -> list[list[str]]:
    classes = zip(likelihood.mean, likelihood.width, likelihood.number, strict=True)
    cells = (f"{shown(mean, likelihood.unit)} ± {width:.3g} ({number} kernels)" for mean, width, number in classes)
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
