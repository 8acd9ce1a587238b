"""Comparison of model families by cross-validation on the same folds: `baytree.compare`.

Checks the request, builds the folds and the candidates, and runs them with `FoldTasks`; the result is a `Comparison`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from baytree import param_validation
from baytree._typing import CostsLike, FrameLike, TargetLike, WeightsLike
from baytree.auditing.audit import audit_problem
from baytree.base.provenance import Provenance
from baytree.comparison.candidates import participants, with_costs
from baytree.comparison.fold_tasks import FoldTasks, Progress
from baytree.comparison.leaderboard import Comparison
from baytree.comparison.recommendation import criterion, refuse_single_rows
from baytree.data.schema.schema import Schema
from baytree.estimators.base import Estimator
from baytree.folds.row_structure import GapLike, GroupsLike, TimeLike
from baytree.folds.splitters import CV, Folds, repeated
from baytree.model_selection.problem import SupervisedProblem


def compare(
    frame: FrameLike,
    target: TargetLike,
    models: Any = None,
    cv: CV = 10,
    *,
    by: str | None = None,
    costs: CostsLike = None,
    repeats: int | None = None,
    groups: GroupsLike = None,
    time: TimeLike = None,
    gap: GapLike = None,
    test_size: float | None = None,
    sample_weight: WeightsLike = None,
    task: str | None = None,
    schema: Mapping[str, Any] | Schema | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[Progress], Any] | None = None,
) -> Comparison:
    """Cross-validate every model family on the same folds and recommend the simplest model that is as good as the best.

    A model is as good as the best if its score is within one standard error of the best score on the same folds and its
    accuracy is at most 0.01 lower. The table is audited first (see `audit`), and the most serious findings are printed above
    the leaderboard. Models that tune a setting by cross-validation do so inside each fold, so their
    scores are not optimistic. Ctrl-C keeps the models that are finished.

    Parameters
    ----------
    frame : data frame, dict of columns, or array
        The table, with or without its target column.
    target : str or array
        Name of the target column, or the labels.
    models : str, list or dict, optional
        Short names such as "c45,cart,nb", a list of them or of estimators, or estimators by name; by default all
        families that support the kinds of the columns, except those that would take very long.
    cv : int, "loo", float, splitter, or list of (train, test)
        The folds, as in `cross_validate`.
    by : {"brier", "log_loss", "accuracy", "auc", "cost"} or {"squared_error", "absolute_error"}, optional
        Score by which models are ranked: by default the Brier score, which rewards calibrated probabilities, the expected
        cost if `costs` are given, or the squared error for numbers.
    costs : matrix or dict of dicts, optional
        Cost of predicting one class if another is true. Each model then predicts the class of minimum expected cost,
        also in its file; trees that can learn with costs do.
    repeats : int, optional
        Number of repetitions of the cross-validation, if `cv` is a number: by default 3 below 200 rows, 2 below 500,
        else 1.
    groups : str or array, optional
        Column of groups, or the group of each row; rows of one group stay in the same fold. A column that is named here is
        no feature.
    time : str, optional
        Column of dates or numbers that orders the rows: each fold is tested on rows after its training rows (an expanding
        window). It is no feature.
    gap : float or timedelta, optional
        Time between training and test rows: in days for dates, else in the unit of the column.
    test_size : int or float, optional
        Rows in each test block of `time`: a number or a proportion; by default an equal part for each fold.
    sample_weight : array or str, optional
        Weight of each row in training and scoring, or the name of the column of weights.
    task : {"classification", "regression"}, optional
        Type of the target. By default strings, booleans and at most 20 distinct whole numbers are classes; all other
        numbers are a regression target.
    schema : dict or Schema, optional
        Kinds of columns that should not be inferred, as in every estimator.
    random_state : int
        Seed for shuffling the rows.
    n_jobs : int, optional
        Number of threads; all cores by default. Does not change the result.
    progress : function, optional
        Called with a `Progress` after each fold of each model.

    Returns
    -------
    Comparison
        Prints as a leaderboard; `best` and `recommended` are models fitted to all rows, `models` holds all of them by
        short name; `advice` compares each model with the best; `to_frame`, `to_dict`, `to_json` and `plot` return the
        scores.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 3.0, 4.0] * 8, "y": ["a", "a", "b", "b"] * 8}
    >>> type(bt.compare(rows, "y", models=["nb"], cv=4).best).__name__
    'NaiveBayesClassifier'
    """
    structure = {"groups": groups, "time": time, "gap": gap, "test_size": test_size}
    problem = SupervisedProblem.of(frame, target, task, schema, sample_weight, **structure)
    options = {"cv": cv, "by": by, "costs": costs, "repeats": repeats, "random_state": random_state}
    return run_comparison(problem, models, **options, n_jobs=n_jobs, progress=progress)


def run_comparison(
    problem: SupervisedProblem,
    models: Any = None,
    *,
    cv: CV = 10,
    by: str | None = None,
    costs: CostsLike = None,
    repeats: int | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[Progress], Any] | None = None,
) -> Comparison:
    """Compare models on a problem whose schema is known; parameters as in `compare`."""
    _refuse_pointless(problem)
    audited = audit_problem(problem)
    problem = problem.without_identifiers()
    candidates, skipped = participants(problem, models)
    judging = criterion(by, problem, costs, [participant.estimator for participant in candidates])
    candidates = with_costs(candidates, costs)
    folds = _folds(problem, cv, random_state, repeats)
    refuse_single_rows(judging, folds)
    found = FoldTasks(problem, folds, progress, n_jobs).run(
        candidates, skipped, judging, cautions(problem, folds, problem.task)
    )
    for entry in found.entries:
        if isinstance(entry.fitted, Estimator):
            entry.fitted._record_provenance(Provenance.of(entry.validation, audited))
    return replace(found, audit=audited)


FEWEST_ROWS = 4

FEW_ROWS = 50

# (rows below which, number of repeats): with few rows the recommendation depends on the random folds
REPEATS = ((200, 3), (500, 2))


def repeats_for(n_rows: int) -> int:
    """Return the default number of repetitions of the cross-validation.

    >>> [repeats_for(n) for n in (100, 199, 200, 500)]
    [3, 3, 2, 1]
    """
    return next((times for maximum, times in REPEATS if n_rows < maximum), 1)


def cautions(problem: SupervisedProblem, folds: Folds, task: str | None) -> tuple[str, ...]:
    """Return warnings about the scores: an ambiguous target type, few rows, rare classes."""
    messages = []
    if task is None and problem.is_classification and not isinstance(problem.classes.tolist()[0], (str, bool)):
        messages.append(
            f"{problem.name} has {len(problem.classes)} distinct whole numbers (at most 20), so they are treated as "
            "classes; with task regression the number itself would be predicted"
        )
    if len(problem) < FEW_ROWS:
        messages.append(f"only {len(problem)} rows: the intervals are wide, and the ranking may be due to chance")
    rare = _rare_classes(problem, round(len(problem) / len(folds.parts[0].test)))
    if rare:
        names = ", ".join(f"{label} ({n})" for label, n in rare[:3]) + (", …" if len(rare) > 3 else "")
        messages.append(f"classes with fewer rows than folds are missing from some training or test folds: {names}")
    return tuple(messages)


def _folds(problem: SupervisedProblem, cv: CV, seed: int, repeats: int | None) -> Folds:
    is_number = isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)
    if not is_number and repeats is not None:
        raise ValueError(f"repeats={repeats!r} needs cv as a number of folds, not {cv!r}")
    if problem.structure.time is not None:
        if repeats is not None and repeats != 1:
            raise ValueError(f"repeats={repeats!r}: folds in the order of time are not random, so nothing can be repeated")
        return problem.folds(cv, seed)
    usual = repeats_for(len(problem)) if is_number and cv < len(problem) else 1
    times = usual if repeats is None else param_validation.integer("repeats", repeats, 1)
    return repeated([problem.folds(cv, seed + turn) for turn in range(times)], seed)


def _rare_classes(problem: SupervisedProblem, n_folds: int) -> list[tuple[Any, int]]:
    if not problem.is_classification or n_folds >= len(problem):
        return []
    counts = np.bincount(problem.label.values, minlength=len(problem.classes)).tolist()
    return [(label, n) for label, n in zip(problem.classes.tolist(), counts, strict=True) if n < n_folds]


def _refuse_pointless(problem: SupervisedProblem) -> None:
    if len(problem) < FEWEST_ROWS:
        raise ValueError(f"{len(problem)} rows are too few for cross-validation; give at least {FEWEST_ROWS}")
    if not len(problem.schema):
        names = ", ".join(map(repr, problem.schema.left_out))
        raise ValueError(f"no column to learn from: {names} only identify rows; declare one nominal or text to keep it")
    distinct = np.unique(problem.label.values)
    if len(distinct) < 2:
        only = problem.classes.tolist()[0] if problem.is_classification else float(distinct[0])
        raise ValueError(f"the target {problem.name!r} is {only!r} in every row: there is nothing to predict")
