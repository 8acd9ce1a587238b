"""A comparison under way: every participant's folds as pieces of work that threads take in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

from baytree import notices
from baytree.choose.compare.baseline import trials_of_the_baseline
from baytree.choose.compare.criterion import Criterion
from baytree.choose.compare.entry import Entry, Size, ordered
from baytree.choose.compare.leaderboard import Comparison
from baytree.choose.compare.participants import Participant
from baytree.choose.compare.shared_work import Share, Work, groups, outcomes
from baytree.choose.problem import Problem
from baytree.choose.validate.result import CrossValidation
from baytree.choose.validate.trials import Task, Trial, learnt, tasks
from baytree.engine import threads
from baytree.engine.blas import one_blas_thread
from baytree.folds.cv import Folds

Skipped = list[tuple[str, str]]  # names and reasons


class Progress(NamedTuple):
    """How far a comparison is: what is being learnt, how much is done, and the seconds that are left at this pace."""

    name: str
    done: int
    total: int
    seconds_left: float


class FoldTasks:
    """A comparison under way: pieces of work that threads take in order, and what has come of them."""

    def __init__(self, problem: Problem, folds: Folds, tell: Callable[[Progress], Any] | None, n_jobs: int | None):
        self._problem, self._folds, self._tell, self._n_threads = problem, folds, tell, threads.count(n_jobs)
        self._lap, self._start = Lap(), perf_counter()

    def run(
        self, there: list[Participant], skipped: Skipped, judged: Criterion, cautions: tuple[str, ...] = ()
    ) -> Comparison:
        """Lets everybody run; an interrupt ends the comparison, and whoever has finished stays."""
        runs: list[Run] = []
        failed: Skipped = []
        is_interrupted = False
        try:
            with one_blas_thread(), notices.keeping():  # warnings are for those who fit one model
                self._follow(there, runs, failed)
        except KeyboardInterrupt:
            is_interrupted = True
            threads.abandon([future for run in runs for future in run.futures], self._n_threads)
        entries = [self._entry(run, judged) for run in runs if run.is_finished]
        if is_interrupted and not entries:
            raise KeyboardInterrupt
        if not entries:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in [*skipped, *failed])
            raise ValueError(f"no model could be learnt ({reasons})")
        bar = self._validation("always the same", trials_of_the_baseline(self._problem, self._folds.parts), judged)
        return Comparison(ordered(entries, judged.metric), judged, bar, (*skipped, *failed), is_interrupted, cautions)

    def _follow(self, there: list[Participant], runs: list[Run], failed: Skipped) -> None:
        """Begins every run, and waits until each has finished."""
        for group in groups(there, self._problem):
            runs += self._begun(group, failed)
        self._lap = Lap(sum(run.steps * run.participant.effort for run in runs), sum(run.steps for run in runs))
        for run in runs:
            failed += self._followed(run)

    def _begun(self, group: list[Participant], failed: Skipped) -> list[Run]:
        """The folds of participants that begin alike, and at the end all rows, waiting for a thread."""
        work: list[tuple[Participant, list[Task]]] = []
        for participant in group:
            try:
                work.append((participant, tasks(participant.estimator, self._problem, self._folds.parts)))
            except Exception as error:  # parameters that are refused before anything is learnt
                failed.append((participant.name, _reason(error)))
        answers = [self._submitted(together) for together in zip(*(own for _, own in work), strict=True)]
        whole = self._submitted([partial(learnt, each.estimator, self._problem) for each, _ in work])
        shares = [[Share(future, k) for future in (*answers, whole)] for k in range(len(work))]
        steps, is_alone = len(self._folds.parts) + 1, len(work) == 1
        return [Run(each, own[:-1], own[-1], steps, is_alone) for (each, _), own in zip(work, shares, strict=True)]

    def _submitted(self, works: Sequence[Work]) -> Future:
        return threads.submit(outcomes, works, self._n_threads)

    def _followed(self, run: Run) -> Skipped:
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

    def _entry(self, run: Run, judged: Criterion) -> Entry:
        answered = (trial for share in run.answers for trial in share.result())
        fitted = run.whole.result()
        validation = self._validation(run.participant.name, answered, judged)
        return Entry(run.participant.short, run.participant.name, validation, fitted, Size.of(fitted))

    def _validation(self, name: str, answered: Iterable[Trial], judged: Criterion) -> CrossValidation:
        return CrossValidation.of(name, self._problem, tuple(answered), self._folds.how, judged.costs)

    def _step(self, run: Run, n: int) -> None:
        run.told += n
        self._lap = self._lap.further(n, run.participant.effort)
        self._report(run.participant.name)

    def _report(self, name: str) -> None:
        if self._tell is not None:
            left = (perf_counter() - self._start) * self._lap.left
            self._tell(Progress(name, self._lap.done, self._lap.total, left))


@dataclass
class Run:
    """One participant's work: its folds, all rows, and how many steps of it have been told."""

    participant: Participant
    answers: list[Share]
    whole: Share
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
        return self._replace(total=self.total - gone, effort=self.effort - gone * run.participant.effort)


def _reason(error: Exception) -> str:
    is_refusal = isinstance(error, (ValueError, NotImplementedError, ArithmeticError)) and str(error)
    return str(error) if is_refusal else f"it failed: {type(error).__name__} {error}"
