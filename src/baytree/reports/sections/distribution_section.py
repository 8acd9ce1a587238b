"""Models that are one distribution of all columns, on a page: Gaussian classes as ellipses, a joint table as bars."""

from __future__ import annotations

from collections.abc import Set
from itertools import combinations

import numpy as np

from baytree.show.names import number
from baytree.show.report.records.distribution_views import CombinationView, EllipsesView, EllipseView, JointView, PairView
from baytree.summary.bayes import JointSummary
from baytree.summary.linear import QuadraticSummary

WIDTH, HEIGHT = 300, 200  # of a pair
MOST_FEATURES = 4
MOST_CLASSES = 8
_REACH = 2.4  # standard deviations that are in the picture
_ANGLES = np.linspace(0, 2 * np.pi, 48, endpoint=False)


def ellipses_view(summary: QuadraticSummary, numbers: Set[str]) -> EllipsesView | None:
    """The classes over each pair of the features that keep them apart most, numbers first; None where there are not two."""
    if not summary.covariance or len(summary.features) < 2:
        return None
    mean, covariance = np.array(summary.mean).T, np.array(summary.covariance)  # [classes, features (, features)]
    spread = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    able = np.flatnonzero((np.isfinite(spread) & (spread > 0) & (spread < 1e100)).all(axis=0))
    if len(able) < 2:
        return None
    apart = mean.std(axis=0)[able] / spread[:, able].mean(axis=0)
    is_other = [summary.features[j] not in numbers for j in able]
    order = np.lexsort((-apart, is_other))
    kept = able[order[: max(2, min(MOST_FEATURES, is_other.count(False)))]]
    pairs = tuple(
        _pair(summary, mean[:, [i, j]], covariance[:, [[i], [j]], [i, j]], (i, j)) for i, j in combinations(kept, 2)
    )
    return EllipsesView(summary.classes, summary.prior, pairs, len(summary.features) - len(kept))


def _pair(summary: QuadraticSummary, mean: np.ndarray, covariance: np.ndarray, own: tuple[int, int]) -> PairView:
    reach = _REACH * np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    low, high = (mean - reach).min(axis=0), (mean + reach).max(axis=0)
    unit = np.array([WIDTH, -HEIGHT]) / (high - low)
    start = np.array([0, HEIGHT])
    classes = range(min(len(mean), MOST_CLASSES))
    drawn = tuple(_ellipse(k, start + unit * (mean[k] - low), unit[:, None] * _root(covariance[k])) for k in classes)
    ends = (low[0], high[0], low[1], high[1])
    across, upwards = (summary.features[j] for j in own)
    return PairView(across, upwards, tuple(f"{end:.4g}" for end in ends), drawn)  # type: ignore


def _root(covariance: np.ndarray) -> np.ndarray:
    """A factor of a covariance of two features: what a circle becomes an ellipse by."""
    value, vector = np.linalg.eigh(covariance)
    return vector * np.sqrt(np.maximum(value, 0.0))


def _ellipse(place: int, middle: np.ndarray, factor: np.ndarray) -> EllipseView:
    circle = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)])
    inner, outer = (_outline(middle[:, None] + size * factor @ circle) for size in (1.0, 2.0))
    return EllipseView(place, float(middle[0]), float(middle[1]), inner, outer)


def _outline(points: np.ndarray) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points.T) + "Z"


def joint_view(summary: JointSummary, classes: tuple[str, ...]) -> JointView:
    """The heaviest combinations of levels, each with its classes."""
    shares: dict[tuple[str, ...], dict[int, float]] = {}
    for each in summary.heaviest:
        shares.setdefault(each.levels, {})[classes.index(each.label)] = each.share
    longest = max((sum(each.values()) for each in shares.values()), default=1.0) or 1.0
    order = sorted(shares.items(), key=lambda each: -sum(each[1].values()))
    lines = tuple(_combination(summary, levels, own, longest) for levels, own in order)
    return JointView(classes, lines, summary.occurring, number(float(summary.possible)))


def _combination(summary: JointSummary, levels: tuple[str, ...], own: dict[int, float], longest: float) -> CombinationView:
    tests = tuple(f"{column} = {level}" for column, level in zip(summary.columns, levels, strict=True))
    parts, start = [], 0.0
    for place, share in sorted(own.items()):
        parts.append((place, start, 100 * share / longest))
        start += 100 * share / longest
    return CombinationView(tests, sum(own.values()), tuple(parts))
