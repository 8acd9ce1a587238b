"""Candidate models of a comparison: which model families take part, with settings that suit a raw table.

`participants` builds the candidates and gives a reason for each family that is left out: it cannot handle the columns
(`OBSTACLES`) or would take too long (`BURDENS`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from sklearn.base import clone

from baytree._typing import CostsLike, EstimatorLike
from baytree.data.schema.column import Kind
from baytree.estimators.base import Estimator
from baytree.model_selection.model_registry import CLASSIFICATION, FAMILIES, REGRESSION, ModelFamily
from baytree.model_selection.problem import SupervisedProblem


class CandidateModel(NamedTuple):
    """A model of the comparison: its short name, its name in the leaderboard, and an unfitted estimator."""

    short: str
    name: str
    estimator: EstimatorLike
    effort: float = 1.0  # relative cost of one fold, for the estimate of the remaining time
    takes_text: bool = True  # True if unknown


def participants(problem: SupervisedProblem, models: Any = None) -> tuple[list[CandidateModel], list[tuple[str, str]]]:
    """Return the candidates, and the name and reason of each family that is left out.

    `models` are short names, estimators, or a dict of estimators by name. A family that would take too long is left out
    only if it was not named in `models`.
    """
    if isinstance(models, Mapping):
        return [CandidateModel(name, name, estimator) for name, estimator in models.items()], []
    families = FAMILIES[CLASSIFICATION if problem.is_classification else REGRESSION]
    usual = [short for short, family in families.items() if family.competes]
    chosen = usual if models is None else _named(models, families)
    candidates = [_from_estimator(m) if not isinstance(m, str) else _from_family(m, families[m]) for m in chosen]
    skipped = {c.name: reason for c in candidates if (reason := _reason(c, problem, is_named=models is not None))}
    return [c for c in candidates if c.name not in skipped], list(skipped.items())


def with_costs(candidates: list[CandidateModel], costs: CostsLike) -> list[CandidateModel]:
    """Return candidates that answer by these costs; those that have own costs, or no such parameter, are unchanged."""
    return candidates if costs is None else [each._replace(estimator=_costed(each.estimator, costs)) for each in candidates]


def _costed(estimator: EstimatorLike, costs: CostsLike) -> EstimatorLike:
    has_none = isinstance(estimator, Estimator) and estimator.get_params(deep=False).get("costs", costs) is None
    return clone(estimator).set_params(costs=costs) if has_none else estimator


def _named(models: Iterable[Any], families: Mapping[str, ModelFamily]) -> list[Any]:
    chosen = models.split(",") if isinstance(models, str) else list(models)
    for model in chosen:
        if isinstance(model, str) and model not in families:
            raise ValueError(f"there is no model {model!r}; there is: {', '.join(families)}")
    return chosen


def _from_family(short: str, family: ModelFamily) -> CandidateModel:
    return CandidateModel(short, family.name, family.made(), family.effort, family.takes_text)


def _from_estimator(estimator: EstimatorLike) -> CandidateModel:
    name = type(estimator).__name__
    return CandidateModel(name, name, estimator)


# --- reasons why a family is left out; "" if it takes part -------------------------------------------------------------


def _reason(participant: CandidateModel, problem: SupervisedProblem, is_named: bool) -> str:
    obstacle = OBSTACLES.get(participant.short, _none)(problem)
    obstacle = obstacle or ("" if participant.takes_text else _text(problem))
    return obstacle or ("" if is_named else BURDENS.get(participant.short, _none)(problem))


def _none(_: SupervisedProblem) -> str:
    return ""


def _not_only_levels(problem: SupervisedProblem) -> str:
    numeric = [column.name for column in problem.schema if column.kind in (Kind.NUMERIC, Kind.TEXT)]
    if numeric:
        return f"column {numeric[0]!r} is not nominal"
    incomplete = [name for name, proportion in problem.missing.items() if proportion]
    return f"column {incomplete[0]!r} has missing values" if incomplete else ""


def _text(problem: SupervisedProblem) -> str:
    names = [column.name for column in problem.schema if column.kind is Kind.TEXT]
    return f"column {names[0]!r} is text, which only naive Bayes and logistic regression support" if names else ""


MAX_FEATURES = 700  # features whose scatter matrix is still quickly decomposed

MAX_WORK = 3e9  # multiplications of one Newton step: the Hessian, rows × weights², and solving with it

MAX_KNOTS = 20_000_000  # rows × features: half a minute per fold

FEWEST_PER_CLASS = 3  # rows; with fewer, the classes are nearly separable and the weights diverge


def _wide_scatter(problem: SupervisedProblem) -> str:
    n = _n_features(problem)
    return f"{n:,} features would take long; name the model in models to include it" if n > MAX_FEATURES else ""


def _many_weights(problem: SupervisedProblem) -> str:
    if any(column.kind is Kind.TEXT for column in problem.schema):
        return ""  # word counts are sparse
    n_classes = len(problem.classes) if problem.is_classification else 1
    n = _n_features(problem) * (n_classes if n_classes > 2 else 1)
    is_long = (len(problem) + 3 * n) * n**2 > MAX_WORK or len(problem) < FEWEST_PER_CLASS * n_classes
    return (
        f"{n:,} weights for {len(problem):,} rows would take long; name the model in models to include it" if is_long else ""
    )


def _n_features(problem: SupervisedProblem) -> int:
    """Return the number of features of the design: numbers, levels except the first, and missing indicators."""
    own = sum(max(len(column.levels) - 1, 1) for column in problem.schema)
    return own + sum(proportion > 0 for proportion in problem.missing.values())


def _many_knots(problem: SupervisedProblem) -> str:
    n = _n_features(problem)
    is_long = len(problem) * n > MAX_KNOTS
    return (
        f"{n:,} features with knots at {len(problem):,} rows would take long; name the model in models to include it"
        if is_long
        else ""
    )


def _lasso_weights(problem: SupervisedProblem) -> str:
    return _many_weights(problem) if problem.is_classification else _wide_scatter(problem)


Reason = Callable[[SupervisedProblem], str]

OBSTACLES: dict[str, Reason] = {"id3": _not_only_levels}

BURDENS: dict[str, Reason] = {
    **dict.fromkeys(("lda", "qda", "linear"), _wide_scatter),
    "logistic": _many_weights,
    "lasso": _lasso_weights,
    "mars": _many_knots,
}
