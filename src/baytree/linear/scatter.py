"""The statistic of discriminant analysis: weight, mean and scatter of each class, which add up.

Sums are kept about a pivot near the rows and in units near their spread, so that columns at 1e9, or of size 1e-12 or
1e200, lose no digits; two statistics are brought to one pivot and unit before they are added.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.linear.layout import MISSING, VALUE, Layout, features_of
from baytree.table import Table

_BLOCK = 1024  # rows: a block of a hundred features stays in the second-level cache
_SAFE = 1e140  # squares of numbers beyond it, or below its inverse, leave the range of doubles


class Scatter(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="scatter"):
    """Weight, mean and centred scatter per class of the features of a layout.

    A feature of the rows is pivot + unit · (what is kept here). `spread` has one matrix per class, or one for all classes
    (pooled), each about the class's own mean.
    """

    layout: Layout
    pivot: np.ndarray  # [n_features]
    unit: np.ndarray  # [n_features], powers of two
    weight: np.ndarray  # [n_classes]
    mean: np.ndarray  # [n_classes, n_features]
    spread: np.ndarray  # [n_classes or 1, n_features, n_features]

    @property
    def is_pooled(self) -> bool:
        """Whether one scatter matrix serves all classes."""
        return len(self.spread) == 1 and len(self.weight) != 1

    @classmethod
    def of(cls, table: Table, pooled: bool) -> Scatter:
        """The statistic of a table's rows."""
        hopeful = features_of(table, gaps=np.zeros(len(table.values), bool))
        whole = hopeful.view(table)
        if whole is not None:  # a gap would make a mean NaN: reading once and hoping is faster than looking first
            seen = _observe(table, hopeful, whole, pooled)
            if not np.isnan(seen.mean).any():
                return seen
        return _observe(table, _filled(table, features_of(table)), None, pooled)

    def __add__(self, other: Scatter) -> Scatter:
        mine, theirs = aligned(self, other)
        weight = mine.weight + theirs.weight
        share = _ratio(theirs.weight, weight)[:, None]
        shift = theirs.mean - mine.mean
        spread = mine.spread + theirs.spread + mine._between(shift, mine.weight * share[:, 0])
        mean = np.where(mine.weight[:, None] > 0, mine.mean + shift * share, theirs.mean)
        return msgspec.structs.replace(mine, weight=weight, mean=mean, spread=spread)

    def __sub__(self, other: Scatter) -> Scatter:
        whole, part = aligned(self, other)
        weight = whole.weight - part.weight
        if (weight < -1e-9 * whole.weight).any():
            raise ValueError("cannot forget more rows of a class than were learnt")
        weight = np.where(weight <= 1e-12 * whole.weight, 0.0, weight)
        rest = weight[:, None] > 0
        mean = whole.mean + np.where(rest, (whole.mean - part.mean) * _ratio(part.weight, weight)[:, None], 0.0)
        shift = part.mean - mean
        spread = whole.spread - part.spread - whole._between(shift, weight * _ratio(part.weight, whole.weight))
        if whole.is_pooled:
            spread = spread if rest.any() else np.zeros_like(spread)
        else:
            spread = np.where(rest[:, :, None], spread, 0.0)
        return msgspec.structs.replace(whole, weight=weight, mean=np.where(rest, mean, 0.0), spread=spread)

    def mapped(self, matrix: np.ndarray, layout: Layout) -> Scatter:
        """The statistic of features that are linear in these: value_new = matrix @ value (pivot and unit included)."""
        pivot = matrix @ self.pivot
        inner = matrix * self.unit
        unit = np.ones(len(matrix))
        return Scatter(layout, pivot, unit, self.weight, self.mean @ inner.T, inner @ self.spread @ inner.T)

    def take(self, features: np.ndarray) -> Scatter:
        """The statistic of these features only."""
        spread = self.spread[:, features][:, :, features]
        layout = self.layout.take(features)
        return Scatter(layout, self.pivot[features], self.unit[features], self.weight, self.mean[:, features], spread)

    def _between(self, shift: np.ndarray, weight: np.ndarray) -> np.ndarray:
        rows = shift * np.sqrt(np.maximum(weight, 0.0))[:, None]
        return (rows.T @ rows)[None] if self.is_pooled else rows[:, :, None] * rows[:, None, :]


