"""Tests of whether groups of rows differ in the target, each a function of additive statistics of the groups.

A test takes statistics [n_tables, n_groups, n_statistics] and gives log p for each table. The statistics of a group are
its weight per class, or, for a target that is a number, its weight, sum and sum of squares about a centre.
"""

from __future__ import annotations

import numpy as np

from baytree import _core

KERNELS = ("pearson", "likelihood_ratio", "mean")  # χ², χ² and F, in the core
CLASS_TESTS = ("pearson", "likelihood_ratio", "row_effects")


def test_groups(tables: np.ndarray, test: str) -> np.ndarray:
    """log p that the groups of each table do not differ; empty groups and classes do not count."""
    return _core.test_groups(np.ascontiguousarray(tables), test) if test in KERNELS else row_effects(tables)


def row_effects(tables: np.ndarray) -> np.ndarray:
    """log p of ordered classes: the row-effects model log m_ij = α_i + β_j + x_i·j against x = 0 (Goodman 1979).

    The statistic is twice the gain in log-likelihood, with one degree of freedom for each group beyond the first.
    """
    group, label = tables.sum(axis=2), tables.sum(axis=1)
    share = label / np.maximum(label.sum(axis=1, keepdims=True), 1e-300)
    independent = group[:, :, None] * share[:, None, :]
    fitted = _fit_row_effects(tables, share)
    ratio = np.divide(fitted, independent, out=np.ones_like(fitted), where=(tables > 0) & (fitted > 0))
    statistic = np.maximum(2.0 * (tables * np.log(ratio)).sum(axis=(1, 2)), 0.0)
    degrees = np.maximum((group > 0).sum(axis=1) - 1, 0) * ((label > 0).sum(axis=1) > 1)
    return _core.chi2_log_tail(np.where(statistic <= _ROUNDING * group.sum(axis=1), 0.0, statistic), degrees.astype(float))


_ROUNDING = 1e-13  # of the weight: what the fit alone adds to the statistic


def _fit_row_effects(tables: np.ndarray, share: np.ndarray) -> np.ndarray:
    """What the row-effects model expects, by Newton's method on all tables at once.

    Each group keeps its weight; the unknowns are β (classes) and x (groups), with the classes' scores centred. A ridge
    far below the precision of p makes the equations solvable where a class, a group or the fit itself runs to infinity.
    """
    n_tables, n_groups, n_classes = tables.shape
    weight = tables.sum(axis=2)
    score = np.arange(n_classes) - (n_classes - 1) / 2.0
    with np.errstate(divide="ignore"):
        beta = np.log(share)
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
