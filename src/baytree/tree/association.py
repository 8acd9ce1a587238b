"""Tests of whether groups of rows differ in the target, each a function of additive statistics of the groups.

A test takes statistics [n_tables, n_groups, n_statistics] and gives log p for each table. The statistics of a group are
its weight per class, or, for a target that is a number, its weight, sum and sum of squares.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from baytree.tree.significance import chi2_log_tail, f_log_tail

Test = Callable[[np.ndarray], np.ndarray]


def pearson(tables: np.ndarray) -> np.ndarray:
    """log p of Pearson's χ², Σ (seen − expected)² / expected, over the rows and columns that are not empty."""
    expected, total, degrees = _independent(tables)
    square = np.divide((tables - expected) ** 2, expected, out=np.zeros_like(expected), where=expected > 0)
    return _chi2(square.sum(axis=(1, 2)), total, degrees)


def likelihood_ratio(tables: np.ndarray) -> np.ndarray:
    """log p of the likelihood ratio, 2 Σ seen · log(seen / expected)."""
    expected, total, degrees = _independent(tables)
    ratio = np.divide(tables, expected, out=np.ones_like(expected), where=tables > 0)
    return _chi2(2.0 * (tables * np.log(ratio)).sum(axis=(1, 2)), total, degrees)


def row_effects(tables: np.ndarray) -> np.ndarray:
    """log p of ordered classes: the row-effects model log m_ij = α_i + β_j + x_i·j against x = 0 (Goodman 1979).

    The statistic is twice the gain in log-likelihood, with one degree of freedom for each group beyond the first.
    """
    expected, total, _ = _independent(tables)
    fitted = _fit_row_effects(tables, expected)
    ratio = np.divide(fitted, expected, out=np.ones_like(expected), where=(fitted > 0) & (expected > 0))
    n_groups = (tables.sum(axis=2) > 0).sum(axis=1)
    n_classes = (tables.sum(axis=1) > 0).sum(axis=1)
    degrees = np.where(n_classes > 1, np.maximum(n_groups - 1, 0), 0)
    return _chi2(2.0 * (tables * np.log(ratio)).sum(axis=(1, 2)), total, degrees)


def variance(tables: np.ndarray) -> np.ndarray:
    """log p of the F test that groups have the same mean; the statistics are weight, Σ y and Σ y² about a centre."""
    weight, total, square = np.moveaxis(tables, 2, 0)
    explained = np.divide(total**2, weight, out=np.zeros_like(total), where=weight > 0)
    whole = np.divide(total.sum(1) ** 2, weight.sum(1), out=np.zeros(len(tables)), where=weight.sum(1) > 0)
    between = np.maximum(explained.sum(axis=1) - whole, 0.0)
    within = np.maximum((square - explained).sum(axis=1), 0.0)
    n_groups = (weight > 0).sum(axis=1)
    return _f(between, within, square.sum(axis=1), n_groups - 1, weight.sum(axis=1) - n_groups)


