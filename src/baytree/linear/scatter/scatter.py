"""`Scatter`: weight, mean and centred scatter matrix of each class, a mergeable statistic.

Adding and subtracting follow Chan, Golub and LeVeque (1983). Sums are stored about a pivot near the rows and in units
(powers of two) near their deviation, so that columns at 1e9, or of size 1e-12 or 1e200, lose no digits. Before two
statistics are combined, `aligned` brings them to the same features, pivot, unit and imputed values.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.data.schema.column import level_map
from baytree.data.schema.schema import Schema
from baytree.linear.design.feature_layout import MISSING, VALUE, FeatureLayout

_DROPPED = -9  # new code of a dropped level


class Scatter(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="scatter"):
    """Weight, mean and centred scatter per class of the features of a layout.

    A feature of the rows is pivot + unit · (stored value). `spread` holds one matrix per class or one for all classes
    (pooled), always about the class's own mean. Ordinal columns are stored as one-hot levels, because ranks may shift when
    levels are added.
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
        """Raise ValueError unless a statistic read from a file fits the schema and could have come from rows."""
        self.layout.check(schema)
        finite = all(np.isfinite(array).all() for array in (self.pivot, self.weight, self.mean, self.spread))
        if len(self.weight) != len(schema.classes) or not finite or (self.weight < 0).any() or not (self.unit > 0).all():
            raise ValueError("scatter: it does not fit the classes, or its values cannot come from rows")

    def __add__(self, other: Scatter) -> Scatter:
        left, right = aligned(self, other)
        weight = left.weight + right.weight
        proportion = _ratio(right.weight, weight)[:, None]
        mean_shift = right.mean - left.mean
        spread = left.spread + right.spread + left._between(mean_shift, left.weight * proportion[:, 0])
        mean = np.where(left.weight[:, None] > 0, left.mean + mean_shift * proportion, right.mean)
        return msgspec.structs.replace(left, weight=weight, mean=mean, spread=spread)

    def __sub__(self, other: Scatter) -> Scatter:
        minuend, subtrahend = aligned(self, other)
        weight = minuend.weight - subtrahend.weight
        if (weight < -1e-9 * minuend.weight).any():
            raise ValueError("cannot forget more rows of a class than were learnt; only learnt rows can be forgotten")
        weight = np.where(weight <= 1e-12 * minuend.weight, 0.0, weight)
        has_rows = weight[:, None] > 0
        mean = minuend.mean + np.where(
            has_rows, (minuend.mean - subtrahend.mean) * _ratio(subtrahend.weight, weight)[:, None], 0.0
        )
        mean_shift = subtrahend.mean - mean
        spread = (
            minuend.spread
            - subtrahend.spread
            - minuend._between(mean_shift, weight * _ratio(subtrahend.weight, minuend.weight))
        )
        size = _diagonals(minuend.spread) + (minuend.weight[:, None] * minuend.mean**2).sum(axis=0)
        if (_diagonals(spread) < -1e-9 * size).any():
            raise ValueError("some of these rows were not learnt, or with other weights; only learnt rows can be forgotten")
        if minuend.is_pooled:
            spread = spread if has_rows.any() else np.zeros_like(spread)
        else:
            spread = np.where(has_rows[:, :, None], spread, 0.0)
        return msgspec.structs.replace(minuend, weight=weight, mean=np.where(has_rows, mean, 0.0), spread=spread)

    def to_schema(self, old: Schema, new: Schema) -> Scatter:
        """The same statistic under a schema with other levels or classes."""
        if old.columns == new.columns and old.target == new.target:
            return self
        keys = keys_of(self.layout)
        codes = [_new_codes(a.levels, b.levels) for a, b in zip(old.columns, new.columns, strict=True)]
        keys = [(j, level if level < 0 else codes[j][level]) for j, level in keys]
        kept = [f for f in sorted(range(len(keys)), key=lambda f: place_of(keys[f])) if keys[f][1] != _DROPPED]
        scatter = self.take(np.array(kept, int))
        level = np.array([keys[f][1] for f in kept], np.int32)
        layout = msgspec.structs.replace(scatter.layout, level=level)
        return msgspec.structs.replace(scatter, layout=layout)._with_classes(level_map(old.classes, new.classes))

    def drop_unused_levels(self, schema: Schema) -> tuple[Schema, Scatter]:
        """Schema and statistic without the inferred levels and classes that have no rows left."""
        if not self.weight.any():
            raise ValueError("cannot forget all training rows: no data would be left")
        proportion = self.weight @ self.mean
        columns = list(schema.columns)
        for j in np.unique(self.layout.source[(self.layout.level >= 0) & (proportion <= 0)]).tolist():
            features, column = self.layout.of_column(j), columns[j]
            dropped = set(
                self.layout.level[features][(self.layout.level[features] >= 0) & (proportion[features] <= 0)].tolist()
            )
            if not column.declared:
                kept = tuple(level for code, level in enumerate(column.levels) if code not in dropped)
                columns[j] = msgspec.structs.replace(column, levels=kept)
        classes = tuple(name for name, weight in zip(schema.classes, self.weight, strict=True) if weight > 0)
        target = msgspec.structs.replace(schema.target, classes=classes)
        smaller = msgspec.structs.replace(schema, columns=tuple(columns), target=target)
        return smaller, self.to_schema(schema, smaller)

    def deviations(self) -> np.ndarray:
        """Pooled within-class standard deviation of each feature, in the column's own units. float64 [n_features]"""
        with np.errstate(over="ignore"):
            return np.sqrt(np.einsum("kjj->j", self.spread) / max(self.weight.sum(), 1e-300)) * self.unit

    def _with_classes(self, position: np.ndarray) -> Scatter:
        """Statistic under other class codes: `place[k]` is the old code of new class k, −1 for a class without rows."""
        old = np.maximum(position, 0)
        has_old = position >= 0
        spread = self.spread if self.is_pooled else np.where(has_old[:, None, None], self.spread[old], 0.0)
        weight, mean = np.where(has_old, self.weight[old], 0.0), np.where(has_old[:, None], self.mean[old], 0.0)
        return msgspec.structs.replace(self, weight=weight, mean=mean, spread=spread)

    def by_class(self) -> list[Scatter]:
        """Statistic of each class on its own."""
        parts = [(self.weight[[k]], self.mean[[k]], self.spread[[k]]) for k in range(len(self.weight))]
        return [Scatter(self.layout, self.pivot, self.unit, *part, True) for part in parts]

    def take(self, features: np.ndarray) -> Scatter:
        """Statistic of some of the features."""
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
    index = {level: code for code, level in enumerate(new)}
    return [index.get(level, _DROPPED) for level in old]


