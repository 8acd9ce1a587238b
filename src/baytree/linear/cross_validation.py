"""Choosing the strength of the penalty: the same folds and the same strengths for all, judged by held-out loss.

Folds are made from the rows themselves: equal rows fall into one fold, and neither the order of the rows nor writing a row
twice instead of giving it weight 2 changes anything.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np

from .. import _core
from .lockstep import Problems, solve_together
from .logistic import Options, Task, penalty_of
from .objective import Aim, Fit, Penalty
from .rows import DenseRows, SparseRows, losses
from .solve import optimum
from .threads import chunks, in_order

_AIM = 1e-6  # the violation at which a held-out loss has all the digits that a choice needs
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Curve(msgspec.Struct, frozen=True):
    """The held-out loss at each strength: mean over folds, its standard error, and the choices that follow."""

    lambdas: np.ndarray  # [n], falling
    fold_loss: np.ndarray  # [n_folds, n], mean −log probability
    mean: np.ndarray  # [n]
    error: np.ndarray  # [n]
    best: int  # least mean loss
    one_se: int  # strongest penalty within one standard error of the best


def folds_of(task: Task, n_folds: int) -> np.ndarray:
    """The fold of each row: within each class, rows in the order of their hash, cut into runs of equal weight."""
    rows = task.rows
    key = _hashes(rows)
    order = np.lexsort((key, rows.label))
    weight = rows.weight[order]
    before = np.cumsum(weight) - weight
    new = np.concatenate([[True], (np.diff(key[order]) != 0) | (np.diff(rows.label[order]) != 0)])
    before = before[np.flatnonzero(new)[np.cumsum(new) - 1]]  # equal rows share the place of the first of them
    total = np.bincount(rows.label, rows.weight)
    start = (np.cumsum(total) - total)[rows.label[order]]
    fold = np.empty(len(order), np.int64)
    place = (before - start) / total[rows.label[order]]
    fold[order] = np.minimum(np.floor(place * n_folds + 1e-9), n_folds - 1).astype(np.int64)
    return (fold + rows.label) % n_folds  # classes of one row each do not all fall into the first fold


def fold_numbers(tests: Iterable[np.ndarray], n_rows: int) -> np.ndarray:
    """The number of the fold that holds each row out."""
    fold = np.full(n_rows, -1)
    for number, test in enumerate(tests):
        fold[test] = number
    if (fold < 0).any():
        raise ValueError(f"cv holds out no fold with row {int(np.argmax(fold < 0))}; every row must be held out once")
    return fold


def held_out_losses(
    task: Task, options: Options, lambdas: np.ndarray, fold: np.ndarray, fits: list[Fit]
) -> tuple[np.ndarray, np.ndarray]:
    """The mean loss of each fold's rows under the path of all other rows, and the folds' weights. [n_folds, n], [n_folds]

    `fits` are the solutions on all rows, from which those without a fold are not far.
    """
    fold = np.unique(fold, return_inverse=True)[1].astype(np.int64)
    weight = np.bincount(fold, task.rows.weight)
    prices = [_prices(task, options, lambdas, fold == f) for f in range(len(weight))]
    loss, found = _together(task, fold, prices, fits)
    for f, i in np.argwhere(~found):
        loss[f, i] = _alone(task, options, fold == f, prices[f][i], fits[i])
    return loss, weight


def choose(lambdas: np.ndarray, fold_loss: np.ndarray, weight: np.ndarray) -> Curve:
    """The curve and its two choices: the least loss, and the strongest penalty within one standard error of it."""
    share = weight / weight.sum()
    mean = share @ fold_loss
    spread = share @ np.square(fold_loss - mean)
    error = np.sqrt(spread / max(len(fold_loss) - 1, 1))
    best = int(np.argmin(mean))
    return Curve(lambdas, fold_loss, mean, error, best, int(np.argmax(mean <= mean[best] + error[best])))


def _prices(task: Task, options: Options, lambdas: np.ndarray, held: np.ndarray) -> list[Penalty]:
    """The penalty at each strength, on features in units of their spread among the rows that are not held out."""
    size = np.ones(task.rows.q)
    kept = np.where(held, 0.0, task.rows.weight)
    if options.standardize and kept.any():
        size = _sizes(task.rows.with_weight(kept))
    full = [penalty_of(task, options, float(lambda_)) for lambda_ in lambdas]
    return [Penalty(each.ridge * size**2, each.lasso * size) for each in full]


def _together(
    task: Task, fold: np.ndarray, prices: list[list[Penalty]], fits: list[Fit]
) -> tuple[np.ndarray, np.ndarray]:
    """Held-out losses of all folds and strengths at once, and which were found; none where problems differ too much."""
    shape = len(prices), len(fits)
    bends = [fit.curvature for fit in fits]
    is_smooth = all(each.is_smooth for own in prices for each in own)
    if not (isinstance(task.rows, DenseRows) and task.rows.k == 1 and is_smooth and shape[0] > 1):
        return np.zeros(shape), np.zeros(shape, bool)
    if any(bend is None for bend in bends):
        return np.zeros(shape), np.zeros(shape, bool)
    problems = Problems(
        np.repeat(np.arange(shape[0]), shape[1]),
        np.array([each.ridge for own in prices for each in own]),
        np.tile(np.array([fit.theta[0] for fit in fits]), (shape[0], 1)),
        tuple(bends) * shape[0],
    )
    loss, found = solve_together(task.rows, fold, problems, _AIM)
    return loss.reshape(shape), found.reshape(shape)


def _alone(task: Task, options: Options, held: np.ndarray, penalty: Penalty, near: Fit) -> float:
    """The held-out loss of one fold at one strength."""
    kept = np.where(held, 0.0, task.rows.weight)
    if not kept.any():
        return 0.0
    fit = optimum(task.rows.with_weight(kept), penalty, Aim(_AIM, options.max_iter, _AIM), near)
    return _loss(task.rows, fit, held)


def _loss(rows: DenseRows | SparseRows, fit: Fit, held: np.ndarray) -> float:
    score = rows.scores(fit.theta, held) if isinstance(rows, DenseRows) else rows.scores(fit.theta)[held]
    lost, _ = losses(score, rows.label[held])
    return float(rows.weight[held] @ lost / rows.weight[held].sum())


def _sizes(rows: DenseRows | SparseRows) -> np.ndarray:
    """The standard deviation of each feature among the rows that count, in the design's units. [q]"""
    if isinstance(rows, SparseRows):
        return np.ones(rows.q)
    variance = np.append(rows.variances(), 0.0)
    return np.where(variance > 1e-12, np.sqrt(np.maximum(variance, 0.0)), 1.0)


def _hashes(rows: DenseRows | SparseRows) -> np.ndarray:
    """A number made from each row's features, whatever their order. uint64 [n_rows]"""
    if isinstance(rows, SparseRows):
        entry = _mixed(rows.x.value) ^ (rows.x.code.astype(np.uint64) * _MIX)
        return np.add.reduceat(entry * _MIX, rows.x.start[:-1])  # a row has at least its constant
    key = np.empty(len(rows.x), np.uint64)
    in_order(lambda own: _core.row_hashes(rows.x[own], rows.centre, rows.scale, key[own]), chunks(len(key)))
    return key


def _mixed(values: np.ndarray) -> np.ndarray:
    bits = np.round(values, 9).view(np.uint64) * _MIX  # rounded: sums over repeated rows differ in the last bits
    bits ^= bits >> np.uint64(29)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    return bits ^ (bits >> np.uint64(32))
