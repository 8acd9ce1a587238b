"""Who takes part: every family with settings that suit a raw table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

import baytree as bt
from baytree.choose.compare.leaderboard import BASELINE
from baytree.choose.problem import Problem
from baytree.table.schema import Kind


class Contestant(NamedTuple):
    """A model that takes part: its short name, its name in the leaderboard, and an unfitted estimator."""

    short: str
    name: str
    estimator: Any
    effort: float = 1.0  # of one fold beside the others, for the time that is left


def _none(_: Problem) -> str:
    return ""


class Family(NamedTuple):
    """A family of models: the estimator's public name, its settings, and why it cannot take part ("" if it can).

    What would take too long is left out too, but tried where it is asked for by name.
    """

    name: str
    kind: str
    settings: dict[str, Any]
    obstacle: Callable[[Problem], str] = _none
    burden: Callable[[Problem], str] = _none
    effort: float = 1.0  # of one fold beside the other families, on a census of 32,000 rows


def _not_only_levels(problem: Problem) -> str:
    numeric = [column.name for column in problem.schema if column.kind in (Kind.NUMERIC, Kind.TEXT)]
    if numeric:
        return f"column {numeric[0]!r} is not nominal"
    unknown = [name for name, share in problem.missing.items() if share]
    return f"column {unknown[0]!r} has missing values" if unknown else ""


def _text(problem: Problem) -> str:
    names = [column.name for column in problem.schema if column.kind is Kind.TEXT]
    return f"column {names[0]!r} is text, which only naive Bayes and logistic regression take" if names else ""


MOST_FEATURES = 700  # whose scatter is still quickly decomposed
MOST_WORK = 3e9  # multiplications of one Newton step: the curvature, rows × weights², and solving with it


def _wide_scatter(problem: Problem) -> str:
    n = _n_features(problem)
    return f"{n:,} numbers and levels would take long; name it in models to try it" if n > MOST_FEATURES else ""


def _many_weights(problem: Problem) -> str:
    if any(column.kind is Kind.TEXT for column in problem.schema):
        return ""  # words are sparse
    n_classes = len(problem.classes)
    n = _n_features(problem) * (n_classes if n_classes > 2 else 1)
    is_long = (len(problem) + 3 * n) * n**2 > MOST_WORK or len(problem) < FEWEST_PER_CLASS * n_classes
    return f"{n:,} weights for {len(problem):,} rows would take long; name it in models to try it" if is_long else ""


def _n_features(problem: Problem) -> int:
    """How many features the columns become: numbers, levels but the first, and marks of what is missing."""
    own = sum(max(len(column.levels) - 1, 1) for column in problem.schema)
    return own + sum(share > 0 for share in problem.missing.values())


FEWEST_PER_CLASS = 3  # rows; below, the classes are nearly separable and the weights without end
# weaker penalties than these leave classes that can be told apart with weights beyond all reading, and take longest
STRENGTHS = tuple(np.geomspace(1e-4, 1e2, 10).tolist())
_L2, _L1 = ({"penalty": penalty, "Cs": STRENGTHS, "max_iter": 100} for penalty in ("l2", "l1"))
CLASSIFIERS = {
    "majority": Family(BASELINE, "DecisionTreeClassifier", {"max_depth": 0}, _text, effort=0.2),
    "id3": Family("ID3", "ID3Classifier", {}, _not_only_levels),
    "c45": Family("C4.5", "C45Classifier", {}, _text, effort=1.5),
    "cart": Family("CART, pruned by 1 SE", "CARTClassifier", {"cp": 0.0005, "pruning": "1se"}, _text, effort=10.0),
    "chaid": Family("CHAID", "CHAIDClassifier", {}, _text, effort=5.0),
    "nb-mle": Family("naive Bayes, mle", "NaiveBayesClassifier", {"estimate": "mle"}, effort=0.1),
    "nb": Family("naive Bayes, bayes", "NaiveBayesClassifier", {"estimate": "bayes"}, effort=0.1),
    "lda": Family("LDA", "LinearDiscriminantAnalysis", {}, _text, _wide_scatter),
    "qda": Family("QDA", "QuadraticDiscriminantAnalysis", {}, _text, _wide_scatter, effort=1.5),
    "logistic": Family("logistic, L2 by CV", "LogisticRegressionCV", _L2, burden=_many_weights, effort=16.0),
    "lasso": Family("logistic, L1 by CV", "LogisticRegressionCV", _L1, burden=_many_weights, effort=18.0),
}
REGRESSORS = {
    "mean": Family("mean", "DecisionTreeRegressor", {"max_depth": 0}, _text, effort=0.2),
    "cart": Family("CART, pruned by 1 SE", "CARTRegressor", {"cp": 0.0005, "pruning": "1se"}, _text, effort=10.0),
    "cart-min": Family("CART, pruned by min", "CARTRegressor", {"cp": 0.0005, "pruning": "min"}, _text, effort=10.0),
    "cart-cp": Family("CART, cp 0.01", "CARTRegressor", {}, _text),
    "chaid": Family("CHAID", "CHAIDRegressor", {}, _text, effort=5.0),
}


def contestants(problem: Problem, models: Any = None) -> tuple[list[Contestant], list[tuple[str, str]]]:
    """Those that take part, and the others with the reason; `models` are short names, or estimators by name."""
    families = CLASSIFIERS if problem.is_classification else REGRESSORS
    offered = {short: family for short, family in families.items() if family.kind in bt.__all__}
    if isinstance(models, Mapping):
        return [Contestant(name, name, estimator) for name, estimator in models.items()], []
    chosen = list(offered) if models is None else _named(models, offered)
    there = [_own(m) if not isinstance(m, str) else _made(m, offered[m]) for m in chosen]
    is_named = models is not None
    out = [(c.name, _reason(offered[c.short], problem, is_named)) for c in there if c.short in offered]
    absent = {name for name, reason in out if reason}
    return [c for c in there if c.name not in absent], [(name, reason) for name, reason in out if reason]


def _reason(family: Family, problem: Problem, is_named: bool) -> str:
    return family.obstacle(problem) or ("" if is_named else family.burden(problem))


def _made(short: str, family: Family) -> Contestant:
    return Contestant(short, family.name, getattr(bt, family.kind)(**family.settings), family.effort)


def _own(estimator: Any) -> Contestant:
    name = type(estimator).__name__
    return Contestant(name, name, estimator)


def _named(models: Iterable[Any], offered: Mapping[str, Family]) -> list[Any]:
    chosen = models.split(",") if isinstance(models, str) else list(models)
    for model in chosen:
        if isinstance(model, str) and model not in offered:
            raise ValueError(f"there is no model {model!r}; there is: {', '.join(offered)}")
    return chosen
