"""Weights of evidence that points are made of, and their rounding to whole points."""

from __future__ import annotations

import numpy as np

from baytree.scorecard.model import Scale

PSEUDO_ROWS = 5.0  # rows at the overall rate that every bin gets: a few rows must not decide many points


def weights_of_evidence(sums: np.ndarray, good: int, shape: str | None, n_ordered: int) -> np.ndarray:
    """log of a bin's proportion of the good class over that of the other, with `PSEUDO_ROWS`; 0 for a bin without rows.

    sums [n_bins, 2]. The first `n_ordered` bins follow `shape`, which is of the rate of the second class; the pseudo-rows
    must not reverse the order of two neighbours, so those that they would reverse are pooled.
    """
    total = sums.sum(axis=0)
    smoothed = sums + PSEUDO_ROWS * total / total.sum()
    evidence = np.log(smoothed[:, good] / smoothed[:, 1 - good]) - np.log(total[good] / total[1 - good])
    weight = sums.sum(axis=1)
    if shape in ("up", "down"):
        sign = 1.0 if (shape == "up") == (good == 1) else -1.0
        evidence[:n_ordered] = sign * _never_falling(sign * evidence[:n_ordered], weight[:n_ordered])
    return np.where(weight > 0, evidence, 0.0)


def _never_falling(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Isotonic regression by pooling adjacent violators."""
    blocks: list[list[float]] = []  # mean, weight, number of values
    for value, own in zip(values.tolist(), weight.tolist(), strict=True):
        blocks.append([value, max(own, 1e-300), 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, u, n), (b, v, m) = blocks[-2:]
            blocks[-2:] = [[(a * u + b * v) / (u + v), u + v, n + m]]
    return np.concatenate([np.full(int(n), mean) for mean, _, n in blocks]) if blocks else values


def whole_points(log_odds: np.ndarray, scale: Scale) -> np.ndarray:
    """Log-odds as whole points. int32"""
    return np.rint(log_odds / scale.per_point).astype(np.int32)
