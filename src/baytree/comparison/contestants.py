"""Who takes part: every family with settings that suit a raw table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import baytree as bt

from ..problem import Problem
from ..table import Kind


class Contestant(NamedTuple):
    """A model that takes part: its short name, its name in the leaderboard, and an unfitted estimator."""

    short: str
    name: str
    estimator: Any
    effort: float = 1.0  # of one fold beside the others, for the time that is left


def _none(_: Problem) -> str:
    return ""


class Family(NamedTuple):
    """A family of models: the estimator's public name, its settings, and why it cannot take part ("" if it can)."""

    name: str
    kind: str
    settings: dict[str, Any]
    obstacle: Callable[[Problem], str] = _none
    effort: float = 1.0  # of one fold beside the other families, on a census of 32,000 rows


def _not_only_levels(problem: Problem) -> str:
    numeric = [column.name for column in problem.schema if column.kind in (Kind.NUMERIC, Kind.TEXT)]
    if numeric:
        return f"column {numeric[0]!r} is not nominal"
    unknown = [column.name for j, column in enumerate(problem.schema) if (problem.table.values[j] < 0).any()]
    return f"column {unknown[0]!r} has missing values" if unknown else ""


CLASSIFIERS = {
    "majority": Family("majority class", "DecisionTreeClassifier", {"max_depth": 0}, effort=0.2),
    "id3": Family("ID3", "ID3Classifier", {}, _not_only_levels),
    "c45": Family("C4.5", "C45Classifier", {}, effort=1.5),
    "cart": Family("CART, pruned by 1 SE", "CARTClassifier", {"cp": 0.0005, "prune": "1se"}, effort=10.0),
    "chaid": Family("CHAID", "CHAIDClassifier", {}, effort=5.0),
    "nb-mle": Family("naive Bayes, mle", "NaiveBayesClassifier", {"estimate": "mle"}, effort=0.1),
    "nb": Family("naive Bayes, bayes", "NaiveBayesClassifier", {"estimate": "bayes"}, effort=0.1),
    "lda": Family("LDA", "LinearDiscriminantAnalysis", {}),
    "qda": Family("QDA", "QuadraticDiscriminantAnalysis", {}, effort=1.5),
    "logistic": Family("logistic, L2 by CV", "LogisticRegressionCV", {"penalty": "l2"}, effort=16.0),
    "lasso": Family("logistic, L1 by CV", "LogisticRegressionCV", {"penalty": "l1"}, effort=18.0),
}
REGRESSORS = {
    "mean": Family("mean", "DecisionTreeRegressor", {"max_depth": 0}, effort=0.2),
    "cart": Family("CART, pruned by 1 SE", "CARTRegressor", {"cp": 0.0005, "prune": "1se"}, effort=10.0),
    "cart-min": Family("CART, pruned by min", "CARTRegressor", {"cp": 0.0005, "prune": "min"}, effort=10.0),
    "cart-cp": Family("CART, cp 0.01", "CARTRegressor", {}),
    "chaid": Family("CHAID", "CHAIDRegressor", {}, effort=5.0),
}


def contestants(problem: Problem, models: Any = None) -> tuple[list[Contestant], list[tuple[str, str]]]:
    """Those that take part, and the others with the reason; `models` are short names, or estimators by name."""
    families = CLASSIFIERS if problem.is_classification else REGRESSORS
    offered = {short: family for short, family in families.items() if family.kind in bt.__all__}
    if isinstance(models, Mapping):
        return [Contestant(name, name, estimator) for name, estimator in models.items()], []
    chosen = list(offered) if models is None else _named(models, offered)
    there = [_own(m) if not isinstance(m, str) else _made(m, offered[m]) for m in chosen]
    out = [(c.name, offered[c.short].obstacle(problem)) for c in there if c.short in offered]
    absent = {name for name, reason in out if reason}
    return [c for c in there if c.name not in absent], [(name, reason) for name, reason in out if reason]


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
