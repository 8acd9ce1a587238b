"""Choosing the strength of the penalty: the same folds and the same strengths for all, judged by held-out loss.

Folds are made from the rows themselves: equal rows fall into one fold, and neither the order of the rows nor writing a row
twice instead of giving it weight 2 changes anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from .logistic import Options, Task, penalty_of
from .objective import Aim, Fit, Penalty
from .rows import DenseRows, SparseRows, losses
from .solve import optimum

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
    task: Task, options: Options, lambdas: np.ndarray, fold: np.ndarray, along: Sequence[Fit]
) -> tuple[np.ndarray, np.ndarray]:
    """The mean loss of each fold's rows under the path of all other rows, and the folds' weights. [n_folds, n], [n_folds]

    `along` is the path of all rows: from one strength to the next a fold's optimum moves much as that of all rows does.
    """
    numbers = np.unique(fold)
    weight = np.array([task.rows.weight[fold == f].sum() for f in numbers])
    return np.array([_fold_losses(task, options, lambdas, fold == f, along) for f in numbers]), weight


def choose(lambdas: np.ndarray, fold_loss: np.ndarray, weight: np.ndarray) -> Curve:
    """The curve and its two choices: the least loss, and the strongest penalty within one standard error of it."""
    share = weight / weight.sum()
    mean = share @ fold_loss
    spread = share @ np.square(fold_loss - mean)
    error = np.sqrt(spread / max(len(fold_loss) - 1, 1))
    best = int(np.argmin(mean))
    return Curve(lambdas, fold_loss, mean, error, best, int(np.argmax(mean <= mean[best] + error[best])))


def _fold_losses(
    task: Task, options: Options, lambdas: np.ndarray, held: np.ndarray, along: Sequence[Fit]
) -> np.ndarray:
    rows = task.rows
    kept = np.where(held, 0.0, rows.weight)
    if not kept.any():
        return np.zeros(len(lambdas))
    train = rows.with_weight(kept)
    size = _sizes(train) if options.standardize else np.ones(rows.q)
    out, fit, last = np.empty(len(lambdas)), along[0] if isinstance(rows, DenseRows) else None, along[0]
    for i, (lambda_, whole) in enumerate(zip(lambdas, along, strict=True)):
        full = penalty_of(task, options, float(lambda_))
        penalty = Penalty(full.ridge * size**2, full.lasso * size)
        fit = optimum(train, penalty, Aim(_AIM, options.max_iter, _AIM), _moved(fit, last, whole))
        last = whole
        out[i] = _loss(rows, fit, held)
    return out


def _moved(fit: Fit | None, last: Fit, whole: Fit) -> Fit | None:
    """Where to look for the next optimum of a fold: as far from its last one as those of all rows are apart."""
    if fit is None or fit.curvature is None:  # sparse descent goes its own way
        return fit
    return msgspec.structs.replace(fit, theta=fit.theta + (whole.theta - last.theta))


def _loss(rows: DenseRows | SparseRows, fit: Fit, held: np.ndarray) -> float:
    score = rows.scores(fit.theta, held) if isinstance(rows, DenseRows) else rows.scores(fit.theta)[held]
    lost, _ = losses(score, rows.label[held])
    return float(rows.weight[held] @ lost / rows.weight[held].sum())


def _sizes(rows: DenseRows | SparseRows) -> np.ndarray:
    """The standard deviation of each feature among the rows that count, in the design's units. [q]"""
    if isinstance(rows, SparseRows):
        return np.ones(rows.q)
    variance = np.append(rows.moments()[1], 0.0)
    return np.where(variance > 1e-12, np.sqrt(np.maximum(variance, 0.0)), 1.0)


def _hashes(rows: DenseRows | SparseRows) -> np.ndarray:
    """A number made from each row's features, whatever their order. uint64 [n_rows]"""
    if isinstance(rows, SparseRows):
        entry = _mixed(rows.x.value) ^ (rows.x.code.astype(np.uint64) * _MIX)
        return np.add.reduceat(entry * _MIX, rows.x.start[:-1])  # a row has at least its constant
    key = np.zeros(len(rows.x), np.uint64)
    for j in range(rows.q - 1):
        key += _mixed((rows.x[:, j] - rows.centre[j]) / rows.scale[j])
    return key


def _mixed(values: np.ndarray) -> np.ndarray:
    bits = np.round(values, 9).view(np.uint64) * _MIX  # rounded: sums over repeated rows differ in the last bits
    bits ^= bits >> np.uint64(29)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    return bits ^ (bits >> np.uint64(32))
