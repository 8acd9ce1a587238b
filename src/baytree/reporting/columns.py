"""The columns of a table as a page shows them, from the profile alone.

Impurity measures as curves over the share of one class, with the best split of each column of this table on them.
"""

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

MOST_LEVELS = 12

BINS = 24


def table_view(schema: Schema, profile: Profile) -> TableView:
    """The columns, the one that tells most about the target first."""
    is_classes = schema.target.classes is not None
    views = [column_view(c, seen, is_classes) for c, seen in zip(schema.columns, profile.columns, strict=True)]
    views.sort(key=lambda view: -(view.gain or 0.0))
    noted = {note.column for note in schema.notes}
    notes = [f"{name} only identifies rows, and is not learnt from." for name in schema.left_out if name not in noted]
    notes += map(str, schema.notes)
    if is_classes:
        notes.append("Columns by what they tell about the target: bits of information, a number cut at its one best place.")
    return TableView(tuple(views), tuple(map(str, schema.classes)), tuple(notes))


def column_view(column: Column, seen: Histogram | Counts, is_classes: bool) -> ColumnView:
    """One column."""
    counts = seen.counts if isinstance(seen, Histogram) else seen
    cells = counts.cells.rounded()
    missing = float(cells[0].sum() / cells.sum()) if cells.sum() else 0.0
    gain, split = told_by(column, seen) if is_classes and column.kind is not Kind.TEXT else (None, "")
    bars, cut, paths, ends = [], 0, (), ("", "")
    if isinstance(seen, Histogram):
        paths, ends = _histogram(column, seen.points(), cells[1:])
    elif column.kind is not Kind.TEXT:
        bars, cut = _levels(column, cells[1:])
    told = (column.name, column.kind.value, _extent(column, seen), missing, gain, split)
    return ColumnView(*told, tuple(bars), paths, ends, cut)


def told_by(column: Column, seen: Histogram | Counts) -> tuple[float, str]:
    """Bits that a column saves about the class, and the cut by which a number does."""
    if isinstance(seen, Counts):
        cells = seen.cells.rounded()
        return _saved(cells[1:], cells.sum()), ""
    weight, points = seen.counts.known(), seen.points()
    if len(points) < 2:
        return 0.0, ""
    below = np.cumsum(weight, axis=0)[:-1]
    gains = _gains(below, weight.sum(axis=0))
    best = int(np.argmax(gains))
    known = weight.sum() / max(seen.counts.cells.rounded().sum(), 1e-300)
    return float(gains[best] * known), f"≤ {shown((points[best] + points[best + 1]) / 2, column.unit)}"


def _gains(left: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """The information gain of each way to part a whole in two: [n_ways]."""
    right, total = whole - left, whole.sum()
    parts = (entropy(side) * side.sum(axis=1) for side in (left, right))
    return np.maximum(entropy(whole[None])[0] - sum(parts) / total, 0.0)


def _saved(groups: np.ndarray, total: float) -> float:
    weight = groups.sum(axis=1)
    known = groups.sum(axis=0)
    if not weight.sum():
        return 0.0
    return max(float((entropy(known[None])[0] * weight.sum() - (entropy(groups) * weight).sum()) / total), 0.0)


def _extent(column: Column, seen: Histogram | Counts) -> str:
    if isinstance(seen, Histogram):
        return f"{shown(seen.edges[0], column.unit)} to {shown(seen.edges[-1], column.unit)}" if len(seen.edges) else ""
    n = len(column.levels)
    words = "words" if column.kind is Kind.TEXT else "levels" if n != 1 else "level"
    return f"{n:,} {words}"


def bin_edges(points: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """The range of a picture: all numbers, without the last half per cent on either side where these lie far away."""
    finite = np.isfinite(points)
    points, weight = points[finite], weight[finite]
    if not len(points):
        return 0.0, 1.0
    reached = np.cumsum(weight) / weight.sum()
    low, high = points[np.searchsorted(reached, 0.005)], points[min(np.searchsorted(reached, 0.995), len(points) - 1)]
    room = high - low
    return float(max(points[0], low - room / 2)), float(min(points[-1], high + room / 2))


def _histogram(column: Column, points: np.ndarray, weight: np.ndarray) -> tuple[tuple[str, ...], tuple[str, str]]:
    """A path of bars for each class, upon those of the classes before, and the ends of the axis."""
    if not len(points):
        return (), ("", "")
    low, high = bin_edges(points, weight.sum(axis=1))
    n = min(BINS, len(points))
    with np.errstate(invalid="ignore"):
        place = np.nan_to_num((points - low) / ((high - low) or 1.0) * n, nan=0.0).clip(0, n - 1).astype(int)
    total = np.zeros((n, weight.shape[1]))
    np.add.at(total, place, weight)
    heights = total * 60 / max(float(total.sum(axis=1).max()), 1e-300)
    tops, width = 60 - np.cumsum(heights, axis=1), 240 / n
    paths = ["".join(_block(k * width, tops[k, c], width, heights[k, c]) for k in range(n)) for c in range(weight.shape[1])]
    return tuple(paths), (shown(low, column.unit), shown(high, column.unit))


def _block(left: float, top: float, width: float, height: float) -> str:
    if height < 0.05:
        return ""
    return f"M{left + 0.4:.1f} {top:.1f}h{width - 0.8:.1f}v{height:.1f}h{0.8 - width:.1f}z"


def _levels(column: Column, weight: np.ndarray) -> tuple[list[Bar], int]:
    kept = np.sort(np.argsort(-weight.sum(axis=1), kind="stable")[:MOST_LEVELS])
    names = [str(column.levels[k]) for k in kept]
    return _bars(names, weight[kept], float(weight.max(initial=0.0))), len(weight) - len(kept)


def _bars(names: list[str], weight: np.ndarray, largest: float) -> list[Bar]:
    shares = weight / (largest or 1.0)
    return [Bar(name, tuple(row)) for name, row in zip(names, shares.tolist(), strict=True)]


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


def impurity_view(subject: ReportSubject) -> ImpurityView:
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


def _best(column: Column, seen: Histogram | Counts, code: int) -> SplitView | None:
    """The cut, or the level against all others, that lowers the entropy of the one class most."""
    counts = seen.counts if isinstance(seen, Histogram) else seen
    weight = counts.known()
    if len(weight) < 2 or not weight.sum():
        return None
    own, every = weight[:, code], weight.sum(axis=1)
    if isinstance(seen, Histogram):
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


def _label(column: Column, seen: Histogram | Counts, k: int) -> str:
    if not isinstance(seen, Histogram):
        return f"{plain(column.name)} = {plain(column.levels[k])}"
    points = seen.points()
    return f"{plain(column.name)} ≤ {shown((points[k] + points[k + 1]) / 2, column.unit)}"
