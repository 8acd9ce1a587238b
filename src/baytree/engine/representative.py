"""A few weighted rows that have the same counts by class, in each column, as many rows.

A statistic that depends only on these counts is the same for both. Within a class, the values of each column are laid out
along the weight of the class; a row is a stretch in which no column changes.
"""

from __future__ import annotations

import numpy as np


def stretches(counts: list[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Weights of the representative rows of one class, and the index of their value in each column.

    `counts` has the weight of each value of each column. float64 or int64 [n_values]
    """
    ends = [np.cumsum(column) for column in counts]
    edge = np.unique(np.concatenate(ends))
    edge = edge[edge > 0]
    weight = np.diff(edge, prepend=0)
    last_code = [int(np.flatnonzero(column)[-1]) if column.any() else 0 for column in counts]
    return weight, [
        np.minimum(np.searchsorted(end, edge, side="left"), limit) for end, limit in zip(ends, last_code, strict=True)
    ]
