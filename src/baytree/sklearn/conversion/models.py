"""Fitted scikit-learn models as baytree models: naive Bayes, logistic regression, LDA, decision trees.

One function per scikit-learn class, registered in `from_sklearn`. Each copies the fitted arrays; `features` maps the model's
inputs to columns of the table.
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
    """Gaussian naive Bayes with the same means and variances."""
    mean, scale = np.asarray(model.theta_, np.float64), np.sqrt(np.asarray(model.var_, np.float64))
    with np.errstate(divide="ignore"):
        prior = np.log(np.asarray(model.class_prior_, np.float64))
    return NaiveBayes(prior, (NormalLikelihood(_columns(features), mean.copy(), scale, np.full(mean.shape, np.inf)),))


def bernoulli_of(model: EstimatorLike, features: Features) -> NaiveBayes:
    """Bernoulli naive Bayes with the same probabilities."""
    log_one = np.ascontiguousarray(np.asarray(model.feature_log_prob_, np.float64).T)
    with np.errstate(divide="ignore"):
        log_zero = np.log1p(-np.exp(log_one))
    zeros, threshold = np.zeros_like(log_one), 0.0 if model.binarize is None else float(model.binarize)
    likelihood = CountLikelihood(_columns(features), "binary", threshold, log_zero, log_one, zeros, zeros + np.inf)
    return NaiveBayes(np.array(model.class_log_prior_, np.float64), (likelihood,))


def multinomial_of(model: EstimatorLike, features: Features) -> NaiveBayes:
    """Multinomial naive Bayes with the same probabilities of the columns."""
    weights = np.ascontiguousarray(np.asarray(model.feature_log_prob_, np.float64).T)
    return NaiveBayes(np.array(model.class_log_prior_, np.float64), (amount_weights(_columns(features), "count", weights),))


def complement_of(model: EstimatorLike, features: Features) -> NaiveBayes:
    """Complement naive Bayes with the same weights of the columns; class proportions do not matter with several classes."""
    weights = np.ascontiguousarray(np.asarray(model.feature_log_prob_, np.float64).T)
    prior = np.full(len(model.classes_), -np.log(len(model.classes_)))
    return NaiveBayes(prior, (amount_weights(_columns(features), "amount", weights),))


def categorical_of(model: EstimatorLike, features: Features) -> NaiveBayes:
    """Categorical naive Bayes with the same probabilities of the levels."""
    tables = [np.ascontiguousarray(np.minimum(np.asarray(table, np.float64).T, 0.0)) for table in model.feature_log_prob_]
    columns = [feature.column for feature in features.made]
    likelihoods = tuple(
        LevelLikelihood(j, table) for j, table in sorted(zip(columns, tables, strict=True), key=lambda p: p[0])
    )
    return NaiveBayes(np.array(model.class_log_prior_, np.float64), likelihoods)


def _columns(features: Features) -> tuple[int, ...]:
    if not features.is_plain or any(column.levels for column in features.columns):
        raise ValueError("naive Bayes of numbers after an encoder of levels cannot be converted; use CategoricalNB")
    return tuple(feature.column for feature in features.made)


def logistic_of(model: EstimatorLike, features: Features) -> LogisticModel:
    """Logistic regression with the same coefficients."""
    coef = np.asarray(model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_, np.float64)
    linear = _linear(coef, np.asarray(model.intercept_, np.float64), features, "sigmoid" if len(coef) == 1 else "softmax")
    return LogisticModel(linear, np.zeros((0, 0)), 1.0)


def discriminant_of(model: EstimatorLike, features: Features) -> LinearDiscriminant:
    """Linear discriminant analysis with the same scores, and its axes if it has any."""
    coef, intercept = np.asarray(model.coef_, np.float64), np.asarray(model.intercept_, np.float64)
    if len(coef) == 1:  # the second of two classes against the first
        coef, intercept = np.vstack([np.zeros_like(coef), coef]), np.append(0.0, intercept)
    order, p = _in_order(features), coef.shape[1]
    axes = np.asarray(getattr(model, "scalings_", np.zeros((p, 0))), np.float64)
    ratio = np.asarray(getattr(model, "explained_variance_ratio_", np.zeros(0)), np.float64)
    n_axes = min(axes.shape[1], len(ratio))
    covariance = np.asarray(getattr(model, "covariance_", np.eye(p)), np.float64)
    return LinearDiscriminant(
        _linear(coef, intercept, features, "softmax"),
        np.ascontiguousarray(axes[order, :n_axes]),
        np.sqrt(np.maximum(ratio[:n_axes], 0.0)),
        np.ascontiguousarray(np.asarray(model.means_, np.float64)[:, order]),
        np.ascontiguousarray(covariance[np.ix_(order, order)]),
        np.asarray(model.priors_, np.float64),
    )


def _linear(coef: np.ndarray, intercept: np.ndarray, features: Features, link: Any) -> LinearModel:
    order = _in_order(features)
    ordered, n = [features.made[f] for f in order], len(features.columns)
    layout = FeatureLayout(
        np.array([feature.column for feature in ordered], np.int32),
        np.array([feature.level for feature in ordered], np.int32),
        np.zeros(n),
        np.full(n, -1, np.int32),
    )
    design = Design(layout, np.zeros(len(ordered)), np.ones(len(ordered)), np.full(n, -1, np.int32))
    return LinearModel(design, np.ascontiguousarray(coef[:, order]), intercept.copy(), link)


def _in_order(features: Features) -> np.ndarray:
    """Order of the features by column and level. int64 [n_features]"""
    return np.array(sorted(range(len(features.made)), key=lambda f: features.made[f]), np.int64)


def tree_of(model: EstimatorLike, features: Features) -> Tree:
    """Tree with the same tests and leaves; `model` is a fitted tree with one output."""
    if model.n_outputs_ != 1:
        raise ValueError(f"the tree has {model.n_outputs_} outputs; only models with one target can be converted")
    theirs, is_class = model.tree_, hasattr(model, "classes_")
    order, first = _side_by_side(theirs.children_left, theirs.children_right)
    inner = theirs.children_left[order] >= 0
    feature = np.where(inner, theirs.feature[order], 0)
    column = np.array([features.made[f].column for f in feature], np.int32)
    level = np.array([features.made[f].level for f in feature], np.int32)
    is_level = inner & (level != VALUE)
    levels = np.where(is_level, [len(features.columns[j].levels) for j in column], 0).astype(np.int32)
    weight, proportions = theirs.weighted_n_node_samples[order], theirs.value[order][:, 0, :]
    impurity, counts = theirs.impurity[order], proportions * weight[:, None] if is_class else np.zeros((len(order), 0))
    children_impurity = np.where(
        inner, impurity[first] * weight[first] + impurity[first + inner] * weight[first + inner], 0.0
    )
    risk = (1 - proportions.max(axis=1)) * weight if is_class else impurity * weight
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
        value=np.ascontiguousarray(proportions, np.float64),
        prediction=(proportions.argmax(axis=1) if is_class else np.zeros(len(order))).astype(np.int32),
        impurity=impurity.astype(np.float64),
        risk=risk,
        gain=np.where(inner, np.maximum(impurity * weight - children_impurity, 0.0), 0.0),
    )
    return with_complexity(tree)


def _side_by_side(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Order of the nodes in which the two children of a node are adjacent, and the position of each first child."""
    order, first = [0], []
    for node in order:  # breadth first: the list grows while it is iterated
        first.append(len(order) if left[node] >= 0 else 0)
        if left[node] >= 0:
            order += [int(left[node]), int(right[node])]
    return np.array(order), np.array(first)


