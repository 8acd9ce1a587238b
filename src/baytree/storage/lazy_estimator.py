"""A model from a file that answers at once, and becomes the estimator that was saved when it is asked for more.

Estimators are scikit-learn's, whose import takes many times as long as reading a model and answering: a new process that
only predicts does without it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from baytree._typing import FrameLike
from baytree.base.model import Explanation
from baytree.base.predictor import Predictor

if TYPE_CHECKING:
    from baytree.estimators.base import Estimator

_BECOMING = threading.RLock()  # two threads may ask for more at once


class LazyEstimator:
    """Predicts, explains and prints; for anything else it turns into the estimator, in place."""

    def __init__(self, predictor: Predictor, kind: Callable[[], type], estimator: Callable[[], Estimator]) -> None:
        self.__dict__.update(_held=predictor, _kind=kind, _estimator=estimator)

    def predict(self, X: FrameLike, *more: object, **options: object) -> np.ndarray:
        """The most probable class, or the expected number, of each row; with more than rows, as the estimator answers."""
        return _become(self).predict(X, *more, **options) if more or options else self._predictor.predict(X)

    def explain(self, X: FrameLike, *more: object, **options: object) -> list[Explanation]:
        """Why each row gets its answer: one ledger per row."""
        return _become(self).explain(X, *more, **options) if more or options else self._predictor.explain(X)

    @property
    def _predictor(self) -> Predictor:
        return self.__dict__["_held"]

    @property
    def __class__(self) -> type:
        """The estimator's, so that this is one for `isinstance`; it must stay what it is while that looks."""
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
    """One that has classes."""

    def predict_proba(self, X: FrameLike) -> np.ndarray:
        """The probability of each class for each row, in the order of `classes_`."""
        return self._predictor.predict_proba(X)


def loaded(predictor: Predictor, kind: Callable[[], type], estimator: Callable[[], Estimator]) -> LazyEstimator:
    """A model that answers by the predictor until the estimator, which is of this kind, is needed."""
    answering = LazyEstimator if predictor.schema.target.classes is None else LoadedClassifier
    return answering(predictor, kind, estimator)


def _become(self: LazyEstimator) -> Any:
    """The same object, from now on the estimator."""
    with _BECOMING:
        if issubclass(type(self), LazyEstimator):
            made = self.__dict__["_estimator"]()
            attributes = vars(made)
            object.__dict__["__class__"].__set__(self, type(made))  # its own property hides the usual way
            self.__dict__.clear()
            self.__dict__.update(attributes)
    return self
