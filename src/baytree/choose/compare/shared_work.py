"""Pieces of work that several models do together, because they begin alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from itertools import groupby
from typing import Any, NamedTuple

from baytree.choose.compare.participants import Participant
from baytree.choose.problem import Problem
from baytree.choose.validate.trials import beginning
from baytree.estimators.learning import FirstSteps

Work = Callable[[FirstSteps], Any]  # of one model on some rows, given the steps that others have taken on them


def groups(there: Sequence[Participant], problem: Problem) -> Iterator[list[Participant]]:
    """Neighbours that begin alike, in their order; the others are alone."""
    begun: list[Any] = [_beginning(participant, problem) for participant in there]
    place = [k if begun[k] is None else begun.index(begun[k]) for k in range(len(begun))]
    for _, own in groupby(range(len(there)), key=lambda k: place[k]):
        yield [there[k] for k in own]


def outcomes(works: Sequence[Work]) -> list[Any]:
    """What each of the works on the same rows gives, or the error in its way: one must not cost the others their results."""
    steps = FirstSteps()
    return [_outcome(work, steps) for work in works]


class Share(NamedTuple):
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


def _beginning(participant: Participant, problem: Problem) -> Any:
    try:
        return beginning(participant.estimator, problem)
    except Exception:  # what is refused is told when it begins
        return None


def _outcome(work: Work, steps: FirstSteps) -> Any:
    try:
        return work(steps)
    except Exception as error:
        return error
