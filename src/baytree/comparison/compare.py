"""One call that tries every family of models on the same folds of a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..evaluate.folds import Folds
from ..problem import Problem
from .contestants import contestants
from .leaderboard import Comparison
from .race import Progress, Race


def compare(
    frame: Any,
    target: Any,
    models: Any = None,
    cv: Any = 10,
    *,
    groups: Any = None,
    task: str | None = None,
    schema: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[Progress], Any] | None = None,
) -> Comparison:
    """Every family of models on the same folds of a table; the simplest that is as good as the best is recommended.

    Models that choose a setting by cross-validation do so inside each fold, so their scores are honest. Ctrl-C keeps the
    models that are finished.

    Parameters
    ----------
    frame, target :
        A table and the name of its target column, or columns and labels apart.
    models : str, list or dict, optional
        Short names such as "c45,cart,nb", a list of them or of estimators, or estimators by name; all by default.
    cv, groups, random_state :
        As in `cross_validate`.
    task : {"classification", "regression"}, optional
        What the target is; inferred where it is not said.
    n_jobs : int, optional
        How many threads share the folds; all cores by default. Their number changes no result.
    progress : function, optional
        Called with a `Progress` after each fold of each model.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 3.0, 4.0] * 8, "y": ["a", "a", "b", "b"] * 8}
    >>> type(bt.compare(rows, "y", models=["nb"], cv=4).best).__name__
    'NaiveBayesClassifier'
    """
    problem = Problem.of(frame, target, task, schema).without_identifiers()
    there, skipped = contestants(problem, models)
    folds = Folds.of(problem, cv, groups, random_state)
    return Race(problem, folds, progress, n_jobs).run(there, skipped)