def aligned(one: Scatter, other: Scatter) -> tuple[Scatter, Scatter]:
    """Two statistics with the same features, pivot, unit and imputed values: those of the first where it has them."""
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


def refilled(scatter: Scatter, fill: np.ndarray) -> Scatter:
    """Statistic as if missing values had been imputed with `fill`: value += (new − old fill) · missing indicator."""
    layout = msgspec.structs.replace(scatter.layout, fill=fill)
    indicators = np.flatnonzero(layout.level == MISSING)
    if not len(indicators):
        return msgspec.structs.replace(scatter, layout=layout)
    transform = np.eye(len(layout))
    for gap in indicators:
        value = np.flatnonzero((layout.source == layout.source[gap]) & (layout.level == VALUE))
        new, old = fill[layout.source[gap]], scatter.layout.fill[layout.source[gap]]
        transform[value, gap] = new / scatter.unit[value] - old / scatter.unit[value]
    mean = scatter.mean @ transform.T  # an indicator has pivot 0 and unit 1
    return msgspec.structs.replace(scatter, layout=layout, mean=mean, spread=transform @ scatter.spread @ transform.T)


def keys_of(layout: FeatureLayout) -> list[tuple[int, int]]:
    """Key (column, level) of each feature."""
    return list(zip(layout.source.tolist(), layout.level.tolist(), strict=True))


def place_of(key: tuple[int, int]) -> tuple[int, bool, int]:
    """Sort key of features: column, missing indicator last, level."""
    return key[0], key[1] == MISSING, key[1]


def _common_fill(one: Scatter, other: Scatter) -> np.ndarray:
    """Imputed values of the first statistic; those of the second for columns with missing values only there."""
    only_other = set(keys_of(other.layout)) - set(keys_of(one.layout))
    fill = one.layout.fill.copy()
    for j, level in only_other:
        if level == MISSING:
            fill[j] = other.layout.fill[j]
    return fill


def _spread_out(scatter: Scatter, layout: FeatureLayout) -> Scatter:
    """Statistic over a superset of its features (0 in all its rows), with the layout's imputed values."""
    index_of_key = {key: i for i, key in enumerate(keys_of(layout))}
    index = np.array([index_of_key[key] for key in keys_of(scatter.layout)], int)
    n_features = len(layout)
    pivot, unit = np.zeros(n_features), np.ones(n_features)
    pivot[index], unit[index] = scatter.pivot, scatter.unit
    mean = np.zeros((len(scatter.weight), n_features))
    mean[:, index] = scatter.mean
    spread = np.zeros((len(scatter.spread), n_features, n_features))
    spread[:, index[:, None], index] = scatter.spread
    same_fill = msgspec.structs.replace(layout, fill=scatter.layout.fill)
    widened = msgspec.structs.replace(scatter, layout=same_fill, pivot=pivot, unit=unit, mean=mean, spread=spread)
    return refilled(widened, layout.fill)


def _moved(scatter: Scatter, onto: Scatter) -> Scatter:
    """Statistic about the pivot and in the units of another."""
    scale = scatter.unit / onto.unit
    mean = scatter.mean * scale + np.where(
        scatter.weight[:, None] > 0, scatter.pivot / onto.unit - onto.pivot / onto.unit, 0.0
    )
    spread = scatter.spread * (scale[:, None] * scale)
    return msgspec.structs.replace(scatter, layout=onto.layout, pivot=onto.pivot, unit=onto.unit, mean=mean, spread=spread)
