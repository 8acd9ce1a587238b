"""Naive Bayes classifiers of scikit-learn as models of this library.

Coefficients of scikit-learn as linear models of this library.

scikit-learn's arrays of a decision tree as a tree of this library.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree._typing import EstimatorLike
from baytree.linear.design.design import Design
from baytree.linear.design.feature_layout import FeatureLayout
from baytree.linear.discriminant.model import LinearDiscriminant
from baytree.linear.linear_model import LinearModel
from baytree.linear.logistic.model import LogisticModel
from baytree.naive_bayes.events.categorical import LevelLikelihood
from baytree.naive_bayes.events.count_likelihoods import CountLikelihood, amount_weights
from baytree.naive_bayes.events.normal import NormalLikelihood
from baytree.naive_bayes.model import NaiveBayes
from baytree.sklearn.conversion.features import VALUE, Features
from baytree.tree.model.arrays import LEAF
from baytree.tree.model.builder import build
from baytree.tree.model.tree import Tree
from baytree.tree.pruning.cost_complexity import with_complexity


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
    likelihood = CountLikelihood(_columns(features), "binary", threshold, no, yes, none, none + np.inf)
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
    layout = FeatureLayout(
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


def tree_of(model: EstimatorLike, features: Features) -> Tree:
    """The same tests and leaves; `model` is a fitted tree of one output."""
    if model.n_outputs_ != 1:
        raise ValueError(f"the tree has {model.n_outputs_} outputs; models of one target can be taken over")
    theirs, is_class = model.tree_, hasattr(model, "classes_")
    order, first = _side_by_side(theirs.children_left, theirs.children_right)
    inner = theirs.children_left[order] >= 0
    feature = np.where(inner, theirs.feature[order], 0)
    column = np.array([features.made[f].column for f in feature], np.int32)
    level = np.array([features.made[f].level for f in feature], np.int32)
    is_level = inner & (level != VALUE)
    levels = np.where(is_level, [len(features.columns[j].levels) for j in column], 0).astype(np.int32)
    weight, shares = theirs.weighted_n_node_samples[order], theirs.value[order][:, 0, :]
    impurity, counts = theirs.impurity[order], shares * weight[:, None] if is_class else np.zeros((len(order), 0))
    below = np.where(inner, impurity[first] * weight[first] + impurity[first + inner] * weight[first + inner], 0.0)
    risk = (1 - shares.max(axis=1)) * weight if is_class else impurity * weight
    tree = build(
        column=np.where(inner, column, LEAF).astype(np.int32),
        first=np.where(inner, first, 0).astype(np.int32),
        branches=np.where(inner, 2, 0).astype(np.int32),
        cut=np.where(inner & ~is_level, _of_doubles(theirs.threshold[order]), np.nan),
        levels=levels,
        branch_of=_branches(level[is_level], levels[is_level]),
        missing=_missing(theirs, order, inner, is_level),
        rows=theirs.n_node_samples[order].astype(np.int64),
        weight=weight.astype(np.float64),
        counts=np.ascontiguousarray(counts),
        value=np.ascontiguousarray(shares, np.float64),
        prediction=(shares.argmax(axis=1) if is_class else np.zeros(len(order))).astype(np.int32),
        impurity=impurity.astype(np.float64),
        risk=risk,
        gain=np.where(inner, np.maximum(impurity * weight - below, 0.0), 0.0),
    )
    return with_complexity(tree)


def _side_by_side(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nodes in an order in which the two children of a node are neighbours, and where the first of them is."""
    order, first = [0], []
    for node in order:  # grows while it is read
        first.append(len(order) if left[node] >= 0 else 0)
        if left[node] >= 0:
            order += [int(left[node]), int(right[node])]
    return np.array(order), np.array(first)


def _of_doubles(threshold: np.ndarray) -> np.ndarray:
    """The cuts of doubles that are those of scikit-learn, which rounds a value to float32 before it compares.

    Rounding never changes an order, so x goes left up to the last double that is rounded to at most the threshold.
    """
    below = threshold.astype(np.float32)
    below = np.where(below > threshold, np.nextafter(below, np.float32(-np.inf)), below)
    above = np.nextafter(below, np.float32(np.inf)).astype(np.float64)
    middle = below.astype(np.float64) / 2 + above / 2
    with np.errstate(over="ignore"):
        return np.where(middle.astype(np.float32) <= below, middle, np.nextafter(middle, -np.inf))


def _branches(level: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """For each test of a level, the branch of every level: the second for that level, the first for the others."""
    tests = [np.arange(n) == own for own, n in zip(level, levels, strict=True)]
    return np.concatenate([*tests, np.zeros(0, bool)]).astype(np.int32)


def _missing(theirs: Any, order: np.ndarray, inner: np.ndarray, is_level: np.ndarray) -> np.ndarray:
    """The branch of rows without a value; one without any level has not the level that is asked for."""
    goes_left = np.asarray(theirs.missing_go_to_left)[order].astype(bool) | is_level
    return np.where(inner, np.where(goes_left, 0, 1), -1).astype(np.int32)
