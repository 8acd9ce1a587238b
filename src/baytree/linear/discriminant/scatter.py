"""The statistic of discriminant analysis: weight, mean and scatter of each class, which add up.

Sums are kept about a pivot near the rows and in units near their spread, so that columns at 1e9, or of size 1e-12 or
1e200, lose no digits; two statistics are brought to one pivot and unit before they are added.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.blas import chunks, in_order
from baytree.linear.design.features import MISSING, VALUE, Layout, features_of
from baytree.table.schema import Schema, level_map
from baytree.table.table import SparseColumns, Table

_BLOCK = 1024  # rows: a block of a hundred features stays in the second-level cache
_LARGEST = 2**31  # bytes of covariances
_SAFE = 1e140  # squares of numbers beyond it, or below its inverse, leave the range of doubles


class Scatter(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="scatter"):
    """Weight, mean and centred scatter per class of the features of a layout.

    A feature of the rows is pivot + unit · (what is kept here). `spread` has one matrix per class, or one for all classes
    (pooled), each about the class's own mean. Ordinal columns are kept by level: ranks may shift when levels come.
    """

    layout: Layout
    pivot: np.ndarray  # [n_features]
    unit: np.ndarray  # [n_features], powers of two
    weight: np.ndarray  # [n_classes]
    mean: np.ndarray  # [n_classes, n_features]
    spread: np.ndarray  # [n_classes or 1, n_features, n_features]
    is_pooled: bool  # one scatter matrix for all classes

    def __post_init__(self) -> None:
        p, k = len(self.layout), len(self.weight)
        shapes = ((p,), (p,), (k,), (k, p), (1 if self.is_pooled else k, p, p))
        arrays = (self.pivot, self.unit, self.weight, self.mean, self.spread)
        if any(array.dtype != np.float64 or array.shape != shape for array, shape in zip(arrays, shapes, strict=True)):
            raise ValueError("scatter: weights, means and scatter must fit the features and classes")

    def check(self, schema: Schema) -> None:
        """Raises an error unless the statistic, read from a file, fits a schema and could have come from rows."""
        self.layout.check(schema)
        finite = all(np.isfinite(array).all() for array in (self.pivot, self.weight, self.mean, self.spread))
        if len(self.weight) != len(schema.classes) or not finite or (self.weight < 0).any() or not (self.unit > 0).all():
            raise ValueError("scatter: it does not fit the classes, or holds numbers that no rows give")

    @classmethod
    def of(cls, table: Table, pooled: bool) -> Scatter:
        """The statistic of a table's rows."""
        hopeful = features_of(table, "dummies", np.zeros(len(table.values), bool))
        _refuse_too_wide(table, hopeful, pooled)
        whole = hopeful.view(table)
        if whole is not None:  # a gap would make a mean NaN: reading once and hoping is faster than looking first
            seen = _observe(table, hopeful, whole, pooled)
            if np.isfinite(seen.mean).all():
                return seen
        return _observe(table, _filled(table, features_of(table, "dummies")), None, pooled)

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
            raise ValueError("cannot forget more rows of a class than were learnt; only learnt rows can be forgotten")
        weight = np.where(weight <= 1e-12 * whole.weight, 0.0, weight)
        rest = weight[:, None] > 0
        mean = whole.mean + np.where(rest, (whole.mean - part.mean) * _ratio(part.weight, weight)[:, None], 0.0)
        shift = part.mean - mean
        spread = whole.spread - part.spread - whole._between(shift, weight * _ratio(part.weight, whole.weight))
        size = _diagonals(whole.spread) + (whole.weight[:, None] * whole.mean**2).sum(axis=0)
        if (_diagonals(spread) < -1e-9 * size).any():
            raise ValueError("these rows were not all learnt, or with other weights; only learnt rows can be forgotten")
        if whole.is_pooled:
            spread = spread if rest.any() else np.zeros_like(spread)
        else:
            spread = np.where(rest[:, :, None], spread, 0.0)
        return msgspec.structs.replace(whole, weight=weight, mean=np.where(rest, mean, 0.0), spread=spread)

    def grown(self, old: Schema, new: Schema) -> Scatter:
        """The same statistic under a schema with other levels or classes."""
        if old.columns == new.columns and old.target == new.target:
            return self
        keys = _keys(self.layout)
        codes = [_new_codes(a.levels, b.levels) for a, b in zip(old.columns, new.columns, strict=True)]
        keys = [(j, level if level < 0 else codes[j][level]) for j, level in keys]
        kept = [f for f in sorted(range(len(keys)), key=lambda f: _order(keys[f])) if keys[f][1] != _GONE]
        seen = self.take(np.array(kept, int))
        level = np.array([keys[f][1] for f in kept], np.int32)
        layout = msgspec.structs.replace(seen.layout, level=level)
        return msgspec.structs.replace(seen, layout=layout)._with_classes(level_map(old.classes, new.classes))

    def shrunk(self, schema: Schema) -> tuple[Schema, Scatter]:
        """Without the collected levels and classes that no row is left of."""
        if not self.weight.any():
            raise ValueError("every learnt row would be forgotten, and a model of nothing is no model")
        share = self.weight @ self.mean
        columns = list(schema.columns)
        for j, column in enumerate(columns):
            own = self.layout.of_column(j)
            gone = set(self.layout.level[own][(self.layout.level[own] >= 0) & (share[own] <= 0)].tolist())
            if gone and not column.declared:
                kept = tuple(level for code, level in enumerate(column.levels) if code not in gone)
                columns[j] = msgspec.structs.replace(column, levels=kept)
        classes = tuple(name for name, weight in zip(schema.classes, self.weight, strict=True) if weight > 0)
        target = msgspec.structs.replace(schema.target, classes=classes)
        smaller = msgspec.structs.replace(schema, columns=tuple(columns), target=target)
        return smaller, self.grown(schema, smaller)

    def deviations(self) -> np.ndarray:
        """The standard deviation of each feature within its class, in the column's own units. [n_features]"""
        with np.errstate(over="ignore"):
            return np.sqrt(np.einsum("kjj->j", self.spread) / max(self.weight.sum(), 1e-300)) * self.unit

    def _with_classes(self, place: np.ndarray) -> Scatter:
        """The statistic under other class codes: entry k tells which class the new k was, −1 for none."""
        old = np.maximum(place, 0)
        was = place >= 0
        spread = self.spread if self.is_pooled else np.where(was[:, None, None], self.spread[old], 0.0)
        weight, mean = np.where(was, self.weight[old], 0.0), np.where(was[:, None], self.mean[old], 0.0)
        return msgspec.structs.replace(self, weight=weight, mean=mean, spread=spread)

    def take(self, features: np.ndarray) -> Scatter:
        """The statistic of these features only."""
        spread = self.spread[:, features][:, :, features]
        layout = self.layout.take(features)
        mean = self.mean[:, features]
        return Scatter(layout, self.pivot[features], self.unit[features], self.weight, mean, spread, self.is_pooled)

    def _between(self, shift: np.ndarray, weight: np.ndarray) -> np.ndarray:
        rows = shift * np.sqrt(np.maximum(weight, 0.0))[:, None]
        return (rows.T @ rows)[None] if self.is_pooled else rows[:, :, None] * rows[:, None, :]


