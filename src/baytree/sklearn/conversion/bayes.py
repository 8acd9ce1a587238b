"""Naive Bayes classifiers of scikit-learn as models of this library."""

from __future__ import annotations

import numpy as np

from baytree.bayes.events.amount_likelihoods import AmountLikelihood, amount_weights
from baytree.bayes.events.categorical import LevelLikelihood
from baytree.bayes.events.normal import NormalLikelihood
from baytree.bayes.model import NaiveBayes
from baytree.given import EstimatorLike
from baytree.sklearn.conversion.features import Features


def gaussian_of(model: EstimatorLike, features: Features) -> NaiveBayes:
    """Normal densities with the same means and variances."""
    mean, scale = np.asarray(model.theta_, np.float64), np.sqrt(np.asarray(model.var_, np.float64))
    with np.errstate(divide="ignore"):
        prior = np.log(np.asarray(model.class_prior_, np.float64))
    return NaiveBayes(prior, (NormalLikelihood(_columns(features), mean.copy(), scale, np.full(mean.shape, np.inf)),))


def bernoulli_of(model: EstimatorLike, features: Features) -> NaiveBayes:
    """The same chances of a yes."""
    yes = np.ascontiguousarray(np.asarray(model.feature_log_prob_, np.float64).T)
    with np.errstate(divide="ignore"):
        no = np.log1p(-np.exp(yes))
    none, threshold = np.zeros_like(yes), 0.0 if model.binarize is None else float(model.binarize)
    likelihood = AmountLikelihood(_columns(features), "binary", threshold, no, yes, none, none + np.inf)
    return NaiveBayes(np.array(model.class_log_prior_, np.float64), (likelihood,))


def multinomial_of(model: EstimatorLike, features: Features) -> NaiveBayes:
    """The same shares of the columns."""
    slope = np.ascontiguousarray(np.asarray(model.feature_log_prob_, np.float64).T)
    return NaiveBayes(np.array(model.class_log_prior_, np.float64), (amount_weights(_columns(features), "count", slope),))


def complement_of(model: EstimatorLike, features: Features) -> NaiveBayes:
    """The same weights of the columns; the classes' shares play no part where there are several."""
    slope = np.ascontiguousarray(np.asarray(model.feature_log_prob_, np.float64).T)
    prior = np.full(len(model.classes_), -np.log(len(model.classes_)))
    return NaiveBayes(prior, (amount_weights(_columns(features), "amount", slope),))


def categorical_of(model: EstimatorLike, features: Features) -> NaiveBayes:
    """The same probabilities of the levels."""
    tables = [np.ascontiguousarray(np.minimum(np.asarray(table, np.float64).T, 0.0)) for table in model.feature_log_prob_]
    places = [feature.column for feature in features.made]
    likelihoods = tuple(
        LevelLikelihood(j, table) for j, table in sorted(zip(places, tables, strict=True), key=lambda p: p[0])
    )
    return NaiveBayes(np.array(model.class_log_prior_, np.float64), likelihoods)


def _columns(features: Features) -> tuple[int, ...]:
    if not features.is_plain or any(column.levels for column in features.columns):
        raise ValueError("naive Bayes of numbers behind an encoder of levels cannot be taken over; use CategoricalNB")
    return tuple(feature.column for feature in features.made)
