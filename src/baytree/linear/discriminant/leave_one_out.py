"""Exact leave-one-out of discriminant analysis: each row predicted by the model of all others, without refitting.

Removing a row (weight w, class k) moves the class mean by −w d / (n_k − w), d = row − mean, and reduces the scatter by w n_k
/ (n_k − w) · d d'; the inverse follows by the Sherman–Morrison formula, the determinant by the matrix determinant lemma. If
the row alone carries the variance of a direction, or a blended covariance depends on the row, the row is subtracted from the
statistic and the model is derived again.
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

_MIN_REMAINING = 1e-6  # proportion of a direction's scatter that remains without the row: less counts as none


def linear_leave_one_out(
    table: Table, scatter: Scatter, choice: DiscriminantOptions, columns: tuple[Column, ...]
) -> np.ndarray:
    """Class probabilities of each row by the linear model of all other rows. [n_rows, n_classes]"""
    pooled = pool(scatter, choice, columns)
    sphere = sphering(pooled, columns)
    projected_means = pooled.mean @ sphere
    scores, is_hard = np.empty((len(table), table.n_classes)), np.full(len(table), pooled.is_raised)
    for rows, x in pooled.design.blocks(table):
        scores[rows], is_alone = _linear_scores(
            x @ sphere, table.label[rows], table.weight[rows], projected_means, pooled, choice
        )
        is_hard[rows] |= is_alone
    probability = softmax(scores + _log_priors(table, pooled, choice))
    probability[is_hard] = _one_by_one(table, scatter, is_hard, lambda rest: derive_linear(rest, choice, columns))
    return probability


def quadratic_without_each(
    table: Table, scatter: Scatter, choice: DiscriminantOptions, columns: tuple[Column, ...], classes: tuple[Any, ...]
) -> np.ndarray:
    """Class probabilities of each row by the quadratic model of all other rows. [n_rows, n_classes]"""
    pooled = pool(scatter, choice, columns)
    found, is_weak = class_correlations(pooled, choice)
    scores, is_hard = np.empty((len(table), table.n_classes)), np.full(len(table), bool(is_weak.any()))
    whiten = [inverse_factor(covariance) for covariance in found]
    for rows, x in pooled.design.blocks(table):
        for k, factor in enumerate(whiten):
            z = (x - pooled.mean[k]) @ factor.T
            own = table.label[rows] == k
            scores[rows, k], is_alone = _quadratic_scores(z, own, table.weight[rows], float(pooled.seen.weight[k]), choice)
            scores[rows, k] += np.log(np.diag(factor)).sum()
            is_hard[rows] |= is_alone
    probability = softmax(scores + _log_priors(table, pooled, choice))
    probability[is_hard] = _one_by_one(
        table, scatter, is_hard, lambda rest: derive_quadratic(rest, choice, columns, classes)
    )
    return probability


def _one_by_one(table: Table, scatter: Scatter, which: np.ndarray, derive: Callable[[Scatter], Model]) -> np.ndarray:
    """Class probabilities of some rows, each by the model derived from the statistic without it. [n, n_classes]"""
    probability = np.empty((np.count_nonzero(which), table.n_classes))
    with _warnings.capture():  # columns that become collinear by removing one row deserve no warning
        for i, row in enumerate(np.flatnonzero(which)):
            one = table.take(np.array([row]))
            probability[i] = derive(scatter - scatter_of(one, scatter.is_pooled)).predict(one)
    return probability


def _linear_scores(
    z: np.ndarray,
    label: np.ndarray,
    weight: np.ndarray,
    positions: np.ndarray,
    pooled: PooledCovariance,
    choice: DiscriminantOptions,
) -> tuple[np.ndarray, np.ndarray]:
    """−distance² / 2 to each class mean, with mean and scatter as without the row; whether the row alone had some
    variance.
    """
    class_weight = pooled.seen.weight[label]
    left = class_weight - weight
    whole = divisor(pooled.seen, choice)
    rest = _rest_divisor(pooled, choice, label, weight)
    own = z - positions[label]
    ratio = np.divide(weight, left, out=np.zeros_like(left), where=left > 1e-12 * class_weight)
    selected = class_weight * ratio / whole  # covariance without the row · rest / whole = I − taken · own own'
    length = np.einsum("ij,ij->i", own, own)
    inner = 1 - selected * length
    grow = selected / np.maximum(inner, 1e-300)
    out = np.empty((len(z), len(positions)))
    for k, position in enumerate(positions):
        difference = z - position
        difference[label == k] += (ratio[:, None] * own)[label == k]
        square = np.einsum("ij,ij->i", difference, difference) + grow * np.einsum("ij,ij->i", difference, own) ** 2
        out[:, k] = -square * rest / whole / 2
    return out, inner < _MIN_REMAINING


def _quadratic_scores(
    z: np.ndarray, own: np.ndarray, weight: np.ndarray, total: float, choice: DiscriminantOptions
) -> tuple[np.ndarray, np.ndarray]:
    """−distance² / 2 − log det / 2 of one class, without the row if it belongs to it; whether the row alone had some
    variance.
    """
    length = np.einsum("ij,ij->i", z, z)
    remaining = np.maximum(total - weight, 1e-300)
    full_divisor = class_divisor(total, choice)
    rest = np.array([class_divisor(float(n), choice) for n in remaining])
    selected = total * weight / remaining / full_divisor
    inner = np.maximum(1 - selected * length, 1e-300)
    squared_distance = length * (1 + weight / remaining) ** 2  # distance from the mean without the row
    square = rest / full_divisor * (squared_distance + selected * squared_distance * length / inner)
    log_det = np.log(inner) + z.shape[1] * np.log(full_divisor / rest)
    return np.where(own, -square / 2 - log_det / 2, -length / 2), own & (inner < _MIN_REMAINING)


def _rest_divisor(
    pooled: PooledCovariance, choice: DiscriminantOptions, label: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    total, n_classes = pooled.seen.weight.sum(), np.count_nonzero(pooled.seen.weight)
    is_last = pooled.seen.weight[label] - weight <= 1e-12 * pooled.seen.weight[label]
    degrees = total - weight - (n_classes - is_last)
    return np.where((choice.covariance == "unbiased") & (degrees > 0), degrees, total - weight)


def _log_priors(table: Table, pooled: PooledCovariance, choice: DiscriminantOptions) -> np.ndarray:
    """Log priors of the model without each row: its class loses the weight of the row. [n_rows, n_classes]"""
    n = np.tile(pooled.seen.weight, (len(table), 1))
    n[np.arange(len(table)), table.label] -= table.weight
    n[n <= 1e-12 * pooled.seen.weight] = 0.0
    prior = n / n.sum(axis=1, keepdims=True) if choice.priors is None else np.where(n > 0, choice.priors, 0.0)
    return np.log(prior, out=np.full_like(prior, LOG_ZERO), where=prior > 0)