def _diagonals(spread: np.ndarray) -> np.ndarray:
    return np.einsum("kjj->kj", spread)


def aligned(one: Scatter, other: Scatter) -> tuple[Scatter, Scatter]:
    """Two statistics over the same features, pivot, unit and stand-ins for gaps: those of the first."""
    keys = sorted(set(_keys(one.layout)) | set(_keys(other.layout)), key=_order)
    fill = _common_fill(one, other)
    mode = one.layout.mode if len(one.layout.mode) >= len(other.layout.mode) else other.layout.mode
    layout = Layout(np.array([j for j, _ in keys], np.int32), np.array([level for _, level in keys], np.int32), fill, mode)
    one = _spread_out(one, layout)
    return one, _moved(_spread_out(other, layout), one)


def _observe(table: Table, layout: Layout, whole: np.ndarray | None, pooled: bool) -> Scatter:
    pivot = _pivot(table, layout, whole)
    with np.errstate(over="ignore", invalid="ignore"):
        seen = _sums(table, layout, whole, pivot, np.ones(len(layout)), pooled)
    if np.isnan(seen.mean).any() and whole is not None:
        return seen  # gaps, or infinities that are about to be refused
    return seen if _is_safe(seen) else _sums(table, layout, whole, pivot, _units(table, layout, whole, pivot), pooled)


