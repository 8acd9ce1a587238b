"""`from_sklearn`: convert a fitted scikit-learn model, which then has baytree's explanations, report page and exports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from baytree._typing import EstimatorLike, FrameLike
from baytree.base.learner import FitResult
from baytree.sklearn import discriminant_analysis, logistic, naive_bayes, tree
from baytree.sklearn.conversion import models
from baytree.sklearn.conversion.features import Features, features_of, with_levels

_CONVERSIONS: dict[str, tuple[type[Any], Callable[[Any, Features], Any]]] = {
    "BernoulliNB": (naive_bayes.BernoulliNB, models.bernoulli_of),
    "CategoricalNB": (naive_bayes.CategoricalNB, models.categorical_of),
    "ComplementNB": (naive_bayes.ComplementNB, models.complement_of),
    "DecisionTreeClassifier": (tree.DecisionTreeClassifier, models.tree_of),
    "DecisionTreeRegressor": (tree.DecisionTreeRegressor, models.tree_of),
    "GaussianNB": (naive_bayes.GaussianNB, models.gaussian_of),
    "LinearDiscriminantAnalysis": (discriminant_analysis.LinearDiscriminantAnalysis, models.discriminant_of),
    "LogisticRegression": (logistic.LogisticRegression, models.logistic_of),
    "LogisticRegressionCV": (logistic.LogisticRegression, models.logistic_of),
    "MultinomialNB": (naive_bayes.MultinomialNB, models.multinomial_of),
}


def from_sklearn(model: EstimatorLike, frame: FrameLike = None) -> Any:
    """Convert a fitted scikit-learn model to a baytree model with equal predictions, explanations, reports and exports.

    Supported are decision trees with one output, the five naive Bayes classifiers, LDA and logistic regression, alone or as
    the last step of a pipeline after a ColumnTransformer of one-hot and ordinal encoders that was fitted on a data frame;
    the columns are then those of that frame. A level that the encoder has not seen counts as missing.

    Parameters
    ----------
    model : estimator
        Fitted model, or a pipeline of an encoder and a model.
    frame : data frame, optional
        Rows on which the predictions of both models are compared; a difference above 1e-9 raises an error.

    Returns
    -------
    Estimator
        Fitted estimator from `baytree.sklearn`.

    Examples
    --------
    >>> import baytree as bt
    >>> from sklearn.linear_model import LogisticRegression
    >>> theirs = LogisticRegression().fit([[1.0], [2.0], [3.0], [4.0]], ["no", "no", "yes", "yes"])
    >>> ours = bt.from_sklearn(theirs)
    >>> ours.predict([[1.2]]).tolist()
    ['no']
    """
    encoder, last = _parts(model)
    name = type(last).__name__
    if name not in _CONVERSIONS:
        raise TypeError(f"a {name} cannot be converted; {', '.join(_CONVERSIONS)} can")
    if not hasattr(last, "n_features_in_"):
        raise ValueError(f"this {name} is not fitted yet")
    kind, convert = _CONVERSIONS[name]
    features = features_of(last, encoder)
    if name == "CategoricalNB":
        features = with_levels(features, np.asarray(last.n_categories_)[np.argsort([f.column for f in features.made])])
    converted = kind(**_parameters(kind, last))
    schema = features.schema(getattr(last, "classes_", None))
    fitted_model = convert(last, features)
    fitted_model.check(schema)
    converted._set_fitted_state(schema, FitResult(fitted_model), features.is_named)
    if frame is not None:
        _compare(model, converted, frame)
    return converted


def _parts(model: EstimatorLike) -> tuple[Any | None, Any]:
    """Encoder in front of the model (or None), and the model itself."""
    if type(model).__name__ != "Pipeline":
        return None, model
    steps = [step for _, step in model.steps if step not in (None, "passthrough")]
    if len(steps) == 1:
        return None, steps[0]
    if len(steps) != 2 or type(steps[0]).__name__ != "ColumnTransformer":
        names = ", ".join(type(step).__name__ for step in steps)
        raise ValueError(f"a pipeline of {names} cannot be converted; a ColumnTransformer and a model can")
    return steps[0], steps[1]


def _parameters(kind: type[Any], model: EstimatorLike) -> dict[str, Any]:
    known = kind.parameter_names()
    return {name: value for name, value in model.get_params(deep=False).items() if name in known}


def _compare(model: EstimatorLike, created: Any, frame: FrameLike) -> None:
    method = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    theirs, ours = getattr(model, method)(frame), getattr(created, method)(frame)
    difference = float(np.abs(np.asarray(theirs, float) - ours).max(initial=0.0))
    if not difference <= 1e-9:
        raise ValueError(
            f"the predictions of both models differ by up to {difference:.3g} on these rows; do the rows have levels or "
            "missing values that the encoder has not seen?"
        )
