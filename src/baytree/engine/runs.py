"""Runs of rows that lie in memory, for solvers that read the same rows again and again: the verb of `Parts`."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from baytree.engine.blas import chunks, in_order
from baytree.engine.threads import S, added


class Runs(msgspec.Struct, frozen=True):
    """So many rows in at most `count` runs, none much shorter than `least`; nothing else decides where they end."""

    n_rows: int
    count: int = 8
    least: int = 4096

    def total(self, observe: Callable[[slice], S]) -> S:
        """One round: what `observe` sees in each run, on threads, added up in the order of the runs."""
        return added(in_order(observe, chunks(self.n_rows, self.count, self.least)))
