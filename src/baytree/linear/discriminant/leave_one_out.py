"""Exact leave-one-out for discriminant analysis: each row judged by the model of all others, without a refit.

Taking a row (weight w, class k) away moves the class mean by −w d / (n_k − w), d = row − mean, and takes
w n_k / (n_k − w) · d d' from the scatter; the inverse follows by Sherman and Morrison, the determinant by its lemma.
Where the row alone carries a direction's spread, or a covariance borrows what the row changes, the row is taken from the
statistic and the rule derived anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from baytree import _warnings
from baytree.base.model import Model, softmax
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Column
from baytree.linear.discriminant.covariance import DiscriminantOptions, PooledCovariance, class_divisor, divisor, pool
from baytree.linear.discriminant.derive import class_correlations, derive_linear, derive_quadratic, inverse_factor, sphering
from baytree.linear.linear_model import LOG_ZERO
from baytree.linear.scatter.observe import scatter_of
from baytree.linear.scatter.scatter import Scatter

_ALONE = 1e-6  # of a direction's scatter: what is left without the row is next to nothing


def linear_leave_one_out(
    table: Table, seen: Scatter, choice: DiscriminantOptions, columns: tuple[Column, ...]
) -> np.ndarray:
    """The probabilities of each row under the linear rule of all other rows. [n_rows, n_classes]"""
    pooled = pool(seen, choice, columns)
    sphere = sphering(pooled, columns)
    places = pooled.mean @ sphere
    scores, is_hard = np.empty((len(table), table.n_classes)), np.full(len(table), pooled.is_raised)
    for rows, x in pooled.design.blocks(table):
        scores[rows], alone = _linear_scores(x @ sphere, table.label[rows], table.weight[rows], places, pooled, choice)
        is_hard[rows] |= alone
    answer = softmax(scores + _log_priors(table, pooled, choice))
    answer[is_hard] = _one_by_one(table, seen, is_hard, lambda rest: derive_linear(rest, choice, columns))
    return answer


def quadratic_without_each(
    table: Table, seen: Scatter, choice: DiscriminantOptions, columns: tuple[Column, ...], classes: tuple[Any, ...]
) -> np.ndarray:
    """The probabilities of each row under the quadratic rule of all other rows. [n_rows, n_classes]"""
    pooled = pool(seen, choice, columns)
    found, is_weak = class_correlations(pooled, choice)
    scores, is_hard = np.empty((len(table), table.n_classes)), np.full(len(table), bool(is_weak.any()))
    whiten = [inverse_factor(covariance) for covariance in found]
    for rows, x in pooled.design.blocks(table):
        for k, root in enumerate(whiten):
            z = (x - pooled.mean[k]) @ root.T
            own = table.label[rows] == k
            scores[rows, k], alone = _quadratic_scores(z, own, table.weight[rows], float(pooled.seen.weight[k]), choice)
            scores[rows, k] += np.log(np.diag(root)).sum()
            is_hard[rows] |= alone
    answer = softmax(scores + _log_priors(table, pooled, choice))
    answer[is_hard] = _one_by_one(table, seen, is_hard, lambda rest: derive_quadratic(rest, choice, columns, classes))
    return answer


def _one_by_one(table: Table, seen: Scatter, which: np.ndarray, derive: Callable[[Scatter], Model]) -> np.ndarray:
    """The probabilities of these rows, each under the rule of the statistic without it. [n, n_classes]"""
    answer = np.empty((np.count_nonzero(which), table.n_classes))
    with _warnings.capture():  # what one row less makes collinear is no fault of the table
        for i, row in enumerate(np.flatnonzero(which)):
            one = table.take(np.array([row]))
            answer[i] = derive(seen - scatter_of(one, seen.is_pooled)).predict(one)
    return answer


def _linear_scores(
    z: np.ndarray,
    label: np.ndarray,
    weight: np.ndarray,
    places: np.ndarray,
    pooled: PooledCovariance,
    choice: DiscriminantOptions,
) -> tuple[np.ndarray, np.ndarray]:
    """−distance² / 2 to each class mean, row and scatter as they are without the row; whether it alone had some spread."""
    class_weight = pooled.seen.weight[label]
    left = class_weight - weight
    whole = divisor(pooled.seen, choice)
    rest = _rest_divisor(pooled, choice, label, weight)
    own = z - places[label]
    ratio = np.divide(weight, left, out=np.zeros_like(left), where=left > 1e-12 * class_weight)
    taken = class_weight * ratio / whole  # covariance' · rest / whole = I − taken · own own'
    length = np.einsum("ij,ij->i", own, own)
    inner = 1 - taken * length
    grow = taken / np.maximum(inner, 1e-300)
    out = np.empty((len(z), len(places)))
    for k, place in enumerate(places):
        apart = z - place
        apart[label == k] += (ratio[:, None] * own)[label == k]
        square = np.einsum("ij,ij->i", apart, apart) + grow * np.einsum("ij,ij->i", apart, own) ** 2
        out[:, k] = -square * rest / whole / 2
    return out, inner < _ALONE


def _quadratic_scores(
    z: np.ndarray, own: np.ndarray, weight: np.ndarray, total: float, choice: DiscriminantOptions
) -> tuple[np.ndarray, np.ndarray]:
    """−distance² / 2 − log det / 2 of one class, without the row where it belongs; whether it alone had some spread."""
    length = np.einsum("ij,ij->i", z, z)
    left = np.maximum(total - weight, 1e-300)
    whole = class_divisor(total, choice)
    rest = np.array([class_divisor(float(n), choice) for n in left])
    taken = total * weight / left / whole
    inner = np.maximum(1 - taken * length, 1e-300)
    apart = length * (1 + weight / left) ** 2  # from the moved mean
    square = rest / whole * (apart + taken * apart * length / inner)
    log_det = np.log(inner) + z.shape[1] * np.log(whole / rest)
    return np.where(own, -square / 2 - log_det / 2, -length / 2), own & (inner < _ALONE)


def _rest_divisor(
    pooled: PooledCovariance, choice: DiscriminantOptions, label: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    total, n_classes = pooled.seen.weight.sum(), np.count_nonzero(pooled.seen.weight)
    last = pooled.seen.weight[label] - weight <= 1e-12 * pooled.seen.weight[label]
    free = total - weight - (n_classes - last)
    return np.where((choice.covariance == "unbiased") & (free > 0), free, total - weight)


def _log_priors(table: Table, pooled: PooledCovariance, choice: DiscriminantOptions) -> np.ndarray:
    """The log priors that each row's model has: the class of the row has lost the row. [n_rows, n_classes]"""
    n = np.tile(pooled.seen.weight, (len(table), 1))
    n[np.arange(len(table)), table.label] -= table.weight
    n[n <= 1e-12 * pooled.seen.weight] = 0.0
    prior = n / n.sum(axis=1, keepdims=True) if choice.priors is None else np.where(n > 0, choice.priors, 0.0)
    return np.log(prior, out=np.full_like(prior, LOG_ZERO), where=prior > 0)
