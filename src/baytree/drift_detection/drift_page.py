"""Page of drift: what has changed, and per column the distribution of the training rows behind that of the new rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from baytree.data.schema.column import Column, Kind
from baytree.display.terminal import number
from baytree.drift_detection.distribution_tests import DistributionPair
from baytree.rendering.page.comparison_views import DriftColumnView, DriftView
from baytree.rendering.page.html_page import Page

MAX_COLUMNS = 60  # columns with a drawing, those of largest effect; the table of the text has all

N_BINS = 30  # of a histogram of numbers

MAX_LEVELS = 12  # levels with bars, the most frequent of both tables; the others are pooled


DrawnChange = tuple[Column, DistributionPair, dict[str, str], bool]  # printed figures; whether the column has changed


def drift_page(name: str, head: str, rows: Sequence[DrawnChange]) -> Page:
    """Page of drift, from the columns in the order in which they are shown."""
    n_changed = sum(is_changed for *_, is_changed in rows)
    verdict = f"{n_changed} of {len(rows)} columns have changed" if n_changed else "No column has changed"
    views = tuple(_column(*row) for row in rows[:MAX_COLUMNS])
    return Page(f"Drift of the rows of {name}", verdict, (DriftView(head, views, max(len(rows) - MAX_COLUMNS, 0)),))


def _column(column: Column, pair: DistributionPair, figures: dict[str, str], is_changed: bool) -> DriftColumnView:
    if column.kind is Kind.NUMERIC and len(pair.points):
        before, now, ends = _binned(pair)
        labels: tuple[str, ...] = ()
    else:
        before, now, labels = _levels(column, pair)
        ends = ("", "")
    highest = max(before.max(initial=0.0), now.max(initial=0.0)) or 1.0
    bars = tuple(zip((before / highest).tolist(), (now / highest).tolist(), strict=True))
    return DriftColumnView(column.name, is_changed, tuple(figures.items()), bars, labels, ends)


def _binned(pair: DistributionPair) -> tuple[np.ndarray, np.ndarray, tuple[str, str]]:
    """Proportions of both tables in bins of equal width, between the 0.5 % and 99.5 % quantiles of both together."""
    points = pair.points.astype(float)
    total = pair.before / max(pair.before.sum(), 1e-300) + pair.now / max(pair.now.sum(), 1e-300)
    finite = np.isfinite(points)
    points, total = points[finite], total[finite]
    cumulative = np.cumsum(total) / max(total.sum(), 1e-300)
    low, high = (float(points[min(int(np.searchsorted(cumulative, q)), len(points) - 1)]) for q in (0.005, 0.995))
    position = (points / 2 - low / 2) / ((high / 2 - low / 2) or 1.0)  # halves, since the range may overflow
    index = np.clip((N_BINS * position).astype(int), 0, N_BINS - 1)
    parts = [np.bincount(index, weight[finite] / max(weight.sum(), 1e-300), N_BINS) for weight in (pair.before, pair.now)]
    return parts[0], parts[1], (number(low), number(high))


def _levels(column: Column, pair: DistributionPair) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Proportions of both tables by level, the most frequent first, with missing values last."""
    totals = [max(weight.sum() + missing, 1e-300) for weight, missing in _sides(pair)]
    before, now = (weight / total for (weight, _), total in zip(_sides(pair), totals, strict=True))
    order = np.argsort(-(before + now), kind="stable")
    shown, rest = order[:MAX_LEVELS], order[MAX_LEVELS:]
    names = [str(column.levels[code]) if code < len(column.levels) else "text" for code in shown]
    parts = [[*side[shown], *([side[rest].sum()] if len(rest) else [])] for side in (before, now)]
    names += [f"{len(rest):,} other levels"] if len(rest) else []
    if pair.missing_before or pair.missing_now:
        parts = [[*part, missing / total] for part, (_, missing), total in zip(parts, _sides(pair), totals, strict=True)]
        names.append("missing")
    return np.array(parts[0]), np.array(parts[1]), tuple(names)


def _sides(pair: DistributionPair) -> tuple[tuple[np.ndarray, float], tuple[np.ndarray, float]]:
    return (pair.before, pair.missing_before), (pair.now, pair.missing_now)