def aligned(one: Scatter, other: Scatter) -> tuple[Scatter, Scatter]:
    """Two statistics over the same features, pivot, unit and stand-ins for gaps: those of the first."""
    keys = sorted(set(_keys(one.layout)) | set(_keys(other.layout)), key=_order)
    fill = _common_fill(one, other)
    mode = one.layout.mode if len(one.layout.mode) >= len(other.layout.mode) else other.layout.mode
    layout = Layout(
        np.array([j for j, _ in keys], np.int32), np.array([level for _, level in keys], np.int32), fill, mode
    )
    one = _spread_out(one, layout)
    return one, _moved(_spread_out(other, layout), one)


def _observe(table: Table, layout: Layout, whole: np.ndarray | None, pooled: bool) -> Scatter:
    pivot = _pivot(table, layout, whole)
    with np.errstate(over="ignore", invalid="ignore"):
        seen = _sums(table, layout, whole, pivot, np.ones(len(layout)), pooled)
    if np.isnan(seen.mean).any() and whole is not None:
        return seen
    return seen if _is_safe(seen) else _sums(table, layout, whole, pivot, _units(table, layout, whole, pivot), pooled)


def _sums(
    table: Table, layout: Layout, whole: np.ndarray | None, pivot: np.ndarray, unit: np.ndarray, pooled: bool
) -> Scatter:
    """One read of the rows: class means of each block, scatter about them, then the scatter of the block means."""
    n_classes, n_features = table.n_classes, len(layout)
    spread = np.zeros((1 if pooled else n_classes, n_features, n_features))
    totals, means = [], []
    weight = np.ascontiguousarray(table.weight)
    buffer = np.empty(_BLOCK * n_features)
    for first in range(0, len(table), _BLOCK):
        rows = slice(first, min(first + _BLOCK, len(table)))
        x = whole[rows] if whole is not None else layout.matrix(table, rows)
        x, centre = (x, pivot) if (unit == 1).all() else ((x - pivot) / unit, np.zeros(n_features))
        label = table.label[rows]
        order = np.argsort(label, kind="stable") if not pooled else np.arange(len(label))
        place = np.empty(len(label), np.int64)
        place[order] = np.arange(len(label))
        total, mean = np.zeros(n_classes), np.zeros(n_classes * n_features)
        _core.centre_classes(x, label, weight[rows], centre, place, total, mean, buffer)
        centred = buffer[: len(label) * n_features].reshape(len(label), n_features)
        _add_products(spread, centred, label[order])
        totals.append(total)
        means.append(mean.reshape(n_classes, n_features))
    shape = (-1, n_classes, n_features)
    return _joined(layout, pivot, unit, np.reshape(totals, shape[:2]), np.reshape(means, shape), spread)


def _add_products(spread: np.ndarray, centred: np.ndarray, label: np.ndarray) -> None:
    if len(spread) == 1:
        spread[0] += centred.T @ centred
        return
    present, first = np.unique(label, return_index=True)
    for k, a, b in zip(present, first, [*first[1:], len(label)], strict=True):
        spread[k] += centred[a:b].T @ centred[a:b]


def _joined(
    layout: Layout, pivot: np.ndarray, unit: np.ndarray, totals: np.ndarray, means: np.ndarray, spread: np.ndarray
) -> Scatter:
    weight = totals.sum(axis=0)
    mean = np.einsum("bk,bkj->kj", totals, means) * _ratio(np.ones_like(weight), weight)[:, None]
    rows = (means - mean) * np.sqrt(totals)[:, :, None]  # [n_blocks, n_classes, n_features]
    for k in range(len(weight)):
        spread[k if len(spread) > 1 else 0] += rows[:, k].T @ rows[:, k]
    return Scatter(layout, pivot, unit, weight, mean, spread)


