"""Pooled within-class covariance in correlation units, from which both discriminant rules follow, and its shrinkage.

`pool` turns a `Scatter` into a `PooledCovariance`. If class means differ along a direction without within-class variance, n
rows do not prove that the variance is 0: it is set to the between-class variance there divided by n. Shrinkage towards the
identity: `oas` (Chen, Wiesel, Eldar and Hero 2010) needs the statistic only; `ledoit_wolf` (2004) needs the fourth powers of
the rows' lengths, hence another pass.
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

MIN_EIGENVALUE = 1e-8  # smaller eigenvalues of the within-class correlation count as collinearity

_MIN_VARIANCE_RATIO = 1e-12  # a smaller ratio of within-class to between-class variance counts as constant within classes

_EQUALITY_TOLERANCE = 1e-9  # relative difference below which two missing indicators count as equal

_MIN_SAFE_PIVOT = 1e-2  # if all pivots of the Cholesky factor are larger, all eigenvalues are larger than KEPT


class DiscriminantOptions(msgspec.Struct, frozen=True, kw_only=True):
    """User options: divisor, shrinkage and priors."""

    covariance: str = "unbiased"
    # [1]; [n_classes] for one covariance per class
    shrinkage: np.ndarray = msgspec.field(default_factory=lambda: np.zeros(1))
    priors: np.ndarray | None = None  # [n_classes]
    is_diagonal: bool = False  # variances only


class PooledCovariance(msgspec.Struct, frozen=True):
    """Statistic prepared for discriminant analysis: no reference levels, mean imputation, one covariance in correlation
    units.
    """

    seen: Scatter
    prior: np.ndarray  # [n_classes]
    centre: np.ndarray  # [n_features], prior-weighted mean, in the statistic's own units
    scale: np.ndarray  # [n_features], within-class deviation, in the statistic's own units
    correlation: np.ndarray  # [n_features, n_features]
    reference: np.ndarray  # int32 [n_columns]
    varies: np.ndarray  # bool [n_features], False: the feature is constant
    is_raised: bool = False  # whether a direction without within-class variance was given some

    @property
    def mean(self) -> np.ndarray:
        """Class means relative to the centre, in standard units. [n_classes, n_features]"""
        deviation = (self.seen.mean - self.centre) / self.scale
        return np.where(self.seen.weight[:, None] > 0, deviation, 0.0)

    @property
    def design(self) -> Design:
        """Design that standardises rows."""
        return design_of(self.seen, self.centre, self.scale, self.reference)


def pool(scatter: Scatter, choice: DiscriminantOptions, columns: tuple[Column, ...]) -> PooledCovariance:
    """Pooled covariance in correlation units. Warns of columns that cannot be used."""
    scatter, reference = without_references(impute_mean(by_rank(scatter, columns)))
    scatter = _one_gap_each(scatter)
    prior = priors_of(scatter, choice)
    square = np.einsum("kjj->j", scatter.spread)
    centre = as_double(prior @ scatter.mean, scatter)
    between = scatter.weight @ np.square(scatter.mean - centre)
    fixed, varies = square <= _MIN_VARIANCE_RATIO * between, (square > 0) | (between > 0)
    total = float(scatter.weight.sum())
    scale = np.sqrt(np.where(fixed, between, square) / (total - 1 if total > 1 else total))
    scale = np.where(scale > 0, divisible(scale, scatter.unit), 1.0)
    correlation = scatter.spread.sum(axis=0) / divisor(scatter, choice) / np.outer(scale, scale)
    correlation[fixed], correlation[:, fixed] = 0.0, 0.0
    if not varies.all():
        warn_of_columns("constant", ~varies, scatter, columns, "they are not used")
    correlation = shrunk(correlation, float(choice.shrinkage.mean()), varies)
    return _raised(PooledCovariance(scatter, prior, centre, scale, correlation, reference, varies), columns)


def _one_gap_each(scatter: Scatter) -> Scatter:
    """Statistic with a single missing indicator for columns that are missing in the same rows: that of the first column."""
    indicators = np.flatnonzero(scatter.layout.level == MISSING)
    mean, spread = scatter.mean[:, indicators], scatter.spread[:, indicators][:, :, indicators].sum(axis=0)
    variance = spread.diagonal()
    # relative variance of the difference of two indicators
    is_same = variance[:, None] + variance - 2 * spread <= _EQUALITY_TOLERANCE * (variance[:, None] + variance)
    for position in mean:
        is_same &= np.abs(position[:, None] - position) <= _EQUALITY_TOLERANCE
    is_later = np.tril(is_same, -1).any(axis=1)
    return scatter.take(np.setdiff1d(np.arange(len(scatter.layout)), indicators[is_later])) if is_later.any() else scatter


def priors_of(scatter: Scatter, choice: DiscriminantOptions) -> np.ndarray:
    """Given priors, or the class proportions. float64 [n_classes]"""
    return scatter.weight / scatter.weight.sum() if choice.priors is None else choice.priors


def divisor(scatter: Scatter, choice: DiscriminantOptions) -> float:
    """Divisor of the pooled scatter: n − classes (unbiased) or n."""
    total = float(scatter.weight.sum())
    degrees = total - np.count_nonzero(scatter.weight)
    return degrees if choice.covariance == "unbiased" and degrees > 0 else total


def class_divisor(weight: float, choice: DiscriminantOptions) -> float:
    """Divisor of a class's own scatter: n − 1 (unbiased) or n."""
    return weight - 1 if choice.covariance == "unbiased" and weight > 1 else max(weight, 1e-300)


