"""Discriminant analysis as a function of one statistic: Gaussian classes with one covariance (linear) or their own.

The linear rule spheres the pooled covariance by its eigenvectors in correlation units, keeps the directions that carry
spread, and measures distances to the class means along the axes on which the means differ (Rao 1948). Where classes differ
along a direction in which no row leaves the mean of its class, n rows have not shown that none ever will: its variance is
taken to be that between the classes, divided by n.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from baytree import notices
from baytree.engine.blas import decomposed
from baytree.linear.design.design import Design
from baytree.linear.design.features import MISSING, VALUE, Layout
from baytree.linear.discriminant.scatter import Scatter, refilled
from baytree.linear.model import NEVER, UNSEEN, LinearDiscriminant, LinearModel, QuadraticDiscriminant
from baytree.table.schema import Column, Kind

_KEPT = 1e-8  # eigenvalues of the within-class correlation below it are collinearity, not spread
_AXIS = 1e-4  # axes on which the means differ by less than this share of the first are rounding
_FLOOR = 1e-12  # variance within classes below this share of that between them: constant within classes
_QUARTER = np.finfo(np.float64).max / 4
_CLEAR = 1e-2  # where no pivot of a Cholesky factor is smaller, no eigenvalue is below _KEPT
_LEAST = 1e-6  # of the mean variance: the least of a class that borrows from the others
_FULL = 1e-12  # smallest eigenvalue of a class's own correlation matrix that counts as full rank


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What the user chose: divisor, shrinkage and priors."""

    covariance: str = "unbiased"
    shrinkage: np.ndarray = msgspec.field(default_factory=lambda: np.zeros(1))  # [1], or [n_classes] for own covariances
    priors: np.ndarray | None = None  # [n_classes]


class Pooled(msgspec.Struct, frozen=True):
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
        seen = self.seen
        centre = (seen.pivot / seen.unit + self.centre) * seen.unit
        return Design(seen.layout, centre, self.scale * seen.unit, self.reference)


def pool(seen: Scatter, choice: Choice, columns: tuple[Column, ...]) -> Pooled:
    """The pooled covariance in correlation units, with warnings for columns that cannot be used."""
    seen, reference = _without_references(_at_mean(_by_rank(seen, columns)))
    prior = priors_of(seen, choice)
    square = np.einsum("kjj->j", seen.spread)
    centre = _as_double(prior @ seen.mean, seen)
    between = seen.weight @ np.square(seen.mean - centre)
    fixed, varies = square <= _FLOOR * between, (square > 0) | (between > 0)
    total = float(seen.weight.sum())
    scale = np.sqrt(np.where(fixed, between, square) / (total - 1 if total > 1 else total))
    scale = np.where(scale > 0, _told_by_doubles(scale, seen.unit), 1.0)
    correlation = seen.spread.sum(axis=0) / divisor(seen, choice) / np.outer(scale, scale)
    correlation[fixed], correlation[:, fixed] = 0.0, 0.0
    if not varies.all():
        _warn("constant", ~varies, seen, columns, "they are not used")
    correlation = shrunk(correlation, float(choice.shrinkage.mean()), varies)
    return _raised(Pooled(seen, prior, centre, scale, correlation, reference, varies), columns)


def derive_linear(seen: Scatter, choice: Choice, columns: tuple[Column, ...]) -> LinearDiscriminant:
    """The linear rule: axes, and scores that are linear in the features."""
    pooled = pool(seen, choice, columns)
    sphere = sphering(pooled, columns)
    axes, strength = _axes(pooled, sphere, choice)
    place = pooled.mean @ axes  # [n_classes, n_axes]
    start = _log(pooled.prior) - (place**2).sum(axis=1) / 2
    linear = LinearModel(pooled.design, place @ axes.T, start, "softmax")
    return LinearDiscriminant(linear, axes, strength, pooled.mean, pooled.correlation, pooled.prior)


