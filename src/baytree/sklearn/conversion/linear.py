"""Coefficients of scikit-learn as linear models of this library."""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree.given import EstimatorLike
from baytree.linear.design.design import Design
from baytree.linear.design.feature_layout import Layout
from baytree.linear.discriminant.model import LinearDiscriminant
from baytree.linear.logistic.model import LogisticModel
from baytree.linear.model import LinearModel
from baytree.sklearn.conversion.features import Features


def logistic_of(model: EstimatorLike, features: Features) -> LogisticModel:
    """Logistic regression with the same coefficients."""
    coef = np.asarray(model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_, np.float64)
    linear = _linear(coef, np.asarray(model.intercept_, np.float64), features, "sigmoid" if len(coef) == 1 else "softmax")
    return LogisticModel(linear, np.zeros((0, 0)), 1.0)


def discriminant_of(model: EstimatorLike, features: Features) -> LinearDiscriminant:
    """Linear discriminant analysis with the same scores, and its axes where it has some."""
    coef, intercept = np.asarray(model.coef_, np.float64), np.asarray(model.intercept_, np.float64)
    if len(coef) == 1:  # the second of two classes against the first
        coef, intercept = np.vstack([np.zeros_like(coef), coef]), np.append(0.0, intercept)
    order, p = _in_order(features), coef.shape[1]
    axes = np.asarray(getattr(model, "scalings_", np.zeros((p, 0))), np.float64)
    ratio = np.asarray(getattr(model, "explained_variance_ratio_", np.zeros(0)), np.float64)
    shown = min(axes.shape[1], len(ratio))
    covariance = np.asarray(getattr(model, "covariance_", np.eye(p)), np.float64)
    return LinearDiscriminant(
        _linear(coef, intercept, features, "softmax"),
        np.ascontiguousarray(axes[order, :shown]),
        np.sqrt(np.maximum(ratio[:shown], 0.0)),
        np.ascontiguousarray(np.asarray(model.means_, np.float64)[:, order]),
        np.ascontiguousarray(covariance[np.ix_(order, order)]),
        np.asarray(model.priors_, np.float64),
    )


def _linear(coef: np.ndarray, intercept: np.ndarray, features: Features, link: Any) -> LinearModel:
    order = _in_order(features)
    made, n = [features.made[f] for f in order], len(features.columns)
    layout = Layout(
        np.array([feature.column for feature in made], np.int32),
        np.array([feature.level for feature in made], np.int32),
        np.zeros(n),
        np.full(n, -1, np.int32),
    )
    design = Design(layout, np.zeros(len(made)), np.ones(len(made)), np.full(n, -1, np.int32))
    return LinearModel(design, np.ascontiguousarray(coef[:, order]), intercept.copy(), link)


def _in_order(features: Features) -> np.ndarray:
    """The features by their columns: int64 [n_features]."""
    return np.array(sorted(range(len(features.made)), key=lambda f: features.made[f]), np.int64)
