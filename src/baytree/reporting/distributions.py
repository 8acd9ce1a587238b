"""Page records of distributions: naive Bayes columns, Gaussian classes as ellipses, joint tables as bars."""

from __future__ import annotations

from collections.abc import Set
from itertools import combinations

import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.display.terminal import number
from baytree.interview.answer_cells import AnswerCells, log_likelihoods, rows_of
from baytree.interview.posterior import entropy
from baytree.naive_bayes.dependence import dependence_of
from baytree.rendering.model_text import likelihood_rows
from baytree.rendering.page.model_views import (
    BarsView,
    BayesView,
    CombinationView,
    CurveView,
    DependenceLine,
    DependenceView,
    EllipsesView,
    EllipseView,
    JointView,
    PairView,
    WordsView,
)
from baytree.rendering.page.table_views import Bar
from baytree.rendering.tree_text import shown
from baytree.reporting.columns import MAX_LEVEL_BARS, best_gain, bin_edges
from baytree.reporting.interactive import interview_payload
from baytree.reporting.subject import ReportSubject
from baytree.statistics.profile import Histogram
from baytree.summary.linear import QuadraticSummary
from baytree.summary.naive_bayes import (
    Amount,
    IntervalShares,
    JointSummary,
    KernelDensity,
    LevelShares,
    Likelihood,
    NaiveBayesSummary,
    Normal,
    TellingWords,
)

CURVE_WIDTH, CURVE_HEIGHT = 300, 90  # units of a drawn curve, as in the viewBox of the templates

_GRID_POINTS = 72  # of a density curve: one per four units of its width


def bayes_view(subject: ReportSubject) -> BayesView:
    """Distributions of each column per class, the most informative column first."""
    summary = subject.summary
    assert isinstance(summary, NaiveBayesSummary)
    evidence, curves = _evidence(subject), _curves(subject)
    views = [_view(each, curves, evidence) for each in summary.likelihoods]
    views.sort(key=lambda view: -getattr(view, "evidence", 0.0))
    return BayesView(summary.classes, summary.prior, tuple(views))


MAX_COMPARED_COLUMNS = 30  # 435 pairs, well below a second for 10,000 rows

MAX_DEPENDENT_PAIRS = 8

_MAX_P = 0.05  # of a dependence that is shown, corrected for the number of pairs


def dependence_view(subject: ReportSubject) -> DependenceView | None:
    """Pairs of columns that depend most on each other given the class, on the rows of the page; None without rows."""
    if subject.evaluated is None or subject.profile is None or len(subject.classes) < 2:
        return None
    rows, columns = subject.evaluated.table, subject.predictor.schema.columns
    usable = [j for j, column in enumerate(columns) if column.kind is not Kind.TEXT]
    gain = {j: best_gain(columns[j], subject.profile.columns[j])[0] for j in usable}
    chosen = sorted(sorted(usable, key=lambda j: -gain[j])[:MAX_COMPARED_COLUMNS])
    if len(chosen) < 2:
        return None
    found = dependence_of(rows, chosen)
    dependent = [pair for pair in found.pairs if pair.fdr < _MAX_P]
    lines = tuple(
        DependenceLine(pair.columns, pair.bits, min(pair.share, 1.0), f"{pair.fdr:.1g}")
        for pair in dependent[:MAX_DEPENDENT_PAIRS]
    )
    note = f"Of {len(usable):,} columns, the {len(chosen)} most informative are compared." * (len(chosen) < len(usable))
    return DependenceView(lines, len(dependent), len(found.pairs), len(rows), note)


def _view(
    likelihood: Likelihood, curves: dict[str, CurveView], gain_of_column: dict[str, float]
) -> CurveView | BarsView | WordsView:
    evidence = gain_of_column.get(likelihood.column, 0.0)
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
    """Bars of amounts [n_labels, n_classes]; a column with only missing values has no labels."""
    if not len(amount):
        return BarsView(name, (), (), evidence, 0)
    selected = np.sort(np.argsort(-amount.max(axis=1, initial=0.0), kind="stable")[:MAX_LEVEL_BARS])
    largest = float(np.abs(amount).max(initial=0.0)) or 1.0
    bars = tuple(Bar(labels[k], tuple((np.abs(amount[k]) / largest).tolist())) for k in selected)
    texts = tuple(tuple(f"{each:.3f}" for each in amount[k]) for k in selected)
    return BarsView(name, bars, texts, evidence, len(labels) - len(selected))


