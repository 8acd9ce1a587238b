"""Coefficients of MARS terms: the logistic (glm) step for classes, and least squares under monotonicity constraints.

`logistic` fits a class on the selected terms by iteratively reweighted least squares, with the starting values, convergence
measure and minimum derivative of R's `glm`: separable classes stop after 25 steps with large finite coefficients and no
warning.

Monotone columns: for terms of one column each, the slope of every piece between knots is a sum of coefficients, so the
constraint is a cone {c: S c ≥ 0}. Least squares within it is solved in the dual by non-negative least squares (Lawson and
Hanson 1974).
"""

from __future__ import annotations

import numpy as np

from baytree.data.schema.schema import Schema
from baytree.linear.design.feature_layout import VALUE
from baytree.linear.mars.features import SplineFeatures
from baytree.linear.mars.model import FALLING, LINEAR, RISING, Hinge, Term

_MAX_STEPS = 25

_MAX_STEPS_MONOTONE = 100  # maximum number of steps with monotone columns, where steps may be halved

_TOLERANCE = 1e-8

_MAX_ETA = 30.0  # log-odds beyond which the logistic curve counts as flat

_EPSILON = np.finfo(np.float64).eps

_RIDGE = 1e-8  # relative to a column's norm: with certain rows, some columns are determined by others

_MIN_DECREASE = 1e-12  # relative decrease of the deviance at which to stop


def logistic_within(basis: np.ndarray, hit: np.ndarray, weight: np.ndarray, pieces: np.ndarray) -> np.ndarray:
    """Logistic coefficients subject to pieces @ coefficients ≥ 0; the unconstrained ones if they satisfy it."""
    unconstrained = logistic(basis, hit, weight)
    if (pieces @ unconstrained >= 0).all():
        return unconstrained
    proportion = float(np.clip(np.average(hit, weights=weight), 1e-6, 1 - 1e-6))
    current = np.append(np.log(proportion / (1 - proportion)), np.zeros(basis.shape[1] - 1))  # feasible: all slopes are 0
    deviance = _deviance(hit, _mean(basis @ current), weight)
    for _ in range(_MAX_STEPS_MONOTONE):
        step = _target(basis, hit, weight, pieces, current) - current
        candidates = (current + 0.5**k * step for k in range(30))
        better = next((c for c in candidates if _deviance(hit, _mean(basis @ c), weight) < deviance), None)
        if better is None:
            break
        before, current, deviance = deviance, better, _deviance(hit, _mean(basis @ better), weight)
        if before - deviance <= _MIN_DECREASE * (deviance + 0.1):
            break
    return current


