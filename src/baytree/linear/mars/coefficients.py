"""The glm step: logistic regression of a class on the columns of the terms, by iteratively reweighted least squares.

The terms are those of least squares. The steps are R's: its start, its measure of convergence and its least slope of the
logistic curve; so separable classes end after 25 steps with large but finite coefficients, and no warning is due.

Splines that follow columns: each piece of a column's function between two knots may not fall, or not rise.

Of terms of one column each, the slope of every piece is a sum of coefficients, so the wish is a cone {c: S c ≥ 0}. Least
squares within it is solved by its dual: multipliers of the pieces by non-negative least squares (Lawson and Hanson 1974).
"""

from __future__ import annotations

import numpy as np

from baytree.data.schema.schema import Schema
from baytree.linear.design.feature_layout import VALUE
from baytree.linear.mars.features import SplineFeatures
from baytree.linear.mars.model import FALLING, LINEAR, RISING, Hinge, Term

_STEPS = 25

_MORE = 100  # steps where columns must be followed: a step may be halved

_CONVERGED = 1e-8

_STEEP = 30.0  # log-odds beyond which the curve counts as flat

_EPSILON = np.finfo(np.float64).eps

_RIDGE = 1e-8  # of a column's size: sure rows leave columns that others determine

_NEAR = 1e-12  # a share of the deviance by which a step no longer pays


def logistic_within(basis: np.ndarray, hit: np.ndarray, weight: np.ndarray, pieces: np.ndarray) -> np.ndarray:
    """The coefficients of the log-odds where pieces @ coefficients ≥ 0; the free ones where they are within."""
    free = logistic(basis, hit, weight)
    if (pieces @ free >= 0).all():
        return free
    share = float(np.clip(np.average(hit, weights=weight), 1e-6, 1 - 1e-6))
    at = np.append(np.log(share / (1 - share)), np.zeros(basis.shape[1] - 1))  # within: nothing rises or falls
    deviance = _deviance(hit, _mean(basis @ at), weight)
    for _ in range(_MORE):
        move = _target(basis, hit, weight, pieces, at) - at
        halves = (at + 0.5**k * move for k in range(30))
        better = next((c for c in halves if _deviance(hit, _mean(basis @ c), weight) < deviance), None)
        if better is None:
            break
        before, at, deviance = deviance, better, _deviance(hit, _mean(basis @ better), weight)
        if before - deviance <= _NEAR * (deviance + 0.1):
            break
    return at


