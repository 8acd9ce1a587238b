"""The statistic of discriminant analysis: weight, mean and scatter of each class, which add up.

Sums are kept about a pivot near the rows and in units near their spread, so that columns at 1e9, or of size 1e-12 or
1e200, lose no digits; two statistics are brought to one pivot and unit before they are added.

Two statistics over the same features: about one pivot, in one unit, with the same stand-ins for gaps.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.data.schema.column import level_map
from baytree.data.schema.schema import Schema
from baytree.linear.design.feature_layout import MISSING, VALUE, FeatureLayout

_GONE = -9  # the new code of a level that is left out


class Scatter(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="scatter"):
    """Weight, mean and centred scatter per class of the features of a layout.

    A feature of the rows is pivot + unit · (what is kept here). `spread` has one matrix per class, or one for all classes
    (pooled), each about the class's own mean. Ordinal columns are kept by level: ranks may shift when levels come.
    """

    layout: FeatureLayout
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

    def to_schema(self, old: Schema, new: Schema) -> Scatter:
        """The same statistic under a schema with other levels or classes."""
        if old.columns == new.columns and old.target == new.target:
            return self
        keys = keys_of(self.layout)
        codes = [_new_codes(a.levels, b.levels) for a, b in zip(old.columns, new.columns, strict=True)]
        keys = [(j, level if level < 0 else codes[j][level]) for j, level in keys]
        kept = [f for f in sorted(range(len(keys)), key=lambda f: place_of(keys[f])) if keys[f][1] != _GONE]
        seen = self.take(np.array(kept, int))
        level = np.array([keys[f][1] for f in kept], np.int32)
        layout = msgspec.structs.replace(seen.layout, level=level)
        return msgspec.structs.replace(seen, layout=layout)._with_classes(level_map(old.classes, new.classes))

    def drop_unused_levels(self, schema: Schema) -> tuple[Schema, Scatter]:
        """Without the collected levels and classes that no row is left of."""
        if not self.weight.any():
            raise ValueError("every learnt row would be forgotten, and a model of nothing is no model")
        share = self.weight @ self.mean
        columns = list(schema.columns)
        for j in np.unique(self.layout.source[(self.layout.level >= 0) & (share <= 0)]).tolist():
            own, column = self.layout.of_column(j), columns[j]
            gone = set(self.layout.level[own][(self.layout.level[own] >= 0) & (share[own] <= 0)].tolist())
            if not column.declared:
                kept = tuple(level for code, level in enumerate(column.levels) if code not in gone)
                columns[j] = msgspec.structs.replace(column, levels=kept)
        classes = tuple(name for name, weight in zip(schema.classes, self.weight, strict=True) if weight > 0)
        target = msgspec.structs.replace(schema.target, classes=classes)
        smaller = msgspec.structs.replace(schema, columns=tuple(columns), target=target)
        return smaller, self.to_schema(schema, smaller)

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

    def by_class(self) -> list[Scatter]:
        """The statistic of each class by itself."""
        parts = [(self.weight[[k]], self.mean[[k]], self.spread[[k]]) for k in range(len(self.weight))]
        return [Scatter(self.layout, self.pivot, self.unit, *part, True) for part in parts]

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


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


def _new_codes(old: tuple, new: tuple) -> list[int]:
    place = {level: code for code, level in enumerate(new)}
    return [place.get(level, _GONE) for level in old]


def aligned(one: Scatter, other: Scatter) -> tuple[Scatter, Scatter]:
    """Two statistics over the same features, pivot, unit and stand-ins for gaps: those of the first."""
    if _has_same_features(one.layout, other.layout):
        return one, _moved(refilled(other, one.layout.fill), one)
    keys = sorted(set(keys_of(one.layout)) | set(keys_of(other.layout)), key=place_of)
    fill = _common_fill(one, other)
    mode = one.layout.mode if len(one.layout.mode) >= len(other.layout.mode) else other.layout.mode
    layout = FeatureLayout(
        np.array([j for j, _ in keys], np.int32), np.array([level for _, level in keys], np.int32), fill, mode
    )
    one = _spread_out(one, layout)
    return one, _moved(_spread_out(other, layout), one)


def _has_same_features(one: FeatureLayout, other: FeatureLayout) -> bool:
    is_same = np.array_equal(one.source, other.source) and np.array_equal(one.level, other.level)
    return is_same and len(one.mode) >= len(other.mode)


def refilled(seen: Scatter, fill: np.ndarray) -> Scatter:
    """The statistic as it would be had gaps been filled with these numbers: value += change · is_missing."""
    layout = msgspec.structs.replace(seen.layout, fill=fill)
    gaps = np.flatnonzero(layout.level == MISSING)
    if not len(gaps):
        return msgspec.structs.replace(seen, layout=layout)
    step = np.eye(len(layout))
    for gap in gaps:
        value = np.flatnonzero((layout.source == layout.source[gap]) & (layout.level == VALUE))
        new, old = fill[layout.source[gap]], seen.layout.fill[layout.source[gap]]
        step[value, gap] = new / seen.unit[value] - old / seen.unit[value]
    mean = seen.mean @ step.T  # an indicator has pivot 0 and unit 1
    return msgspec.structs.replace(seen, layout=layout, mean=mean, spread=step @ seen.spread @ step.T)


def keys_of(layout: FeatureLayout) -> list[tuple[int, int]]:
    return list(zip(layout.source.tolist(), layout.level.tolist(), strict=True))


def place_of(key: tuple[int, int]) -> tuple[int, bool, int]:
    return key[0], key[1] == MISSING, key[1]


def _common_fill(one: Scatter, other: Scatter) -> np.ndarray:
    """The first statistic's stand-ins, but the second's where only the second has gaps."""
    only_other = set(keys_of(other.layout)) - set(keys_of(one.layout))
    fill = one.layout.fill.copy()
    for j, level in only_other:
        if level == MISSING:
            fill[j] = other.layout.fill[j]
    return fill


def _spread_out(seen: Scatter, layout: FeatureLayout) -> Scatter:
    """The statistic over more features (0 in every row it has seen), with the layout's stand-ins for gaps."""
    at = {key: i for i, key in enumerate(keys_of(layout))}
    place = np.array([at[key] for key in keys_of(seen.layout)], int)
    n_features = len(layout)
    pivot, unit = np.zeros(n_features), np.ones(n_features)
    pivot[place], unit[place] = seen.pivot, seen.unit
    mean = np.zeros((len(seen.weight), n_features))
    mean[:, place] = seen.mean
    spread = np.zeros((len(seen.spread), n_features, n_features))
    spread[:, place[:, None], place] = seen.spread
    mine = msgspec.structs.replace(layout, fill=seen.layout.fill)
    wide = msgspec.structs.replace(seen, layout=mine, pivot=pivot, unit=unit, mean=mean, spread=spread)
    return refilled(wide, layout.fill)


def _moved(seen: Scatter, onto: Scatter) -> Scatter:
    """The statistic about another's pivot and in its units."""
    scale = seen.unit / onto.unit
    mean = seen.mean * scale + np.where(seen.weight[:, None] > 0, seen.pivot / onto.unit - onto.pivot / onto.unit, 0.0)
    spread = seen.spread * (scale[:, None] * scale)
    return msgspec.structs.replace(seen, layout=onto.layout, pivot=onto.pivot, unit=onto.unit, mean=mean, spread=spread)
