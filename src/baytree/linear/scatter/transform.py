"""The statistic of other features, without reading rows again: ranks for marks, gaps at their mean, no reference levels.

Standard units from a statistic: centres that are doubles, scales that rows can be divided by, and the design of both.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _warnings
from baytree.data.schema.column import Column, Kind
from baytree.linear.design.design import Design
from baytree.linear.design.feature_layout import MISSING, VALUE, FeatureLayout
from baytree.linear.scatter.scatter import Scatter, refilled

_QUARTER = np.finfo(np.float64).max / 4


def by_rank(seen: Scatter, columns: tuple[Column, ...]) -> Scatter:
    """One feature, the rank, for each ordinal column, in place of one per level: rank = Σ code · mark."""
    layout = seen.layout
    if not any(columns[j].kind is Kind.ORDINAL for j in layout.source):
        return seen
    rows, keys = [], []
    for j in np.unique(layout.source):
        own = range(*layout.of_column(int(j)).indices(len(layout)))
        if columns[j].kind is Kind.ORDINAL:
            rows.append({f: float(layout.level[f]) for f in own if layout.level[f] >= 0})
            keys.append((j, VALUE))
            own = [f for f in own if layout.level[f] == MISSING]
        rows += [{f: 1.0} for f in own]
        keys += [(j, layout.level[f]) for f in own]
    matrix = np.zeros((len(rows), len(layout)))
    for i, row in enumerate(rows):
        matrix[i, list(row)] = list(row.values())
    source, level = (np.array([key[i] for key in keys], np.int32) for i in range(2))
    return _mapped(seen, matrix, FeatureLayout(source, level, layout.fill, layout.mode))


def impute_mean(seen: Scatter) -> Scatter:
    """Gaps filled with the mean of the known values; levels that a later gap will stand for."""
    layout = seen.layout
    share = seen.weight / seen.weight.sum()
    mean = (seen.pivot / seen.unit + share @ seen.mean) * seen.unit
    fill, mode, gap = layout.fill.copy(), layout.mode.copy(), np.zeros(layout.n_columns)
    is_gap, is_number = layout.level == MISSING, layout.level == VALUE
    gap[layout.source[is_gap]] = mean[is_gap]
    numbers = layout.source[is_number]
    fill[numbers] = _at_the_mean_of_known(fill[numbers], mean[is_number], gap[numbers])
    for j in np.unique(layout.source[layout.level >= 0]):
        if not gap[j]:
            own = layout.of_column(int(j))
            mode[j] = layout.level[own][np.argmax(np.where(layout.level[own] >= 0, mean[own], -1))]
    seen = refilled(seen, fill)
    return msgspec.structs.replace(seen, layout=msgspec.structs.replace(seen.layout, mode=mode))


def without_references(seen: Scatter) -> tuple[Scatter, np.ndarray]:
    """The statistic without levels that never occur and without the first level of each column that does."""
    layout = seen.layout
    mean = (seen.weight / seen.weight.sum()) @ seen.mean
    occurs = (layout.level == VALUE) | (mean > 0)
    reference = np.full(layout.n_columns, -1, np.int32)
    for f in np.flatnonzero(occurs & (layout.level >= 0))[::-1]:
        reference[layout.source[f]] = layout.level[f]
    named = (layout.level >= 0) & (layout.level == reference[layout.source])
    return seen.take(np.flatnonzero(occurs & ~named)), reference


def commonest(seen: Scatter) -> np.ndarray:
    """The heaviest level of each column of levels; −1 for all others. int32 [n_columns]"""
    layout, share = seen.layout, seen.weight @ seen.mean
    mode = np.full(layout.n_columns, -1, np.int32)
    for j in np.unique(layout.source[layout.level >= 0]):
        own = layout.of_column(int(j))
        mode[j] = layout.level[own][np.argmax(np.where(layout.level[own] >= 0, share[own], -1.0))]
    return mode


def gaps_as_levels(seen: Scatter, mode: np.ndarray) -> Scatter:
    """The statistic as it would be had gaps of levels been these levels: mark += is_missing."""
    layout = seen.layout
    gaps = np.flatnonzero((layout.level == MISSING) & (mode[layout.source] >= 0))
    if not len(gaps):
        return seen
    matrix = np.eye(len(layout))
    for gap in gaps:
        own = (layout.source == layout.source[gap]) & (layout.level == mode[layout.source[gap]])
        matrix[np.flatnonzero(own), gap] = 1.0
    return _mapped(seen, matrix, layout)


def _mapped(seen: Scatter, matrix: np.ndarray, layout: FeatureLayout) -> Scatter:
    """The statistic of features that are sums of marks (pivot 0, unit 1) or are kept as they are."""
    kept = (matrix == 1.0) & ((matrix != 0).sum(axis=1) == 1)[:, None]
    pivot, unit = kept @ seen.pivot, np.where(kept.any(axis=1), kept @ seen.unit, 1.0)
    mean, spread = seen.mean @ matrix.T, matrix @ seen.spread @ matrix.T
    return Scatter(layout, pivot, unit, seen.weight, mean, spread, seen.is_pooled)


def _at_the_mean_of_known(fill: np.ndarray, mean: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """The means of what is known, from means with shares of gaps filled; where all are gaps, the fill stays. [n]"""
    found = np.where(gap < 1, mean, fill)
    for j in np.flatnonzero((gap < 1) & (gap != 0)):
        found[j] = _beyond(float(fill[j]), float(mean[j]), 1 / (1 - float(gap[j])))
    return found


def _beyond(start: float, middle: float, times: float) -> float:
    """start + times · (middle − start), in quarters: the distance between two doubles may be none."""
    far = 4 * np.clip(start / 4 + times * (middle / 4 - start / 4), -_QUARTER, _QUARTER)
    return middle if times == 1 else float(far)


def design_of(seen: Scatter, centre: np.ndarray, scale: np.ndarray, reference: np.ndarray) -> Design:
    """How rows get into standard units, of a centre and scale in the statistic's own units."""
    return Design(seen.layout, (seen.pivot / seen.unit + centre) * seen.unit, scale * seen.unit, reference)


def divisible(scale: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Scales that, times their unit, are doubles other than 0 and infinity: rows will be divided by them."""
    with np.errstate(over="ignore"):
        return np.clip(scale * unit, 5e-324, np.finfo(np.float64).max) / unit


def as_double(centre: np.ndarray, seen: Scatter) -> np.ndarray:
    """The centre that rows can be taken from: a double in the column's own units."""
    pivot = seen.pivot / seen.unit
    return np.where(seen.unit == 1, centre, (pivot + centre) * seen.unit / seen.unit - pivot)


def warn_of_columns(what: str, which: np.ndarray, seen: Scatter, columns: tuple[Column, ...], then: str) -> None:
    """Tell of the columns that these features come from what they are, and what follows from it."""
    names = list(dict.fromkeys(columns[j].name for j in seen.layout.source[which]))
    shown = ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    _warnings.warn(f"columns {shown} are {what}: {then}")