def derive_quadratic(
    seen: Scatter, choice: Choice, columns: tuple[Column, ...], classes: tuple[Any, ...]
) -> QuadraticDiscriminant:
    """The quadratic rule: a covariance per class, blended with the pooled one where it has no full rank."""
    pooled = pool(seen, choice, columns)
    found, is_weak = class_correlations(pooled, choice)
    _warn_weak([str(name) for name, weak in zip(classes, is_weak & (pooled.seen.weight > 0), strict=True) if weak])
    whiten = np.array([inverse_factor(covariance) for covariance in found])
    start = _log(pooled.prior) + np.log(np.einsum("kjj->kj", whiten)).sum(axis=1)
    same = np.flatnonzero(~pooled.varies)
    whiten[:, same, same] = UNSEEN  # a column that never varied tells nothing, whatever it will be
    return QuadraticDiscriminant(pooled.design, pooled.mean, whiten, start, pooled.prior)


def class_correlations(pooled: Pooled, choice: Choice) -> tuple[list[np.ndarray], np.ndarray]:
    """The covariance of each class in the units of the pooled one, of full rank, and whether it had to borrow for that."""
    unit, varies = np.outer(pooled.scale, pooled.scale), pooled.varies
    seen, found = pooled.seen, []
    amounts = np.broadcast_to(choice.shrinkage, len(seen.weight))
    for spread, weight, amount in zip(seen.spread, seen.weight, amounts, strict=True):
        found.append(_without(varies, shrunk(spread / class_divisor(weight, choice) / unit, float(amount), varies)))
    is_weak = np.array([not _has_full_rank(own) for own in found])
    for k in np.flatnonzero(is_weak):
        found[k] = _without(varies, _blended(found[k], pooled, float(seen.weight[k])))
    return found, is_weak