def _of_doubles(threshold: np.ndarray) -> np.ndarray:
    """Thresholds on doubles that split like those of scikit-learn, which rounds values to float32 before it compares.

    Rounding is monotone, so x goes left up to the largest double that is rounded to at most the threshold.
    """
    below = threshold.astype(np.float32)
    below = np.where(below > threshold, np.nextafter(below, np.float32(-np.inf)), below)
    above = np.nextafter(below, np.float32(np.inf)).astype(np.float64)
    middle = below.astype(np.float64) / 2 + above / 2
    with np.errstate(over="ignore"):
        return np.where(middle.astype(np.float32) <= below, middle, np.nextafter(middle, -np.inf))


def _branches(level: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Branch of every level, for each test of a level: the second for that level, the first for the others."""
    tests = [np.arange(n) == own for own, n in zip(level, levels, strict=True)]
    return np.concatenate([*tests, np.zeros(0, bool)]).astype(np.int32)


def _missing(theirs: Any, order: np.ndarray, inner: np.ndarray, is_level: np.ndarray) -> np.ndarray:
    """Branch of rows with a missing value; in a test of a level, they go with the other levels."""
    goes_left = np.asarray(theirs.missing_go_to_left)[order].astype(bool) | is_level
    return np.where(inner, np.where(goes_left, 0, 1), -1).astype(np.int32)
