"""Folds as users give them: pairs of the rows to learn from and the rows that are held out."""

from __future__ import annotations

from typing import Any

import numpy as np


def held_out_folds(pairs: Any, n_rows: int) -> np.ndarray:
    """The number of the fold that holds each row out (int64 [n_rows]); every row must be held out by one.

    >>> held_out_folds([([2], [0, 1]), ([0, 1], [2])], 3).tolist()
    [0, 0, 1]
    """
    if not hasattr(pairs, "__iter__"):
        raise ValueError(f"cv={pairs!r}: {_REMEDY}")
    fold = np.full(n_rows, -1, np.int64)
    for number, pair in enumerate(pairs):
        fold[_held_out(pair, n_rows)] = number
    if (fold < 0).any():
        raise ValueError(f"cv never holds row {int(np.argmin(fold))} out; every row must be in one fold")
    return fold


_REMEDY = "give a number of folds, a splitter, or pairs of row numbers (train, test)"


def _held_out(pair: Any, n_rows: int) -> np.ndarray:
    if not isinstance(pair, (tuple, list, np.ndarray)) or len(pair) != 2:
        raise ValueError(f"cv holds {pair!r}: {_REMEDY}")
    rows = np.asarray(pair[1])
    if rows.dtype == bool and rows.shape == (n_rows,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise ValueError(f"cv holds out {pair[1]!r}: {_REMEDY}")
    if rows.size and not -n_rows <= rows.min() <= rows.max() < n_rows:
        raise ValueError(f"cv holds out row {int(rows.max())}, but there are {n_rows} rows")
    return rows.astype(np.int64)