def shrunk(correlation: np.ndarray, amount: float, varies: np.ndarray) -> np.ndarray:
    """(1 − amount) · correlation + amount · mean diagonal · identity, over the features that vary."""
    if not amount:
        return correlation
    target = correlation.trace() / max(np.count_nonzero(varies), 1)
    return (1 - amount) * correlation + amount * target * np.diag(varies.astype(np.float64))


def without(varies: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Covariance in which constant features have variance 1 and covariance 0, so that they do not affect its rank."""
    own = np.where(varies[:, None] & varies, own, 0.0)
    own[~varies, ~varies] = 1.0
    return own


def _raised(pooled: PooledCovariance, columns: tuple[Column, ...]) -> PooledCovariance:
    """Covariance with variance added along directions that have none within classes: 1/n of the between-class variance
    there.
    """
    if _is_clear(without(pooled.varies, pooled.correlation)):
        return pooled
    eigenvalue, eigenvector = run_lapack(np.linalg.eigh, pooled.correlation)
    null_space = eigenvector[:, eigenvalue <= MIN_EIGENVALUE]
    proportion = pooled.seen.weight / pooled.seen.weight.sum()
    mean = pooled.mean - proportion @ pooled.mean
    _, deviation, rotation = np.linalg.svd(np.sqrt(proportion)[:, None] * (mean @ null_space), full_matrices=False)
    differs = np.square(deviation) > MIN_EIGENVALUE
    if not differs.any():
        return pooled
    direction = null_space @ rotation[differs].T  # orthonormal [n_features, n_raised]
    variance = np.maximum(np.square(deviation[differs]) / pooled.seen.weight.sum(), 2 * MIN_EIGENVALUE)
    _warn_raised(direction, pooled, columns)
    correlation = pooled.correlation + (direction * variance) @ direction.T
    return msgspec.structs.replace(pooled, correlation=correlation, is_raised=True)


def _is_clear(correlation: np.ndarray) -> bool:
    """Whether every direction has variance, decided by Cholesky without eigenvectors."""
    try:
        return bool(run_lapack(np.linalg.cholesky, correlation).diagonal().min(initial=1.0) > _MIN_SAFE_PIVOT)
    except np.linalg.LinAlgError:
        return False


def _warn_raised(direction: np.ndarray, pooled: PooledCovariance, columns: tuple[Column, ...]) -> None:
    load = np.abs(direction).max(axis=1)
    then = f"their variance within classes is set to 1/{pooled.seen.weight.sum():g} of that between classes"
    warn_of_columns("constant within each class, alone or combined", load > 0.1 * load.max(), pooled.seen, columns, then)


def oas(pooled: PooledCovariance, by_class: bool) -> np.ndarray:
    """Oracle approximating shrinkage for Gaussian rows. [1] or [n_classes]"""
    return np.array([_oas(covariance, weight) for covariance, weight in _groups(pooled, by_class)])


def ledoit_wolf(fourth: np.ndarray, pooled: PooledCovariance, by_class: bool) -> np.ndarray:
    """Shrinkage of minimum expected squared error, from the `fourth_powers` of all rows. [1] or [n_classes]"""
    fourth = fourth if by_class else fourth.sum(keepdims=True)
    groups = _groups(pooled, by_class)
    return np.array([_ledoit_wolf(c, weight, b) for (c, weight), b in zip(groups, fourth, strict=True)])


def _groups(pooled: PooledCovariance, by_class: bool) -> list[tuple[np.ndarray, float]]:
    """Covariances of the varying features (divisor n, in units of the within-class deviation) and their weights."""
    scatter = pooled.seen.take(np.flatnonzero(pooled.varies))
    unit = np.outer(pooled.scale[pooled.varies], pooled.scale[pooled.varies])
    if by_class:
        return [(s / max(w, 1e-300) / unit, float(w)) for s, w in zip(scatter.spread, scatter.weight, strict=True)]
    total = float(scatter.weight.sum())
    return [(scatter.spread.sum(axis=0) / total / unit, total)]


def _oas(covariance: np.ndarray, weight: float) -> float:
    p = len(covariance)
    if p == 0:  # nothing varies
        return 0.0
    square, mean_variance = float(np.mean(covariance**2)), covariance.trace() / p
    denominator = (weight + 1) * (square - mean_variance**2 / p)
    return 1.0 if denominator <= 0 else min((square + mean_variance**2) / denominator, 1.0)


def _ledoit_wolf(covariance: np.ndarray, weight: float, fourth: float) -> float:
    p = len(covariance)
    if p == 0:
        return 0.0
    square, mean_variance = float(np.sum(covariance**2)), covariance.trace() / p
    distance = (square - p * mean_variance**2) / p
    noise = (fourth / max(weight, 1e-300) - square) / (p * max(weight, 1e-300))
    return 0.0 if distance <= 0 else float(np.clip(noise / distance, 0.0, 1.0))


def fourth_powers(table: Table, pooled: PooledCovariance) -> np.ndarray:
    """Σ weight · |row − class mean|⁴ per class, in units of the within-class deviation. [n_classes]"""
    out = np.zeros(table.n_classes)
    design, mean = pooled.design, pooled.mean
    for rows, x in design.blocks(table):
        length = np.square(x - mean[table.label[rows]]).sum(axis=1)
        out += np.bincount(table.label[rows], table.weight[rows] * length**2, minlength=len(out))
    return out