def _without(varies: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The covariance with constant features independent of all others, their spread 1: they do not matter for its rank."""
    own = np.where(varies[:, None] & varies, own, 0.0)
    own[~varies, ~varies] = 1.0
    return own


def priors_of(seen: Scatter, choice: Choice) -> np.ndarray:
    """The chosen priors, or the share of each class."""
    return seen.weight / seen.weight.sum() if choice.priors is None else choice.priors


def divisor(seen: Scatter, choice: Choice) -> float:
    """What the pooled scatter is divided by: n − classes (unbiased) or n."""
    total = float(seen.weight.sum())
    free = total - np.count_nonzero(seen.weight)
    return free if choice.covariance == "unbiased" and free > 0 else total


def class_divisor(weight: float, choice: Choice) -> float:
    """What a class's own scatter is divided by: n − 1 (unbiased) or n."""
    return weight - 1 if choice.covariance == "unbiased" and weight > 1 else max(weight, 1e-300)


def shrunk(correlation: np.ndarray, amount: float, varies: np.ndarray) -> np.ndarray:
    """(1 − amount) · correlation + amount · its mean diagonal, over the features that vary."""
    if not amount:
        return correlation
    target = correlation.trace() / max(np.count_nonzero(varies), 1)
    return (1 - amount) * correlation + amount * target * np.diag(varies.astype(np.float64))


def sphering(pooled: Pooled, columns: tuple[Column, ...]) -> np.ndarray:
    """The directions along which the pooled covariance is the identity, collinear ones left out. [p, rank]"""
    root, vector = decomposed(np.linalg.eigh, pooled.correlation)
    kept = root > _KEPT
    if kept.sum() < pooled.varies.sum():
        load = np.sqrt(np.square(vector[:, ~kept]).sum(axis=1)) * pooled.varies
        _warn("collinear within classes", load > 0.1 * load.max(), pooled.seen, columns, "they share one effect")
    return vector[:, kept] / np.sqrt(root[kept])


def _raised(pooled: Pooled, columns: tuple[Column, ...]) -> Pooled:
    """The covariance, raised along directions of no spread within classes by 1/n of the spread between them there."""
    if _is_clear(_without(pooled.varies, pooled.correlation)):
        return pooled
    root, vector = decomposed(np.linalg.eigh, pooled.correlation)
    flat = vector[:, root <= _KEPT]
    share = pooled.seen.weight / pooled.seen.weight.sum()
    mean = pooled.mean - share @ pooled.mean
    _, apart, turn = np.linalg.svd(np.sqrt(share)[:, None] * (mean @ flat), full_matrices=False)
    tells = np.square(apart) > _KEPT
    if not tells.any():
        return pooled
    direction = flat @ turn[tells].T  # [n_features, n_raised], of length 1 and at right angles
    least = np.maximum(np.square(apart[tells]) / pooled.seen.weight.sum(), 2 * _KEPT)
    _warn_raised(direction, pooled, columns)
    correlation = pooled.correlation + (direction * least) @ direction.T
    return msgspec.structs.replace(pooled, correlation=correlation, is_raised=True)


def _is_clear(correlation: np.ndarray) -> bool:
    """Whether every direction has spread, told without eigenvectors."""
    try:
        return bool(decomposed(np.linalg.cholesky, correlation).diagonal().min(initial=1.0) > _CLEAR)
    except np.linalg.LinAlgError:
        return False


def inverse_factor(covariance: np.ndarray) -> np.ndarray:
    """The inverse of the Cholesky factor: whitens the covariance."""
    try:
        return decomposed(lambda c: np.linalg.solve(np.linalg.cholesky(c), np.eye(len(c))), covariance)
    except np.linalg.LinAlgError:  # a direction of next to no spread, which rounding has made less than none
        root, vector = np.linalg.eigh(covariance)
        raised = (vector * np.maximum(root, 1e-9 * root.max())) @ vector.T
        return decomposed(lambda c: np.linalg.solve(np.linalg.cholesky(c), np.eye(len(c))), raised)


def _axes(pooled: Pooled, sphere: np.ndarray, choice: Choice) -> tuple[np.ndarray, np.ndarray]:
    """The axes on which the class means differ, strongest first, and how much."""
    n_classes = np.count_nonzero(pooled.seen.weight)
    free = max(n_classes - 1, 1) if choice.covariance == "unbiased" else n_classes
    size = np.sqrt(pooled.seen.weight.sum() * pooled.prior / free)
    _, strength, axis = np.linalg.svd(size[:, None] * (pooled.mean @ sphere), full_matrices=False)
    kept = (strength > _AXIS * strength.max(initial=0.0))[: max(n_classes - 1, 0)]
    axes = sphere @ axis[: len(kept)][kept].T
    largest = np.abs(axes).argmax(axis=0) if axes.size else np.zeros(0, int)
    sign = np.where(axes[largest, np.arange(axes.shape[1])] < 0, -1.0, 1.0)
    return np.ascontiguousarray(axes * sign), strength[: len(kept)][kept]


def _by_rank(seen: Scatter, columns: tuple[Column, ...]) -> Scatter:
    """One feature, the rank, for each ordinal column, in place of one per level: rank = Σ code · mark."""
    layout = seen.layout
    if not any(columns[j].kind is Kind.ORDINAL for j in layout.source):
        return seen
    rows, keys = [], []
    for j in np.unique(layout.source):
        own = range(*layout.of_column(int(j)).indices(len(layout)))
        if columns[j].kind is Kind.ORDINAL:
            rows.append({f: float(layout.level[f]) for f in own if layout.level[f] >= 0})
            keys.append((j, VALUE))
            own = [f for f in own if layout.level[f] == MISSING]
        rows += [{f: 1.0} for f in own]
        keys += [(j, layout.level[f]) for f in own]
    matrix = np.zeros((len(rows), len(layout)))
    for i, row in enumerate(rows):
        matrix[i, list(row)] = list(row.values())
    source, level = (np.array([key[i] for key in keys], np.int32) for i in range(2))
    return _mapped(seen, matrix, Layout(source, level, layout.fill, layout.mode))


def _mapped(seen: Scatter, matrix: np.ndarray, layout: Layout) -> Scatter:
    """The statistic of features that are sums of marks (pivot 0, unit 1) or are kept as they are."""
    kept = (matrix == 1.0) & ((matrix != 0).sum(axis=1) == 1)[:, None]
    pivot, unit = kept @ seen.pivot, np.where(kept.any(axis=1), kept @ seen.unit, 1.0)
    mean, spread = seen.mean @ matrix.T, matrix @ seen.spread @ matrix.T
    return Scatter(layout, pivot, unit, seen.weight, mean, spread, seen.is_pooled)


def _at_mean(seen: Scatter) -> Scatter:
    """Gaps filled with the mean of the known values; levels that a later gap will stand for."""
    layout = seen.layout
    share = seen.weight / seen.weight.sum()
    mean = (seen.pivot / seen.unit + share @ seen.mean) * seen.unit
    fill, mode = layout.fill.copy(), layout.mode.copy()
    for j in range(layout.n_columns):
        own = layout.of_column(j)
        level, middle = layout.level[own], mean[own]
        gap = float(middle[level == MISSING].sum())
        if (level == VALUE).any() and gap < 1:
            fill[j] = _beyond(fill[j], float(middle[level == VALUE][0]), 1 / (1 - gap))
        elif (level >= 0).any() and not gap:
            mode[j] = level[np.argmax(np.where(level >= 0, middle, -1))]
    seen = refilled(seen, fill)
    return msgspec.structs.replace(seen, layout=msgspec.structs.replace(seen.layout, mode=mode))


def _beyond(start: float, middle: float, times: float) -> float:
    """start + times · (middle − start), in quarters: the distance between two doubles may be none."""
    far = 4 * np.clip(start / 4 + times * (middle / 4 - start / 4), -_QUARTER, _QUARTER)
    return middle if times == 1 else float(far)


def _told_by_doubles(scale: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Scales that, times their unit, are doubles other than 0 and infinity: rows will be divided by them."""
    with np.errstate(over="ignore"):
        return np.clip(scale * unit, 5e-324, np.finfo(np.float64).max) / unit


def _as_double(centre: np.ndarray, seen: Scatter) -> np.ndarray:
    """The centre that rows can be taken from: a double in the column's own units."""
    pivot = seen.pivot / seen.unit
    return np.where(seen.unit == 1, centre, (pivot + centre) * seen.unit / seen.unit - pivot)


def _without_references(seen: Scatter) -> tuple[Scatter, np.ndarray]:
    """The statistic without levels that never occur and without the first level of each column that does."""
    layout = seen.layout
    mean = (seen.weight / seen.weight.sum()) @ seen.mean
    occurs = (layout.level == VALUE) | (mean > 0)
    reference = np.full(layout.n_columns, -1, np.int32)
    for f in np.flatnonzero(occurs & (layout.level >= 0))[::-1]:
        reference[layout.source[f]] = layout.level[f]
    named = (layout.level >= 0) & (layout.level == reference[layout.source])
    return seen.take(np.flatnonzero(occurs & ~named)), reference


def _has_full_rank(correlation: np.ndarray) -> bool:
    diagonal = correlation.diagonal()
    if not (diagonal > 0).all():
        return False
    scale = np.sqrt(diagonal)
    return bool(
        decomposed(np.linalg.eigvalsh, correlation / np.outer(scale, scale)).min(initial=np.inf) > _FULL * len(scale)
    )


def _blended(own: np.ndarray, pooled: Pooled, weight: float) -> np.ndarray:
    """A class's covariance with a share of the pooled one that grows with columns per row, and a floor."""
    p = np.count_nonzero(pooled.varies)
    share = (p + 1) / (p + 1 + weight)
    both = (1 - share) * own + share * pooled.correlation
    floor = _LEAST * max(both.diagonal()[pooled.varies].sum() / max(p, 1), _LEAST)
    return both + floor * np.eye(len(both))


def _log(prior: np.ndarray) -> np.ndarray:
    return np.log(prior, out=np.full_like(prior, NEVER), where=prior > 0)


def _warn_weak(names: list[str]) -> None:
    if names:
        notices.warn(
            f"class {', '.join(names)}: too few rows, or columns that are collinear within the class, for a covariance of "
            "its own; it was blended with the covariance of all classes. Leave columns out or set shrinkage"
        )


def _warn_raised(direction: np.ndarray, pooled: Pooled, columns: tuple[Column, ...]) -> None:
    load = np.abs(direction).max(axis=1)
    then = f"their spread there is taken to be that of one row in {pooled.seen.weight.sum():g}"
    _warn("alone or together constant within each class", load > 0.1 * load.max(), pooled.seen, columns, then)


def _warn(what: str, which: np.ndarray, seen: Scatter, columns: tuple[Column, ...], then: str) -> None:
    names = list(dict.fromkeys(columns[j].name for j in seen.layout.source[which]))
    shown = ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    notices.warn(f"columns {shown} are {what}: {then}")
