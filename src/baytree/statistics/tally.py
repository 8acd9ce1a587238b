"""Values and their weight in groups, ascending: of ever more values the last digits are let go, whatever the parts are."""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np

from baytree.statistics.counts import Counts
from baytree.statistics.exact import ExactSum, joined, regrouped

MOST_VALUES = 1 << 16  # that are kept as they are


class Tally(msgspec.Struct, frozen=True):
    """The weight of each value in each group, exactly; beyond 65,536 different values, of their first digits."""

    value: np.ndarray  # float64 [n_values], ascending
    cells: ExactSum  # [n_values, n_groups]
    is_coarse: bool = False

    @classmethod
    def of(cls, values: np.ndarray, group: np.ndarray, weight: np.ndarray | None, n_groups: int) -> Self:
        """Of these rows; a weight of None is 1 for every row."""
        distinct, place = np.unique(values, return_inverse=True)
        counts = Counts.of(place.astype(np.int32), group.astype(np.int32), weight, len(distinct), n_groups)
        return cls(distinct, counts.cells.take(np.arange(1, len(distinct) + 1)))._bounded()

    def __add__(self, other: Self) -> Self:
        is_coarse = self.is_coarse or other.is_coarse
        both = [part._in_first_digits() if is_coarse else part for part in (self, other)]
        values = np.concatenate([part.value for part in both])
        return self._united(values, joined([part.cells for part in both], 0), is_coarse)._bounded()

    def weights(self) -> np.ndarray:
        """The weight of each value in each group: float64 [n_values, n_groups]."""
        return self.cells.rounded()

    @classmethod
    def first_digits(cls, values: np.ndarray) -> np.ndarray:
        """The values without their last digits, in the same order."""
        return _truncated(values, 12)

    def _bounded(self) -> Self:
        return self if self.is_coarse or len(self.value) <= MOST_VALUES else self._in_first_digits()

    def _in_first_digits(self) -> Self:
        return self if self.is_coarse else self._united(self.first_digits(self.value), self.cells, True)

    @classmethod
    def _united(cls, values: np.ndarray, cells: ExactSum, is_coarse: bool) -> Self:
        distinct, place = np.unique(values, return_inverse=True)
        return cls(distinct, regrouped([(cells, place)], len(distinct)), is_coarse)


class Chances(Tally, frozen=True):
    """Values between 0 and 1, of which those near 1 are told apart as well as those near 0: 65,536 of them at most."""

    @classmethod
    def first_digits(cls, values: np.ndarray) -> np.ndarray:
        """The nine first bits of each value, or of what it lacks of 1."""
        is_low = values <= 0.5
        rest = np.where(is_low, values, 1.0 - values)
        rest = np.where(rest < 2.0**-127, 0.0, _truncated(rest, 9))
        return np.where(is_low, rest, 1.0 - rest)


def _truncated(values: np.ndarray, bits: int) -> np.ndarray:
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.floor(fraction * 2.0**bits), exponent - bits)
