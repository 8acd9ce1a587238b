"""Numbers in few buckets: how often a column had which numbers in each class, in a form that adds up exactly.

A bucket is 2^e wide and begins at a multiple of its width. The exponent is the least one that leaves at most `MOST_BUCKETS`
buckets with a row in them, so a lone value far away costs one bucket and few distinct values stay as they are. Buckets of
one exponent lie within those of the next: so sketches of parts add up to that of the whole, in any order, bit for bit.
"""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np

from baytree.statistics.counts import Counts

MOST_BUCKETS = 256
EXACT = -1075  # the exponent of buckets that hold one double each
_FINE = 4096  # buckets over the whole extent from which a column of many numbers is coarsened


class Sketch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="sketch"):
    """The lower ends of the buckets that hold rows, ascending, and the weight of each in each class; missing ones apart."""

    exponent: np.ndarray  # int64 [1]
    edges: np.ndarray  # float64 [n_buckets]
    counts: Counts  # [n_buckets + 1, n_classes]

    @classmethod
    def of(cls, values: np.ndarray, label: np.ndarray, weight: np.ndarray | None, n_classes: int) -> Self:
        """The sketch of these numbers, NaN where they are missing; a weight of None is 1 for every row."""
        is_missing = np.isnan(values)
        if is_missing.any():
            exponent, edges, place = _buckets(values[~is_missing])
            code = np.full(len(values), -1, np.int32)
            code[~is_missing] = place
        else:
            exponent, edges, place = _buckets(values)
            code = place.astype(np.int32, copy=False)
        return cls(np.array([exponent]), edges, Counts.of(code, label, weight, len(edges), n_classes))

    def __add__(self, other: Self) -> Self:
        exponent = max(int(self.exponent[0]), int(other.exponent[0]))
        both = np.unique(np.concatenate([_begin(self.edges, exponent), _begin(other.edges, exponent)]))
        exponent = _least_exponent(both, exponent)
        edges = np.unique(_begin(both, exponent))
        return type(self)(np.array([exponent]), edges, self._counted(edges, exponent) + other._counted(edges, exponent))

    def __sub__(self, other: Self) -> Self:
        """Without these rows, which are among those that were seen; the width of the buckets stays."""
        exponent = int(self.exponent[0])
        if not np.isin(_begin(other.edges, exponent), self.edges).all():
            raise ValueError("numbers that were never seen cannot be taken away")
        left = self.counts - other._counted(self.edges, exponent)
        kept = np.flatnonzero(left.known().any(axis=1))
        return type(self)(self.exponent, self.edges[kept], left.recoded([kept], np.arange(left.cells.shape[1])))

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

    def _counted(self, edges: np.ndarray, exponent: int) -> Counts:
        """The weights in these buckets, which are at least as wide as its own."""
        place = np.searchsorted(edges, _begin(self.edges, exponent))
        return Counts(self.counts.cells.grouped(np.concatenate([[0], place + 1]), len(edges) + 1))


def _buckets(values: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    """The exponent, the lower ends of the buckets, and the place of each number among them."""
    spread = _spread(values)
    if spread is not None:
        exponent, first, place = spread
        occupied = np.flatnonzero(np.bincount(place))
        if len(occupied) > MOST_BUCKETS:
            widening, multiple, coarse = _widened(int(first) + occupied)
            bucket = np.zeros(int(occupied[-1]) + 1, np.int32)
            bucket[occupied] = coarse
            return exponent + widening, np.ldexp(multiple, exponent + widening), bucket[place]
    distinct, place = np.unique(values + 0.0, return_inverse=True)
    exponent = _least_exponent(distinct, EXACT)
    if exponent == EXACT:
        return EXACT, distinct, place
    edges, coarse = np.unique(_begin(distinct, exponent), return_inverse=True)
    return exponent, edges, coarse[place]


def _widened(multiple: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    """How often the width of many buckets is doubled until they are few; the multiples of it, and the place of each."""
    widening, wide = 0, multiple
    while 1 + np.count_nonzero(wide[1:] != wide[:-1]) > MOST_BUCKETS:
        widening += 1
        wide = multiple >> widening
    is_first = np.concatenate([[True], wide[1:] != wide[:-1]])
    return widening, wide[is_first].astype(float), np.cumsum(is_first) - 1


def _spread(values: np.ndarray) -> tuple[int, float, np.ndarray] | None:
    """Many numbers in buckets that are surely too narrow, without sorting: exponent, first multiple, and places from it."""
    if len(values) <= MOST_BUCKETS:
        return None
    low, high = float(values.min()), float(values.max())
    extent = high - low
    if not 1e-290 < extent < 1e290 or max(abs(low), abs(high)) > extent * 2.0**40:
        return None
    exponent = int(np.ceil(np.log2(extent / _FINE)))
    multiple = values * 2.0**-exponent
    np.floor(multiple, out=multiple)
    first = float(np.floor(low * 2.0**-exponent))
    multiple -= first
    return exponent, first, multiple.astype(np.int64)


def _least_exponent(edges: np.ndarray, at_least: int) -> int:
    """The least exponent from which on these numbers, which ascend, lie in no more buckets than there may be."""
    if len(edges) <= MOST_BUCKETS:
        return at_least
    low, high = at_least, 1024  # too many buckets at `low`, few enough at `high`
    step = 1 if at_least > EXACT else 1024  # from a width that is nearly right, the answer is near
    while high - low > 1:
        middle = min(low + step, (low + high) // 2)
        begin = _begin(edges, middle)
        if 1 + np.count_nonzero(begin[1:] != begin[:-1]) > MOST_BUCKETS:
            low, step = middle, 2 * step
        else:
            high = middle
    return high


def _begin(values: np.ndarray, exponent: int) -> np.ndarray:
    """The lower end of each number's bucket."""
    if exponent == EXACT:
        return values
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        scaled = np.ldexp(values, -exponent)
        multiple = np.where((scaled == 0) & (values < 0), -1.0, np.floor(scaled))  # what underflows is still below 0
        begin = np.ldexp(multiple, exponent)
    return np.where(np.isfinite(scaled) & np.isfinite(begin), begin + 0.0, values)  # wider than its last bit: itself
