"""Base classes of the drop-ins: scikit-learn's parameters only, its NaN checks, its `partial_fit` with known classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from baytree._typing import CostsLike, FrameLike, RejectLike, TargetLike, WeightsLike
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import SchemaLike
from baytree.estimators.base import Estimator
from baytree.estimators.incremental import MergeableClassifier
from baytree.estimators.prediction import Classifier


class SklearnCompatible(Estimator):
    """Estimator with scikit-learn's parameters only; baytree's own parameters have their defaults.

    Every numeric column of a frame is used for training, even one that only numbers the rows.
    """

    _leaves_out_identifiers = False
    _warns_of_numbers = False
    schema: SchemaLike = None
    unseen = "missing"
    n_jobs: int | None = None
    profile = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        return tags


class WithoutGaps(SklearnCompatible, Classifier):
    """Classifier that refuses NaN in arrays, as scikit-learn's does; in data frames, missing values are imputed."""

    def predict(self, X: FrameLike, *, reject: RejectLike = None, costs: CostsLike = None) -> np.ndarray:
        """Predict the class of each row, the most probable or least costly one; with `reject`, None for rejected rows."""
        check_is_fitted(self, "model_")
        refuse_gaps(X)
        return super().predict(X, reject=reject, costs=costs)

    def predict_proba(self, X: FrameLike) -> npt.NDArray[np.float64]:
        """Probability of each class, in the order of `classes_`. float64 [n_rows, n_classes]"""
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
    """Raise ValueError if an array contains NaN."""
    values = getattr(X, "data", None) if hasattr(X, "tocsr") else X
    if isinstance(values, (list, tuple)):
        values = np.asarray(values)
    if isinstance(values, np.ndarray) and values.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError(
            "Input X contains NaN. Pass a data frame to impute missing values by the mean, with missing indicators"
        )


class IncrementalSklearnCompatible(SklearnCompatible, MergeableClassifier):
    """Classifier with scikit-learn's `partial_fit`, whose first call must name all classes."""

    def partial_fit(
        self, X: FrameLike, y: TargetLike = None, classes: ArrayLike | None = None, sample_weight: WeightsLike = None
    ) -> Self:
        """Continue training: the same model as `fit` on all rows so far. The first call must name all classes."""
        known = self._known_classes(classes)
        unknown = [] if isinstance(y, str) or y is None else np.setdiff1d(np.asarray(y), known)
        if len(unknown):
            raise ValueError(f"The target label(s) {unknown} in y do not exist in the initial classes {known}")
        return super().partial_fit(X, y, known, sample_weight)

    def _known_classes(self, classes: ArrayLike | None) -> np.ndarray:
        previous = getattr(self, "classes_", None)
        if classes is None:
            if previous is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            return previous
        named = np.sort(np.asarray(classes))
        if previous is not None and not np.array_equal(named, previous):
            raise ValueError(f"classes={classes!r} is not the same as on last call to partial_fit, {previous!r}")
        return named