def _evidence(subject: ReportSubject) -> dict[str, float]:
    """Expected information of each column in bits if nothing else is known."""
    if subject.profile is None:
        return {}
    _, start, cells = interview_payload(subject)
    prior = subject.predictor.model.predict(_missing_row(subject))[0]
    pairs = zip(subject.predictor.schema.names, cells, strict=True)
    return {name: _expected_gain(each, prior) for name, each in pairs if start is not None and len(each)}


def _expected_gain(cells: AnswerCells, prior: np.ndarray) -> float:
    joint = cells.share * prior
    weight = joint.sum(axis=1)
    after = joint / np.maximum(weight, 1e-300)[:, None]
    return max(entropy(weight @ after) - float(weight @ [entropy(each) for each in after]), 0.0)


def _missing_row(subject: ReportSubject) -> Table:
    """Row with all values missing."""
    schema = subject.predictor.schema
    return rows_of(schema, [np.array([np.nan if c.kind is Kind.NUMERIC else -1.0]) for c in schema.columns])


def _curves(subject: ReportSubject) -> dict[str, CurveView]:
    """Density of each numeric column in each class, over the range of its rows."""
    profile, schema = subject.profile, subject.predictor.schema
    if profile is None:
        return {}
    points = [
        _grid(distribution) if isinstance(distribution, Histogram) else np.zeros(0) for distribution in profile.columns
    ]
    effects = log_likelihoods(subject.predictor, points)
    evidence = _evidence(subject)
    views = {}
    for column, grid, effect in zip(schema.columns, points, effects or [], strict=False):
        if len(effect):
            ticks = [
                (CURVE_WIDTH * part, _tick(grid[0] + part * (grid[-1] - grid[0]), column.unit)) for part in (0.0, 0.5, 1.0)
            ]
            views[column.name] = CurveView(column.name, _paths(effect), tuple(ticks), evidence.get(column.name, 0.0))
    return views


def _tick(value: float, unit: str | None) -> str:
    return shown(value if unit else float(f"{value:.4g}"), unit)


def _grid(distribution: Histogram) -> np.ndarray:
    low, high = bin_edges(distribution.points(), distribution.counts.known().sum(axis=1))
    if not high > low:
        return np.zeros(0)
    margin = 0.08 * (high - low)
    first = (
        low - margin if low < 0 else max(low - margin, 0.0)
    )  # columns that are never negative, such as counts, are not drawn below 0
    return np.linspace(first, high + margin, _GRID_POINTS)


def _paths(effect: np.ndarray) -> tuple[str, ...]:
    """Curves of all classes with a common maximum."""
    finite = np.where(np.isfinite(effect), effect, -np.inf)
    density = np.exp(finite - finite.max())
    x = np.linspace(0, CURVE_WIDTH, len(effect))
    return tuple(_path(x, CURVE_HEIGHT - (CURVE_HEIGHT - 4) * density[:, c]) for c in range(effect.shape[1]))


def _path(x: np.ndarray, y: np.ndarray) -> str:
    is_kept = np.ones(len(y), bool)
    is_flat = y > CURVE_HEIGHT - 0.05  # points on the baseline carry no information
    is_kept[1:-1] = ~(is_flat[1:-1] & is_flat[:-2] & is_flat[2:])
    points = "L".join(f"{a:.0f} {b:.1f}" for a, b in zip(x[is_kept], y[is_kept], strict=True))
    return f"M0 {CURVE_HEIGHT}L{points}L{CURVE_WIDTH} {CURVE_HEIGHT}Z"


ELLIPSES_WIDTH, ELLIPSES_HEIGHT = 300, 200  # units of the drawing of a pair of features, as in the viewBox of the template

MAX_ELLIPSE_FEATURES = 4  # features whose six pairs are drawn

MAX_ELLIPSE_CLASSES = 8  # classes drawn in a pair: as many as there are colours

