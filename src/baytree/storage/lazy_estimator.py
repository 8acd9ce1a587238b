"""Estimators that are loaded lazily: they predict and explain at once, and become the saved estimator when more is needed.

Estimators derive from scikit-learn's base classes, whose import takes many times as long as reading a model and predicting.
A new process that only predicts does not need it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from baytree._typing import FrameLike
from baytree.base.model import Explanation
from baytree.base.predictor import Predictor

if TYPE_CHECKING:
    from baytree.estimators.base import Estimator

_CONVERSION_LOCK = threading.RLock()  # two threads may trigger the conversion at the same time


class LazyEstimator:
    """Predicts, explains and prints; any other use turns the object into the estimator, in place."""

    def __init__(self, predictor: Predictor, kind: Callable[[], type], estimator: Callable[[], Estimator]) -> None:
        self.__dict__.update(_held=predictor, _kind=kind, _estimator=estimator)

    def predict(self, X: FrameLike, *more: object, **options: object) -> np.ndarray:
        """Return the predicted class or number of each row; with further arguments, call the estimator."""
        return _become(self).predict(X, *more, **options) if more or options else self._predictor.predict(X)

    def explain(self, X: FrameLike, *more: object, **options: object) -> list[Explanation]:
        """Return one explanation per row; with further arguments, call the estimator."""
        return _become(self).explain(X, *more, **options) if more or options else self._predictor.explain(X)

    @property
    def _predictor(self) -> Predictor:
        return self.__dict__["_held"]

    @property
    def __class__(self) -> type:
        """The estimator's class, so that `isinstance` works; must not convert the object while `isinstance` reads it."""
        return self.__dict__["_kind"]()

    def __str__(self) -> str:
        return self._predictor.describe()

    def __repr__(self) -> str:
        return repr(_become(self))

    def __dir__(self) -> list[str]:
        return dir(_become(self))

    def __getattr__(self, name: str) -> Any:
        return getattr(_become(self), name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(_become(self), name, value)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _become(self).__reduce_ex__(protocol)


class LoadedClassifier(LazyEstimator):
    """Lazily loaded classifier."""

    def predict_proba(self, X: FrameLike) -> npt.NDArray[np.float64]:
        """Return the probability of each class, float64 [n_rows, n_classes], in the order of `classes_`."""
        return self._predictor.predict_proba(X)


def loaded(predictor: Predictor, kind: Callable[[], type], estimator: Callable[[], Estimator]) -> LazyEstimator:
    """Return a lazy estimator of class `kind` that predicts with `predictor` until `estimator` is called."""
    lazy_class = LazyEstimator if predictor.schema.target.classes is None else LoadedClassifier
    return lazy_class(predictor, kind, estimator)


def _become(self: LazyEstimator) -> Any:
    """Turn the object into the estimator, in place, and return it."""
    with _CONVERSION_LOCK:
        if issubclass(type(self), LazyEstimator):
            estimator = self.__dict__["_estimator"]()
            attributes = vars(estimator)
            # the `__class__` property hides the usual assignment
            object.__dict__["__class__"].__set__(self, type(estimator))
            self.__dict__.clear()
            self.__dict__.update(attributes)
    return self
