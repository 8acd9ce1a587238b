"""Impurity measures as curves over the share of one class, with the best split of each column of this table on them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from baytree.interview.interview import class_weights
from baytree.reports.subject import Subject
from baytree.show.names import plain
from baytree.show.report.records.interactive_views import ImpurityView, SplitView
from baytree.show.tree.condition_text import shown
from baytree.statistics.counts import Counts
from baytree.statistics.sketch import Sketch
from baytree.table.schema import Column, Kind

MOST_SPLITS = 6
WIDTH, HEIGHT = 400, 200


def _entropy(p: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(-p * np.log2(p) - (1 - p) * np.log2(1 - p))


MEASURES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "entropy": _entropy,
    "gini": lambda p: 2 * p * (1 - p),
    "error": lambda p: np.minimum(p, 1 - p),
}


def impurity_view(subject: Subject) -> ImpurityView:
    """The curves over the share of the most frequent class."""
    profile, schema = subject.profile, subject.predictor.schema
    assert profile is not None
    weight = class_weights(profile)
    code = int(np.argmax(weight))
    parent = float(weight[code] / weight.sum())
    pairs = zip(schema.columns, profile.columns, strict=True)
    found = [_best(column, seen, code) for column, seen in pairs if column.kind is not Kind.TEXT]
    splits = sorted((each for each in found if each is not None), key=lambda each: -each.gains[0])[:MOST_SPLITS]
    curves = tuple((name, _curve(measure)) for name, measure in MEASURES.items())
    return ImpurityView(subject.classes[code], parent, curves, tuple(splits))


def _curve(measure: Callable[[np.ndarray], np.ndarray]) -> str:
    p = np.linspace(0, 1, 81)
    points = zip(WIDTH * p, HEIGHT * (1 - measure(p)), strict=True)
    return "M" + "L".join(f"{x:.0f} {y:.1f}" for x, y in points)


def _best(column: Column, seen: Sketch | Counts, code: int) -> SplitView | None:
    """The cut, or the level against all others, that lowers the entropy of the one class most."""
    counts = seen.counts if isinstance(seen, Sketch) else seen
    weight = counts.known()
    if len(weight) < 2 or not weight.sum():
        return None
    own, every = weight[:, code], weight.sum(axis=1)
    if isinstance(seen, Sketch):
        own, every = np.cumsum(own)[:-1], np.cumsum(every)[:-1]
    whole, total = weight[:, code].sum(), weight.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        left, right, part = np.nan_to_num(own / every), np.nan_to_num((whole - own) / (total - every)), every / total
    gains = [_gain(measure, whole / total, left, right, part) for measure in MEASURES.values()]
    k = int(np.argmax(gains[0]))
    ends = [HEIGHT * (1 - float(_entropy(np.array(side[k])))) for side in (left, right)]
    chord = f"M{WIDTH * left[k]:.1f} {ends[0]:.1f}L{WIDTH * right[k]:.1f} {ends[1]:.1f}"
    label = _label(column, seen, k)
    return SplitView(label, float(left[k]), float(right[k]), float(part[k]), tuple(float(each[k]) for each in gains), chord)


def _gain(
    measure: Callable[[np.ndarray], np.ndarray], parent: float, left: np.ndarray, right: np.ndarray, part: np.ndarray
) -> np.ndarray:
    return measure(np.array(parent)) - part * measure(left) - (1 - part) * measure(right)


def _label(column: Column, seen: Sketch | Counts, k: int) -> str:
    if not isinstance(seen, Sketch):
        return f"{plain(column.name)} = {plain(column.levels[k])}"
    points = seen.points()
    return f"{plain(column.name)} ≤ {shown((points[k] + points[k + 1]) / 2, column.unit)}"