_DRAWN_DEVIATIONS = 2.4  # standard deviations around each class that are drawn: the ellipse of two, with a margin

_ANGLES = np.linspace(0, 2 * np.pi, 48, endpoint=False)


def ellipses_view(summary: QuadraticSummary, numbers: Set[str]) -> EllipsesView | None:
    """Classes over each pair of the features that separate them best, numbers first; None without two such features."""
    if not summary.covariance or len(summary.features) < 2:
        return None
    mean, covariance = np.array(summary.mean).T, np.array(summary.covariance)  # [classes, features (, features)]
    deviation = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    usable = np.flatnonzero((np.isfinite(deviation) & (deviation > 0) & (deviation < 1e100)).all(axis=0))
    if len(usable) < 2:
        return None
    separation = mean.std(axis=0)[usable] / deviation[:, usable].mean(axis=0)
    is_other = [summary.features[j] not in numbers for j in usable]
    order = np.lexsort((-separation, is_other))
    selected = usable[order[: max(2, min(MAX_ELLIPSE_FEATURES, is_other.count(False)))]]
    pairs = tuple(
        _pair(summary, mean[:, [i, j]], covariance[:, [[i], [j]], [i, j]], (i, j)) for i, j in combinations(selected, 2)
    )
    return EllipsesView(summary.classes, summary.prior, pairs, len(summary.features) - len(selected))


def _pair(summary: QuadraticSummary, mean: np.ndarray, covariance: np.ndarray, features: tuple[int, int]) -> PairView:
    reach = _DRAWN_DEVIATIONS * np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    low, high = (mean - reach).min(axis=0), (mean + reach).max(axis=0)
    unit = np.array([ELLIPSES_WIDTH, -ELLIPSES_HEIGHT]) / (high - low)
    start = np.array([0, ELLIPSES_HEIGHT])
    classes = range(min(len(mean), MAX_ELLIPSE_CLASSES))
    ellipses = tuple(_ellipse(k, start + unit * (mean[k] - low), unit[:, None] * _root(covariance[k])) for k in classes)
    ends = (low[0], high[0], low[1], high[1])
    x_feature, y_feature = (summary.features[j] for j in features)
    return PairView(x_feature, y_feature, tuple(f"{end:.4g}" for end in ends), ellipses)  # type: ignore


def _root(covariance: np.ndarray) -> np.ndarray:
    """Factor of a 2 × 2 covariance, which maps the unit circle to the ellipse."""
    value, vector = np.linalg.eigh(covariance)
    return vector * np.sqrt(np.maximum(value, 0.0))


def _ellipse(class_code: int, centre: np.ndarray, factor: np.ndarray) -> EllipseView:
    circle = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)])
    inner, outer = (_outline(centre[:, None] + size * factor @ circle) for size in (1.0, 2.0))
    return EllipseView(class_code, float(centre[0]), float(centre[1]), inner, outer)


def _outline(points: np.ndarray) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points.T) + "Z"


def joint_view(summary: JointSummary, classes: tuple[str, ...]) -> JointView:
    """The heaviest combinations of levels, each split by class."""
    proportions: dict[tuple[str, ...], dict[int, float]] = {}
    for each in summary.heaviest:
        proportions.setdefault(each.levels, {})[classes.index(each.label)] = each.share
    longest = max((sum(each.values()) for each in proportions.values()), default=1.0) or 1.0
    order = sorted(proportions.items(), key=lambda each: -sum(each[1].values()))
    lines = tuple(_combination(summary, levels, proportion_of_class, longest) for levels, proportion_of_class in order)
    return JointView(classes, lines, summary.occurring, number(float(summary.possible)))


def _combination(
    summary: JointSummary, levels: tuple[str, ...], proportion_of_class: dict[int, float], longest: float
) -> CombinationView:
    tests = tuple(f"{column} = {level}" for column, level in zip(summary.columns, levels, strict=True))
    parts, start = [], 0.0
    for class_code, proportion in sorted(proportion_of_class.items()):
        parts.append((class_code, start, 100 * proportion / longest))
        start += 100 * proportion / longest
    return CombinationView(tests, sum(proportion_of_class.values()), tuple(parts))
