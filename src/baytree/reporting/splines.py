"""Page records of splines and additive models: the contribution of each column, and of each pair, over their range.

The contribution of a group of terms depends only on the group's columns, so explanations of rows in which only these columns
vary trace the function.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from baytree.additive.model import AdditiveModel
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

_BAND = 2.0  # standard errors on each side of a curve

_DENSITY_BINS, _DENSITY_HEIGHT = 40, 16.0  # bins and height of the area that shows where the rows lie

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
    has_bands = any(column.bands for column in columns)
    n_hidden = max(len(pairs) - _MAX_PAIRS, 0)
    return FunctionsView(unit, drawing.scores, columns, tuple(pairs[:_MAX_PAIRS]), n_hidden, has_bands)


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
        positions = (0, len(points) // 2, len(points) - 1) if is_number else range(min(len(points), 6))
        step = CURVE_WIDTH / (len(points) - 1) if is_number else CURVE_WIDTH / len(points)
        ticks = [(step * (k if is_number else k + 0.5), _label(column, points[k])) for k in dict.fromkeys(positions)]
        errors = self._errors(j, points)
        per_unit = (CURVE_HEIGHT / 2 - 4) / largest
        bands = [_band(y[:, k], _BAND * per_unit * errors[:, k], is_number=is_number) for k in range(errors.shape[1])]
        return FunctionView(column.name, paths, tuple(ticks), f"{largest:.4g}", tuple(bands), self._rows(j))

    def _errors(self, j: int, points: np.ndarray) -> np.ndarray:
        """Standard errors of an additive model's curve at the points; no columns for splines. [n_points, n_scores]"""
        model = self.subject.predictor.model
        term = next((t for t in getattr(model, "terms", ()) if getattr(t, "columns", None) == (j,)), None)
        if not isinstance(model, AdditiveModel) or term is None:
            return np.empty((len(points), 0))
        column = self.schema.columns[j]
        return term.errors[term.axes[0].bins(points if column.kind is Kind.NUMERIC else points.astype(np.int32))]

    def _rows(self, j: int) -> str:
        """Area that shows where the training rows lie along a numeric column."""
        statistics = self.subject.profile.columns[j] if self.subject.profile else None
        if not isinstance(statistics, Histogram):
            return ""
        low, high = self.points[j][[0, -1]]
        if not high > low:
            return ""
        weight = statistics.counts.known().sum(axis=1)
        height, _ = np.histogram(statistics.points().clip(low, high), _DENSITY_BINS, (low, high), weights=weight)
        y = CURVE_HEIGHT - _DENSITY_HEIGHT * height / max(float(height.max()), 1e-300)
        step = CURVE_WIDTH / _DENSITY_BINS
        steps = "".join(f"V{top:.1f}H{step * (k + 1):.1f}" for k, top in enumerate(y))
        return f"M0 {CURVE_HEIGHT}{steps}V{CURVE_HEIGHT}Z"

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


def _band(y: np.ndarray, half: np.ndarray, *, is_number: bool) -> str:
    """Area around a line, or a box around the dash of each level, within the box of the curve."""
    low, high = (np.clip(side, 0, CURVE_HEIGHT) for side in (y - half, y + half))
    if not is_number:
        step = CURVE_WIDTH / len(y)
        sides = [(step * (k + 0.15), step * (k + 0.85)) for k in range(len(y))]
        return "".join(f"M{a:.1f} {t:.1f}H{b:.1f}V{u:.1f}H{a:.1f}Z" for (a, b), t, u in zip(sides, low, high, strict=True))
    x = np.linspace(0, CURVE_WIDTH, len(y))
    outline = [*zip(x, low, strict=True), *zip(x[::-1], high[::-1], strict=True)]
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in outline) + "Z"


def _levels(y: np.ndarray) -> str:
    """A dash for each level."""
    step = CURVE_WIDTH / len(y)
    return "".join(f"M{step * (k + 0.15):.1f} {b:.1f}H{step * (k + 0.85):.1f}" for k, b in enumerate(y))
