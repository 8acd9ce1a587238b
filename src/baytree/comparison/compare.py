"""One call that tries every family of models on the same folds of a table."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

from ..evaluate.folds import Folds
from ..evaluate.trials import prepared, trials
from ..evaluate.validation import CrossValidation
from ..problem import Problem
from .contestants import Contestant, contestants
from .leaderboard import Comparison, Entry, Size, ordered


class Progress(NamedTuple):
    """How far a comparison is: what is being learnt, how much is done, and the seconds that are left at this pace."""

    name: str
    done: int
    total: int
    seconds_left: float


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
    progress : function, optional
        Called with a `Progress` before each fold of each model.

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
    race = Race(problem, folds, len(there) * (len(folds.parts) + 1), progress)
    return race.run(there, skipped)


class Race:
    """A comparison under way: what is finished, and the time it took."""

    def __init__(self, problem: Problem, folds: Folds, total: int, progress: Callable[[Progress], Any] | None):
        self._problem, self._folds, self._total, self._tell = problem, folds, total, progress
        self._done, self._start = 0, perf_counter()

    def run(self, there: list[Contestant], skipped: list[tuple[str, str]]) -> Comparison:
        """Lets everybody run; an interrupt ends the race, and whoever has finished stays."""
        entries: list[Entry] = []
        is_interrupted = False
        for contestant in there:
            try:
                entries.append(self._entry(contestant))
            except KeyboardInterrupt:
                if not entries:
                    raise
                is_interrupted = True
                break
            except (ValueError, NotImplementedError, ArithmeticError) as error:
                skipped = [*skipped, (contestant.name, str(error))]
                self._total -= len(self._folds.parts) + 1 - self._done % (len(self._folds.parts) + 1)
        if not entries:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in skipped)
            raise ValueError(f"no model could be learnt ({reasons})")
        return Comparison(ordered(entries), tuple(skipped), is_interrupted)

    def _entry(self, contestant: Contestant) -> Entry:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            answered = []
            self._report(contestant.name)
            for trial in trials(contestant.estimator, self._problem, self._folds.parts):
                answered.append(trial)
                self._step(contestant.name)
            fitted = prepared(contestant.estimator, self._problem).fit(self._problem.X, self._problem.y)
            self._step(contestant.name)
        validation = CrossValidation(contestant.name, self._problem.label, tuple(answered), self._folds.how)
        return Entry(contestant.short, contestant.name, validation, fitted, Size.of(fitted))

    def _step(self, name: str) -> None:
        self._done += 1
        self._report(name)

    def _report(self, name: str) -> None:
        if self._tell is not None:
            left = (perf_counter() - self._start) / max(self._done, 1) * (self._total - self._done)
            self._tell(Progress(name, self._done, self._total, left))
