"""The user's parameters, refused in the user's words or turned into what learners take."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from baytree.linear.design.learn import MISSING_POLICIES
from baytree.linear.logistic.fit import Options
from baytree.linear.logistic.solve import SOLVERS
from baytree.table.table import Table

_L1_SHARE = {"l2": 0.0, "l1": 1.0, None: 0.0}

_MOST_STRENGTHS = 10_000


def options(estimator: Any) -> Options:
    """The choices of a logistic regression."""
    e = estimator
    one_of("multi_class", e.multi_class, ("multinomial", "ovr"))
    one_of("ordinal", e.ordinal, ("rank", "dummies"))
    one_of("missing", e.missing, MISSING_POLICIES)
    one_of("solver", e.solver, SOLVERS)
    lambda_ = getattr(e, "lambda_", None)
    rate = getattr(e, "learning_rate", None)
    return Options(
        l1_share=_l1_share(e.penalty, e.l1_ratio),
        is_penalised=e.penalty is not None,
        C=positive("C", getattr(e, "C", 1.0)),
        lambda_=None if lambda_ is None else not_negative("lambda_", lambda_),
        multi_class=e.multi_class,
        standardize=bool(e.standardize),
        ordinal=e.ordinal,
        missing=e.missing,
        solver=e.solver,
        tol=positive("tol", e.tol),
        max_iter=whole("max_iter", e.max_iter),
        learning_rate=None if rate is None else positive("learning_rate", rate),
    )


def one_of(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse a value that is none of the choices."""
    if not any(value is choice or value == choice for choice in choices):
        raise ValueError(f"{name}={value!r}: give one of {', '.join(map(repr, choices))}")


def positive(name: str, value: Any) -> float:
    """A positive number; infinity is allowed."""
    if not _is_number(value) or not value > 0:
        raise ValueError(f"{name}={value!r}: give a positive number")
    return float(value)


def not_negative(name: str, value: Any) -> float:
    """A finite number that is not negative."""
    if not _is_number(value) or not (value >= 0 and np.isfinite(value)):
        raise ValueError(f"{name}={value!r}: give a finite number that is not negative")
    return float(value)


def share(name: str, value: Any) -> float:
    """A number from 0 to 1."""
    if not _is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"{name}={value!r}: give a number from 0 to 1")
    return float(value)


def whole(name: str, value: Any, least: int = 1) -> int:
    """A whole number that is not too small."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r}: give a whole number, at least {least}")
    return min(int(value), 2**31 - 1)  # more steps or folds than anybody waits for


def how_many(name: str, given: Any, least: int = 1) -> int:
    """How many strengths of a penalty are tried."""
    number = whole(name, given, least)
    if number > _MOST_STRENGTHS:
        raise ValueError(f"{name}={given!r}: give at most {_MOST_STRENGTHS:,}")
    return number


def strengths(given: Any) -> np.ndarray:
    """The values of C to choose from."""
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        return np.geomspace(1e-4, 1e4, how_many("Cs", given))
    values = np.unique([positive("Cs", value) for value in np.atleast_1d(np.asarray(given)).tolist()])
    if not len(values) or not np.isfinite(values).all():
        raise ValueError(f"Cs={given!r}: give a number of values, or positive finite values")
    return values


def priors(given: Any, classes: tuple[Any, ...]) -> np.ndarray | None:
    """A probability for each class, from a vector in class order or a dict by label."""
    if given is None:
        return None
    if isinstance(given, dict):
        unknown = [label for label in given if label not in classes]
        if unknown:
            raise ValueError(f"priors: there is no class {unknown[0]!r}; the classes are {list(classes)}")
        given = [given.get(label, 0.0) for label in classes]
    prior = np.asarray(given, dtype=np.float64)
    if prior.shape != (len(classes),) or not (np.isfinite(prior).all() and (prior >= 0).all() and prior.any()):
        raise ValueError(f"priors={given!r}: give a probability for each of {list(classes)}")
    return prior / prior.sum()


def class_weights(given: Any, table: Table) -> np.ndarray:
    """The weight of each class: 1, a number by label, or what makes all classes weigh the same."""
    classes = table.schema.classes
    if given is None:
        return np.ones(len(classes))
    if isinstance(given, str) and given == "balanced":
        count = np.bincount(table.label, table.weight, minlength=len(classes))
        return np.divide(count.sum(), np.count_nonzero(count) * count, out=np.zeros(len(classes)), where=count > 0)
    if not isinstance(given, dict):
        raise ValueError(f"class_weight={given!r}: give a dict of class to weight, 'balanced' or None")
    return np.array([not_negative(f"class_weight[{label!r}]", given.get(label, 1.0)) for label in classes])


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _l1_share(penalty: Any, l1_ratio: Any) -> float:
    one_of("penalty", penalty, ("l2", "l1", "elasticnet", None))
    if penalty == "elasticnet":
        if l1_ratio is None:
            raise ValueError("penalty='elasticnet' needs l1_ratio, the share of the l1 part, from 0 to 1")
        return share("l1_ratio", l1_ratio)
    return _L1_SHARE[penalty]
