"""Page records of a table's columns, and of impurity measures with each column's best split, from the profile alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.display.terminal import plain
from baytree.interview.interview import class_weights
from baytree.rendering.page.table_views import Bar, ColumnView, ImpurityView, SplitView, TableView
from baytree.rendering.tree_text import shown
from baytree.reporting.subject import ReportSubject
from baytree.statistics.binning import entropy
from baytree.statistics.counts import Counts
from baytree.statistics.profile import Histogram, Profile

MAX_LEVEL_BARS = 12  # levels of a column, the most frequent ones; more bars would not fit beside a histogram

MAX_HISTOGRAM_BINS = 24  # bars of ten pixels in a drawing that is 240 pixels wide


def table_view(schema: Schema, profile: Profile) -> TableView:
    """Columns, the most informative about the target first."""
    is_classes = schema.target.classes is not None
    views = [
        column_view(c, distribution, is_classes) for c, distribution in zip(schema.columns, profile.columns, strict=True)
    ]
    views.sort(key=lambda view: -(view.gain or 0.0))
    noted = {note.column for note in schema.notes}
    notes = [f"{name} only identifies rows and is not used." for name in schema.left_out if name not in noted]
    notes += map(str, schema.notes)
    if is_classes:
        notes.append("Columns by their information gain about the target in bits; numbers by their best threshold.")
    return TableView(tuple(views), tuple(map(str, schema.classes)), tuple(notes))


def column_view(column: Column, distribution: Histogram | Counts, is_classes: bool) -> ColumnView:
    """One column."""
    counts = distribution.counts if isinstance(distribution, Histogram) else distribution
    cells = counts.cells.rounded()
    missing = float(cells[0].sum() / cells.sum()) if cells.sum() else 0.0
    gain, split = best_gain(column, distribution) if is_classes and column.kind is not Kind.TEXT else (None, "")
    bars, n_omitted, paths, labels = [], 0, (), ("", "")
    if isinstance(distribution, Histogram):
        paths, labels = _histogram(column, distribution.points(), cells[1:])
    elif column.kind is not Kind.TEXT:
        bars, n_omitted = _levels(column, cells[1:])
    fields = (column.name, column.kind.value, _extent(column, distribution), missing, gain, split)
    return ColumnView(*fields, tuple(bars), paths, labels, n_omitted)


def best_gain(column: Column, distribution: Histogram | Counts) -> tuple[float, str]:
    """Information gain of a column in bits, and for a number its best threshold."""
    if isinstance(distribution, Counts):
        cells = distribution.cells.rounded()
        return _information_gain(cells[1:], cells.sum()), ""
    weight, points = distribution.counts.known(), distribution.points()
    if len(points) < 2:
        return 0.0, ""
    left = np.cumsum(weight, axis=0)[:-1]
    gains = _gains(left, weight.sum(axis=0))
    best = int(np.argmax(gains))
    known = weight.sum() / max(distribution.counts.cells.rounded().sum(), 1e-300)
    return float(gains[best] * known), f"≤ {shown((points[best] + points[best + 1]) / 2, column.unit)}"


def _gains(left: np.ndarray, parent_weight: np.ndarray) -> np.ndarray:
    """Information gain of splitting a whole into two parts, for each candidate: [n_splits]."""
    right, total = parent_weight - left, parent_weight.sum()
    parts = (entropy(side) * side.sum(axis=1) for side in (left, right))
    return np.maximum(entropy(parent_weight[None])[0] - sum(parts) / total, 0.0)


def _information_gain(groups: np.ndarray, total: float) -> float:
    weight = groups.sum(axis=1)
    known = groups.sum(axis=0)
    if not weight.sum():
        return 0.0
    return max(float((entropy(known[None])[0] * weight.sum() - (entropy(groups) * weight).sum()) / total), 0.0)


def _extent(column: Column, distribution: Histogram | Counts) -> str:
    if isinstance(distribution, Histogram):
        return (
            f"{shown(distribution.edges[0], column.unit)} to {shown(distribution.edges[-1], column.unit)}"
            if len(distribution.edges)
            else ""
        )
    n = len(column.levels)
    words = "words" if column.kind is Kind.TEXT else "levels" if n != 1 else "level"
    return f"{n:,} {words}"


def bin_edges(points: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Range of a histogram: all numbers, but at most half the 99 % range beyond the 0.5 % and 99.5 % quantiles."""
    finite = np.isfinite(points)
    points, weight = points[finite], weight[finite]
    if not len(points):
        return 0.0, 1.0
    cumulative = np.cumsum(weight) / weight.sum()
    low, high = points[np.searchsorted(cumulative, 0.005)], points[min(np.searchsorted(cumulative, 0.995), len(points) - 1)]
    with np.errstate(over="ignore"):  # beyond the doubles, all numbers are in range
        half = high / 2 - low / 2
        return float(max(points[0], low - half)), float(min(points[-1], high + half))


