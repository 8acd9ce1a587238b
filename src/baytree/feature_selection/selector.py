"""Base class of scikit-learn selectors that keep some columns of raw tables."""

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
    """Selector on raw tables: columns of any kind, frames of any library, target by name or separate."""

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        complete_methods(cls)

    def transform(self, X: FrameLike) -> Any:
        """Select the columns: of a frame by name, in its own type; of an array by position."""
        check_is_fitted(self, "support_")
        names = names_of(X)
        if names is not None and hasattr(self, "feature_names_in_"):
            return selected(X, [_position(names, name) for name in self.get_feature_names_out()])
        if isinstance(X, Mapping):
            return selected(X, self.get_support(indices=True))
        if isinstance(X, (list, tuple)):
            X = as_two_dimensional(X)  # otherwise rows of different lengths raise a numpy error
        is_finite = not get_tags(self).input_tags.allow_nan
        X = validate_data(self, X, reset=False, dtype=None, ensure_all_finite=is_finite, accept_sparse=("csr", "csc"))
        return X[:, self.support_]

    def __str__(self) -> str:
        if not hasattr(self, "support_"):
            return repr(self)
        chosen = ", ".join(map(str, self.get_feature_names_out())) or "none"
        n_chosen, n_columns = int(self.support_.sum()), len(self.support_)
        return f"{type(self).__name__}: {n_chosen} of {n_columns} columns{self._criterion()}: {chosen}\n{self._steps()}"

    def _criterion(self) -> str:
        """By what the columns were chosen, as the end of a phrase."""
        raise NotImplementedError(f"{type(self).__name__} must implement _criterion")

    def _steps(self) -> object:
        """Record of the selection, which prints as a table."""
        raise NotImplementedError(f"{type(self).__name__} must implement _steps")

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
        for capability in ("allow_nan", "sparse", "string", "categorical"):
            setattr(tags.input_tags, capability, True)
        return tags


complete_methods(ColumnSelector)


def names_of(X: FrameLike) -> list[str] | None:
    """Column names of a frame; None for arrays."""
    if isinstance(X, Mapping):
        return list(map(str, X))
    names = getattr(X, "column_names", getattr(X, "columns", None))
    return None if names is None else list(map(str, names))


def _position(names: list[str], name: str) -> int:
    if name not in names:
        available = ", ".join(map(repr, names))
        raise ValueError(f"column {name!r} was present in fit but is missing now; the columns are {available}")
    return names.index(name)
