"""Choice of the columns of a card by cross-validation, along the L1 path or by forward steps.

A path is a sequence of fits with more and more columns. Each fold has a path of its own, with bins and weights of evidence
of its training rows; the held-out losses choose how far to go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from baytree.scorecard.coded_rows import CodedRows
from baytree.scorecard.logistic import ScorecardRows, fit, start_of

SELECTIONS = ("l1", "stepwise", "all")

_N_STRENGTHS = 25

_RATIO = 1e-3  # of the smallest strength to the one at which no column enters

_RIDGE = 1.0  # prior precision of a coefficient; per standard deviation it was worse on german and credit_data

Evidence = Callable[[np.ndarray], Sequence[np.ndarray]]  # weights of groups [n_groups, 2] → weights of evidence of the cells


def choose(rows: CodedRows, evidence: Evidence, method: str, n_folds: int, good: int, rule: str) -> np.ndarray:
    """Coefficients of all columns, 0 of those that are not chosen, and the intercept, last."""
    order = [1 - good, good]
    whole = ScorecardRows(rows.matrix(evidence(rows.weight)), rows.weight[:, order])
    if method == "all" or not whole.x.shape[1]:
        return _refit(whole, np.arange(whole.x.shape[1]))
    strengths = _strengths(whole)
    path = _path(whole, method, strengths)
    held_out = rows.folds(n_folds)
    losses, weights = [], []
    for own in held_out:
        rest = rows.weight - own
        if not (rest.sum(axis=0) > 0).all() or not own.sum() > 0:
            continue
        x = rows.matrix(evidence(rest))
        train, test = ScorecardRows(x, rest[:, order]), ScorecardRows(x, own[:, order])
        losses.append([test.loss(theta) for theta in _path(train, method, strengths)])
        weights.append(own.sum())
    best = _chosen(losses, weights, rule, len(path))
    return _refit(whole, np.flatnonzero(path[best][:-1] > 0))


def _chosen(losses: list[list[float]], weights: list[float], rule: str, n: int) -> int:
    """Position along the path: the smallest mean loss, or the first within one standard error of it."""
    length = min([n, *(len(each) for each in losses)])
    if not losses or not length:
        return n - 1
    loss = np.array([each[:length] for each in losses])
    share = np.array(weights) / sum(weights)
    mean = share @ loss
    best = int(np.argmin(mean))
    if rule == "min" or len(loss) < 2:
        return best
    # folds are paired: the loss of each position is compared with that of the best in the same folds
    difference = loss - loss[:, [best]]
    error = difference.std(axis=0, ddof=1) / len(loss) ** 0.5
    return int(np.flatnonzero(share @ difference <= error)[0])


def _strengths(rows: ScorecardRows) -> np.ndarray:
    """Decreasing L1 strengths, from the smallest at which no column enters."""
    gradient, _ = rows.derivatives(start_of(rows))
    largest = float((-gradient[:-1] / rows.deviations()).max(initial=0.0))
    return np.geomspace(max(largest, 1e-12), max(largest, 1e-12) * _RATIO, _N_STRENGTHS)


def _path(rows: ScorecardRows, method: str, strengths: np.ndarray) -> list[np.ndarray]:
    return _lasso_path(rows, strengths) if method == "l1" else _forward_path(rows)


def _lasso_path(rows: ScorecardRows, strengths: np.ndarray) -> list[np.ndarray]:
    unit, theta, path = rows.deviations(), start_of(rows), []
    for strength in strengths:
        theta = fit(rows, strength * unit, _ridge(rows), theta)
        path.append(theta)
    return path


def _forward_path(rows: ScorecardRows) -> list[np.ndarray]:
    """Fits with 0, 1, 2 … columns: the next one has the largest score statistic with the right sign."""
    theta, chosen = start_of(rows), np.zeros(0, np.int64)
    path = [theta]
    while len(chosen) < rows.x.shape[1]:
        gradient, hessian = rows.derivatives(theta)
        own = np.append(chosen, rows.x.shape[1])
        inner = hessian[np.ix_(own, own)] + 1e-12 * np.eye(len(own))
        rest = np.setdiff1d(np.arange(rows.x.shape[1]), chosen)
        cross = hessian[np.ix_(own, rest)]
        variance = np.diag(hessian)[rest] - (cross * np.linalg.solve(inner, cross)).sum(axis=0)
        is_new = (variance > 1e-10 * np.diag(hessian)[rest]) & (gradient[rest] < 0)
        statistic = np.where(is_new, gradient[rest] ** 2 / np.where(is_new, variance, 1.0), 0.0)
        if not statistic.max(initial=0.0) > 0:
            break
        chosen = np.append(chosen, rest[int(np.argmax(statistic))])
        theta = _refit(rows, np.sort(chosen))
        path.append(theta)
    return path


def _refit(rows: ScorecardRows, columns: np.ndarray) -> np.ndarray:
    """Coefficients of some columns without an L1 penalty, 0 of the others."""
    some = ScorecardRows(np.ascontiguousarray(rows.x[:, columns]), rows.weight)
    own = fit(some, np.zeros(len(columns)), _ridge(some), start_of(some))
    theta = np.zeros(rows.x.shape[1] + 1)
    theta[columns], theta[-1] = own[:-1], own[-1]
    return theta


def _ridge(rows: ScorecardRows) -> np.ndarray:
    return np.full(rows.x.shape[1], _RIDGE / rows.total)
