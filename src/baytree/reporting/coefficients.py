"""Page records of linear models: coefficients with intervals and odds ratios, and nomograms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from baytree.data.schema.column import Column, Kind
from baytree.display.terminal import number
from baytree.interview.answer_cells import rows_of
from baytree.rendering.page.model_views import (
    CoefficientGroup,
    CoefficientsView,
    CoefficientView,
    NomogramScale,
    NomogramView,
)
from baytree.rendering.scorecard_text import log_odds_scale
from baytree.rendering.tree_text import shown
from baytree.reporting.subject import ReportSubject
from baytree.statistics.profile import Histogram
from baytree.summary.linear import Coefficient, LinearSummary, RegressionSummary, Slope
from baytree.summary.scorecard import ScorecardSummary

# Lengths of lists on a page: enough to see the pattern, few enough to read.

MAX_COEFFICIENTS = 40  # per class

MAX_NOMOGRAM_COLUMNS = 24  # models of more columns get no nomogram, which would not fit a sheet of paper

MAX_NOMOGRAMS = 3  # one per class but the first; models of more classes get none

_AXIS_PROBABILITIES = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)


def coefficients_view(summary: LinearSummary) -> CoefficientsView:
    """Coefficients of each class, the largest per standard deviation first."""
    by_class: dict[str, list[Coefficient]] = {}
    for each in summary.coefficients:
        by_class.setdefault(str(each.label), []).append(each)
    groups = [_group(label, class_code, lines) for class_code, (label, lines) in enumerate(by_class.items())]
    comparison = f"against {summary.base}" if summary.base else "of each class"
    references = "; ".join(f"{column}: {level}" for column, level in summary.references[:12])
    bound = ", ".join(dict.fromkeys(each.feature for each in summary.coefficients if each.is_bound))
    note = (
        f"Log-odds {comparison} per unit of a feature; bars per standard deviation."
        + (f" Reference levels: {references}." if references else "")
        + (f" Held at 0 by a monotonicity constraint: {bound}." if bound else "")
    )
    has_intervals = any(each.interval is not None for each in summary.coefficients)
    return CoefficientsView(tuple(groups), note, True, has_intervals)


def slopes_view(summary: RegressionSummary) -> CoefficientsView:
    """Coefficients of a linear regression."""
    note = f"Change of {summary.target} per unit of a feature; bars per standard deviation."
    has_intervals = any(each.interval is not None for each in summary.slopes)
    return CoefficientsView((_group("", 0, summary.slopes),), note, False, has_intervals)


def _group(label: str, class_code: int, lines: Sequence[Coefficient | Slope]) -> CoefficientGroup:
    intercepts = [each for each in lines if not each.column]
    others = sorted((each for each in lines if each.column), key=lambda each: -abs(each.importance))
    ends = [end for each in others[:MAX_COEFFICIENTS] for end in _ends(each)]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    span = (high - low) or 1.0
    shown_lines = tuple(_line(each, low, span) for each in [*intercepts, *others[:MAX_COEFFICIENTS]])
    return CoefficientGroup(label, class_code, 100 * -low / span, shown_lines, max(len(others) - MAX_COEFFICIENTS, 0))


def _ends(line: Coefficient | Slope) -> tuple[float, float, float]:
    """Coefficient per standard deviation, and the ends of its interval in the same unit."""
    if line.interval is None or not line.estimate:
        return (line.importance,) * 3
    unit = line.importance / line.estimate
    return line.importance, min(unit * end for end in line.interval), max(unit * end for end in line.interval)


def _line(line: Coefficient | Slope, low: float, room: float) -> CoefficientView:
    dot, low_end, high_end = (100 * (end - low) / room for end in (_ends(line) if line.column else (0.0, 0.0, 0.0)))
    start = 100 * -low / room
    if line.interval is None:
        low_end, high_end = min(start, dot), max(start, dot)
    interval = "" if line.interval is None else f"{line.interval[0]:.3g} to {line.interval[1]:.3g}"
    p = "" if line.p is None else "< 0.001" if line.p < 0.001 else f"{line.p:.3f}"
    ratio = f"{line.odds_ratio:.4g}" if isinstance(line, Coefficient) and line.column else ""
    return CoefficientView(line.feature, f"{line.estimate:.4g}", ratio, interval, p, dot, low_end, high_end)


def nomograms(subject: ReportSubject) -> list[NomogramView]:
    """Nomogram of each class against the first, if there are few columns and classes; else an empty list."""
    schema, classes = subject.predictor.schema, subject.classes
    if subject.profile is None or not 1 < len(schema) <= MAX_NOMOGRAM_COLUMNS or len(classes) > MAX_NOMOGRAMS + 1:
        return []
    if any(column.kind is Kind.TEXT for column in schema.columns):
        return []
    ticks = [_ticks(c, distribution) for c, distribution in zip(schema.columns, subject.profile.columns, strict=True)]
    if not all(ticks):  # a column without values has no scale
        return []
    start, effects = _effects(subject, [[value for value, _ in each] for each in ticks])
    if isinstance(subject.summary, ScorecardSummary):  # points to log-odds
        per_point, shift = log_odds_scale(subject.summary)
        start, effects = start * per_point, [each * per_point for each in effects]
        start[subject.classes.index(subject.summary.good)] += shift
    return [_nomogram(subject, c, start, effects, ticks) for c in range(1, len(classes))]


def _ticks(column: Column, distribution: object) -> list[tuple[float, str]]:
    if not isinstance(distribution, Histogram):
        return [(float(code), str(level)) for code, level in enumerate(column.levels[:8])]
    if not len(distribution.edges):
        return []
    low, high = float(distribution.edges[0]), float(distribution.points()[-1])
    step = _round_step((high - low) / 5)
    values = (np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step).tolist()
    return [(each, shown(each, column.unit)) for each in values]


def _round_step(size: float) -> float:
    if not size > 0:
        return 1.0
    unit = 10.0 ** np.floor(np.log10(size))
    return float(unit * next(factor for factor in (1, 2, 2.5, 5, 10) if factor * unit >= size))


def _effects(subject: ReportSubject, values: list[list[float]]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Start, and the contribution of each value of each column to the scores: [n_values, n_classes] each."""
    n, schema = max(map(len, values)), subject.predictor.schema
    rows = rows_of(schema, [np.resize(np.array(each), n) for each in values])
    explanations = subject.predictor.model.explain(rows)
    by_name = [{line.column: line.effect for line in explanation.evidence} for explanation in explanations]
    no_effect = np.zeros(len(subject.classes))
    return explanations[0].start, [
        np.array([by_name[k].get(column.name, no_effect) for k in range(len(each))])
        for column, each in zip(schema.columns, values, strict=True)
    ]