def _target(basis: np.ndarray, hit: np.ndarray, weight: np.ndarray, pieces: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The minimum, within, of the quadratic that the deviance is near these coefficients."""
    eta = basis @ at
    mean, slope = _mean(eta), _mean_derivative(eta)
    root = np.sqrt(weight * slope)
    ridge = np.diag(_RIDGE * np.sqrt(weight @ np.square(basis)))
    response = np.append(root * (eta + (hit - mean) / slope), ridge @ at)
    q, r = np.linalg.qr(np.vstack([root[:, None] * basis, ridge]))
    return least_squares_within(r, q.T @ response, pieces)


def logistic(basis: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The coefficients of the log-odds; basis [n_rows, n_terms], hit 0 or 1 [n_rows] → [n_terms]"""
    order = np.lexsort((weight, hit, *basis.T))  # separable classes let rounding grow: it must not hang on the order of rows
    basis, hit, weight = basis[order], hit[order], weight[order]
    mean = np.clip((weight * hit + 0.5) / (weight + 1), _EPSILON, 1 - _EPSILON)  # of a row that outweighs all others too
    eta = np.log(mean / (1 - mean))
    deviance, coefficient = _deviance(hit, mean, weight), np.zeros(basis.shape[1])
    for _ in range(_STEPS):
        slope = _mean_derivative(eta)
        root = np.sqrt(weight * slope**2 / (mean * (1 - mean)))
        coefficient = _solve(root[:, None] * basis, root * (eta + (hit - mean) / slope))
        eta = basis @ coefficient
        mean = _mean(eta)
        before, deviance = deviance, _deviance(hit, mean, weight)
        if abs(deviance - before) / (abs(deviance) + 0.1) < _CONVERGED:
            break
    return coefficient


def _solve(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Least squares by QR; by singular values where sure rows have left columns that others determine."""
    q, r = np.linalg.qr(x)
    diagonal = np.abs(r.diagonal())
    if diagonal.min() > 1e-11 * diagonal.max():
        return np.linalg.solve(r, q.T @ y)
    return np.linalg.lstsq(x, y, rcond=None)[0]


def _mean(eta: np.ndarray) -> np.ndarray:
    odds = np.where(eta > _STEEP, 1 / _EPSILON, np.where(eta < -_STEEP, _EPSILON, np.exp(np.clip(eta, -_STEEP, _STEEP))))
    return odds / (1 + odds)


def _mean_derivative(eta: np.ndarray) -> np.ndarray:
    odds = np.exp(np.clip(eta, -_STEEP, _STEEP))
    return np.where(np.abs(eta) > _STEEP, _EPSILON, odds / (1 + odds) ** 2)


def _deviance(hit: np.ndarray, mean: np.ndarray, weight: np.ndarray) -> float:
    return float(-2 * (weight * np.where(hit > 0, np.log(mean), np.log1p(-mean))).sum())


_ROUNDING = 1e-13  # of what a term adds at most: a coefficient below it is none


def slope_constraints(
    terms: list[Term], features: SplineFeatures, schema: Schema, followed: tuple[tuple[str, int], ...]
) -> np.ndarray:
    """S: the slope of each piece of each followed column, in its direction, by coefficient. [n_pieces, n_terms]"""
    rows = [np.zeros((0, len(terms)))]
    for name, way in followed:
        own = np.flatnonzero((features.layout.source == schema.names.index(name)) & (features.layout.level == VALUE))
        rows += [way * _slopes(terms, int(feature)) for feature in own]
    return np.concatenate(rows)


def _slopes(terms: list[Term], feature: int) -> np.ndarray:
    """The slope of each piece of one feature's function, from the least to the greatest value. [n_pieces, n_terms]"""
    own = {k: term[0] for k, term in enumerate(terms) if term and term[0].feature == feature}
    cuts = np.unique([hinge.cut for hinge in own.values() if hinge.side != LINEAR])
    below = np.append(-np.inf, cuts)  # where each piece begins
    slopes = np.zeros((len(below), len(terms)))
    for k, hinge in own.items():
        slopes[:, k] = _hinge_slope(hinge, below)
    return slopes[slopes.any(axis=1)]


def _hinge_slope(hinge: Hinge, below: np.ndarray) -> np.ndarray:
    """The slope of a hinge on each piece."""
    if hinge.side == RISING:
        return (below >= hinge.cut).astype(float)
    return np.where(below < hinge.cut, -1.0, 0.0) if hinge.side == FALLING else np.ones(len(below))


def least_squares_within(r: np.ndarray, z: np.ndarray, pieces: np.ndarray) -> np.ndarray:
    """The c of least |z − R c|² where S c ≥ 0; the free one where that is within. r [n, n], z [n], pieces [m, n]"""
    free = np.linalg.solve(r, z)
    if not len(pieces) or (pieces @ free >= 0).all():
        return free
    from scipy.optimize import nnls

    dual = np.linalg.solve(r.T, pieces.T)  # [n, m]
    size = np.sqrt(np.square(dual).sum(axis=0))
    multiplier, _ = nnls(dual / size, -z)
    found = np.linalg.solve(r, z + (dual / size) @ multiplier)
    return _settled(found, r, pieces)


def _settled(found: np.ndarray, r: np.ndarray, pieces: np.ndarray) -> np.ndarray:
    """The coefficients without what rounding has left of those that are 0."""
    is_followed = pieces.any(axis=0)
    adds = np.abs(found) * np.sqrt(np.square(r).sum(axis=0))
    return np.where(is_followed & (adds <= _ROUNDING * adds.max(initial=0.0)), 0.0, found)
