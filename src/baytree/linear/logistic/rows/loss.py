"""The loss of logistic regression: of rows under their scores, and what it says about coefficients. It adds up over rows."""

from __future__ import annotations

import msgspec
import numpy as np


class Slope(msgspec.Struct, frozen=True):
    """Mean loss, its gradient and, where it is asked for, its curvature. A sum over rows."""

    loss: float
    gradient: np.ndarray  # [k, q]
    curvature: np.ndarray | None = None  # [k * q, k * q]

    def __add__(self, other: Slope) -> Slope:
        mine, theirs = self.curvature, other.curvature
        curvature = None if mine is None or theirs is None else mine + theirs
        return Slope(self.loss + other.loss, self.gradient + other.gradient, curvature)


def losses(score: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """−log share of each row's own class, and the shares. score [n, k] → [n], [n, k]"""
    if score.shape[1] == 1:
        z = score[:, 0]
        small = np.exp(-np.abs(z))
        loss = np.maximum(np.where(label == 1, -z, z), 0.0) + np.log1p(small)
        return loss, (np.where(z >= 0, 1.0, small) / (1 + small))[:, None]
    score = score - score.max(axis=1, keepdims=True)
    share = np.exp(score)
    total = share.sum(axis=1)
    loss = np.log(total) - score[np.arange(len(score)), label]
    return loss, share / total[:, None]


def residuals(share: np.ndarray, label: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """weight · (share − truth). [n, k]"""
    residual = share.copy()
    if share.shape[1] == 1:
        residual[:, 0] -= label
    else:
        residual[np.arange(len(label)), label] -= 1.0
    return residual * weight[:, None]
