"""Validation shared by estimators that choose a penalty by cross-validation: strengths, folds, convergence warning."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn import exceptions

from baytree import param_validation
from baytree._warnings import BaytreeWarning
from baytree.folds.splitters import CV, names_rows

MAX_STRENGTHS = 10_000  # penalty strengths along a path or to choose from


def is_count(given: object) -> bool:
    """Whether a number of strengths is given rather than the strengths themselves."""
    return isinstance(given, (int, np.integer)) and not isinstance(given, bool)


def positive_values(name: str, given: ArrayLike) -> np.ndarray:
    """Validated strengths, unique and ascending."""
    values = np.unique([param_validation.positive(name, value) for value in np.atleast_1d(np.asarray(given)).tolist()])
    if not len(values) or not np.isfinite(values).all():
        raise ValueError(f"{name}={given!r}: give a number of values, or positive finite values")
    return values


def folds_setting(given: CV) -> Any:
    """Validated number of folds or splitter; raises ValueError if `cv` names rows of one table."""
    if names_rows(given):
        raise ValueError("cv names rows of another table than the training rows here; give a number of folds or a splitter")
    return param_validation.integer("cv", given, 2) if isinstance(given, (int, np.integer)) else given


class ConvergenceWarning(BaytreeWarning, exceptions.ConvergenceWarning):
    """Warning that a fit stopped before its optimum, or that no finite optimum exists."""