def _histogram(column: Column, points: np.ndarray, weight: np.ndarray) -> tuple[tuple[str, ...], tuple[str, str]]:
    """Path of bars for each class, stacked, and the labels of the axis ends."""
    if not len(points):
        return (), ("", "")
    low, high = bin_edges(points, weight.sum(axis=1))
    n = min(MAX_HISTOGRAM_BINS, len(points))
    with np.errstate(invalid="ignore"):  # halves, since the range of numbers may overflow
        position = (points / 2 - low / 2) / ((high / 2 - low / 2) or 1.0)
        bin_of = np.nan_to_num(position * n, nan=0.0).clip(0, n - 1).astype(int)
    total = np.zeros((n, weight.shape[1]))
    np.add.at(total, bin_of, weight)
    heights = total * 60 / max(float(total.sum(axis=1).max()), 1e-300)
    tops, width = 60 - np.cumsum(heights, axis=1), 240 / n
    paths = ["".join(_block(k * width, tops[k, c], width, heights[k, c]) for k in range(n)) for c in range(weight.shape[1])]
    return tuple(paths), (shown(low, column.unit), shown(high, column.unit))


def _block(left: float, top: float, width: float, height: float) -> str:
    if height < 0.05:
        return ""
    return f"M{left + 0.4:.1f} {top:.1f}h{width - 0.8:.1f}v{height:.1f}h{0.8 - width:.1f}z"


def _levels(column: Column, weight: np.ndarray) -> tuple[list[Bar], int]:
    frequent = np.sort(np.argsort(-weight.sum(axis=1), kind="stable")[:MAX_LEVEL_BARS])
    names = [str(column.levels[k]) for k in frequent]
    return _bars(names, weight[frequent], float(weight.max(initial=0.0))), len(weight) - len(frequent)


def _bars(names: list[str], weight: np.ndarray, largest: float) -> list[Bar]:
    relative = weight / (largest or 1.0)
    return [Bar(name, tuple(row)) for name, row in zip(names, relative.tolist(), strict=True)]


MAX_SPLITS = 6  # columns whose best split is drawn under the curves

IMPURITY_WIDTH, IMPURITY_HEIGHT = 400, 200  # units of the drawing, as in the viewBox of the template


def _entropy(p: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(-p * np.log2(p) - (1 - p) * np.log2(1 - p))


MEASURES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "entropy": _entropy,
    "gini": lambda p: 2 * p * (1 - p),
    "error": lambda p: np.minimum(p, 1 - p),
}


def impurity_view(subject: ReportSubject) -> ImpurityView:
    """Impurity curves over the proportion of the most frequent class."""
    profile, schema = subject.profile, subject.predictor.schema
    assert profile is not None
    weight = class_weights(profile)
    code = int(np.argmax(weight))
    parent = float(weight[code] / weight.sum())
    pairs = zip(schema.columns, profile.columns, strict=True)
    best_splits = [_best_split(column, distribution, code) for column, distribution in pairs if column.kind is not Kind.TEXT]
    splits = sorted((split for split in best_splits if split is not None), key=lambda split: -split.gains[0])[:MAX_SPLITS]
    curves = tuple((name, _curve(measure)) for name, measure in MEASURES.items())
    return ImpurityView(subject.classes[code], parent, curves, tuple(splits))


def _curve(measure: Callable[[np.ndarray], np.ndarray]) -> str:
    p = np.linspace(0, 1, 81)
    points = zip(IMPURITY_WIDTH * p, IMPURITY_HEIGHT * (1 - measure(p)), strict=True)
    return "M" + "L".join(f"{x:.0f} {y:.1f}" for x, y in points)


def _best_split(column: Column, distribution: Histogram | Counts, code: int) -> SplitView | None:
    """Best split of a column by the entropy of one class: a threshold, or one level against the others."""
    counts = distribution.counts if isinstance(distribution, Histogram) else distribution
    weight = counts.known()
    if len(weight) < 2 or not weight.sum():
        return None
    class_weight, all_weight = weight[:, code], weight.sum(axis=1)
    if isinstance(distribution, Histogram):
        class_weight, all_weight = np.cumsum(class_weight)[:-1], np.cumsum(all_weight)[:-1]
    n_class, total = weight[:, code].sum(), weight.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        left, right, left_weight = (
            np.nan_to_num(class_weight / all_weight),
            np.nan_to_num((n_class - class_weight) / (total - all_weight)),
            all_weight / total,
        )
    gains = [_gain(measure, n_class / total, left, right, left_weight) for measure in MEASURES.values()]
    k = int(np.argmax(gains[0]))
    ends = [IMPURITY_HEIGHT * (1 - float(_entropy(np.array(side[k])))) for side in (left, right)]
    chord = f"M{IMPURITY_WIDTH * left[k]:.1f} {ends[0]:.1f}L{IMPURITY_WIDTH * right[k]:.1f} {ends[1]:.1f}"
    label = _label(column, distribution, k)
    return SplitView(
        label, float(left[k]), float(right[k]), float(left_weight[k]), tuple(float(each[k]) for each in gains), chord
    )


def _gain(
    measure: Callable[[np.ndarray], np.ndarray], parent: float, left: np.ndarray, right: np.ndarray, left_weight: np.ndarray
) -> np.ndarray:
    return measure(np.array(parent)) - left_weight * measure(left) - (1 - left_weight) * measure(right)


def _label(column: Column, distribution: Histogram | Counts, k: int) -> str:
    if not isinstance(distribution, Histogram):
        return f"{plain(column.name)} = {plain(column.levels[k])}"
    points = distribution.points()
    return f"{plain(column.name)} ≤ {shown((points[k] + points[k + 1]) / 2, column.unit)}"
