"""What users set where the strength of a penalty is chosen: the strengths, and the folds that judge them.

The warning that an optimum was not reached: ours, and scikit-learn's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn import exceptions

from baytree import param_validation
from baytree._warnings import BaytreeWarning
from baytree.estimators.base import PreparedRows
from baytree.folds.splitters import CV, names_rows, read_cv

MOST_STRENGTHS = 10_000  # of a penalty, along a path or to choose from


def is_count(given: object) -> bool:
    """Whether a number of strengths is given, and not the strengths."""
    return isinstance(given, (int, np.integer)) and not isinstance(given, bool)


def positive_values(name: str, given: ArrayLike) -> np.ndarray:
    """Strengths as given, each once, rising."""
    values = np.unique([param_validation.positive(name, value) for value in np.atleast_1d(np.asarray(given)).tolist()])
    if not len(values) or not np.isfinite(values).all():
        raise ValueError(f"{name}={given!r}: give a number of values, or positive finite values")
    return values


def folds_setting(given: CV) -> Any:
    """A number of folds, or what else deals rows of any table."""
    if names_rows(given):
        raise ValueError("cv names rows of one table, but others are learnt from here; give a number of folds or a splitter")
    return param_validation.integer("cv", given, 2) if isinstance(given, (int, np.integer)) else given


def named_folds(cv: CV, entered: PreparedRows, is_classification: bool) -> np.ndarray:
    """The fold of each row that counts, where `cv` names rows of the table as it was given."""
    kept = np.ones(len(entered.table), bool) if entered.row_mask is None else entered.row_mask
    return read_cv(cv, len(kept), np.zeros(len(kept), int), is_classification).of_rows(len(kept))[kept]


class ConvergenceWarning(BaytreeWarning, exceptions.ConvergenceWarning):
    """A fit that stopped before its optimum, or that has none."""
