"""A few numbers of each row, or of some rows, in the order of the rows: parts are strung together, end to end."""

from __future__ import annotations

import msgspec
import numpy as np


class Strung(msgspec.Struct, frozen=True):
    """Arrays whose first axis is rows."""

    arrays: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, *arrays: np.ndarray) -> Strung:
        """These arrays of a part's rows."""
        return cls(arrays)

    def __add__(self, other: Strung) -> Strung:
        pairs = zip(self.arrays, other.arrays, strict=True)
        return Strung(tuple(np.concatenate(pair) for pair in pairs))


def every(step: int, first: int, n_rows: int) -> slice:
    """Of n rows that come after `first` others, one in every few of all rows, wherever parts begin.

    >>> [list(range(10))[5:][every(3, 5, 5)], list(range(10))[:5][every(3, 0, 5)]]
    [[6, 9], [0, 3]]
    """
    return slice(-first % step, n_rows, step)
