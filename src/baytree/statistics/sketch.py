"""Numbers in few buckets: how often a column had which numbers in each class, in a form that adds up exactly.

A bucket is 2^e wide and begins at a multiple of its width. The exponent is the least one that leaves at most `MOST_BUCKETS`
buckets with a row in them, so a lone value far away costs one bucket and few distinct values stay as they are. Buckets of
one exponent lie within those of the next: so sketches of parts add up to that of the whole, in any order, bit for bit.
"""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.threads import free
from baytree.statistics.counts import Counts
from baytree.statistics.exact import regrouped

MOST_BUCKETS = 256
_MANY = 1 << 15  # numbers that are worth a thread of their own
EXACT = -1075  # the exponent of buckets that hold one double each, as in src/core/numbers/buckets.hpp


class Sketch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="sketch"):
    """The lower ends of the buckets that hold rows, ascending, and the weight of each in each class; missing ones apart."""

    exponent: np.ndarray  # int64 [1]
    edges: np.ndarray  # float64 [n_buckets]
    counts: Counts  # [n_buckets + 1, n_classes]

    @classmethod
    def of(cls, values: np.ndarray, label: np.ndarray, weight: np.ndarray | None, n_classes: int) -> Self:
        """The sketch of these numbers, NaN where they are missing; a weight of None is 1 for every row."""
        exponent, edges, code = _core.bucketed(values, MOST_BUCKETS)
        return cls(np.array([exponent]), edges, Counts.of(code, label, weight, len(edges), n_classes))

    @classmethod
    def of_columns(cls, values: np.ndarray, label: np.ndarray, n_classes: int, each: int = 1) -> tuple[Self, ...]:
        """The sketches of the columns of a matrix, whose rows all weigh the same whole number."""
        threads = free() if values.size >= _MANY else 1
        found = _core.bucket_columns(values, np.ascontiguousarray(label), n_classes, MOST_BUCKETS, threads)
        return tuple([cls(np.array([exponent]), edges, Counts.of_rows(n, each)) for exponent, edges, n in found])

    def __add__(self, other: Self) -> Self:
        exponent = max(int(self.exponent[0]), int(other.exponent[0]))
        exponent, edges, mine, theirs = _core.united_buckets(self.edges, other.edges, exponent, MOST_BUCKETS)
        parts = ((self.counts.cells, _rows(mine)), (other.counts.cells, _rows(theirs)))
        return type(self)(np.array([exponent]), edges, Counts(regrouped(parts, len(edges) + 1)))

    def __sub__(self, other: Self) -> Self:
        """Without these rows, which are among those that were seen; the width of the buckets stays."""
        exponent, edges, _, theirs = _core.united_buckets(self.edges, other.edges, int(self.exponent[0]), MOST_BUCKETS)
        if len(edges) > len(self.edges) or exponent > self.exponent[0]:
            raise ValueError("numbers that were never seen cannot be taken away")
        left = self.counts - Counts(regrouped([(other.counts.cells, _rows(theirs))], len(edges) + 1))
        kept = np.flatnonzero(left.known().any(axis=1))
        return type(self)(self.exponent, edges[kept], left.recoded([kept], np.arange(left.cells.shape[1])))

    def times(self, factor: int) -> Self:
        """The same sketch with every row so many times."""
        return type(self)(self.exponent, self.edges, self.counts.times(factor))

    def recoded(self, classes: np.ndarray) -> Self:
        """The same sketch under other class codes; −1 for a new class."""
        same = np.arange(len(self.edges))
        return type(self)(self.exponent, self.edges, self.counts.recoded([same], classes))

    def check(self, n_classes: int) -> None:
        """Raises an error unless the edges ascend and there is a cell for each bucket and class."""
        if self.exponent.shape != (1,) or not EXACT <= self.exponent[0] <= 1024:
            raise ValueError("the buckets of a sketch have no width")
        if self.edges.ndim != 1 or len(self.edges) > MOST_BUCKETS or not np.all(self.edges[:-1] < self.edges[1:]):
            raise ValueError("the buckets of a sketch do not ascend, or are too many")
        self.counts.check(len(self.edges), n_classes)

    def points(self) -> np.ndarray:
        """A number within each bucket, its middle unless it holds but one: [n_buckets]."""
        if self.exponent[0] == EXACT:
            return self.edges
        return self.edges + np.where(np.isfinite(self.edges), np.ldexp(0.5, self.exponent[0]), 0.0)


def _rows(place: np.ndarray) -> np.ndarray:
    """Where the cells of buckets go, those of missing numbers before them."""
    return np.concatenate([[0], place + 1])
