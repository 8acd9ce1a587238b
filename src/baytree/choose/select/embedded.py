"""Selection inside a model: what a tree says its columns are worth, and when each column enters the L1 path."""

from __future__ import annotations

import numpy as np

from baytree.choose.problem import Problem
from baytree.choose.select.ranking import Rank, Ranking, ordered
from baytree.choose.validate.trials import learnt
from baytree.estimators.linear.logistic import LogisticRegression
from baytree.estimators.tree.cart import CARTClassifier, CARTRegressor
from baytree.given import EstimatorLike

STEPS = 100  # of the L1 path


def importance(problem: Problem, estimator: EstimatorLike = None) -> Ranking:
    """The columns by the `feature_importances_` of an estimator, or of CART, learnt from all rows."""
    usual = CARTClassifier() if problem.is_classification else CARTRegressor()
    fitted = learnt(usual if estimator is None else estimator, problem)
    if not hasattr(fitted, "feature_importances_"):
        raise ValueError(f"{type(fitted).__name__} has no feature_importances_; give a tree")
    names = problem.schema.names
    worth = np.asarray(fitted.feature_importances_, dtype=np.float64)
    if len(worth) == len(problem.schema.inputs):
        worth = worth[[problem.schema.inputs.index(source) for source in problem.schema.sources]]
    return _ranking("importance", problem, worth, [type(fitted).__name__] * len(names))


def lasso(problem: Problem, estimator: EstimatorLike = None) -> Ranking:
    """The columns by the L1 penalty at which their first feature enters logistic regression, as a share of the first one's.

    A nominal column has a feature per level, a text column one per word.
    """
    if not problem.is_classification:
        raise ValueError(f"by='lasso' needs classes, but the target {problem.name!r} is a number; give by='correlation'")
    fitted = learnt(LogisticRegression(penalty="l1", C=1.0, path=STEPS) if estimator is None else estimator, problem)
    path = fitted.path_
    enters = np.argmax((path.coef != 0).any(axis=1), axis=0)  # [n_features], the first step with a coefficient
    ever = (path.coef != 0).any(axis=(0, 1))
    worth = np.zeros(len(problem.schema))
    np.maximum.at(worth, fitted.model_.design.source, np.where(ever, path.lambdas[enters], 0.0))
    how = [f"enters at λ = {value:.3g}" if value > 0 else "never enters" for value in worth]
    return _ranking("lasso", problem, worth / max(worth.max(), np.finfo(float).tiny), how)


EMBEDDED = {"importance": importance, "lasso": lasso}


def _ranking(by: str, problem: Problem, worth: np.ndarray, how: list[str]) -> Ranking:
    known = [1 - problem.missing[column.name] for column in problem.schema]
    each = zip(problem.schema, worth, how, known, strict=True)
    ranks = [Rank(column.name, column.kind.value, float(value), words, share) for column, value, words, share in each]
    ranks += [Rank(name, "left out", np.nan, "only identifies rows") for name in problem.schema.left_out]
    return ordered(by, problem.name, ranks)
