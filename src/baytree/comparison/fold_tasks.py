"""A comparison under way: every participant's folds as pieces of work that threads take in order.

Pieces of work that several models do together, because they begin alike.
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
from baytree.comparison.entry import Entry, Size, ordered
from baytree.comparison.leaderboard import Comparison
from baytree.comparison.recommendation import JudgingCriterion, trials_of_the_baseline
from baytree.estimators.learner_access import SharedStages
from baytree.folds.splitters import Folds
from baytree.model_selection.problem import SupervisedProblem
from baytree.model_selection.result import CrossValidation
from baytree.model_selection.trials import FoldPrediction, Task, beginning, fit_all_rows, tasks
from baytree.parallel import threads
from baytree.parallel.blas import one_blas_thread

Skipped = list[tuple[str, str]]  # names and reasons


class Progress(NamedTuple):
    """How far a comparison is: what is being learnt, how much is done, and the seconds that are left at this pace."""

    name: str
    done: int
    total: int
    seconds_left: float


class FoldTasks:
    """A comparison under way: pieces of work that threads take in order, and what has come of them."""

    def __init__(self, problem: SupervisedProblem, folds: Folds, tell: Callable[[Progress], Any] | None, n_jobs: int | None):
        self._problem, self._folds, self._tell, self._n_threads = problem, folds, tell, threads.count(n_jobs)
        self._lap, self._start = ProgressState(), perf_counter()

    def run(
        self, there: list[CandidateModel], skipped: Skipped, judged: JudgingCriterion, cautions: tuple[str, ...] = ()
    ) -> Comparison:
        """Lets everybody run; an interrupt ends the comparison, and whoever has finished stays."""
        runs: list[CandidateRun] = []
        failed: Skipped = []
        is_interrupted = False
        try:
            with one_blas_thread(), _warnings.capture():  # warnings are for those who fit one model
                self._follow(there, runs, failed)
        except KeyboardInterrupt:
            is_interrupted = True
            threads.cancel([future for run in runs for future in run.futures], self._n_threads)
        entries = [self._entry(run, judged) for run in runs if run.is_finished]
        if is_interrupted and not entries:
            raise KeyboardInterrupt
        if not entries:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in [*skipped, *failed])
            raise ValueError(f"no model could be learnt ({reasons})")
        bar = self._validation("always the same", trials_of_the_baseline(self._problem, self._folds.parts), judged)
        return Comparison(ordered(entries, judged.metric), judged, bar, (*skipped, *failed), is_interrupted, cautions)

    def _follow(self, there: list[CandidateModel], runs: list[CandidateRun], failed: Skipped) -> None:
        """Begins every run, and waits until each has finished."""
        for group in groups(there, self._problem):
            runs += self._begun(group, failed)
        self._lap = ProgressState(sum(run.steps * run.participant.effort for run in runs), sum(run.steps for run in runs))
        for run in runs:
            failed += self._followed(run)

    def _begun(self, group: list[CandidateModel], failed: Skipped) -> list[CandidateRun]:
        """The folds of participants that begin alike, and at the end all rows, waiting for a thread."""
        work: list[tuple[CandidateModel, list[Task]]] = []
        for participant in group:
            try:
                work.append((participant, tasks(participant.estimator, self._problem, self._folds.parts)))
            except Exception as error:  # parameters that are refused before anything is learnt
                failed.append((participant.name, _reason(error)))
        answers = [self._submitted(together) for together in zip(*(own for _, own in work), strict=True)]
        whole = self._submitted([partial(fit_all_rows, each.estimator, self._problem) for each, _ in work])
        shares = [[TaskResult(future, k) for future in (*answers, whole)] for k in range(len(work))]
        steps, is_alone = len(self._folds.parts) + 1, len(work) == 1
        return [CandidateRun(each, own[:-1], own[-1], steps, is_alone) for (each, _), own in zip(work, shares, strict=True)]

    def _submitted(self, works: Sequence[Work]) -> Future:
        return threads.submit(outcomes, works, self._n_threads)

    def _followed(self, run: CandidateRun) -> Skipped:
        """Waits until a participant has finished, and tells each step; its name and the reason where it cannot finish."""
        self._report(run.participant.name)
        try:
            for share in run.answers:
                self._step(run, len(share.result()))
            run.whole.result()
            self._step(run, 1)
        except Exception as error:  # one family's failure must not cost the others their results
            run.cancel()
            self._lap = self._lap.without(run)
            return [(run.participant.name, _reason(error))]
        return []

    def _entry(self, run: CandidateRun, judged: JudgingCriterion) -> Entry:
        answered = (trial for share in run.answers for trial in share.result())
        fitted = run.whole.result()
        validation = self._validation(run.participant.name, answered, judged)
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
    """One participant's work: its folds, all rows, and how many steps of it have been told."""

    participant: CandidateModel
    answers: list[TaskResult]
    whole: TaskResult
    steps: int
    is_alone: bool
    told: int = 0

    @property
    def futures(self) -> list[Future]:
        """All of the work."""
        return [share.future for share in (*self.answers, self.whole)]

    @property
    def is_finished(self) -> bool:
        """Whether all of the work is done, and well."""
        return all(share.is_finished for share in (*self.answers, self.whole))

    def cancel(self) -> None:
        """Gives up what has not begun, where no other model waits for it."""
        for future in self.futures if self.is_alone else ():
            future.cancel()


