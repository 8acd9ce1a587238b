"""The pooled covariance in correlation units, from which both rules follow.

Where classes differ along a direction in which no row leaves the mean of its class, n rows have not shown that none ever
will: its variance is taken to be that between the classes, divided by n.

How much to shrink a covariance towards the identity, in correlation units, when nobody says.

`oas` (Chen, Wiesel, Eldar and Hero 2010) is a function of the statistic; `ledoit_wolf` (2004) needs the fourth power of
the rows' lengths, so it reads the rows once more.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.column import Column
from baytree.linear.design.design import Design
from baytree.linear.design.feature_layout import MISSING
from baytree.linear.scatter.scatter import Scatter
from baytree.linear.scatter.transform import (
    as_double,
    by_rank,
    design_of,
    divisible,
    impute_mean,
    warn_of_columns,
    without_references,
)
from baytree.parallel.blas import run_lapack

KEPT = 1e-8  # eigenvalues of the within-class correlation below it are collinearity, not spread

_FLOOR = 1e-12  # variance within classes below this share of that between them: constant within classes

_SAME = 1e-9  # of its parts: two indicators of missing values that differ by no more are one

_CLEAR = 1e-2  # where no pivot of a Cholesky factor is smaller, no eigenvalue is below KEPT


class DiscriminantOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the user chose: divisor, shrinkage and priors."""

    covariance: str = "unbiased"
    shrinkage: np.ndarray = msgspec.field(default_factory=lambda: np.zeros(1))  # [1], or [n_classes] for own covariances
    priors: np.ndarray | None = None  # [n_classes]


class PooledCovariance(msgspec.Struct, frozen=True):
    """The statistic made ready: reference levels left out, gaps at their mean, one covariance in correlation units."""

    seen: Scatter
    prior: np.ndarray  # [n_classes]
    centre: np.ndarray  # [n_features], the mean under the priors, in the statistic's own units
    scale: np.ndarray  # [n_features], spread within classes, in the statistic's own units
    correlation: np.ndarray  # [n_features, n_features]
    reference: np.ndarray  # int32 [n_columns]
    varies: np.ndarray  # bool [n_features], False: the feature has one value
    is_raised: bool = False  # a direction that only lies between the classes was given a spread within them

    @property
    def mean(self) -> np.ndarray:
        """The class means about the centre, in standard units. [n_classes, n_features]"""
        apart = (self.seen.mean - self.centre) / self.scale
        return np.where(self.seen.weight[:, None] > 0, apart, 0.0)

    @property
    def design(self) -> Design:
        """How rows get into standard units."""
        return design_of(self.seen, self.centre, self.scale, self.reference)


def pool(seen: Scatter, choice: DiscriminantOptions, columns: tuple[Column, ...]) -> PooledCovariance:
    """The pooled covariance in correlation units, with warnings for columns that cannot be used."""
    seen, reference = without_references(impute_mean(by_rank(seen, columns)))
    seen = _one_gap_each(seen)
    prior = priors_of(seen, choice)
    square = np.einsum("kjj->j", seen.spread)
    centre = as_double(prior @ seen.mean, seen)
    between = seen.weight @ np.square(seen.mean - centre)
    fixed, varies = square <= _FLOOR * between, (square > 0) | (between > 0)
    total = float(seen.weight.sum())
    scale = np.sqrt(np.where(fixed, between, square) / (total - 1 if total > 1 else total))
    scale = np.where(scale > 0, divisible(scale, seen.unit), 1.0)
    correlation = seen.spread.sum(axis=0) / divisor(seen, choice) / np.outer(scale, scale)
    correlation[fixed], correlation[:, fixed] = 0.0, 0.0
    if not varies.all():
        warn_of_columns("constant", ~varies, seen, columns, "they are not used")
    correlation = shrunk(correlation, float(choice.shrinkage.mean()), varies)
    return _raised(PooledCovariance(seen, prior, centre, scale, correlation, reference, varies), columns)


def _one_gap_each(seen: Scatter) -> Scatter:
    """The statistic with one indicator for columns that are missing in the same rows: the first one's stands for all."""
    gaps = np.flatnonzero(seen.layout.level == MISSING)
    mean, spread = seen.mean[:, gaps], seen.spread[:, gaps][:, :, gaps].sum(axis=0)
    own = spread.diagonal()
    is_same = own[:, None] + own - 2 * spread <= _SAME * (own[:, None] + own)  # the variance of their difference
    for place in mean:
        is_same &= np.abs(place[:, None] - place) <= _SAME
    is_later = np.tril(is_same, -1).any(axis=1)
    return seen.take(np.setdiff1d(np.arange(len(seen.layout)), gaps[is_later])) if is_later.any() else seen


def priors_of(seen: Scatter, choice: DiscriminantOptions) -> np.ndarray:
    """The chosen priors, or the share of each class."""
    return seen.weight / seen.weight.sum() if choice.priors is None else choice.priors


def divisor(seen: Scatter, choice: DiscriminantOptions) -> float:
    """What the pooled scatter is divided by: n − classes (unbiased) or n."""
    total = float(seen.weight.sum())
    free = total - np.count_nonzero(seen.weight)
    return free if choice.covariance == "unbiased" and free > 0 else total


