"""Linear maps of a `Scatter`, without another pass over the rows, and the `Design` that follows from one.

Examples: ordinal levels → rank, imputed value → mean of the known ones, missing levels → most frequent level, reference
levels dropped. The last functions turn a centre and scale in the statistic's own units into a `Design` of finite doubles.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _warnings
from baytree.data.schema.column import Column, Kind
from baytree.linear.design.design import Design
from baytree.linear.design.feature_layout import MISSING, VALUE, FeatureLayout
from baytree.linear.scatter.scatter import Scatter, refilled

_QUARTER_MAX = np.finfo(np.float64).max / 4


def by_rank(scatter: Scatter, columns: tuple[Column, ...]) -> Scatter:
    """Replace the one-hot features of each ordinal column by its rank: rank = Σ code · one-hot."""
    layout = scatter.layout
    if not any(columns[j].kind is Kind.ORDINAL for j in layout.source):
        return scatter
    rows, keys = [], []
    for j in np.unique(layout.source):
        features = range(*layout.of_column(int(j)).indices(len(layout)))
        if columns[j].kind is Kind.ORDINAL:
            rows.append({f: float(layout.level[f]) for f in features if layout.level[f] >= 0})
            keys.append((j, VALUE))
            features = [f for f in features if layout.level[f] == MISSING]
        rows += [{f: 1.0} for f in features]
        keys += [(j, layout.level[f]) for f in features]
    matrix = np.zeros((len(rows), len(layout)))
    for i, row in enumerate(rows):
        matrix[i, list(row)] = list(row.values())
    source, level = (np.array([key[i] for key in keys], np.int32) for i in range(2))
    return _mapped(scatter, matrix, FeatureLayout(source, level, layout.fill, layout.mode))


def impute_mean(scatter: Scatter) -> Scatter:
    """Statistic with missing numbers imputed by the mean of the known ones; also sets the level that later missing values
    get.
    """
    layout = scatter.layout
    proportion = scatter.weight / scatter.weight.sum()
    mean = (scatter.pivot / scatter.unit + proportion @ scatter.mean) * scatter.unit
    fill, mode, shift = layout.fill.copy(), layout.mode.copy(), np.zeros(layout.n_columns)
    is_indicator, is_number = layout.level == MISSING, layout.level == VALUE
    shift[layout.source[is_indicator]] = mean[is_indicator]
    numbers = layout.source[is_number]
    fill[numbers] = _at_the_mean_of_known(fill[numbers], mean[is_number], shift[numbers])
    for j in np.unique(layout.source[layout.level >= 0]):
        if not shift[j]:
            features = layout.of_column(int(j))
            mode[j] = layout.level[features][np.argmax(np.where(layout.level[features] >= 0, mean[features], -1))]
    scatter = refilled(scatter, fill)
    return msgspec.structs.replace(scatter, layout=msgspec.structs.replace(scatter.layout, mode=mode))


def without_references(scatter: Scatter) -> tuple[Scatter, np.ndarray]:
    """Statistic without levels that never occur and without reference levels (the first that occurs); int32 [n_columns]
    reference levels.
    """
    layout = scatter.layout
    mean = (scatter.weight / scatter.weight.sum()) @ scatter.mean
    occurs = (layout.level == VALUE) | (mean > 0)
    reference = np.full(layout.n_columns, -1, np.int32)
    for f in np.flatnonzero(occurs & (layout.level >= 0))[::-1]:
        reference[layout.source[f]] = layout.level[f]
    is_reference = (layout.level >= 0) & (layout.level == reference[layout.source])
    return scatter.take(np.flatnonzero(occurs & ~is_reference)), reference


def commonest(scatter: Scatter) -> np.ndarray:
    """Level of largest weight of each column with levels; −1 for all others. int32 [n_columns]"""
    layout, proportion = scatter.layout, scatter.weight @ scatter.mean
    mode = np.full(layout.n_columns, -1, np.int32)
    for j in np.unique(layout.source[layout.level >= 0]):
        features = layout.of_column(int(j))
        mode[j] = layout.level[features][np.argmax(np.where(layout.level[features] >= 0, proportion[features], -1.0))]
    return mode


def gaps_as_levels(scatter: Scatter, mode: np.ndarray) -> Scatter:
    """Statistic as if missing levels had been the levels `mode`: one-hot += missing indicator."""
    layout = scatter.layout
    indicators = np.flatnonzero((layout.level == MISSING) & (mode[layout.source] >= 0))
    if not len(indicators):
        return scatter
    matrix = np.eye(len(layout))
    for shift in indicators:
        is_mode = (layout.source == layout.source[shift]) & (layout.level == mode[layout.source[shift]])
        matrix[np.flatnonzero(is_mode), shift] = 1.0
    return _mapped(scatter, matrix, layout)


def _mapped(scatter: Scatter, matrix: np.ndarray, layout: FeatureLayout) -> Scatter:
    """Statistic of new features, each a sum of 0/1 features (pivot 0, unit 1) or one old feature unchanged."""
    is_copied = (matrix == 1.0) & ((matrix != 0).sum(axis=1) == 1)[:, None]
    pivot, unit = is_copied @ scatter.pivot, np.where(is_copied.any(axis=1), is_copied @ scatter.unit, 1.0)
    mean, spread = scatter.mean @ matrix.T, matrix @ scatter.spread @ matrix.T
    return Scatter(layout, pivot, unit, scatter.weight, mean, spread, scatter.is_pooled)


def _at_the_mean_of_known(fill: np.ndarray, mean: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Mean of the known values, from means over rows in which a proportion `gap` was imputed; `fill` if all are
    missing. [n]
    """
    found = np.where(shift < 1, mean, fill)
    for j in np.flatnonzero((shift < 1) & (shift != 0)):
        found[j] = _beyond(float(fill[j]), float(mean[j]), 1 / (1 - float(shift[j])))
    return found


def _beyond(start: float, middle: float, times: float) -> float:
    """start + times · (middle − start), computed in quarters because the difference of two doubles may overflow."""
    extrapolated = 4 * np.clip(start / 4 + times * (middle / 4 - start / 4), -_QUARTER_MAX, _QUARTER_MAX)
    return middle if times == 1 else float(extrapolated)


def design_of(scatter: Scatter, centre: np.ndarray, scale: np.ndarray, reference: np.ndarray) -> Design:
    """Design for a statistic, given centre and scale in the statistic's own units."""
    return Design(scatter.layout, (scatter.pivot / scatter.unit + centre) * scatter.unit, scale * scatter.unit, reference)


def divisible(scale: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Scales clipped so that scale · unit is a positive finite double, because rows will be divided by it."""
    with np.errstate(over="ignore"):
        return np.clip(scale * unit, 5e-324, np.finfo(np.float64).max) / unit


def as_double(centre: np.ndarray, scatter: Scatter) -> np.ndarray:
    """Centre rounded to what is a double in the column's own units, in the statistic's units."""
    pivot = scatter.pivot / scatter.unit
    return np.where(scatter.unit == 1, centre, (pivot + centre) * scatter.unit / scatter.unit - pivot)


def warn_of_columns(what: str, which: np.ndarray, scatter: Scatter, columns: tuple[Column, ...], then: str) -> None:
    """Warn that the columns of these features are `what` (for example constant), with the consequence `then`."""
    names = list(dict.fromkeys(columns[j].name for j in scatter.layout.source[which]))
    shown = ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    _warnings.warn(f"columns {shown} are {what}: {then}")
