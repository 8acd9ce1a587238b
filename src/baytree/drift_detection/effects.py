"""Effect of a changed column on predictions, estimated on simulated training rows with that column distributed as now."""

from __future__ import annotations

import numpy as np

from baytree.base.predictor import Predictor
from baytree.data.schema.column import Column, Kind
from baytree.drift_detection.distribution_tests import DistributionPair
from baytree.interview.answer_cells import rows_of
from baytree.interview.interview import class_weights
from baytree.interview.posterior import uniform
from baytree.statistics.counts import Counts
from baytree.statistics.profile import Histogram, Profile

N_SIMULATED_ROWS = 400  # rows drawn from the profile per column: more cost time in proportion and change the effect little


def effect(predictor: Predictor, values: list[np.ndarray], column: int, pair: DistributionPair) -> float:
    """Mean change of the predictions: half the sum over classes, or in standard deviations of numeric predictions."""
    changed = list(values)
    changed[column] = _redistributed(values[column], pair)
    before, now = (predictor.model.predict(rows_of(predictor.schema, each)) for each in (values, changed))
    change = np.abs(before - now)
    if predictor.schema.target.classes is not None:
        return float(change.sum(axis=1).mean() / 2)
    deviation = float(before.std())
    return float(change.mean() / deviation) if deviation else float(change.mean() > 0)


def simulate_training_rows(predictor: Predictor, profile: Profile) -> list[np.ndarray]:
    """Rows simulated from the profile: classes by their proportions, columns independent given the class. Deterministic.

    Float arrays [N_IMAGINED], one per column.
    """
    prior = class_weights(profile)
    cumulative = np.cumsum(prior / prior.sum())
    label = np.searchsorted(cumulative, (np.arange(N_SIMULATED_ROWS) + 0.5) / N_SIMULATED_ROWS).clip(0, len(prior) - 1)
    pairs = zip(predictor.schema.columns, profile.columns, strict=True)
    return [
        _simulated_column(column, distribution, label, j, len(predictor.schema))
        for j, (column, distribution) in enumerate(pairs)
    ]


def _simulated_column(
    column: Column, distribution: Histogram | Counts, label: np.ndarray, position: int, n_columns: int
) -> np.ndarray:
    missing = np.nan if column.kind is Kind.NUMERIC else -1.0
    counts = distribution.counts if isinstance(distribution, Histogram) else distribution
    weight = counts.cells.rounded()
    points = distribution.points() if isinstance(distribution, Histogram) else np.arange(len(weight) - 1.0)
    proportion = weight / np.maximum(weight.sum(axis=0), np.finfo(float).tiny)
    draw = uniform(np.arange(len(label)) * n_columns + position)
    cell = (np.cumsum(proportion, axis=0)[:, label] <= draw).sum(axis=0).clip(0, len(weight) - 1)
    return np.concatenate([[missing], points])[cell]


def _redistributed(values: np.ndarray, pair: DistributionPair) -> np.ndarray:
    """Values of a column, redistributed as now: numbers keep their rank, as few levels as possible change."""
    missing = np.nan if pair.is_ordered else -1.0
    n_now = pair.now.sum() + pair.missing_now
    moved = _by_rank(values, pair) if pair.is_ordered else _by_level(values, pair)
    is_missing = np.isnan(values) if pair.is_ordered else values < 0
    missing_before = pair.missing_before / max(pair.before.sum() + pair.missing_before, 1.0)
    missing_now = pair.missing_now / max(n_now, 1.0)
    extra_missing = max(0.0, missing_now - missing_before) / max(1.0 - missing_before, np.finfo(float).tiny)
    becomes_missing = ~is_missing & (uniform(np.arange(len(values)) + 7919) < extra_missing)
    return np.where(becomes_missing, missing, moved)


def _by_rank(values: np.ndarray, pair: DistributionPair) -> np.ndarray:
    if not pair.now.sum() or not pair.before.sum():
        return values
    before, now = np.cumsum(pair.before) / pair.before.sum(), np.cumsum(pair.now) / pair.now.sum()
    cell = np.searchsorted(pair.points, values, "right").clip(1, len(pair.points)) - 1
    rank = before[cell] - pair.before[cell] / pair.before.sum() / 2
    target = np.searchsorted(now, rank).clip(0, len(pair.points) - 1)
    is_same = np.isnan(values) | (target == cell)
    return np.where(is_same, values, pair.points[target])


def _by_level(values: np.ndarray, pair: DistributionPair) -> np.ndarray:
    before, now = (side / max(side.sum(), 1.0) for side in (pair.before, pair.now))
    if not now.sum():
        return values
    keep_probability = np.minimum(1.0, now / np.maximum(before, np.finfo(float).tiny))
    gained = np.maximum(now - before, 0.0)
    code = values.astype(int).clip(0)
    is_changed = (values >= 0) & (uniform(np.arange(len(values)) + 104729) >= keep_probability[code])
    if not gained.sum():
        return values
    new_code = np.searchsorted(np.cumsum(gained) / gained.sum(), uniform(np.arange(len(values)) + 1299709))
    return np.where(is_changed, new_code.clip(0, len(now) - 1), values)
