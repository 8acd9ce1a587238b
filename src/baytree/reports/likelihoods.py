"""The class-conditional distributions of naive Bayes on a page: curves, bars and words, each with what it tells."""

from __future__ import annotations

import numpy as np

from baytree.interview.belief import entropy
from baytree.interview.cells import Cells, log_likelihoods, rows_of
from baytree.reports.asking import asking
from baytree.reports.sections.column_section import MOST_LEVELS, bin_edges
from baytree.reports.subject import Subject
from baytree.show.likelihood_text import likelihood_rows
from baytree.show.report.records.model_views import BarsView, BayesView, CurveView, WordsView
from baytree.show.report.records.table_views import Bar
from baytree.show.tree.condition_text import shown
from baytree.statistics.sketch import Sketch
from baytree.summary.bayes import (
    Amount,
    IntervalShares,
    KernelDensity,
    LevelShares,
    Likelihood,
    NaiveBayesSummary,
    Normal,
    TellingWords,
)
from baytree.table.schema import Kind
from baytree.table.table import Table

WIDTH, HEIGHT = 300, 90  # of a curve
_STEPS = 72


def bayes_view(subject: Subject) -> BayesView:
    """What each column looks like in each class, the one that tells most first."""
    summary = subject.summary
    assert isinstance(summary, NaiveBayesSummary)
    told, curves = _evidence(subject), _curves(subject)
    views = [_view(each, curves, told) for each in summary.likelihoods]
    views.sort(key=lambda view: -getattr(view, "evidence", 0.0))
    return BayesView(summary.classes, summary.prior, tuple(views))


def _view(likelihood: Likelihood, curves: dict[str, CurveView], told: dict[str, float]) -> CurveView | BarsView | WordsView:
    evidence = told.get(likelihood.column, 0.0)
    match likelihood:
        case TellingWords():
            return WordsView(likelihood.column, likelihood.words)
        case Normal() | KernelDensity() if likelihood.column in curves:
            return curves[likelihood.column]
        case LevelShares():
            return _bars(likelihood.column, likelihood.levels, np.array(likelihood.probability), evidence)
        case IntervalShares():
            names = tuple(row[0] for row in likelihood_rows(likelihood))
            return _bars(likelihood.column, names, np.array(likelihood.probability), evidence)
        case Amount():
            return _bars(likelihood.column, (likelihood.quantity,), np.array([likelihood.amount]), evidence)
    names = tuple(row[0] for row in likelihood_rows(likelihood))
    return _bars(likelihood.column, names, np.array([likelihood.mean]), evidence)


def _bars(name: str, labels: tuple[str, ...], amount: np.ndarray, evidence: float) -> BarsView:
    """Bars of amounts [n_labels, n_classes]; a column whose every value was missing has no label at all."""
    if not len(amount):
        return BarsView(name, (), (), evidence, 0)
    kept = np.sort(np.argsort(-amount.max(axis=1, initial=0.0), kind="stable")[:MOST_LEVELS])
    largest = float(np.abs(amount).max(initial=0.0)) or 1.0
    bars = tuple(Bar(labels[k], tuple((np.abs(amount[k]) / largest).tolist())) for k in kept)
    texts = tuple(tuple(f"{each:.3f}" for each in amount[k]) for k in kept)
    return BarsView(name, bars, texts, evidence, len(labels) - len(kept))


def _evidence(subject: Subject) -> dict[str, float]:
    """Bits that each column is expected to tell when nothing else is known."""
    if subject.profile is None:
        return {}
    _, start, cells = asking(subject)
    prior = subject.predictor.model.answers(_nothing(subject))[0]
    pairs = zip(subject.predictor.schema.names, cells, strict=True)
    return {name: _told(each, prior) for name, each in pairs if start is not None and len(each)}


def _told(cells: Cells, prior: np.ndarray) -> float:
    joint = cells.share * prior
    weight = joint.sum(axis=1)
    after = joint / np.maximum(weight, 1e-300)[:, None]
    return max(entropy(weight @ after) - float(weight @ [entropy(each) for each in after]), 0.0)


def _nothing(subject: Subject) -> Table:
    """A row of which nothing is known."""
    schema = subject.predictor.schema
    return rows_of(schema, [np.array([np.nan if c.kind is Kind.NUMERIC else -1.0]) for c in schema.columns])


def _curves(subject: Subject) -> dict[str, CurveView]:
    """The density of each number in each class, over the range of its rows."""
    profile, schema = subject.profile, subject.predictor.schema
    if profile is None:
        return {}
    points = [_grid(seen) if isinstance(seen, Sketch) else np.zeros(0) for seen in profile.columns]
    effects = log_likelihoods(subject.predictor, points)
    told = _evidence(subject)
    found = {}
    for column, grid, effect in zip(schema.columns, points, effects or [], strict=False):
        if len(effect):
            ticks = [(WIDTH * part, _tick(grid[0] + part * (grid[-1] - grid[0]), column.unit)) for part in (0.0, 0.5, 1.0)]
            found[column.name] = CurveView(column.name, _paths(effect), tuple(ticks), told.get(column.name, 0.0))
    return found


def _tick(value: float, unit: str | None) -> str:
    return shown(value if unit else float(f"{value:.4g}"), unit)


def _grid(seen: Sketch) -> np.ndarray:
    low, high = bin_edges(seen.points(), seen.counts.known().sum(axis=1))
    if not high > low:
        return np.zeros(0)
    room = 0.08 * (high - low)
    first = low - room if low < 0 else max(low - room, 0.0)  # what is never negative, such as a count, is not drawn so
    return np.linspace(first, high + room, _STEPS)


def _paths(effect: np.ndarray) -> tuple[str, ...]:
    """The curves of all classes under one common height."""
    finite = np.where(np.isfinite(effect), effect, -np.inf)
    density = np.exp(finite - finite.max())
    x = np.linspace(0, WIDTH, len(effect))
    return tuple(_path(x, HEIGHT - (HEIGHT - 4) * density[:, c]) for c in range(effect.shape[1]))


def _path(x: np.ndarray, y: np.ndarray) -> str:
    kept = np.ones(len(y), bool)
    flat = y > HEIGHT - 0.05  # where nothing is to be seen, two points do
    kept[1:-1] = ~(flat[1:-1] & flat[:-2] & flat[2:])
    points = "L".join(f"{a:.0f} {b:.1f}" for a, b in zip(x[kept], y[kept], strict=True))
    return f"M0 {HEIGHT}L{points}L{WIDTH} {HEIGHT}Z"