def _filled(table: Table, layout: Layout) -> Layout:
    """The layout with a number near the column's own in place of a gap, so that sums stay small."""
    fill = layout.fill.copy()
    for j, values in enumerate(table.values):
        if values.dtype.kind == "f":
            known = values[:: max(1, len(values) // 101)]
            known = known[~np.isnan(known)]
            fill[j] = _first_known(values) if not len(known) else np.median(known)
    return msgspec.structs.replace(layout, fill=fill)


def _first_known(values: np.ndarray) -> float:
    known = np.flatnonzero(~np.isnan(values))
    return float(values[known[0]]) if len(known) else 0.0


def _pivot(table: Table, layout: Layout, whole: np.ndarray | None) -> np.ndarray:
    """A number near the middle of each feature: the median of about a hundred rows; 0 for marks."""
    pivot = np.zeros(len(layout))
    step = max(1, len(table) // 101)
    if whole is not None:
        return np.nan_to_num(np.median(whole[::step], axis=0), posinf=0.0, neginf=0.0) if len(table) else pivot
    numbers = layout.level == VALUE
    pivot[numbers] = layout.fill[layout.source[numbers]]
    return pivot


def _units(table: Table, layout: Layout, whole: np.ndarray | None, pivot: np.ndarray) -> np.ndarray:
    """The power of two next to each feature's largest distance from its pivot."""
    largest = np.zeros(len(layout))
    for first in range(0, len(table), _BLOCK):
        rows = slice(first, first + _BLOCK)
        x = whole[rows] if whole is not None else layout.matrix(table, rows)
        largest = np.maximum(largest, np.abs(x / 4 - pivot / 4).max(axis=0))
    exponent = np.clip(np.frexp(largest)[1] + 2, -1000, 1000)
    return np.where((largest > 0) & (layout.level == VALUE), np.exp2(exponent.astype(np.float64)), 1.0)


def _is_safe(seen: Scatter) -> bool:
    square = np.einsum("kjj->j", seen.spread)
    near = np.abs(seen.mean) < _SAFE
    seen_to_vary = (square > _SAFE**-2) | ((square == 0) & (seen.mean == 0).all(axis=0))
    return bool(near.all() and (square < _SAFE**2).all() and seen_to_vary.all())


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


def _keys(layout: Layout) -> list[tuple[int, int]]:
    return list(zip(layout.source.tolist(), layout.level.tolist(), strict=True))


def _order(key: tuple[int, int]) -> tuple[int, bool, int]:
    return key[0], key[1] == MISSING, key[1]


def _common_fill(one: Scatter, other: Scatter) -> np.ndarray:
    """The first statistic's stand-ins, but the second's where only the second has gaps."""
    only_other = set(_keys(other.layout)) - set(_keys(one.layout))
    fill = one.layout.fill.copy()
    for j, level in only_other:
        if level == MISSING:
            fill[j] = other.layout.fill[j]
    return fill


def _spread_out(seen: Scatter, layout: Layout) -> Scatter:
    """The statistic over more features (0 in every row it has seen), with the layout's stand-ins for gaps."""
    at = {key: i for i, key in enumerate(_keys(layout))}
    place = np.array([at[key] for key in _keys(seen.layout)], int)
    n_features = len(layout)
    pivot, unit = np.zeros(n_features), np.ones(n_features)
    pivot[place], unit[place] = seen.pivot, seen.unit
    mean = np.zeros((len(seen.weight), n_features))
    mean[:, place] = seen.mean
    spread = np.zeros((len(seen.spread), n_features, n_features))
    spread[np.ix_(range(len(spread)), place, place)] = seen.spread
    wide = Scatter(msgspec.structs.replace(layout, fill=seen.layout.fill), pivot, unit, seen.weight, mean, spread)
    return refilled(wide, layout.fill)


def refilled(seen: Scatter, fill: np.ndarray) -> Scatter:
    """The statistic as it would be had gaps been filled with these numbers: value += change · is_missing."""
    layout = msgspec.structs.replace(seen.layout, fill=fill)
    step = np.eye(len(layout))
    for gap in np.flatnonzero(layout.level == MISSING):
        value = np.flatnonzero((layout.source == layout.source[gap]) & (layout.level == VALUE))
        change = fill[layout.source[gap]] - seen.layout.fill[layout.source[gap]]
        step[value, gap] = change / seen.unit[value]
    mean = seen.mean @ step.T  # an indicator has pivot 0 and unit 1
    return msgspec.structs.replace(seen, layout=layout, mean=mean, spread=step @ seen.spread @ step.T)


def _moved(seen: Scatter, onto: Scatter) -> Scatter:
    """The statistic about another's pivot and in its units."""
    scale = seen.unit / onto.unit
    mean = seen.mean * scale + np.where(seen.weight[:, None] > 0, (seen.pivot - onto.pivot) / onto.unit, 0.0)
    spread = seen.spread * (scale[:, None] * scale)
    return Scatter(onto.layout, onto.pivot, onto.unit, seen.weight, mean, spread)
