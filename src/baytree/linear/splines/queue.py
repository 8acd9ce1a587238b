"""Fast MARS (Friedman 1993): which terms are tried as parents at the next step."""

from __future__ import annotations

import math
from dataclasses import dataclass

_LEAST = 3  # parents that are tried in any case


@dataclass
class Entry:
    """A place of the queue: the best gain that its slot gave when it was last tried, and at which slot that was."""

    value: float
    stamp: int


class Queue:
    """Parents by their last gains; those that were not tried for long sink by `beta` for each slot since.

    The k-th entry stands for slot k. A step of one term takes two slots and one entry, so that the newest terms may have to
    wait, and slots without a term may be named: that is how earth does it, and its models depend on it.
    """

    def __init__(self, fast_k: int, beta: float) -> None:
        self.most = max(fast_k, _LEAST) if fast_k else None
        self.beta = beta
        self.entries = [Entry(math.inf, 0)]

    def append(self, n_terms: int, slot: int) -> None:
        """New terms, which are tried before all others."""
        self.entries += [Entry(math.inf, slot) for _ in range(n_terms)]

    def tried(self, slot: int, value: float, at: int) -> None:
        """Keeps what a parent gave."""
        self.entries[slot] = Entry(value, at)

    def parents(self) -> list[int]:
        """The slots to be tried, the best first."""
        entries = self.entries
        by_value = sorted(range(len(entries)), key=lambda k: (-entries[k].value, k))
        late = {k: rank - self.beta * entries[k].stamp for rank, k in enumerate(by_value)}
        return sorted(by_value, key=lambda k: (late[k], -entries[k].value, k))[: self.most]
