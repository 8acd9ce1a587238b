"""For engines whose rows do not stay: what is made of a part is made anew in each round, by the same functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

from baytree.engine.threads import S
from baytree.table.table import Table

T = TypeVar("T")
U = TypeVar("U")


class MadeAnew(Generic[T]):
    """What `make` makes of each part of these rows, whenever a round asks for it."""

    def __init__(self, rows: Any, make: Callable[[Any], T], rows_per_part: int | None = None):
        self.rows, self.make, self.rows_per_part = rows, make, rows_per_part

    def total(self, observe: Callable[[T], S]) -> S:
        """One round over the rows: each part is made, and observed."""
        return self.rows.total(partial(one_after_other, self.make, observe), self.rows_per_part)

    def made(self, make: Callable[[T], U]) -> MadeAnew[U]:
        """What `make` makes of each of these."""
        return MadeAnew(self.rows, partial(one_after_other, self.make, make), self.rows_per_part)

    def gather(self) -> list[T]:
        """All of them, in the order of the parts."""
        return self.total(lambda piece: [piece])


def one_after_other(make: Callable[[Table], T], then: Callable[[T], U], table: Table) -> U:
    """A plain function: what it is given travels to the rows, and the rows must not travel with it."""
    return then(make(table))
