"""One call that tries every family of models on the same folds of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from baytree import param_validation
from baytree._typing import CostsLike, FrameLike, TargetLike, WeightsLike
from baytree.comparison.candidates import participants
from baytree.comparison.fold_tasks import FoldTasks, Progress
from baytree.comparison.leaderboard import Comparison
from baytree.comparison.recommendation import criterion, refuse_single_rows
from baytree.data.schema.schema import Schema
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
    groups: ArrayLike | None = None,
    sample_weight: WeightsLike = None,
    task: str | None = None,
    schema: Mapping[str, Any] | Schema | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[Progress], Any] | None = None,
) -> Comparison:
    """Every family of models on the same folds of a table; the simplest that is as good as the best is recommended.

    As good as the best is a model whose score is within one standard error of the best one's on the same folds, and whose
    accuracy is at most 0.01 lower. Models that choose a setting by cross-validation do so inside each fold, so their
    scores are honest. Ctrl-C keeps the models that are finished.

    Parameters
    ----------
    frame : data frame, dict of columns, or array
        The table, with its target column or without it.
    target : str or array
        The name of the target column, or the labels.
    models : str, list or dict, optional
        Short names such as "c45,cart,nb", a list of them or of estimators, or estimators by name; by default all
        that take the table's kinds of columns, but those whose weights would take very long.
    cv : int, "loo", float, splitter, or list of (train, test)
        The folds, as in `cross_validate`.
    by : {"brier", "log_loss", "accuracy", "auc", "cost"} or {"squared_error", "absolute_error"}, optional
        The score by which models are judged: by default the Brier score, which rewards true probabilities, the expected
        cost where costs are given, or the squared error of numbers.
    costs : matrix or dict of dicts, optional
        What predicting one class costs when another is true, as in trees; each model then answers the class of least
        expected cost.
    repeats : int, optional
        How often the rows are dealt to folds anew, where `cv` is a number: by default 3 times below 200 rows, twice below
        500, else once.
    groups : array, optional
        Rows of one group stay together.
    sample_weight : array or str, optional
        What each row counts for, in learning and in scoring, or the name of the column that says so.
    task : {"classification", "regression"}, optional
        What the target is. Where it is not said, words, truth values and at most 20 different whole numbers are
        classes, all other numbers a regression.
    schema : dict or Schema, optional
        What columns are, where that should not be inferred, as in every estimator.
    random_state : int
        The seed that shuffles the rows.
    n_jobs : int, optional
        How many threads share the folds; all cores by default. Their number changes no result.
    progress : function, optional
        Called with a `Progress` after each fold of each model.

    Returns
    -------
    Comparison
        Prints as a leaderboard; `best` and `recommended` are models learnt from all rows, `models` all of them by their
        short names; `advice` says how each stands beside the best; `to_frame`, `to_dict`, `to_json` and `plot` give the
        scores.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 3.0, 4.0] * 8, "y": ["a", "a", "b", "b"] * 8}
    >>> type(bt.compare(rows, "y", models=["nb"], cv=4).best).__name__
    'NaiveBayesClassifier'
    """
    problem = SupervisedProblem.of(frame, target, task, schema, sample_weight)
    _refuse_pointless(problem)
    problem = problem.without_identifiers()
    there, skipped = participants(problem, models)
    judged = criterion(by, problem, costs, [participant.estimator for participant in there])
    folds = _folds(problem, cv, groups, random_state, repeats)
    refuse_single_rows(judged, folds)
    return FoldTasks(problem, folds, progress, n_jobs).run(there, skipped, judged, cautions(problem, folds, task))


FEWEST_ROWS = 4

FEW_ROWS = 50

REPEATS = ((200, 3), (500, 2))  # below so many rows folds are dealt so often: the advice hangs on one deal's luck


def repeats_for(n_rows: int) -> int:
    """How often a table of so many rows is dealt to folds.

    >>> [repeats_for(n) for n in (100, 199, 200, 500)]
    [3, 3, 2, 1]
    """
    return next((times for most, times in REPEATS if n_rows < most), 1)


def cautions(problem: SupervisedProblem, folds: Folds, task: str | None) -> tuple[str, ...]:
    """What a reader must know before trusting the scores: a target that could be meant otherwise, and what is scarce."""
    said = []
    if task is None and problem.is_classification and not isinstance(problem.classes.tolist()[0], (str, bool)):
        said.append(
            f"{problem.name} holds {len(problem.classes)} different whole numbers (20 at most), so they are taken as "
            "classes; with task regression the number itself would be predicted"
        )
    if len(problem) < FEW_ROWS:
        said.append(f"{len(problem)} rows are few: the intervals are wide, and what is best may be so by chance")
    rare = _rare_classes(problem, round(len(problem) / len(folds.parts[0].test)))
    if rare:
        names = ", ".join(f"{label} ({n})" for label, n in rare[:3]) + (", …" if len(rare) > 3 else "")
        said.append(f"classes with fewer rows than there are folds are learnt or asked for in some folds only: {names}")
    return tuple(said)


def _folds(problem: SupervisedProblem, cv: CV, groups: ArrayLike | None, seed: int, repeats: int | None) -> Folds:
    is_number = isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)
    if not is_number and repeats is not None:
        raise ValueError(f"repeats={repeats!r} needs cv as a number of folds, not {cv!r}")
    usual = repeats_for(len(problem)) if is_number and cv < len(problem) else 1
    times = usual if repeats is None else param_validation.integer("repeats", repeats, 1)
    return repeated([problem.folds(cv, groups, seed + turn) for turn in range(times)], seed)


def _rare_classes(problem: SupervisedProblem, n_folds: int) -> list[tuple[Any, int]]:
    if not problem.is_classification or n_folds >= len(problem):
        return []
    counts = np.bincount(problem.label.values, minlength=len(problem.classes)).tolist()
    return [(label, n) for label, n in zip(problem.classes.tolist(), counts, strict=True) if n < n_folds]


def _refuse_pointless(problem: SupervisedProblem) -> None:
    if len(problem) < FEWEST_ROWS:
        raise ValueError(f"{len(problem)} rows are too few to keep some back and compare; give at least {FEWEST_ROWS}")
    if not len(problem.schema):
        names = ", ".join(map(repr, problem.schema.left_out))
        raise ValueError(f"nothing to learn from: {names} only identify rows; declare one nominal or text to keep it")
    different = np.unique(problem.label.values)
    if len(different) < 2:
        only = problem.classes.tolist()[0] if problem.is_classification else float(different[0])
        raise ValueError(f"the target {problem.name!r} is {only!r} in every row: there is nothing to predict")
