"""What a changed column does to the answers: imagined rows of training, with that column as it is distributed now."""

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

N_IMAGINED = 400


def effect(predictor: Predictor, values: list[np.ndarray], column: int, pair: DistributionPair) -> float:
    """The mean change of the answers, half the sum over classes; of numbers in units of their spread."""
    moved = list(values)
    moved[column] = _moved(values[column], pair)
    before, now = (predictor.model.predict(rows_of(predictor.schema, each)) for each in (values, moved))
    change = np.abs(before - now)
    if predictor.schema.target.classes is not None:
        return float(change.sum(axis=1).mean() / 2)
    spread = float(before.std())
    return float(change.mean() / spread) if spread else float(change.mean() > 0)


def simulate_training_rows(predictor: Predictor, profile: Profile) -> list[np.ndarray]:
    """Rows as in training: a class by its share, each column by its distribution in that class. Always the same ones."""
    prior = class_weights(profile)
    reached = np.cumsum(prior / prior.sum())
    label = np.searchsorted(reached, (np.arange(N_IMAGINED) + 0.5) / N_IMAGINED).clip(0, len(prior) - 1)
    pairs = zip(predictor.schema.columns, profile.columns, strict=True)
    return [_drawn(column, seen, label, j, len(predictor.schema)) for j, (column, seen) in enumerate(pairs)]


def _drawn(column: Column, seen: Histogram | Counts, label: np.ndarray, place: int, n_columns: int) -> np.ndarray:
    nothing = np.nan if column.kind is Kind.NUMERIC else -1.0
    counts = seen.counts if isinstance(seen, Histogram) else seen
    weight = counts.cells.rounded()
    points = seen.points() if isinstance(seen, Histogram) else np.arange(len(weight) - 1.0)
    share = weight / np.maximum(weight.sum(axis=0), np.finfo(float).tiny)
    chance = uniform(np.arange(len(label)) * n_columns + place)
    cell = (np.cumsum(share, axis=0)[:, label] <= chance).sum(axis=0).clip(0, len(weight) - 1)
    return np.concatenate([[nothing], points])[cell]


def _moved(values: np.ndarray, pair: DistributionPair) -> np.ndarray:
    """The values where their column is distributed as now: numbers keep their rank, levels stay as far as they can."""
    nothing = np.nan if pair.is_ordered else -1.0
    n_now = pair.now.sum() + pair.missing_now
    moved = _by_rank(values, pair) if pair.is_ordered else _by_level(values, pair)
    is_missing = np.isnan(values) if pair.is_ordered else values < 0
    share_before = pair.missing_before / max(pair.before.sum() + pair.missing_before, 1.0)
    share_now = pair.missing_now / max(n_now, 1.0)
    more = max(0.0, share_now - share_before) / max(1.0 - share_before, np.finfo(float).tiny)
    goes = ~is_missing & (uniform(np.arange(len(values)) + 7919) < more)
    return np.where(goes, nothing, moved)


def _by_rank(values: np.ndarray, pair: DistributionPair) -> np.ndarray:
    if not pair.now.sum() or not pair.before.sum():
        return values
    before, now = np.cumsum(pair.before) / pair.before.sum(), np.cumsum(pair.now) / pair.now.sum()
    place = np.searchsorted(pair.points, values, "right").clip(1, len(pair.points)) - 1
    rank = before[place] - pair.before[place] / pair.before.sum() / 2
    there = np.searchsorted(now, rank).clip(0, len(pair.points) - 1)
    is_same = np.isnan(values) | (there == place)
    return np.where(is_same, values, pair.points[there])


def _by_level(values: np.ndarray, pair: DistributionPair) -> np.ndarray:
    before, now = (side / max(side.sum(), 1.0) for side in (pair.before, pair.now))
    if not now.sum():
        return values
    stays = np.minimum(1.0, now / np.maximum(before, np.finfo(float).tiny))
    gained = np.maximum(now - before, 0.0)
    code = values.astype(int).clip(0)
    leaves = (values >= 0) & (uniform(np.arange(len(values)) + 104729) >= stays[code])
    if not gained.sum():
        return values
    other = np.searchsorted(np.cumsum(gained) / gained.sum(), uniform(np.arange(len(values)) + 1299709))
    return np.where(leaves, other.clip(0, len(now) - 1), values)
