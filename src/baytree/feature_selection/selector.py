"""The scikit-learn face of everything that keeps some columns and drops the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from baytree._typing import FrameLike
from baytree.data.frames.arrays import as_two_dimensional
from baytree.estimators.docstrings import complete_methods
from baytree.model_selection.frame_rows import selected
from baytree.model_selection.problem import SupervisedProblem


class ColumnSelector(SelectorMixin, BaseEstimator):
    """A selector on raw tables: columns of any kind, frames of any library, the target by name or apart."""

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        complete_methods(cls)

    def transform(self, X: FrameLike) -> Any:
        """The kept columns: of a frame by their names, in its own type; of an array by their places."""
        check_is_fitted(self, "support_")
        names = names_of(X)
        if names is not None and hasattr(self, "feature_names_in_"):
            return selected(X, [_place(names, name) for name in self.get_feature_names_out()])
        if isinstance(X, Mapping):
            return selected(X, self.get_support(indices=True))
        if isinstance(X, (list, tuple)):
            X = as_two_dimensional(X)  # scikit-learn leaves rows of different lengths to an error of numpy's
        is_finite = not get_tags(self).input_tags.allow_nan
        X = validate_data(self, X, reset=False, dtype=None, ensure_all_finite=is_finite, accept_sparse=("csr", "csc"))
        return X[:, self.support_]

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_

    def _set_fitted_state(self, problem: SupervisedProblem, kept: Sequence[int]) -> None:
        self.support_ = np.zeros(len(problem.schema.inputs), bool)
        self.support_[list(kept)] = True
        self.n_features_in_ = len(problem.schema.inputs)
        if problem.frame.has_text_names:
            self.feature_names_in_ = np.array(problem.schema.inputs, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        for able in ("allow_nan", "sparse", "string", "categorical"):
            setattr(tags.input_tags, able, True)
        return tags


complete_methods(ColumnSelector)


def names_of(X: FrameLike) -> list[str] | None:
    """The names of the columns of a frame; None for arrays."""
    if isinstance(X, Mapping):
        return list(map(str, X))
    names = getattr(X, "column_names", getattr(X, "columns", None))
    return None if names is None else list(map(str, names))


def _place(names: list[str], name: str) -> int:
    if name not in names:
        there = ", ".join(map(repr, names))
        raise ValueError(f"column {name!r} was there in fit and is missing now; the columns are {there}")
    return names.index(name)
