"""A comparison under way: every contestant's folds as pieces of work that threads take in order."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

from baytree.choose.compare.contestants import Contestant
from baytree.choose.compare.leaderboard import Comparison, Entry, Size, ordered
from baytree.choose.problem import Problem
from baytree.choose.validate.folds import Folds
from baytree.choose.validate.trials import learnt, tasks
from baytree.choose.validate.validation import CrossValidation
from baytree.engine import threads
from baytree.engine.blas import one_blas_thread


class Progress(NamedTuple):
    """How far a comparison is: what is being learnt, how much is done, and the seconds that are left at this pace."""

    name: str
    done: int
    total: int
    seconds_left: float


class Race:
    """A comparison under way: pieces of work that threads take in order, and what has come of them."""

    def __init__(self, problem: Problem, folds: Folds, tell: Callable[[Progress], Any] | None, n_jobs: int | None):
        self._problem, self._folds, self._tell, self._n_threads = problem, folds, tell, threads.count(n_jobs)
        self._lap, self._start = Lap(), perf_counter()

    def run(self, there: list[Contestant], skipped: list[tuple[str, str]], cautions: tuple[str, ...] = ()) -> Comparison:
        """Lets everybody run; an interrupt ends the race, and whoever has finished stays."""
        runs: list[Run] = []
        failed: list[tuple[str, str]] = []
        is_interrupted = False
        pool = ThreadPoolExecutor(self._n_threads)
        with warnings.catch_warnings(), one_blas_thread():
            warnings.simplefilter("ignore")
            try:
                runs += [self._begun(contestant, pool) for contestant in there]
                self._lap = Lap(sum(run.steps * run.contestant.effort for run in runs), sum(run.steps for run in runs))
                for run in runs:
                    failed += self._followed(run)
            except KeyboardInterrupt:
                is_interrupted = True
            finally:  # an interrupted caller does not wait for the folds that are still under way
                pool.shutdown(wait=not is_interrupted, cancel_futures=True)
        entries = [self._entry(run) for run in runs if run.is_finished]
        if is_interrupted and not entries:
            raise KeyboardInterrupt
        if not entries:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in [*skipped, *failed])
            raise ValueError(f"no model could be learnt ({reasons})")
        return Comparison(ordered(entries), (*skipped, *failed), is_interrupted, cautions)

    def _begun(self, contestant: Contestant, pool: ThreadPoolExecutor) -> Run:
        """The contestant's folds, and at the end all rows, waiting for a thread."""
        work = tasks(contestant.estimator, self._problem, self._folds.parts)
        answers = [pool.submit(task) for task in work]
        whole = pool.submit(learnt, contestant.estimator, self._problem)
        return Run(contestant, answers, whole, len(self._folds.parts) + 1)

    def _followed(self, run: Run) -> list[tuple[str, str]]:
        """Waits until a contestant has finished, and tells each step; its name and the reason where it cannot finish."""
        self._report(run.contestant.name)
        try:
            for future in run.answers:
                self._step(run, len(future.result()))
            run.whole.result()
            self._step(run, 1)
        except Exception as error:  # one family's failure must not cost the others their results
            run.cancel()
            self._lap = self._lap.without(run)
            return [(run.contestant.name, _reason(error))]
        return []

    def _entry(self, run: Run) -> Entry:
        answered = tuple(trial for future in run.answers for trial in future.result())
        fitted = run.whole.result()
        validation = CrossValidation(run.contestant.name, self._problem.label, answered, self._folds.how)
        return Entry(run.contestant.short, run.contestant.name, validation, fitted, Size.of(fitted))

    def _step(self, run: Run, n: int) -> None:
        run.told += n
        self._lap = self._lap.further(n, run.contestant.effort)
        self._report(run.contestant.name)

    def _report(self, name: str) -> None:
        if self._tell is not None:
            left = (perf_counter() - self._start) * self._lap.left
            self._tell(Progress(name, self._lap.done, self._lap.total, left))


@dataclass
class Run:
    """One contestant's work: its folds, all rows, and how many steps of it have been told."""

    contestant: Contestant
    answers: list[Future]
    whole: Future
    steps: int
    told: int = 0

    @property
    def is_finished(self) -> bool:
        """Whether all of the work is done, and well."""
        return all(f.done() and not f.cancelled() and f.exception() is None for f in (*self.answers, self.whole))

    def cancel(self) -> None:
        """Gives up what has not begun."""
        for future in (*self.answers, self.whole):
            future.cancel()


class Lap(NamedTuple):
    """How much work there is and how much is done, in steps and in efforts."""

    effort: float = 1.0
    total: int = 0
    done: int = 0
    spent: float = 0.0

    @property
    def left(self) -> float:
        """The work that is left, as a multiple of what is done."""
        return max(self.effort - self.spent, 0.0) / self.spent if 0 < self.done < self.total else 0.0

    def further(self, n: int, effort: float) -> Lap:
        """After so many steps more of some effort each."""
        return self._replace(done=self.done + n, spent=self.spent + n * effort)

    def without(self, run: Run) -> Lap:
        """When the rest of a run is given up."""
        gone = run.steps - run.told
        return self._replace(total=self.total - gone, effort=self.effort - gone * run.contestant.effort)


def _reason(error: Exception) -> str:
    is_refusal = isinstance(error, (ValueError, NotImplementedError, ArithmeticError)) and str(error)
    return str(error) if is_refusal else f"it failed: {type(error).__name__} {error}"
