"""What growing trees want to know of rows that are elsewhere; the questions of several trees are answered in one round."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any, Self, TypeVar

import msgspec

from baytree.engine.parts import Made, Parts
from baytree.table.table import Table

T = TypeVar("T")
Inside = Callable[[Any], Any] | None  # which rows of a part, or of what is kept of it, a tree learns from; None takes all


class Ask(msgspec.Struct, frozen=True):
    """What `observe` sees in each part, or in what is kept of it, is to be added up."""

    observe: Callable[[Any], Any]


class Bring(msgspec.Struct, frozen=True):
    """The rows that `choose` takes are to come here."""

    choose: Callable[[Table], Table]


Growing = Generator[Ask | Bring, Any, T]


class Several(msgspec.Struct, frozen=True):
    """What was seen for each of several questions."""

    values: tuple

    @classmethod
    def of(cls, questions: Sequence[tuple[Inside, Callable[[Any], Any]]], rows: Any) -> Self:
        """In these rows."""
        return cls(tuple(observe(_within(inside, rows)) for inside, observe in questions))

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(mine + theirs for mine, theirs in zip(self.values, other.values, strict=True)))


def answered(rows: Parts, growing: Sequence[Growing[T]], inside: Sequence[Inside], kept: Made[Any] | None = None) -> list[T]:
    """What each of these ends with; questions go to what is `kept` of the rows, if anything is.

    Rows are brought for one after the other: they must not be here all at once.
    """
    told = rows if kept is None else kept
    done: dict[int, T] = {}
    asked = {k: _next(each, None, k, done) for k, each in enumerate(growing)}
    while len(done) < len(growing):
        for k in range(len(growing)):
            while isinstance(bring := asked.get(k), Bring):
                table = rows.gather(partial(_chosen, inside[k], bring.choose))
                asked[k] = _next(growing[k], table, k, done)
        asks = {k: question for k, question in asked.items() if isinstance(question, Ask)}
        if asks:
            seen = told.total(partial(Several.of, [(inside[k], ask.observe) for k, ask in asks.items()])).values
            asked |= {k: _next(growing[k], value, k, done) for k, value in zip(asks, seen, strict=True)}
    return [done[k] for k in range(len(growing))]


def _next(growing: Growing[T], answer: Any, place: int, done: dict[int, T]) -> Ask | Bring | None:
    try:
        return growing.send(answer)
    except StopIteration as end:
        done[place] = end.value
        return None


def _chosen(inside: Inside, choose: Callable[[Table], Table], table: Table) -> Table:
    return choose(_within(inside, table))


def _within(inside: Inside, rows: Any) -> Any:
    return rows if inside is None else inside(rows)
