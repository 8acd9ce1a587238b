"""The distinct values of a numeric column and the weight of each in each class: a statistic, so parts add up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import msgspec
import numpy as np

from baytree.statistics.counts import Counts
from baytree.statistics.exact import ExactSum, bounded


class Distinct(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="distinct"):
    """The known values of a column, ascending, each with its exact weight in each class."""

    value: np.ndarray  # [n_values]
    cells: ExactSum  # [n_values, n_classes]

    @classmethod
    def of(cls, values: np.ndarray, label: np.ndarray, weight: np.ndarray | None, n_classes: int) -> Self:
        """The distinct values of these rows."""
        known = ~np.isnan(values)
        if np.isinf(values).any():
            raise ValueError("a value is infinite")
        value, place = np.unique(values[known] + 0.0, return_inverse=True)  # −0.0 is 0.0
        weight = None if weight is None else weight[known]
        counts = Counts.of(place.astype(np.int32), label[known], weight, len(value), n_classes)
        return cls(value, counts.cells.take(np.arange(1, len(value) + 1)))

    def __add__(self, other: Self) -> Self:
        return self._combined(other, ExactSum.__add__)

    def __sub__(self, other: Self) -> Self:
        return self._combined(other, ExactSum.__sub__)._present()

    def recoded(self, levels: list[np.ndarray], classes: np.ndarray) -> Self:
        """The same values under other class codes; −1 for a new class."""
        return type(self)(self.value, self.cells.take(classes, 1))

    def level_weights(self) -> np.ndarray | None:
        """None: numbers have no levels."""
        return None

    def check(self, n_classes: int) -> None:
        """Raises an error unless the values ascend and every one has its weights."""
        value = self.value
        if value.dtype != np.float64 or value.ndim != 1 or not np.isfinite(value).all() or (np.diff(value) <= 0).any():
            raise ValueError("distinct values are finite and ascend")
        self.cells.check((len(value), n_classes))

    def weights(self) -> np.ndarray:
        """The weight of each value in each class, in one common unit: [n_values, n_classes]."""
        return bounded(self.cells)[0]

    def _combined(self, other: Self, operation: Callable[[ExactSum, ExactSum], ExactSum]) -> Self:
        value = np.union1d(self.value, other.value)
        places = [_places(part.value, value) for part in (self, other)]
        return type(self)(value, operation(self.cells.take(places[0]), other.cells.take(places[1])))

    def _present(self) -> Self:
        kept = np.flatnonzero(self.cells.limbs.any(axis=(1, 2)))
        if len(kept) == len(self.value):
            return self
        return type(self)(self.value[kept], self.cells.take(kept))


def _places(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    place = np.full(len(whole), -1, np.int64)
    place[np.searchsorted(whole, part)] = np.arange(len(part))
    return place