def _nomogram(
    subject: ReportSubject, c: int, start: np.ndarray, effects: list[np.ndarray], ticks: list[list[tuple[float, str]]]
) -> NomogramView:
    scores = [effect[:, c] - effect[:, 0] for effect in effects]
    lowest = [float(scores_of_column.min()) for scores_of_column in scores]
    unit = (
        max(float(scores_of_column.max()) - low for scores_of_column, low in zip(scores, lowest, strict=True)) or 1.0
    ) / 100
    names = subject.predictor.schema.names
    scales = [_scale(*scores_of_column, unit) for scores_of_column in zip(names, scores, lowest, ticks, strict=True)]
    max_total = sum(scale.high for scale in scales) or 1.0
    base = float(start[c] - start[0]) + sum(lowest)
    label = f"{subject.classes[c]} rather than {subject.classes[0]}"
    points = tuple((float(k), str(k), 0) for k in range(0, 101, 10))
    total = tuple(
        (100 * scores_of_column / max_total, number(scores_of_column), 0)
        for scores_of_column in np.arange(0, max_total, _round_step(max_total / 10)).tolist()
    )
    suffix = "" if len(subject.classes) == 2 else f"-{c}"
    heading = "Nomogram" if len(subject.classes) == 2 else f"Nomogram {c}"
    return NomogramView(
        label, points, tuple(scales), total, _probability_ticks(base, unit, max_total), f"nomogram{suffix}", heading
    )


def _scale(name: str, scores: np.ndarray, lowest: float, ticks: list[tuple[float, str]], unit: float) -> NomogramScale:
    """Ticks of a column at their points; labels that would overlap alternate above and below the line."""
    positions = ((scores - lowest) / unit).tolist()
    order = sorted(range(len(ticks)), key=lambda k: positions[k])
    labelled, last = [], [-99.0, -99.0]
    for k in order:
        text, position = ticks[k][1], positions[k]
        width = 0.62 * min(len(text), 16) + 1.5  # half the width of a label, in points
        row = 0 if position - last[0] > width else 1
        is_free = position - last[row] > width
        labelled.append((position, text if is_free else "", row))
        if is_free:
            last[row] = position + width
    return NomogramScale(name, min(positions), max(positions), tuple(labelled))


def _probability_ticks(base: float, unit: float, max_total: float) -> tuple[tuple[float, str, int], ...]:
    """Positions on the axis of the total at which it corresponds to a probability."""
    positions = [((np.log(p / (1 - p)) - base) / unit / max_total * 100, p) for p in _AXIS_PROBABILITIES]
    ticks, last = [], -99.0
    for position, p in positions:
        if 0 <= position <= 100 and position - last > 4:
            ticks.append((float(position), f"{p:g}", 0))
            last = float(position)
    return tuple(ticks)