def _refuse_too_wide(table: Table, layout: Layout, pooled: bool) -> None:
    """Refuse a covariance that would fill the memory, before any is taken."""
    size = 8 * len(layout) ** 2 * (1 if pooled else max(table.n_classes, 1))
    if size <= _LARGEST:
        return
    column = table.schema.columns[int(np.bincount(layout.source).argmax())]
    needs = f"a covariance of {len(layout):,} features needs {size / 2**30:,.0f} GiB"
    if column.levels:
        needs = f"column {column.name!r} has {len(column.levels):,} levels: {needs}; leave it out"
    else:
        needs = f"{needs}; choose columns first (SelectFeatures)"
    raise ValueError(f"{needs}, or use LogisticRegression, NaiveBayesClassifier or a tree")


class _Block(msgspec.Struct, frozen=True):
    """The rows of a table as the kernel wants them."""

    table: Table
    layout: Layout
    whole: np.ndarray | None  # the caller's own matrix
    pivot: np.ndarray
    unit: np.ndarray
    pooled: bool

    def rows(self, rows: slice) -> tuple[np.ndarray, np.ndarray]:
        """The features of these rows, and what to subtract from them."""
        x = self.layout.matrix(self.table, rows) if self.whole is None else np.ascontiguousarray(self.whole[rows])
        if (self.unit == 1).all():
            return x, self.pivot
        return x / self.unit - self.pivot / self.unit, np.zeros(len(self.unit))


def _sums(
    table: Table, layout: Layout, whole: np.ndarray | None, pivot: np.ndarray, unit: np.ndarray, pooled: bool
) -> Scatter:
    """One read of the rows: class means of each block, scatter about them, then the scatter of the block means."""
    block = _Block(table, layout, whole, pivot, unit, pooled)
    parts = in_order(lambda rows: _chunk(block, rows), chunks(len(table)))
    totals, means = (np.concatenate([part[i] for part in parts]) for i in range(2))
    spread = np.sum([part[2] for part in parts], axis=0)
    return _joined(block, totals, means, spread)


