"""A few numbers of each row, or of some rows, in the order of the rows, whatever the order in which parts are added.

The largest of numbers: that of the whole is the largest of the parts'.
"""

from __future__ import annotations

from functools import cached_property

import msgspec
import numpy as np


class RowArrays(msgspec.Struct, frozen=True, dict=True):
    """Arrays whose first axis is rows, by the number of rows that come before each part.

    Engines may add up the answers of neighbouring workers first, which hold any parts. So a part carries its place, and the
    sum is the same in any order.
    """

    parts: tuple[tuple[int, tuple[np.ndarray, ...]], ...]

    @classmethod
    def of(cls, first: int, *arrays: np.ndarray) -> RowArrays:
        """These arrays of a part whose rows come after `first` others."""
        return cls(((first, arrays),))

    def __add__(self, other: RowArrays) -> RowArrays:
        return RowArrays(self.parts + other.parts)

    @cached_property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays of all parts, in the order of their rows."""
        ordered = [arrays for _, arrays in sorted(self.parts, key=lambda part: part[0])]
        return tuple(np.concatenate(pieces) for pieces in zip(*ordered, strict=True))


def every_nth(step: int, first: int, n_rows: int) -> slice:
    """Of n rows that come after `first` others, one in every few of all rows, wherever parts begin.

    >>> [list(range(10))[5:][every_nth(3, 5, 5)], list(range(10))[:5][every_nth(3, 0, 5)]]
    [[6, 9], [0, 3]]
    """
    return slice(-first % step, n_rows, step)


class Maximum(msgspec.Struct, frozen=True):
    """The largest number of each kind. It adds up, but nothing can be taken away again."""

    value: np.ndarray  # float64

    def __add__(self, other: Maximum) -> Maximum:
        return Maximum(np.maximum(self.value, other.value))
