"""Per-row arrays and maxima of a partition, additive in any order of the parts."""

from __future__ import annotations

from functools import cached_property

import msgspec
import numpy as np


class RowArrays(msgspec.Struct, frozen=True, dict=True):
    """Per-row arrays, stored with the number of rows before each part.

    Adding two concatenates the parts. Since each part carries its position, engines may add the results of workers in any
    order.
    """

    parts: tuple[tuple[int, tuple[np.ndarray, ...]], ...]

    @classmethod
    def of(cls, first: int, *arrays: np.ndarray) -> RowArrays:
        """Arrays of a part that has `first` rows before it."""
        return cls(((first, arrays),))

    def __add__(self, other: RowArrays) -> RowArrays:
        return RowArrays(self.parts + other.parts)

    @cached_property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """Concatenated arrays of all parts, in row order."""
        ordered = [arrays for _, arrays in sorted(self.parts, key=lambda part: part[0])]
        return tuple(np.concatenate(columns) for columns in zip(*ordered, strict=True))


def every_nth(step: int, first: int, n_rows: int) -> slice:
    """Slice of the rows of a part that are multiples of `step` in the whole table; `first` rows come before the part.

    >>> [list(range(10))[5:][every_nth(3, 5, 5)], list(range(10))[:5][every_nth(3, 0, 5)]]
    [[6, 9], [0, 3]]
    """
    return slice(-first % step, n_rows, step)


class Maximum(msgspec.Struct, frozen=True):
    """Element-wise maximum. Additive, but not subtractable."""

    value: np.ndarray  # float64

    def __add__(self, other: Maximum) -> Maximum:
        return Maximum(np.maximum(self.value, other.value))