def _target(basis: np.ndarray, hit: np.ndarray, weight: np.ndarray, pieces: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Constrained minimum of the quadratic approximation of the deviance at these coefficients."""
    eta = basis @ at
    mean, derivative = _mean(eta), _mean_derivative(eta)
    weight_root = np.sqrt(weight * derivative)
    ridge = np.diag(_RIDGE * np.sqrt(weight @ np.square(basis)))
    response = np.append(weight_root * (eta + (hit - mean) / derivative), ridge @ at)
    q, r = np.linalg.qr(np.vstack([weight_root[:, None] * basis, ridge]))
    return least_squares_within(r, q.T @ response, pieces)


def logistic(basis: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Unconstrained logistic coefficients. basis [n_rows, n_terms], hit 0 or 1 [n_rows] → [n_terms]"""
    # with separable classes rounding grows; sorting makes the result independent of row order
    order = np.lexsort((weight, hit, *basis.T))
    basis, hit, weight = basis[order], hit[order], weight[order]
    mean = np.clip((weight * hit + 0.5) / (weight + 1), _EPSILON, 1 - _EPSILON)  # clipped for rows of very large weight
    eta = np.log(mean / (1 - mean))
    deviance, coefficient = _deviance(hit, mean, weight), np.zeros(basis.shape[1])
    for _ in range(_MAX_STEPS):
        derivative = _mean_derivative(eta)
        weight_root = np.sqrt(weight * derivative**2 / (mean * (1 - mean)))
        coefficient = _solve(weight_root[:, None] * basis, weight_root * (eta + (hit - mean) / derivative))
        eta = basis @ coefficient
        mean = _mean(eta)
        before, deviance = deviance, _deviance(hit, mean, weight)
        if abs(deviance - before) / (abs(deviance) + 0.1) < _TOLERANCE:
            break
    return coefficient


def _solve(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Least squares by QR, or by SVD if certain rows make columns linearly dependent."""
    q, r = np.linalg.qr(x)
    diagonal = np.abs(r.diagonal())
    if diagonal.min() > 1e-11 * diagonal.max():
        return np.linalg.solve(r, q.T @ y)
    return np.linalg.lstsq(x, y, rcond=None)[0]


def _mean(eta: np.ndarray) -> np.ndarray:
    odds = np.where(
        eta > _MAX_ETA, 1 / _EPSILON, np.where(eta < -_MAX_ETA, _EPSILON, np.exp(np.clip(eta, -_MAX_ETA, _MAX_ETA)))
    )
    return odds / (1 + odds)


def _mean_derivative(eta: np.ndarray) -> np.ndarray:
    odds = np.exp(np.clip(eta, -_MAX_ETA, _MAX_ETA))
    return np.where(np.abs(eta) > _MAX_ETA, _EPSILON, odds / (1 + odds) ** 2)


def _deviance(hit: np.ndarray, mean: np.ndarray, weight: np.ndarray) -> float:
    return float(-2 * (weight * np.where(hit > 0, np.log(mean), np.log1p(-mean))).sum())


_COEFFICIENT_ROUNDING = 1e-13  # relative to the largest contribution: a smaller coefficient counts as 0


def slope_constraints(
    terms: list[Term], features: SplineFeatures, schema: Schema, followed: tuple[tuple[str, int], ...]
) -> np.ndarray:
    """Matrix S: the slope of each piece of each monotone column, in its direction, per coefficient. [n_pieces, n_terms]"""
    rows = [np.zeros((0, len(terms)))]
    for name, direction in followed:
        features_of_column = np.flatnonzero(
            (features.layout.source == schema.names.index(name)) & (features.layout.level == VALUE)
        )
        rows += [direction * _slopes(terms, int(feature)) for feature in features_of_column]
    return np.concatenate(rows)


def _slopes(terms: list[Term], feature: int) -> np.ndarray:
    """Slope of each piece of one feature's function, from low to high values. [n_pieces, n_terms]"""
    single_terms = {k: term[0] for k, term in enumerate(terms) if term and term[0].feature == feature}
    knots = np.unique([hinge.cut for hinge in single_terms.values() if hinge.side != LINEAR])
    piece_starts = np.append(-np.inf, knots)  # lower end of each piece
    slopes = np.zeros((len(piece_starts), len(terms)))
    for k, hinge in single_terms.items():
        slopes[:, k] = _hinge_slope(hinge, piece_starts)
    return slopes[slopes.any(axis=1)]


def _hinge_slope(hinge: Hinge, below: np.ndarray) -> np.ndarray:
    """Slope of a hinge on each piece."""
    if hinge.side == RISING:
        return (below >= hinge.cut).astype(float)
    return np.where(below < hinge.cut, -1.0, 0.0) if hinge.side == FALLING else np.ones(len(below))


def least_squares_within(r: np.ndarray, z: np.ndarray, pieces: np.ndarray) -> np.ndarray:
    """Minimiser c of |z − R c|² subject to S c ≥ 0; the unconstrained one if it is feasible. r [n, n], z [n],
    pieces [m, n]
    """
    unconstrained = np.linalg.solve(r, z)
    if not len(pieces) or (pieces @ unconstrained >= 0).all():
        return unconstrained
    from scipy.optimize import nnls

    dual = np.linalg.solve(r.T, pieces.T)  # [n, m]
    size = np.sqrt(np.square(dual).sum(axis=0))
    multiplier, _ = nnls(dual / size, -z)
    found = np.linalg.solve(r, z + (dual / size) @ multiplier)
    return _settled(found, r, pieces)


def _settled(found: np.ndarray, r: np.ndarray, pieces: np.ndarray) -> np.ndarray:
    """Coefficients, with rounding errors of those of monotone columns replaced by 0."""
    is_constrained = pieces.any(axis=0)
    contribution = np.abs(found) * np.sqrt(np.square(r).sum(axis=0))
    return np.where(is_constrained & (contribution <= _COEFFICIENT_ROUNDING * contribution.max(initial=0.0)), 0.0, found)
