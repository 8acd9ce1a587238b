"""How much to shrink a covariance towards the identity, in correlation units, when nobody says.

`oas` (Chen, Wiesel, Eldar and Hero 2010) is a function of the statistic; `ledoit_wolf` (2004) needs the fourth power of
the rows' lengths, so it reads the rows once more.
"""

from __future__ import annotations

import numpy as np

from baytree.linear.discriminant.pooled import Pooled
from baytree.table.table import Table


def oas(pooled: Pooled, by_class: bool) -> np.ndarray:
    """The oracle approximating shrinkage for Gaussian rows. [1] or [n_classes]"""
    return np.array([_oas(covariance, weight) for covariance, weight in _groups(pooled, by_class)])


def ledoit_wolf(fourth: np.ndarray, pooled: Pooled, by_class: bool) -> np.ndarray:
    """The shrinkage of least expected squared error, from `fourth_powers` of all rows. [1] or [n_classes]"""
    fourth = fourth if by_class else fourth.sum(keepdims=True)
    groups = _groups(pooled, by_class)
    return np.array([_ledoit_wolf(c, weight, b) for (c, weight), b in zip(groups, fourth, strict=True)])


def _groups(pooled: Pooled, by_class: bool) -> list[tuple[np.ndarray, float]]:
    """Covariances of what varies, with divisor n in units of the spread within classes, and their weight."""
    seen = pooled.seen.take(np.flatnonzero(pooled.varies))
    unit = np.outer(pooled.scale[pooled.varies], pooled.scale[pooled.varies])
    if by_class:
        return [(s / max(w, 1e-300) / unit, float(w)) for s, w in zip(seen.spread, seen.weight, strict=True)]
    total = float(seen.weight.sum())
    return [(seen.spread.sum(axis=0) / total / unit, total)]


def _oas(covariance: np.ndarray, weight: float) -> float:
    p = len(covariance)
    if p == 0:  # nothing varies
        return 0.0
    square, middle = float(np.mean(covariance**2)), covariance.trace() / p
    below = (weight + 1) * (square - middle**2 / p)
    return 1.0 if below <= 0 else min((square + middle**2) / below, 1.0)


def _ledoit_wolf(covariance: np.ndarray, weight: float, fourth: float) -> float:
    p = len(covariance)
    if p == 0:
        return 0.0
    square, middle = float(np.sum(covariance**2)), covariance.trace() / p
    apart = (square - p * middle**2) / p
    noise = (fourth / max(weight, 1e-300) - square) / (p * max(weight, 1e-300))
    return 0.0 if apart <= 0 else float(np.clip(noise / apart, 0.0, 1.0))


def fourth_powers(table: Table, pooled: Pooled) -> np.ndarray:
    """Σ weight · |row − class mean|⁴ per class, in units of the spread within classes. [n_classes]"""
    out = np.zeros(table.n_classes)
    design, mean = pooled.design, pooled.mean
    for rows, x in design.blocks(table):
        length = np.square(x - mean[table.label[rows]]).sum(axis=1)
        out += np.bincount(table.label[rows], table.weight[rows] * length**2, minlength=len(out))
    return out
