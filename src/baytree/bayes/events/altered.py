"""Likelihoods of a statistic with one row more or less, of many such rows at once: no statistic is added up or derived.

A row changes the moments of its class, and of its column over all classes, by amounts in closed form.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from baytree import _core
from baytree.bayes.events.left_out_normal import LeftOutRule
from baytree.bayes.events.normal import log_constants
from baytree.bayes.events.standardised import Standardised

_GONE = 1e-9  # of a column's sum of squares or of a class's weight: what is left is rounding
_LEAST_BETWEEN = 1e-12
Ready = list[np.ndarray]  # the columns of rows, by rows, as an event reads them
Densities = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # mean, scale, degrees, height [n_classes, n_columns]


class Altered(Protocol):
    """The likelihood of one event after each of many changes."""

    @property
    def is_hard(self) -> np.ndarray:
        """bool [n_changes]: which of them need a statistic of their own."""
        ...

    def add_scores(self, change: int, rows: Ready, scores: np.ndarray) -> None:
        """Adds the log-probability of each row after a change to its scores."""
        ...


class AlteredNormal(NamedTuple):
    """Normal or Student densities after each change."""

    densities: Densities  # [n_changes, n_classes, n_columns] each
    is_hard: np.ndarray

    def add_scores(self, change: int, rows: Ready, scores: np.ndarray) -> None:
        """Adds the log-density of the columns of each matrix."""
        done = 0
        for matrix in rows:
            here = slice(done, done + matrix.shape[1])
            mean, scale, degrees, height = (np.ascontiguousarray(each[change][:, here]) for each in self.densities)
            _core.add_density_scores(matrix, mean, scale, degrees, height, scores)
            done += matrix.shape[1]


class AlteredLevels(NamedTuple):
    """The log-probability of each level after each change: of the class that changed, and of all others as before."""

    before: np.ndarray  # [n_levels, n_classes]
    after: np.ndarray  # [n_changes, n_levels]
    label: np.ndarray  # int [n_changes]
    is_hard: np.ndarray

    def add_scores(self, change: int, rows: Ready, scores: np.ndarray) -> None:
        """Adds the log-probability of each row's level."""
        table = self.before.copy()
        table[:, self.label[change]] = self.after[change]
        _core.add_level_scores(rows[0], table, scores)


def altered_normal(
    whole: Standardised, value: np.ndarray, label: np.ndarray, weight: np.ndarray, rule: LeftOutRule
) -> AlteredNormal:
    """The densities after a row [n_changes, n_columns] of a class was added, or with a negative weight taken away."""
    at, known = np.arange(len(label)), ~np.isnan(value)
    x = np.where(known, (value - whole.centre) / whole.unit, 0.0)
    w = np.where(known, weight[:, None], 0.0)
    n, mean, squares = (
        np.repeat(each[None], len(label), axis=0) for each in (whole.n, whole.distance, whole.n * whole.spread)
    )
    total, all_squares = whole.n.sum(axis=0), whole.n.sum(axis=0) * ~whole.is_constant
    n[at, label], mean[at, label], squares[at, label] = _moved(n[at, label], mean[at, label], squares[at, label], x, w)
    total, centre, around = _moved(total, np.zeros_like(x), all_squares, x, w)
    is_hard = (around <= _GONE * all_squares) & (all_squares > 0)
    unit = np.sqrt(np.where(around > 0, around / np.maximum(total, 1e-300), 1.0))
    found = _parameters(n, (mean - centre[:, None]) / unit[:, None], squares / unit[:, None] ** 2, total, rule)
    constant = np.broadcast_to((around <= 0)[:, None], n.shape)  # tells nothing
    mean, variance, degrees = (np.where(constant, a, b) for a, b in zip((0.0, 1.0, np.inf), found, strict=True))
    place = whole.centre + whole.unit * (centre[:, None] + unit[:, None] * mean)
    scale = np.maximum(whole.unit * unit[:, None] * np.sqrt(variance), 1e-320)
    densities = place, scale, np.ascontiguousarray(degrees), _heights(scale, degrees)
    return AlteredNormal(densities, is_hard.any(axis=1))


def _moved(
    n: np.ndarray, mean: np.ndarray, squares: np.ndarray, x: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weight, mean and sum of squares once x was added with weight w."""
    after = n + w
    after = np.where(after <= _GONE * n, 0.0, after)
    share = np.divide(w, after, out=np.zeros_like(after), where=after > 0)
    apart = x - mean
    left = np.where(after > 0, np.maximum(squares + n * share * apart**2, 0.0), 0.0)
    return after, mean + share * apart, np.broadcast_to(left, after.shape)


def _parameters(
    n: np.ndarray, distance: np.ndarray, squares: np.ndarray, total: np.ndarray, rule: LeftOutRule
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, variance and degrees of each class in units of the column, as `Gaussian` has them. [n_changes, n_classes, p]"""
    is_seen = n > 0
    plain = np.divide(squares, n, out=np.ones_like(n), where=is_seen)
    place, never = np.where(is_seen, distance, 0.0), np.full(n.shape, np.inf)
    if rule.estimate == "mle":
        return place, np.where(is_seen, np.maximum(plain, rule.floor), 1.0), never
    if rule.estimate == "raised":
        return place, np.where(is_seen, plain + np.maximum(rule.floor, 1e-300), 1.0), never
    free = np.maximum(total - is_seen.sum(axis=1), 0.0)
    within = ((squares.sum(axis=1) + 1) / (free + 1))[:, None]
    between = np.maximum((n * place**2).sum(axis=1) / np.maximum(total, 1.0), _LEAST_BETWEEN)[:, None]
    kappa = rule.alpha * within / between + n
    spread = 2 * rule.alpha * within + squares
    if rule.estimate == "map":
        return n / kappa * place, spread / (2 * rule.alpha + n + 2), never
    degrees = 2 * rule.alpha + np.maximum(n - 1, 0.0)
    return n / kappa * place, spread / degrees * (1 + 1 / kappa), degrees


def _heights(scale: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    flat = log_constants(scale.reshape(-1, scale.shape[-1]), degrees.reshape(-1, scale.shape[-1]))
    return flat.reshape(scale.shape)
