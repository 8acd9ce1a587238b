"""One call that tries every family of models on the same folds of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from baytree.choose.compare.contestants import contestants
from baytree.choose.compare.leaderboard import Comparison
from baytree.choose.compare.race import Progress, Race
from baytree.choose.problem import Problem
from baytree.folds.cv import CV, Folds
from baytree.given import FrameLike, TargetLike, WeightsLike
from baytree.table.schema import Schema


def compare(
    frame: FrameLike,
    target: TargetLike,
    models: Any = None,
    cv: CV = 10,
    *,
    groups: ArrayLike | None = None,
    sample_weight: WeightsLike = None,
    task: str | None = None,
    schema: Mapping[str, Any] | Schema | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[Progress], Any] | None = None,
) -> Comparison:
    """Every family of models on the same folds of a table; the simplest that is as good as the best is recommended.

    Models that choose a setting by cross-validation do so inside each fold, so their scores are honest. Ctrl-C keeps the
    models that are finished.

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
        Prints as a leaderboard; `best` and `recommended` are models learnt from all rows; `to_frame`, `to_dict`, `to_json`
        and `plot` give the scores.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 3.0, 4.0] * 8, "y": ["a", "a", "b", "b"] * 8}
    >>> type(bt.compare(rows, "y", models=["nb"], cv=4).best).__name__
    'NaiveBayesClassifier'
    """
    problem = Problem.of(frame, target, task, schema, sample_weight)
    _refuse_pointless(problem)
    problem = problem.without_identifiers()
    there, skipped = contestants(problem, models)
    folds = problem.folds(cv, groups, random_state)
    return Race(problem, folds, progress, n_jobs).run(there, skipped, cautions(problem, folds, task))


FEWEST_ROWS = 4
FEW_ROWS = 50


def cautions(problem: Problem, folds: Folds, task: str | None) -> tuple[str, ...]:
    """What a reader must know before trusting the scores: a target that could be meant otherwise, and what is scarce."""
    said = []
    if task is None and problem.is_classification and not isinstance(problem.classes.tolist()[0], (str, bool)):
        said.append(
            f"{problem.name} holds {len(problem.classes)} different whole numbers (20 at most), so they are taken as "
            "classes; with task regression the number itself would be predicted"
        )
    if len(problem) < FEW_ROWS:
        said.append(f"{len(problem)} rows are few: the intervals are wide, and what is best may be so by chance")
    rare = _rare_classes(problem, len(folds.parts))
    if rare:
        names = ", ".join(f"{label} ({n})" for label, n in rare[:3]) + (", …" if len(rare) > 3 else "")
        said.append(f"classes with fewer rows than there are folds are learnt or asked for in some folds only: {names}")
    return tuple(said)


def _rare_classes(problem: Problem, n_folds: int) -> list[tuple[Any, int]]:
    if not problem.is_classification or n_folds >= len(problem):
        return []
    counts = np.bincount(problem.label.values, minlength=len(problem.classes)).tolist()
    return [(label, n) for label, n in zip(problem.classes.tolist(), counts, strict=True) if n < n_folds]


def _refuse_pointless(problem: Problem) -> None:
    if len(problem) < FEWEST_ROWS:
        raise ValueError(f"{len(problem)} rows are too few to keep some back and compare; give at least {FEWEST_ROWS}")
    if not len(problem.schema):
        names = ", ".join(map(repr, problem.schema.left_out))
        raise ValueError(f"nothing to learn from: {names} only identify rows; declare one nominal or text to keep it")
    different = np.unique(problem.label.values)
    if len(different) < 2:
        only = problem.classes.tolist()[0] if problem.is_classification else float(different[0])
        raise ValueError(f"the target {problem.name!r} is {only!r} in every row: there is nothing to predict")
