"""Conformal ranks: where a new row stands among the rows that were seen (Vovk, Gammerman and Shafer 2005)."""

from __future__ import annotations

import numpy as np

TIE = 1e-9  # relative: rows that are alike must not be told apart by rounding


def weight_up_to(seen: np.ndarray, weight: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The weight of the rows seen [n] whose conformity is at most that of each new one, [...]: ties count."""
    order = np.argsort(seen, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(weight[order])])
    return total[np.searchsorted(seen[order], new * (1 + TIE) + 1e-300, side="right")]


def least_conforming(seen: np.ndarray, weight: np.ndarray, alpha: float) -> float:
    """The least conformity with which an answer is kept: more than α of the rows seen, and itself, conform no better.

    >>> least_conforming(np.array([0.2, 0.5, 0.9]), np.ones(3), 0.3)  # the worst of four is below it
    0.2
    """
    order = np.argsort(seen, kind="stable")
    rank = (np.concatenate([[0.0], np.cumsum(weight[order])]) + 1) / (weight.sum() + 1)
    place = int(np.argmax(rank > alpha * (1 + TIE)))
    return float(seen[order][place - 1]) if place else 0.0


def lower_bounds(values: np.ndarray, weight: np.ndarray, alpha: float) -> np.ndarray:
    """For each new row the largest of its values [n_seen, n_new] below which at most α of the weight lies, −∞ counted as one
    more: the ⌊α (n + 1)⌋-th smallest, −∞ where that is none."""
    order = np.argsort(values, axis=0, kind="stable")
    ranked = np.take_along_axis(values, order, axis=0)
    below = np.cumsum(weight[order], axis=0)
    allowed = alpha * (weight.sum() + 1) * (1 + TIE)
    place = (below <= allowed).sum(axis=0)
    return np.where(place > 0, np.take_along_axis(ranked, np.maximum(place - 1, 0)[None], axis=0)[0], -np.inf)
