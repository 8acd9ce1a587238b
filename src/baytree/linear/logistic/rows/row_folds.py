"""Folds of rows by what is in them, for the choice of a penalty: a key of each row is all that leaves its part."""

from __future__ import annotations

import numpy as np

from baytree.folds.by_weight import dealt_by_weight
from baytree.linear.logistic.rows.task_rows import Rows


def with_folds(rows: Rows, total: float, n_folds: int) -> tuple[Rows, int]:
    """The rows in folds, equal ones as one per fold, and how many folds have rows. `total` is the sum of the weights."""
    dealt = dealt_by_weight(rows.keys(), rows.labels(), rows.weights(), 1 / total, n_folds)
    number, n_folds = numbered(dealt.fold)
    if dealt.index is None:
        return rows.in_folds(number), n_folds
    return rows.dealt(dealt.index, dealt.weight, number), n_folds


def numbered(fold: np.ndarray) -> tuple[np.ndarray, int]:
    """The folds as 0, 1, …, and how many there are. int64 [n]"""
    names, number = np.unique(fold, return_inverse=True)
    return number.astype(np.int64), len(names)
