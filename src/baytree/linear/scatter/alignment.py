"""Two statistics over the same features: about one pivot, in one unit, with the same stand-ins for gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree.linear.design.feature_layout import MISSING, VALUE, Layout

if TYPE_CHECKING:
    from baytree.linear.scatter.scatter import Scatter


def aligned(one: Scatter, other: Scatter) -> tuple[Scatter, Scatter]:
    """Two statistics over the same features, pivot, unit and stand-ins for gaps: those of the first."""
    if _has_same_features(one.layout, other.layout):
        return one, _moved(refilled(other, one.layout.fill), one)
    keys = sorted(set(keys_of(one.layout)) | set(keys_of(other.layout)), key=place_of)
    fill = _common_fill(one, other)
    mode = one.layout.mode if len(one.layout.mode) >= len(other.layout.mode) else other.layout.mode
    layout = Layout(np.array([j for j, _ in keys], np.int32), np.array([level for _, level in keys], np.int32), fill, mode)
    one = _spread_out(one, layout)
    return one, _moved(_spread_out(other, layout), one)


def _has_same_features(one: Layout, other: Layout) -> bool:
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


def keys_of(layout: Layout) -> list[tuple[int, int]]:
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


def _spread_out(seen: Scatter, layout: Layout) -> Scatter:
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