def _f(between: np.ndarray, within: np.ndarray, scale: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    is_flat = between <= _ROUNDING * scale  # nothing but rounding lies between the groups
    within = np.where(within <= _ROUNDING * scale, 0.0, within)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(is_flat, 0.0, (between / left) / (within / right))
        return np.where(is_flat, 0.0, f_log_tail(statistic, left, right))


_ROUNDING = 1e-14  # of the sum of squares
_EQUAL = 1e-28  # of the weight: what rounding alone adds to χ²


def _independent(tables: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What is expected of independent rows and columns, the total, and the degrees of freedom."""
    group, label = tables.sum(axis=2), tables.sum(axis=1)
    total = group.sum(axis=1)
    share = np.divide(label, total[:, None], out=np.zeros_like(label), where=total[:, None] > 0)
    n_groups, n_classes = (group > 0).sum(axis=1), (label > 0).sum(axis=1)
    degrees = np.maximum(n_groups - 1, 0) * np.maximum(n_classes - 1, 0)
    return group[:, :, None] * share[:, None, :], total, degrees


def _chi2(statistic: np.ndarray, total: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    statistic = np.where(statistic <= _EQUAL * total, 0.0, statistic)
    return chi2_log_tail(statistic, degrees)


def _fit_row_effects(tables: np.ndarray, start: np.ndarray) -> np.ndarray:
    """What the row-effects model expects, by Newton's method on all tables at once.

    Each group keeps its weight; the unknowns are β (classes) and x (groups), with the classes' scores centred. A ridge
    far below the precision of p makes the equations solvable where a class, a group or the fit itself runs to infinity.
    """
    n_tables, n_groups, n_classes = tables.shape
    weight = tables.sum(axis=2)
    score = np.arange(n_classes) - (n_classes - 1) / 2.0
    with np.errstate(divide="ignore"):
        beta = np.where(tables.sum(axis=1) > 0, np.log(np.maximum(start.sum(axis=1), 1e-300)), -np.inf)
    offset = np.zeros((n_tables, n_classes))
    slope = np.zeros((n_tables, n_groups))
    best = _log_likelihood(tables, beta, offset, slope, score)
    for _ in range(_NEWTON_STEPS):
        d_offset, d_slope = _newton_step(tables, _shares(beta, offset, slope, score), weight, score)
        offset, slope, better = _half_steps(tables, (beta, offset, slope, score), (d_offset, d_slope), best)
        if np.all(better - best <= 1e-12 * np.maximum(1.0, np.abs(best))):
            break
        best = better
    return weight[:, :, None] * _shares(beta, offset, slope, score)


_NEWTON_STEPS = 60
_RIDGE = 1e-10


def _shares(beta: np.ndarray, offset: np.ndarray, slope: np.ndarray, score: np.ndarray) -> np.ndarray:
    exponent = (beta + offset)[:, None, :] + slope[:, :, None] * score
    exponent -= exponent.max(axis=2, keepdims=True)
    share = np.exp(exponent)
    return share / share.sum(axis=2, keepdims=True)


def _log_likelihood(
    tables: np.ndarray, beta: np.ndarray, offset: np.ndarray, slope: np.ndarray, score: np.ndarray
) -> np.ndarray:
    share = _shares(beta, offset, slope, score)
    return (tables * np.log(np.where(tables > 0, np.maximum(share, 1e-300), 1.0))).sum(axis=(1, 2))


def _newton_step(
    tables: np.ndarray, share: np.ndarray, weight: np.ndarray, score: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    n_groups, n_classes = tables.shape[1:]
    expected = weight[:, :, None] * share
    surplus = tables - expected
    gradient = np.concatenate([surplus.sum(axis=1), surplus @ score], axis=1)
    centre = share @ score  # [n_tables, n_groups]
    spread = expected * (score - centre[:, :, None])  # how the classes of a group answer to its slope
    hessian = np.zeros((len(tables), n_classes + n_groups, n_classes + n_groups))
    hessian[:, :n_classes, :n_classes] = -np.einsum("tij,tik->tjk", expected, share)
    diagonal = np.arange(n_classes + n_groups)
    hessian[:, diagonal[:n_classes], diagonal[:n_classes]] += expected.sum(axis=1)
    hessian[:, :n_classes, n_classes:] = spread.transpose(0, 2, 1)
    hessian[:, n_classes:, :n_classes] = spread
    hessian[:, diagonal[n_classes:], diagonal[n_classes:]] = spread @ score
    hessian[:, diagonal, diagonal] += _RIDGE * np.maximum(weight.sum(axis=1), 1.0)[:, None]
    step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
    return step[:, :n_classes], step[:, n_classes:]


def _half_steps(
    tables: np.ndarray, place: tuple[np.ndarray, ...], step: tuple[np.ndarray, np.ndarray], best: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The place after a step, each table's step halved until it does no harm."""
    beta, offset, slope, score = place
    length = np.ones(len(tables))
    for _ in range(30):
        reached = offset + length[:, None] * step[0], slope + length[:, None] * step[1]
        likelihood = _log_likelihood(tables, beta, *reached, score)
        is_worse = ~(likelihood >= best)
        if not is_worse.any():
            break
        length[is_worse] *= 0.5
    length[is_worse] = 0.0
    offset, slope = offset + length[:, None] * step[0], slope + length[:, None] * step[1]
    return offset, slope, np.where(is_worse, best, likelihood)


TESTS: dict[str, Test] = {"pearson": pearson, "likelihood_ratio": likelihood_ratio, "row_effects": row_effects}
