"""What all drop-ins share: scikit-learn's parameters and nothing else, and its way of going on with known classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from baytree._typing import FrameLike, RejectLike, TargetLike, WeightsLike
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import SchemaLike
from baytree.estimators.base import Estimator
from baytree.estimators.incremental import AdditiveClassifier
from baytree.estimators.prediction import Classifier


class SklearnCompatible(Estimator):
    """An estimator with scikit-learn's parameters alone: what this library adds stands at its default.

    Every numeric column of a frame is learnt from, also one that only numbers the rows.
    """

    _leaves_out_identifiers = False
    schema: SchemaLike = None
    unseen = "missing"
    n_jobs: int | None = None
    profile = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        return tags


class WithoutGaps(SklearnCompatible, Classifier):
    """A classifier that refuses NaN in arrays, as scikit-learn's does; gaps of a frame are filled by the mean and marked."""

    def predict(self, X: FrameLike, *, reject: RejectLike = None) -> np.ndarray:
        """The most probable class of each row, as the classes came; with `reject`, None where none is worth giving."""
        check_is_fitted(self, "model_")
        refuse_gaps(X)
        return super().predict(X, reject=reject)

    def predict_proba(self, X: FrameLike) -> np.ndarray:
        """The probability of each class for each row, in the order of `classes_`."""
        check_is_fitted(self, "model_")
        refuse_gaps(X)
        return super().predict_proba(X)

    def _encoded(self, X: FrameLike) -> Table:
        check_is_fitted(self, "model_")
        refuse_gaps(X)
        return super()._encoded(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags


def refuse_gaps(X: FrameLike) -> None:
    """Refuses NaN in arrays."""
    values = getattr(X, "data", None) if hasattr(X, "tocsr") else X
    if isinstance(values, (list, tuple)):
        values = np.asarray(values)
    if isinstance(values, np.ndarray) and values.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError("Input X contains NaN. Give a data frame to have gaps filled by the mean and marked")


class IncrementalSklearnCompatible(SklearnCompatible, AdditiveClassifier):
    """A classifier that goes on learning, of classes that the first call names."""

    def partial_fit(
        self, X: FrameLike, y: TargetLike = None, classes: ArrayLike | None = None, sample_weight: WeightsLike = None
    ) -> Self:
        """Goes on learning: the same model as `fit` on all rows so far. The first call names all classes."""
        known = self._known_classes(classes)
        strangers = [] if isinstance(y, str) or y is None else np.setdiff1d(np.asarray(y), known)
        if len(strangers):
            raise ValueError(f"The target label(s) {strangers} in y do not exist in the initial classes {known}")
        return super().partial_fit(X, y, known, sample_weight)

    def _known_classes(self, classes: ArrayLike | None) -> np.ndarray:
        before = getattr(self, "classes_", None)
        if classes is None:
            if before is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            return before
        named = np.sort(np.asarray(classes))
        if before is not None and not np.array_equal(named, before):
            raise ValueError(f"classes={classes!r} is not the same as on last call to partial_fit, {before!r}")
        return named
