"""Who takes part: every family with settings that suit a raw table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from baytree._typing import EstimatorLike
from baytree.data.schema.column import Kind
from baytree.model_selection.model_registry import CLASSIFICATION, FAMILIES, REGRESSION, ModelFamily
from baytree.model_selection.problem import SupervisedProblem


class CandidateModel(NamedTuple):
    """A model that takes part: its short name, its name in the leaderboard, and an unfitted estimator."""

    short: str
    name: str
    estimator: EstimatorLike
    effort: float = 1.0  # of one fold beside the others, for the time that is left
    takes_text: bool = True  # as far as is known


def participants(problem: SupervisedProblem, models: Any = None) -> tuple[list[CandidateModel], list[tuple[str, str]]]:
    """Those that take part, and the others with the reason; `models` are short names, or estimators by name.

    What would take too long is left out too, but tried where it is asked for by name.
    """
    if isinstance(models, Mapping):
        return [CandidateModel(name, name, estimator) for name, estimator in models.items()], []
    families = FAMILIES[CLASSIFICATION if problem.is_classification else REGRESSION]
    usual = [short for short, family in families.items() if family.competes]
    chosen = usual if models is None else _named(models, families)
    there = [_own(m) if not isinstance(m, str) else _made(m, families[m]) for m in chosen]
    skipped = {c.name: reason for c in there if (reason := _reason(c, problem, is_named=models is not None))}
    return [c for c in there if c.name not in skipped], list(skipped.items())


def _named(models: Iterable[Any], families: Mapping[str, ModelFamily]) -> list[Any]:
    chosen = models.split(",") if isinstance(models, str) else list(models)
    for model in chosen:
        if isinstance(model, str) and model not in families:
            raise ValueError(f"there is no model {model!r}; there is: {', '.join(families)}")
    return chosen


def _made(short: str, family: ModelFamily) -> CandidateModel:
    return CandidateModel(short, family.name, family.made(), family.effort, family.takes_text)


def _own(estimator: EstimatorLike) -> CandidateModel:
    name = type(estimator).__name__
    return CandidateModel(name, name, estimator)


# --- why a family does not take part: "" where it does ------------------------------------------------------------------


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
    unknown = [name for name, share in problem.missing.items() if share]
    return f"column {unknown[0]!r} has missing values" if unknown else ""


def _text(problem: SupervisedProblem) -> str:
    names = [column.name for column in problem.schema if column.kind is Kind.TEXT]
    return f"column {names[0]!r} is text, which only naive Bayes and logistic regression take" if names else ""


MOST_FEATURES = 700  # whose scatter is still quickly decomposed

MOST_WORK = 3e9  # multiplications of one Newton step: the curvature, rows × weights², and solving with it

MOST_KNOTS = 20_000_000  # rows × features: half a minute for each fold

FEWEST_PER_CLASS = 3  # rows; below, the classes are nearly separable and the weights without end


def _wide_scatter(problem: SupervisedProblem) -> str:
    n = _n_features(problem)
    return f"{n:,} numbers and levels would take long; name it in models to try it" if n > MOST_FEATURES else ""


def _many_weights(problem: SupervisedProblem) -> str:
    if any(column.kind is Kind.TEXT for column in problem.schema):
        return ""  # words are sparse
    n_classes = len(problem.classes) if problem.is_classification else 1
    n = _n_features(problem) * (n_classes if n_classes > 2 else 1)
    is_long = (len(problem) + 3 * n) * n**2 > MOST_WORK or len(problem) < FEWEST_PER_CLASS * n_classes
    return f"{n:,} weights for {len(problem):,} rows would take long; name it in models to try it" if is_long else ""


def _n_features(problem: SupervisedProblem) -> int:
    """How many features the columns become: numbers, levels but the first, and marks of what is missing."""
    own = sum(max(len(column.levels) - 1, 1) for column in problem.schema)
    return own + sum(share > 0 for share in problem.missing.values())


def _many_knots(problem: SupervisedProblem) -> str:
    n = _n_features(problem)
    is_long = len(problem) * n > MOST_KNOTS
    return (
        f"knots of {n:,} numbers and levels in {len(problem):,} rows would take long; name it in models to try it"
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