def _chunk(block: _Block, rows: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights [n_blocks, n_classes], means [n_blocks, n_classes, p] and scatter about them, of a run of rows."""
    table, p, n_classes = block.table, len(block.layout), block.table.n_classes
    spread = np.zeros((1 if block.pooled else n_classes, p, p))
    starts = range(rows.start, rows.stop, _BLOCK)
    totals, means = np.zeros((len(starts), n_classes)), np.zeros((len(starts), n_classes * p))
    buffer = np.empty(_BLOCK * p)
    for i, first in enumerate(starts):
        own = slice(first, min(first + _BLOCK, rows.stop))
        x, centre = block.rows(own)
        label, weight = np.ascontiguousarray(table.label[own]), np.ascontiguousarray(table.weight[own])
        order = np.arange(len(label)) if block.pooled else np.argsort(label, kind="stable")
        place = np.empty(len(label), np.int64)
        place[order] = np.arange(len(label))
        _core.centre_classes(x, label, weight, centre, place, totals[i], means[i], buffer)
        _add_products(spread, buffer[: len(label) * p].reshape(len(label), p), label[order], block.pooled)
    return totals, means.reshape(len(starts), n_classes, p), spread


def _add_products(spread: np.ndarray, centred: np.ndarray, label: np.ndarray, pooled: bool) -> None:
    if pooled:
        spread[0] += centred.T @ centred
        return
    present, first = np.unique(label, return_index=True)
    for k, a, b in zip(present, first, [*first[1:], len(label)], strict=True):
        spread[k] += centred[a:b].T @ centred[a:b]


def _joined(block: _Block, totals: np.ndarray, means: np.ndarray, spread: np.ndarray) -> Scatter:
    weight = totals.sum(axis=0)
    mean = np.einsum("bk,bkj->kj", totals, means) * _ratio(np.ones_like(weight), weight)[:, None]
    rows = (means - mean) * np.sqrt(totals)[:, :, None]  # [n_blocks, n_classes, n_features]
    for k in range(len(weight)):
        spread[0 if block.pooled else k] += rows[:, k].T @ rows[:, k]
    return Scatter(block.layout, block.pivot, block.unit, weight, mean, spread, block.pooled)


def _filled(table: Table, layout: Layout) -> Layout:
    """The layout with a number near the column's own in place of a gap, so that sums stay small."""
    fill = layout.fill.copy()
    if isinstance(table.values, SparseColumns):  # most values are 0
        return layout
    for j, values in enumerate(table.values):
        if values.dtype.kind == "f":
            known = values[:: max(1, len(values) // 101)]
            known = known[~np.isnan(known)]
            fill[j] = _first_known(values) if not len(known) else np.sort(known)[len(known) // 2]
    return msgspec.structs.replace(layout, fill=fill)


def _first_known(values: np.ndarray) -> float:
    known = np.flatnonzero(~np.isnan(values))
    return float(values[known[0]]) if len(known) else 0.0


def _pivot(table: Table, layout: Layout, whole: np.ndarray | None) -> np.ndarray:
    """A number near the middle of each feature: the median of about a hundred rows; 0 for marks."""
    pivot = np.zeros(len(layout))
    if whole is not None and len(table):
        step = max(1, len(table) // 101)
        return np.nan_to_num(np.sort(whole[::step], axis=0)[len(whole[::step]) // 2], posinf=0.0, neginf=0.0)
    numbers = layout.level == VALUE
    pivot[numbers] = layout.fill[layout.source[numbers]]
    return pivot


def _units(table: Table, layout: Layout, whole: np.ndarray | None, pivot: np.ndarray) -> np.ndarray:
    """The power of two next to each feature's largest distance from its pivot."""
    largest = np.zeros(len(layout))
    for first in range(0, len(table), _BLOCK):
        rows = slice(first, first + _BLOCK)
        x = whole[rows] if whole is not None else layout.matrix(table, rows)
        with np.errstate(over="ignore"):
            largest = np.maximum(largest, np.abs(x - pivot).max(axis=0))
    exponent = np.clip(np.frexp(np.minimum(largest, np.finfo(np.float64).max))[1] + 1, -1000, 1000)
    return np.where((largest > 0) & (layout.level == VALUE), np.exp2(exponent.astype(np.float64)), 1.0)


def _is_safe(seen: Scatter) -> bool:
    square = np.einsum("kjj->j", seen.spread)
    near = np.abs(seen.mean) < _SAFE
    seen_to_vary = (square > _SAFE**-2) | ((square == 0) & (seen.mean == 0).all(axis=0))
    return bool(near.all() and (square < _SAFE**2).all() and seen_to_vary.all())


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


_GONE = -9  # the new code of a level that is left out


def _new_codes(old: tuple, new: tuple) -> list[int]:
    place = {level: code for code, level in enumerate(new)}
    return [place.get(level, _GONE) for level in old]


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
    spread[:, place[:, None], place] = seen.spread
    mine = msgspec.structs.replace(layout, fill=seen.layout.fill)
    wide = Scatter(mine, pivot, unit, seen.weight, mean, spread, seen.is_pooled)
    return refilled(wide, layout.fill)


def refilled(seen: Scatter, fill: np.ndarray) -> Scatter:
    """The statistic as it would be had gaps been filled with these numbers: value += change · is_missing."""
    layout = msgspec.structs.replace(seen.layout, fill=fill)
    step = np.eye(len(layout))
    for gap in np.flatnonzero(layout.level == MISSING):
        value = np.flatnonzero((layout.source == layout.source[gap]) & (layout.level == VALUE))
        new, old = fill[layout.source[gap]], seen.layout.fill[layout.source[gap]]
        step[value, gap] = new / seen.unit[value] - old / seen.unit[value]
    mean = seen.mean @ step.T  # an indicator has pivot 0 and unit 1
    return msgspec.structs.replace(seen, layout=layout, mean=mean, spread=step @ seen.spread @ step.T)


def _moved(seen: Scatter, onto: Scatter) -> Scatter:
    """The statistic about another's pivot and in its units."""
    scale = seen.unit / onto.unit
    mean = seen.mean * scale + np.where(seen.weight[:, None] > 0, seen.pivot / onto.unit - onto.pivot / onto.unit, 0.0)
    spread = seen.spread * (scale[:, None] * scale)
    return Scatter(onto.layout, onto.pivot, onto.unit, seen.weight, mean, spread, seen.is_pooled)