def class_divisor(weight: float, choice: DiscriminantOptions) -> float:
    """What a class's own scatter is divided by: n − 1 (unbiased) or n."""
    return weight - 1 if choice.covariance == "unbiased" and weight > 1 else max(weight, 1e-300)


def shrunk(correlation: np.ndarray, amount: float, varies: np.ndarray) -> np.ndarray:
    """(1 − amount) · correlation + amount · its mean diagonal, over the features that vary."""
    if not amount:
        return correlation
    target = correlation.trace() / max(np.count_nonzero(varies), 1)
    return (1 - amount) * correlation + amount * target * np.diag(varies.astype(np.float64))


def without(varies: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The covariance with constant features independent of all others, their spread 1: they do not matter for its rank."""
    own = np.where(varies[:, None] & varies, own, 0.0)
    own[~varies, ~varies] = 1.0
    return own


def _raised(pooled: PooledCovariance, columns: tuple[Column, ...]) -> PooledCovariance:
    """The covariance, raised along directions of no spread within classes by 1/n of the spread between them there."""
    if _is_clear(without(pooled.varies, pooled.correlation)):
        return pooled
    root, vector = run_lapack(np.linalg.eigh, pooled.correlation)
    flat = vector[:, root <= KEPT]
    share = pooled.seen.weight / pooled.seen.weight.sum()
    mean = pooled.mean - share @ pooled.mean
    _, apart, turn = np.linalg.svd(np.sqrt(share)[:, None] * (mean @ flat), full_matrices=False)
    tells = np.square(apart) > KEPT
    if not tells.any():
        return pooled
    direction = flat @ turn[tells].T  # [n_features, n_raised], of length 1 and at right angles
    least = np.maximum(np.square(apart[tells]) / pooled.seen.weight.sum(), 2 * KEPT)
    _warn_raised(direction, pooled, columns)
    correlation = pooled.correlation + (direction * least) @ direction.T
    return msgspec.structs.replace(pooled, correlation=correlation, is_raised=True)


def _is_clear(correlation: np.ndarray) -> bool:
    """Whether every direction has spread, told without eigenvectors."""
    try:
        return bool(run_lapack(np.linalg.cholesky, correlation).diagonal().min(initial=1.0) > _CLEAR)
    except np.linalg.LinAlgError:
        return False


def _warn_raised(direction: np.ndarray, pooled: PooledCovariance, columns: tuple[Column, ...]) -> None:
    load = np.abs(direction).max(axis=1)
    then = f"their spread there is taken to be that of one row in {pooled.seen.weight.sum():g}"
    warn_of_columns("alone or together constant within each class", load > 0.1 * load.max(), pooled.seen, columns, then)


def oas(pooled: PooledCovariance, by_class: bool) -> np.ndarray:
    """The oracle approximating shrinkage for Gaussian rows. [1] or [n_classes]"""
    return np.array([_oas(covariance, weight) for covariance, weight in _groups(pooled, by_class)])


def ledoit_wolf(fourth: np.ndarray, pooled: PooledCovariance, by_class: bool) -> np.ndarray:
    """The shrinkage of least expected squared error, from `fourth_powers` of all rows. [1] or [n_classes]"""
    fourth = fourth if by_class else fourth.sum(keepdims=True)
    groups = _groups(pooled, by_class)
    return np.array([_ledoit_wolf(c, weight, b) for (c, weight), b in zip(groups, fourth, strict=True)])


def _groups(pooled: PooledCovariance, by_class: bool) -> list[tuple[np.ndarray, float]]:
    """Covariances of what varies, with divisor n in units of the spread within classes, and their weight."""
    seen = pooled.seen.take(np.flatnonzero(pooled.varies))
    unit = np.outer(pooled.scale[pooled.varies], pooled.scale[pooled.varies])
    if by_class:
        return [(s / max(w, 1e-300) / unit, float(w)) for s, w in zip(seen.spread, seen.weight, strict=True)]
    total = float(seen.weight.sum())
    return [(seen.spread.sum(axis=0) / total / unit, total)]


def _oas(covariance: np.ndarray, weight: float) -> float:
    p = len(covariance)
    if p == 0:  # nothing varies
        return 0.0
    square, middle = float(np.mean(covariance**2)), covariance.trace() / p
    below = (weight + 1) * (square - middle**2 / p)
    return 1.0 if below <= 0 else min((square + middle**2) / below, 1.0)


def _ledoit_wolf(covariance: np.ndarray, weight: float, fourth: float) -> float:
    p = len(covariance)
    if p == 0:
        return 0.0
    square, middle = float(np.sum(covariance**2)), covariance.trace() / p
    apart = (square - p * middle**2) / p
    noise = (fourth / max(weight, 1e-300) - square) / (p * max(weight, 1e-300))
    return 0.0 if apart <= 0 else float(np.clip(noise / apart, 0.0, 1.0))


def fourth_powers(table: Table, pooled: PooledCovariance) -> np.ndarray:
    """Σ weight · |row − class mean|⁴ per class, in units of the spread within classes. [n_classes]"""
    out = np.zeros(table.n_classes)
    design, mean = pooled.design, pooled.mean
    for rows, x in design.blocks(table):
        length = np.square(x - mean[table.label[rows]]).sum(axis=1)
        out += np.bincount(table.label[rows], table.weight[rows] * length**2, minlength=len(out))
    return out
