"""Execution of a comparison: the folds of every candidate model as tasks of a thread pool.

Candidates whose first stages are equal are grouped: one task fits all of them on a fold, so that the shared stages are
computed once (`SharedStages`). `FoldTasks.run` submits all tasks, reports progress and builds the `Comparison`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from time import perf_counter
from typing import Any, NamedTuple

from baytree import _warnings
from baytree.comparison.candidates import CandidateModel
from baytree.comparison.entry import Entry, ordered
from baytree.comparison.leaderboard import Comparison
from baytree.comparison.recommendation import JudgingCriterion, trials_of_the_baseline
from baytree.comparison.size import Size
from baytree.estimators.learner_access import SharedStages
from baytree.folds.splitters import Folds
from baytree.model_selection.problem import SupervisedProblem
from baytree.model_selection.result import CrossValidation
from baytree.model_selection.trials import FoldPrediction, Task, beginning, fit_all_rows, tasks
from baytree.parallel import threads
from baytree.parallel.blas import one_blas_thread

Skipped = list[tuple[str, str]]  # (name, reason)


class Progress(NamedTuple):
    """Progress of a comparison: the current model, completed and total steps, and the estimated seconds left."""

    name: str
    done: int
    total: int
    seconds_left: float


class FoldTasks:
    """Runs the tasks of a comparison in threads and collects their results."""

    def __init__(self, problem: SupervisedProblem, folds: Folds, tell: Callable[[Progress], Any] | None, n_jobs: int | None):
        self._problem, self._folds, self._tell, self._n_threads = problem, folds, tell, threads.count(n_jobs)
        self._lap, self._start = ProgressState(), perf_counter()

    def run(
        self, there: list[CandidateModel], skipped: Skipped, judged: JudgingCriterion, cautions: tuple[str, ...] = ()
    ) -> Comparison:
        """Run all candidates and return the comparison; after an interrupt, only candidates that are finished are kept."""
        runs: list[CandidateRun] = []
        failed: Skipped = []
        is_interrupted = False
        try:
            with one_blas_thread(), _warnings.capture():  # warnings concern users who fit a single model
                self._follow(there, runs, failed)
        except KeyboardInterrupt:
            is_interrupted = True
            threads.cancel([future for run in runs for future in run.futures], self._n_threads)
        entries = [self._entry(run, judged) for run in runs if run.is_finished]
        if is_interrupted and not entries:
            raise KeyboardInterrupt
        if not entries:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in [*skipped, *failed])
            raise ValueError(f"no model could be fitted ({reasons})")
        baseline = self._validation("always the same", trials_of_the_baseline(self._problem, self._folds.parts), judged)
        return Comparison(ordered(entries, judged.metric), judged, baseline, (*skipped, *failed), is_interrupted, cautions)

    def _follow(self, there: list[CandidateModel], runs: list[CandidateRun], failed: Skipped) -> None:
        """Submit every candidate, and wait until each has finished."""
        for group in groups(there, self._problem):
            runs += self._begun(group, failed)
        self._lap = ProgressState(sum(run.steps * run.participant.effort for run in runs), sum(run.steps for run in runs))
        for run in runs:
            failed += self._followed(run)

    def _begun(self, group: list[CandidateModel], failed: Skipped) -> list[CandidateRun]:
        """Submit the folds of candidates with equal first stages, and then the fit to all rows."""
        prepared: list[tuple[CandidateModel, list[Task]]] = []
        for participant in group:
            try:
                prepared.append((participant, tasks(participant.estimator, self._problem, self._folds.parts)))
            except Exception as error:  # parameters that are refused before the fit
                failed.append((participant.name, _reason(error)))
        fold_futures = [self._submitted(together) for together in zip(*(own for _, own in prepared), strict=True)]
        whole = self._submitted([partial(fit_all_rows, each.estimator, self._problem) for each, _ in prepared])
        results = [[TaskResult(future, k) for future in (*fold_futures, whole)] for k in range(len(prepared))]
        steps, is_alone = len(self._folds.parts) + 1, len(prepared) == 1
        return [
            CandidateRun(each, own[:-1], own[-1], steps, is_alone) for (each, _), own in zip(prepared, results, strict=True)
        ]

    def _submitted(self, works: Sequence[Work]) -> Future:
        return threads.submit(outcomes, works, self._n_threads)

    def _followed(self, run: CandidateRun) -> Skipped:
        """Wait for a candidate and report each step; return its name and the reason if it failed."""
        self._report(run.participant.name)
        try:
            for task in run.answers:
                self._step(run, len(task.result()))
            run.whole.result()
            self._step(run, 1)
        except Exception as error:  # the failure of one candidate must not stop the others
            run.cancel()
            self._lap = self._lap.without(run)
            return [(run.participant.name, _reason(error))]
        return []

    def _entry(self, run: CandidateRun, judged: JudgingCriterion) -> Entry:
        predictions = (trial for task in run.answers for trial in task.result())
        fitted = run.whole.result()
        validation = self._validation(run.participant.name, predictions, judged)
        return Entry(run.participant.short, run.participant.name, validation, fitted, Size.of(fitted))

    def _validation(self, name: str, answered: Iterable[FoldPrediction], judged: JudgingCriterion) -> CrossValidation:
        return CrossValidation.of(name, self._problem, tuple(answered), self._folds.how, judged.costs)

    def _step(self, run: CandidateRun, n: int) -> None:
        run.told += n
        self._lap = self._lap.further(n, run.participant.effort)
        self._report(run.participant.name)

    def _report(self, name: str) -> None:
        if self._tell is not None:
            left = (perf_counter() - self._start) * self._lap.left
            self._tell(Progress(name, self._lap.done, self._lap.total, left))


@dataclass
class CandidateRun:
    """Tasks of one candidate: its folds, the fit to all rows, and the number of reported steps."""

    participant: CandidateModel
    answers: list[TaskResult]
    whole: TaskResult
    steps: int
    is_alone: bool
    told: int = 0

    @property
    def futures(self) -> list[Future]:
        """All futures of the candidate."""
        return [task.future for task in (*self.answers, self.whole)]

    @property
    def is_finished(self) -> bool:
        """Whether all tasks have succeeded."""
        return all(task.is_finished for task in (*self.answers, self.whole))

    def cancel(self) -> None:
        """Cancel tasks that have not started, unless other candidates share them."""
        for future in self.futures if self.is_alone else ():
            future.cancel()


class ProgressState(NamedTuple):
    """Amount of work, in steps and weighted by effort: total and done."""

    effort: float = 1.0
    total: int = 0
    done: int = 0
    spent: float = 0.0

    @property
    def left(self) -> float:
        """Remaining work as a multiple of the completed work."""
        return max(self.effort - self.spent, 0.0) / self.spent if 0 < self.done < self.total else 0.0

    def further(self, n: int, effort: float) -> ProgressState:
        """Return the state after `n` more steps of this effort."""
        return self._replace(done=self.done + n, spent=self.spent + n * effort)

    def without(self, run: CandidateRun) -> ProgressState:
        """Return the state without the remaining steps of a run that failed."""
        remaining = run.steps - run.told
        return self._replace(total=self.total - remaining, effort=self.effort - remaining * run.participant.effort)


def _reason(error: Exception) -> str:
    is_refusal = isinstance(error, (ValueError, NotImplementedError, ArithmeticError)) and str(error)
    return str(error) if is_refusal else f"failed with {type(error).__name__}: {error}"


# fits one model to some rows, given the stages that earlier models have computed on them
Work = Callable[[SharedStages], Any]


def groups(there: Sequence[CandidateModel], problem: SupervisedProblem) -> Iterator[list[CandidateModel]]:
    """Yield runs of consecutive candidates with equal first stages, in order; all others are alone."""
    keys: list[Any] = [_beginning(participant, problem) for participant in there]
    first = [k if keys[k] is None else keys.index(keys[k]) for k in range(len(keys))]
    for _, own in groupby(range(len(there)), key=lambda k: first[k]):
        yield [there[k] for k in own]


def outcomes(works: Sequence[Work]) -> list[Any]:
    """Run all tasks on the same rows; return the result or the exception of each, so that one failure stops no other."""
    stages = SharedStages()
    return [_outcome(work, stages) for work in works]


class TaskResult(NamedTuple):
    """Result of one model in a task that several models share."""

    future: Future  # list of results or exceptions, one per model
    place: int

    def result(self) -> Any:
        """Return the result or raise the exception; warnings of the fit are dropped."""
        results, _ = self.future.result()
        if isinstance(results[self.place], Exception):
            raise results[self.place]
        return results[self.place]

    @property
    def is_finished(self) -> bool:
        """Whether the task has succeeded."""
        if not self.future.done() or self.future.cancelled() or self.future.exception() is not None:
            return False
        return not isinstance(self.future.result()[0][self.place], Exception)


def _beginning(participant: CandidateModel, problem: SupervisedProblem) -> Any:
    try:
        return beginning(participant.estimator, problem)
    except Exception:  # the error is raised again, and reported, when the candidate is submitted
        return None


def _outcome(work: Work, steps: SharedStages) -> Any:
    try:
        return work(steps)
    except Exception as error:
        return error
