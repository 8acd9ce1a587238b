"""The scikit-learn face: the only base classes. An estimator stores its parameters, `fit` learns, `predict` reads.

A subclass gives `_learner(schema)`: its parameters, checked, as a learner. Whatever goes wrong on the way, a fitted
estimator keeps what it had: the result is put in place at the very end.

Which rows a classifier does not answer for, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from baytree import param_validation
from baytree._typing import FrameLike, RejectLike, TargetLike, WeightsLike
from baytree.base.model import Explanation, ExplanationList
from baytree.base.predictor import is_without_rows
from baytree.data.encoding import read_target as target_reading
from baytree.engine.dispatch import remote_source
from baytree.estimators.base import Estimator
from baytree.estimators.docstrings import complete_methods
from baytree.uncertainty.rejection import (
    RejectRule,
    ambiguous_reasons,
    atypical_reasons,
    first_reasons,
    low_confidence_reasons,
    too_costly,
)

if TYPE_CHECKING:
    from baytree.interview.interview import Interview

complete_methods(Estimator)


class Classifier(ClassifierMixin, Estimator):
    """An estimator of classes."""

    def predict(self, X: FrameLike, *, reject: RejectLike = None) -> np.ndarray:
        """The most probable class of each row, as the classes came; with `reject`, None where none is worth giving."""
        answers = self._predictor.predict(X)
        if reject is None:
            return answers
        reasons, answers = self._rejection_reasons(X, reject, answers), answers.astype(object)
        answers[[row for row, why in enumerate(reasons) if why]] = None
        return answers

    def explain(self, X: FrameLike, *, reject: RejectLike = None) -> list[Explanation]:
        """Why each row gets its answer: one ledger per row; with `reject`, also why it gets none."""
        found = super().explain(X)
        if reject is None:
            return found
        reasons = self._rejection_reasons(X, reject, self._predictor.predict(X))
        return ExplanationList(
            [msgspec.structs.replace(each, unanswered=why) for each, why in zip(found, reasons, strict=True)]
        )

    def _rejection_reasons(self, X: FrameLike, reject: RejectLike, answers: np.ndarray) -> list[str]:

        if remote_source(X) is not None:
            raise ValueError("reject is for rows in memory; give a frame of some of the rows at a time")
        return [] if is_without_rows(X) else rejection_reasons(self, X, reject, answers)

    def predict_proba(self, X: FrameLike) -> np.ndarray:
        """The probability of each class for each row, in the order of `classes_`."""
        return self._predictor.predict_proba(X)

    def predict_interval(self, X: FrameLike, level: float = 0.95) -> np.ndarray:
        """Between which bounds the probability of each class lies, given the rows that were learnt from.

        An interval tells how much the answer owes to the rows that happened to be seen, under the model's own assumptions:
        other rows of the same kind would have given another answer. Leaves of trees and the joint table count rows
        (Jeffreys), naive Bayes and discriminants know the posterior of their scores in closed form, logistic regression
        without a penalty the covariance of its coefficients. What has no honest interval refuses.

        Returns
        -------
        ndarray of shape (n_rows, n_classes, 2)
            The lower and the upper bound for each class, in the order of `classes_`. Each holds at the level by itself.
        """
        return self._interval_bounds(X, level)

    def interview(self, frame: FrameLike = None, sure: float = 0.99, costs: Mapping[str, float] | None = None) -> Interview:
        """Twenty questions about a row: which column to ask for next, and what is believed after each answer.

        Rows are needed only where the model has kept no profile of its own.

        Parameters
        ----------
        costs : dict, optional
            What it costs to ask for a column, by its name; 1 where nothing is said. The largest gain per cost is asked for.
        """
        from baytree.interview.interview import interview  # only who plays needs it

        return interview(self._predictor, frame, sure, costs)

    def predict_log_proba(self, X: FrameLike) -> np.ndarray:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def score(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> float:
        """The share of rows predicted right; `y` may be the name of the target column in `X`."""
        right, all_rows = self._correct_weight(X, y, sample_weight)
        return float(right / all_rows)

    def _correct_weight(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> np.ndarray:
        """The weight of the rows predicted right, and of all. [2]"""
        far = remote_source(X)
        if far is not None:
            return far.map_reduce(partial(self._correct_weight, y=y, sample_weight=sample_weight))
        truth, weight = self._read_true_labels(X, y, sample_weight)
        place = {label: code for code, label in enumerate(self.classes_.tolist())}
        known = np.array([*(place.get(label, -1) for label in truth.target.classes or ()), -1])
        answers = np.array([place[label] for label in self.predict(X).tolist()])
        return np.array([(weight * (known[truth.values] == answers)).sum(), weight.sum()])

    _read_labels = staticmethod(target_reading.read_classes)


class Regressor(RegressorMixin, Estimator):
    """An estimator of numbers."""

    def predict(self, X: FrameLike) -> np.ndarray:
        """The expected number for each row."""
        return self._predictor.predict(X)

    def predict_interval(self, X: FrameLike, level: float = 0.95) -> np.ndarray:
        """Between which bounds the expected number lies, given the rows that were learnt from.

        It is an interval of the mean of all such rows, not of the next row: for that see `baytree.conformal`.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            The lower and the upper bound.
        """
        return self._interval_bounds(X, level)[:, 0]

    def score(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> float:
        """R², the share of the variance that is explained; `y` may be the name of the target column in `X`."""
        far = remote_source(X)
        if far is not None:
            weight, amount = far.map_reduce(partial(self._amounts, y=y, sample_weight=sample_weight))
            left, about_mean = far.map_reduce(partial(self._squares, y=y, sample_weight=sample_weight, mean=amount / weight))
            return float(1 - left / about_mean)
        truth, weight = self._read_true_labels(X, y, sample_weight)
        return super().score(X, truth.values, weight)

    def _amounts(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> np.ndarray:
        """The weight of all rows, and the sum of their numbers. [2]"""
        truth, weight = self._read_true_labels(X, y, sample_weight)
        return np.array([weight.sum(), weight @ truth.values])

    def _squares(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike, mean: float) -> np.ndarray:
        """The sums of squares about the answers, and about the mean. [2]"""
        truth, weight = self._read_true_labels(X, y, sample_weight)
        return np.array([weight @ (truth.values - self.predict(X)) ** 2, weight @ (truth.values - mean) ** 2])

    _read_labels = staticmethod(target_reading.read_numbers)


def rejection_reasons(model: Classifier, X: FrameLike, given: object, answers: np.ndarray) -> list[str]:
    """The reason for each row that gets no answer, of the classes answered [n_rows]; empty where it gets one."""
    reject, classes = RejectRule.read(given), model.classes_.tolist()
    probability = model.predict_proba(X)
    place = {label: code for code, label in enumerate(classes)}
    choice = np.array([place[label] for label in answers.tolist()], np.int64)
    rules = []
    if reject.sets is not None:
        rules.append(ambiguous_reasons(reject.sets.predict_set(X), classes))
    if reject.typicality is not None:
        rules.append(atypical_reasons(typicality(model, X), reject.typicality))
    if reject.cost is not None:
        rules.append(too_costly(_expected(model, probability, choice), reject.cost))
    if reject.confidence is not None:
        rules.append(low_confidence_reasons(probability[np.arange(len(choice)), choice], reject.confidence))
    return first_reasons(rules, len(choice))


def typicality(model: Classifier, X: FrameLike) -> np.ndarray:
    """How many rows, as the model expects them, are as unlikely as each row, as a share. [n_rows]"""
    find = getattr(model, "_typicality", None)
    if find is None:
        raise ValueError(
            f"{type(model).__name__} does not say how rows come about, so none is unlike what was seen; naive Bayes and "
            "discriminant analysis do, and prediction sets (bt.conformal) tell odd rows with any model"
        )
    return find(model._predictor.encoded(X))


def _expected(model: Classifier, probability: np.ndarray, choice: np.ndarray) -> np.ndarray:
    """What each answer costs on average: the model's costs, or 1 for a mistake. [n_rows]"""
    costs = param_validation.costs(getattr(model, "costs", None), model.schema_.classes)
    if costs is None:
        return 1 - probability[np.arange(len(choice)), choice]
    return np.einsum("nk,kn->n", probability, costs.of(model.schema_.classes)[:, choice])
