"""Page records of splines and additive models: the contribution of each column, and of each pair, over their range.

The contribution of a group of terms depends only on the group's columns, so explanations of rows in which only these columns
vary trace the function.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from baytree.data.schema.column import Column, Kind
from baytree.interview.answer_cells import rows_of
from baytree.rendering.page.model_views import FunctionsView, FunctionView, SurfaceView
from baytree.rendering.tree_text import shown
from baytree.reporting.columns import bin_edges
from baytree.reporting.distributions import CURVE_HEIGHT, CURVE_WIDTH
from baytree.reporting.subject import ReportSubject
from baytree.statistics.profile import Histogram
from baytree.summary.additive import AdditiveSummary
from baytree.summary.linear import SplineSummary

_GRID_POINTS, _GRID_CELLS = 121, 16  # points of a function, and cells along each side of the grid of a pair

_MAX_PAIRS, _MAX_LEVELS = 12, 24  # pairs of columns and levels of a column that are drawn


def functions_view(subject: ReportSubject) -> FunctionsView | None:
    """Functions of the columns, the widest range first; None without a profile, or if no column is used."""
    summary = subject.summary
    assert isinstance(summary, (SplineSummary, AdditiveSummary))
    if subject.profile is None or not summary.columns:
        return None
    drawing = _Drawing(subject, summary)
    columns, pairs = drawing.columns(), drawing.pairs()
    unit = subject.predictor.schema.target.name if not subject.classes else "log-odds"
    return FunctionsView(unit, drawing.scores, columns, tuple(pairs[:_MAX_PAIRS]), max(len(pairs) - _MAX_PAIRS, 0))


class _Drawing:
    def __init__(self, subject: ReportSubject, summary: SplineSummary | AdditiveSummary) -> None:
        self.subject, self.schema = subject, subject.predictor.schema
        self.used = [j for j, name in enumerate(self.schema.names) if name in summary.columns]
        self.points = {j: self._points(j, _GRID_POINTS) for j in self.used}
        self.first = 1 if len(subject.classes) == 2 else 0  # for two classes, the score is that of the second
        self.scores = subject.classes[self.first :] or (self.schema.target.name,)

    def columns(self) -> tuple[FunctionView, ...]:
        """Function of each column with terms of its own, on a common scale, the widest range first."""
        effects = [(j, effect) for j in self.used if (effect := self._effect((j,), self.points[j][None])) is not None]
        largest = max((float(np.abs(effect).max()) for _, effect in effects), default=0.0) or 1.0
        effects.sort(key=lambda each: -float(np.ptp(each[1], axis=0).max()))
        return tuple(self._function(j, effect, largest) for j, effect in effects)

    def pairs(self) -> list[SurfaceView]:
        """Raster for each pair of columns and each score that it affects."""
        return [view for pair in combinations(self.used, 2) for view in self._surfaces(pair)]

    def _function(self, j: int, effect: np.ndarray, largest: float) -> FunctionView:
        column, points = self.schema.columns[j], self.points[j]
        y = CURVE_HEIGHT / 2 - (CURVE_HEIGHT / 2 - 4) * effect / largest
        is_number = column.kind is Kind.NUMERIC
        paths = tuple((_line if is_number else _levels)(y[:, k]) for k in range(y.shape[1]))
        places = (0, len(points) // 2, len(points) - 1) if is_number else range(min(len(points), 6))
        step = CURVE_WIDTH / (len(points) - 1) if is_number else CURVE_WIDTH / len(points)
        ticks = [(step * (k if is_number else k + 0.5), _label(column, points[k])) for k in dict.fromkeys(places)]
        return FunctionView(column.name, paths, tuple(ticks), f"{largest:.4g}")

    def _surfaces(self, pair: tuple[int, int]) -> list[SurfaceView]:
        across, upwards = (self._points(j, _GRID_CELLS) for j in pair)
        grid = np.stack([np.tile(across, len(upwards)), np.repeat(upwards[::-1], len(across))])
        effect = self._effect(pair, grid)
        if effect is None:
            return []
        largest = float(np.abs(effect).max()) or 1.0
        own = [self.schema.columns[j] for j in pair]
        left, right, bottom, top = (
            _label(each, x) for each, points in zip(own, (across, upwards), strict=True) for x in points[[0, -1]]
        )
        return [
            SurfaceView(
                own[0].name, own[1].name, score, (left, right, bottom, top), (len(across), len(upwards)),
                tuple(np.round(effect[:, k] / largest, 3).tolist()), f"{largest:.4g}",
            )
            for k, score in enumerate(self.scores) if np.ptp(effect[:, k]) > 0
        ]  # fmt: skip

    def _effect(self, columns: tuple[int, ...], points: np.ndarray) -> np.ndarray | None:
        """Contribution of these columns at the points [n_columns, n_points]: [n_points, n_scores]; None if there is none."""
        values = [np.full(points.shape[1], self._points(j, 2)[0]) for j in range(len(self.schema))]
        for j, own in zip(columns, points, strict=True):
            values[j] = own
        name = " × ".join(self.schema.columns[j].name for j in columns)
        explanations = self.subject.predictor.model.explain(rows_of(self.schema, values))
        effects = [[line.effect for line in explanation.evidence if line.column == name] for explanation in explanations]
        return np.array([each[0] for each in effects])[:, self.first :] if effects[0] else None

    def _points(self, j: int, steps: int) -> np.ndarray:
        """Numbers over the range of the rows, or the codes of levels."""
        column = self.schema.columns[j]
        statistics = self.subject.profile.columns[j] if self.subject.profile else None
        if column.kind is Kind.NUMERIC and isinstance(statistics, Histogram):
            return np.linspace(*bin_edges(statistics.points(), statistics.counts.known().sum(axis=1)), steps)
        return np.arange(float(min(len(column.levels), _MAX_LEVELS)))


def _label(column: Column, point: float) -> str:
    return shown(float(f"{point:.3g}"), column.unit) if column.kind is Kind.NUMERIC else column.show(int(point))


def _line(y: np.ndarray) -> str:
    """Line through all points; points within straight pieces are omitted."""
    x = np.linspace(0, CURVE_WIDTH, len(y))
    is_kept = np.ones(len(y), bool)
    is_kept[1:-1] = np.abs(y[2:] - 2 * y[1:-1] + y[:-2]) > 1e-6
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x[is_kept], y[is_kept], strict=True))


def _levels(y: np.ndarray) -> str:
    """A dash for each level."""
    step = CURVE_WIDTH / len(y)
    return "".join(f"M{step * (k + 0.15):.1f} {b:.1f}H{step * (k + 0.85):.1f}" for k, b in enumerate(y))
