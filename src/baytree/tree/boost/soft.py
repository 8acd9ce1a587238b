"""Soft thresholds as the program prints and reads them: in float32, which tells near a threshold."""

from __future__ import annotations

import numpy as np


def soft_cuts(low: np.ndarray, cut: np.ndarray, high: np.ndarray, is_inner: np.ndarray) -> np.ndarray:
    """float64 [n_nodes, 4]: low bound, middle, high bound, and the grid that numbers are rounded to; zeros elsewhere."""
    soft = np.zeros((len(cut), 4))
    for node in np.flatnonzero(is_inner & np.isfinite(cut)):
        soft[node] = _soft_cut(float(low[node]), float(cut[node]), float(high[node]))
    return soft


def _soft_cut(low: float, cut: float, high: float) -> tuple[float, float, float, float]:
    """Bounds to seven digits, the middle to eight, and the gap between float32 numbers at the low bound.

    A number that equals the low bound must do so after rounding: the middle may be there too.
    """
    bounds = [_single(low, 7), _single(cut, 8), _single(high, 7)]
    if not np.isfinite(bounds).all() or not bounds[0] <= bounds[1] <= bounds[2]:
        return low, cut, high, 0.0  # float32 cannot hold them
    return bounds[0], bounds[1], bounds[2], float(np.spacing(np.float32(abs(bounds[0]))))


def _single(value: float, digits: int) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(f"{value:.{digits}g}"))
