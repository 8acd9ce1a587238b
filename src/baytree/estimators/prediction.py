"""Base classes `Classifier` and `Regressor`: prediction, explanation, intervals, score, and the reject option.

A subclass implements `_learner(schema)`, which builds a learner from its validated parameters. A fit that fails leaves the
estimator as it was, because fitted attributes are set at the very end. `rejection_reasons` decides which rows a classifier
rejects and why (see `uncertainty.rejection`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin

from baytree import param_validation
from baytree._registry import PUBLIC_MODULES
from baytree._typing import CostsLike, FrameLike, RejectLike, TargetLike, WeightsLike
from baytree._warnings import warn
from baytree.base.model import Explanation, ExplanationList
from baytree.base.predictor import Predictor, is_without_rows
from baytree.data.encoding import read_target as target_reading
from baytree.data.schema.schema import Target
from baytree.engine.aggregates import AggregateSource
from baytree.engine.dispatch import remote_source
from baytree.estimators.base import Estimator, PreparedRows
from baytree.estimators.docstrings import complete_methods
from baytree.estimators.plots import ClassifierPlots, RegressorPlots
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


_MAX_NUMBER_CLASSES = 20  # numbers that a class target may have without a warning


def _warn_of_numbers(target: Target, classifier: str) -> None:
    """Warn if the classes are numbers, and name the regressor."""
    if not all(isinstance(label, (int, float)) and not isinstance(label, bool) for label in target.classes or ()):
        return
    counterpart = classifier.replace("Classifier", "Regressor").replace("Logistic", "Linear")
    regressor = counterpart if counterpart in PUBLIC_MODULES and counterpart != classifier else "DecisionTreeRegressor"
    warn(
        f"the target {target.name!r} has {len(target.classes or ()):,} different numbers, and each is a class of its own; "
        f"to predict the number use {regressor}; if they are labels, convert them to text"
    )


class Classifier(ClassifierPlots, ClassifierMixin, Estimator):
    """Base class of classifiers."""

    def predict(self, X: FrameLike, *, reject: RejectLike = None, costs: CostsLike = None) -> np.ndarray:
        """Predict the class of each row, the most probable or least costly one; with `reject`, None for rejected rows."""
        predictor = self._deciding(costs)
        rows = remote_source(X)
        if isinstance(rows, AggregateSource) and reject is None:
            return _predicted(predictor, rows)
        predictions = predictor.predict(X)
        if reject is None:
            return predictions
        reasons, predictions = self._rejection_reasons(X, reject, predictor), predictions.astype(object)
        predictions[[row for row, why in enumerate(reasons) if why]] = None
        return predictions

    def explain(self, X: FrameLike, *, reject: RejectLike = None, costs: CostsLike = None) -> list[Explanation]:
        """Explain the prediction of each row, one `Explanation` per row; with `reject`, also why a row is rejected."""
        predictor = self._deciding(costs)
        explanations = predictor.explain(X)
        if reject is None:
            return explanations
        reasons = self._rejection_reasons(X, reject, predictor)
        return ExplanationList(
            [msgspec.structs.replace(each, unanswered=why) for each, why in zip(explanations, reasons, strict=True)]
        )

    def _deciding(self, costs: CostsLike) -> Predictor:
        """Predictor that chooses classes by these costs, by default the model's own."""
        predictor = self._predictor
        checked = param_validation.costs(costs, predictor.schema.classes)
        return predictor if checked is None else predictor.with_costs(checked)

    def _rejection_reasons(self, X: FrameLike, reject: RejectLike, predictor: Predictor) -> list[str]:

        if remote_source(X) is not None:
            raise ValueError("reject needs rows in memory; pass a local frame, such as one partition at a time")
        return [] if is_without_rows(X) else rejection_reasons(self, X, reject, predictor)

    def predict_proba(self, X: FrameLike) -> npt.NDArray[np.float64]:
        """Probability of each class, in the order of `classes_`. float64 [n_rows, n_classes]"""
        rows = remote_source(X)
        return _predicted(self._predictor, rows) if isinstance(rows, AggregateSource) else self._predictor.predict_proba(X)

    _warns_of_numbers = True  # a numeric target of many values is more likely a number than a class

    def _prepare_rows(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> PreparedRows:
        prepared = super()._prepare_rows(X, y, sample_weight)
        target = prepared.rows.schema.target
        is_declared = isinstance(self.schema, Mapping) and target.name in self.schema
        if self._warns_of_numbers and not is_declared and len(target.classes or ()) > _MAX_NUMBER_CLASSES:
            _warn_of_numbers(target, type(self).__name__)
        return prepared

    def predict_interval(self, X: FrameLike, level: float = 0.95) -> npt.NDArray[np.float64]:
        """Confidence intervals of the class probabilities.

        An interval measures how much a prediction depends on the sample of training rows, under the model's own assumptions:
        another sample from the same population would give another prediction. Trees and the joint table use the counts of a
        leaf or cell (Jeffreys intervals), naive Bayes and discriminant analysis the closed-form posterior of their scores,
        logistic regression without a penalty the covariance of its coefficients. Models without a valid interval raise
        ValueError.

        Returns
        -------
        ndarray of shape (n_rows, n_classes, 2)
            Lower and upper bound for each class, in the order of `classes_`. Each interval holds at the level by itself.
        """
        return self._interval_bounds(X, level)

    def interview(
        self,
        frame: FrameLike = None,
        sure: float = 0.99,
        question_costs: Mapping[str, float] | None = None,
        costs: Mapping[str, float] | None = None,
    ) -> Interview:
        """Start an interview about a row: it asks for the most informative column next and updates the class probabilities.

        Rows are needed only if the model has stored no profile of its training rows.

        Parameters
        ----------
        question_costs : dict, optional
            Cost of asking for a column, by name; 1 for columns not listed. The column with the largest gain per cost is
            asked first.
        costs : dict, optional
            Older name of `question_costs`.
        """
        from baytree.interview.interview import interview  # slow import, only needed here

        if costs is not None:
            warn("costs is called question_costs now", DeprecationWarning)
        return interview(self._predictor, frame, sure, costs if question_costs is None else question_costs)

    def predict_log_proba(self, X: FrameLike) -> npt.NDArray[np.float64]:
        """Logarithm of `predict_proba`. float64 [n_rows, n_classes]"""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def score(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> float:
        """Accuracy: weighted proportion of rows whose class is predicted correctly; `y` may be the target's name in `X`."""
        correct, total = self._correct_weight(X, y, sample_weight)
        return float(correct / total)

    def _correct_weight(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> np.ndarray:
        """Weight of the correctly predicted rows, and of all rows. float64 [2]"""
        source = remote_source(X)
        if source is not None:
            return source.map_reduce(partial(self._correct_weight, y=y, sample_weight=sample_weight))
        truth, weight = self._read_true_labels(X, y, sample_weight)
        code_of = {label: code for code, label in enumerate(self.classes_.tolist())}
        known = np.array([*(code_of.get(label, -1) for label in truth.target.classes or ()), -1])
        predicted = np.array([code_of[label] for label in self.predict(X).tolist()])
        return np.array([(weight * (known[truth.values] == predicted)).sum(), weight.sum()])

    _read_labels = staticmethod(target_reading.read_classes)


class Regressor(RegressorPlots, RegressorMixin, Estimator):
    """Base class of regressors."""

    def predict(self, X: FrameLike) -> npt.NDArray[np.float64]:
        """Predict the expected value of each row. float64 [n_rows]"""
        rows = remote_source(X)
        return _predicted(self._predictor, rows) if isinstance(rows, AggregateSource) else self._predictor.predict(X)

    def predict_interval(self, X: FrameLike, level: float = 0.95) -> npt.NDArray[np.float64]:
        """Confidence intervals of the expected value, given the training rows.

        An interval covers the mean of all rows with these values, not the value of the next row: for prediction intervals
        see `baytree.conformal`.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Lower and upper bound.
        """
        return self._interval_bounds(X, level)[:, 0]

    def score(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> float:
        """R², the proportion of the variance that is explained; `y` may be the name of the target column in `X`."""
        source = remote_source(X)
        if source is not None:
            weight, total = source.map_reduce(partial(self._amounts, y=y, sample_weight=sample_weight))
            residual, about_mean = source.map_reduce(
                partial(self._squares, y=y, sample_weight=sample_weight, mean=total / weight)
            )
            return float(1 - residual / about_mean)
        truth, weight = self._read_true_labels(X, y, sample_weight)
        return super().score(X, truth.values, weight)

    def _amounts(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> np.ndarray:
        """Weight of all rows, and weighted sum of the target. float64 [2]"""
        truth, weight = self._read_true_labels(X, y, sample_weight)
        return np.array([weight.sum(), weight @ truth.values])

    def _squares(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike, mean: float) -> np.ndarray:
        """Sums of squares about the predictions, and about the mean. float64 [2]"""
        truth, weight = self._read_true_labels(X, y, sample_weight)
        return np.array([weight @ (truth.values - self.predict(X)) ** 2, weight @ (truth.values - mean) ** 2])

    _read_labels = staticmethod(target_reading.read_numbers)


def _predicted(predictor: Predictor, rows: Any) -> Any:
    """Rows of a database with the columns `prediction` and `P(class)`."""
    from baytree.exporters.in_database import predicted_rows  # slow import, only needed for databases

    return predicted_rows(predictor, rows)


def rejection_reasons(model: Classifier, X: FrameLike, given: object, predictor: Predictor) -> list[str]:
    """Reason for rejecting the prediction of each row; the empty string for rows that are not rejected."""
    reject, classes = RejectRule.read(given), model.classes_.tolist()
    probability, predicted = predictor.predict_with_codes(predictor.encoded(X))
    assert predicted is not None  # a classifier
    rules = []
    if reject.sets is not None:
        rules.append(ambiguous_reasons(reject.sets.predict_set(X), classes))
    if reject.typicality is not None:
        rules.append(atypical_reasons(typicality(model, X), reject.typicality))
    if reject.cost is not None:
        rules.append(too_costly(_expected(predictor, probability, predicted), reject.cost))
    if reject.confidence is not None:
        rules.append(low_confidence_reasons(probability[np.arange(len(predicted)), predicted], reject.confidence))
    return first_reasons(rules, len(predicted))


def typicality(model: Classifier, X: FrameLike) -> np.ndarray:
    """Proportion of rows, drawn from the model, that are at most as likely as each row. float64 [n_rows]"""
    find = getattr(model, "_typicality", None)
    if find is None:
        raise ValueError(
            f"typicality is not available for {type(model).__name__}, which has no distribution of the rows; use naive "
            "Bayes or discriminant analysis, or prediction sets (bt.conformal), which detect atypical rows with any model"
        )
    return find(model._predictor.encoded(X))


def _expected(predictor: Predictor, probability: np.ndarray, choice: np.ndarray) -> np.ndarray:
    """Expected cost of each prediction: by the predictor's costs, or 1 for a mistake. float64 [n_rows]"""
    if predictor.costs is None:
        return 1 - probability[np.arange(len(choice)), choice]
    return np.einsum("nk,kn->n", probability, predictor.costs.amounts[:, choice])
