"""What the passes learn from: features, responses and weights, and the part of a column that others do not explain."""

from __future__ import annotations

import msgspec
import numpy as np


class Rows(msgspec.Struct, frozen=True):
    """What the passes learn from: features, responses, and the weight of each row where weights differ."""

    x: np.ndarray  # float64 [n_features, n_rows]
    y: np.ndarray  # float64 [n_responses, n_rows]
    weight: np.ndarray | None = None  # float64 [n_rows]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.x.shape[1]

    @property
    def root(self) -> np.ndarray:
        """What a row's residual is multiplied by. [n_rows]"""
        return np.ones(self.n_rows) if self.weight is None else np.sqrt(self.weight)


def standard_responses(rows: Rows) -> np.ndarray:
    """The responses about their means, times the roots of the weights; a single one in units of its deviation."""
    y = rows.y - np.average(rows.y, axis=1, weights=rows.weight)[:, None]
    if len(y) == 1 and y.shape[1] > 1:
        deviation = float(np.std(rows.y, ddof=1))
        y = y / deviation if deviation > 0 else y
    return y * rows.root


def rest_of(column: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """The part of a column that an orthonormal basis does not explain; twice, so that rounding leaves nothing behind."""
    rest = column - basis.T @ (basis @ column)
    return rest - basis.T @ (basis @ rest)
