"""What users set where the strength of a penalty is chosen: the strengths, and the folds that judge them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from baytree import settings
from baytree.estimators.base import Entered
from baytree.folds.cv import CV, names_rows, read_cv

MOST_STRENGTHS = 10_000  # of a penalty, along a path or to choose from


def is_count(given: object) -> bool:
    """Whether a number of strengths is given, and not the strengths."""
    return isinstance(given, (int, np.integer)) and not isinstance(given, bool)


def positive_values(name: str, given: ArrayLike) -> np.ndarray:
    """Strengths as given, each once, rising."""
    values = np.unique([settings.positive(name, value) for value in np.atleast_1d(np.asarray(given)).tolist()])
    if not len(values) or not np.isfinite(values).all():
        raise ValueError(f"{name}={given!r}: give a number of values, or positive finite values")
    return values


def folds_setting(given: CV) -> Any:
    """A number of folds, or what else deals rows of any table."""
    if names_rows(given):
        raise ValueError("cv names rows of one table, but others are learnt from here; give a number of folds or a splitter")
    return settings.whole("cv", given, 2) if isinstance(given, (int, np.integer)) else given


def named_folds(cv: CV, entered: Entered, is_classification: bool) -> np.ndarray:
    """The fold of each row that counts, where `cv` names rows of the table as it was given."""
    kept = np.ones(len(entered.table), bool) if entered.kept is None else entered.kept
    return read_cv(cv, len(kept), np.zeros(len(kept), int), is_classification).of_rows(len(kept))[kept]