class ProgressState(NamedTuple):
    """How much work there is and how much is done, in steps and in efforts."""

    effort: float = 1.0
    total: int = 0
    done: int = 0
    spent: float = 0.0

    @property
    def left(self) -> float:
        """The work that is left, as a multiple of what is done."""
        return max(self.effort - self.spent, 0.0) / self.spent if 0 < self.done < self.total else 0.0

    def further(self, n: int, effort: float) -> ProgressState:
        """After so many steps more of some effort each."""
        return self._replace(done=self.done + n, spent=self.spent + n * effort)

    def without(self, run: CandidateRun) -> ProgressState:
        """When the rest of a run is given up."""
        gone = run.steps - run.told
        return self._replace(total=self.total - gone, effort=self.effort - gone * run.participant.effort)


def _reason(error: Exception) -> str:
    is_refusal = isinstance(error, (ValueError, NotImplementedError, ArithmeticError)) and str(error)
    return str(error) if is_refusal else f"it failed: {type(error).__name__} {error}"


Work = Callable[[SharedStages], Any]  # of one model on some rows, given the steps that others have taken on them


def groups(there: Sequence[CandidateModel], problem: SupervisedProblem) -> Iterator[list[CandidateModel]]:
    """Neighbours that begin alike, in their order; the others are alone."""
    begun: list[Any] = [_beginning(participant, problem) for participant in there]
    place = [k if begun[k] is None else begun.index(begun[k]) for k in range(len(begun))]
    for _, own in groupby(range(len(there)), key=lambda k: place[k]):
        yield [there[k] for k in own]


def outcomes(works: Sequence[Work]) -> list[Any]:
    """What each of the works on the same rows gives, or the error in its way: one must not cost the others their results."""
    steps = SharedStages()
    return [_outcome(work, steps) for work in works]


class TaskResult(NamedTuple):
    """What one model gets of a piece of work."""

    future: Future  # of outcomes
    place: int

    def result(self) -> Any:
        """What the work gave; its warnings are for those who fit one model, not for those who compare many."""
        done, _ = self.future.result()
        if isinstance(done[self.place], Exception):
            raise done[self.place]
        return done[self.place]

    @property
    def is_finished(self) -> bool:
        """Whether the work is done, and well."""
        if not self.future.done() or self.future.cancelled() or self.future.exception() is not None:
            return False
        return not isinstance(self.future.result()[0][self.place], Exception)


def _beginning(participant: CandidateModel, problem: SupervisedProblem) -> Any:
    try:
        return beginning(participant.estimator, problem)
    except Exception:  # what is refused is told when it begins
        return None


def _outcome(work: Work, steps: SharedStages) -> Any:
    try:
        return work(steps)
    except Exception as error:
        return error
