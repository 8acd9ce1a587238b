"""Weight of every level, or of every distinct value, in every class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import msgspec
import numpy as np

from baytree import _core
from baytree.statistics.exact_sum import ExactSum, bounded


class Counts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="counts"):
    """Weight of every level in every class; missing values are in the first row."""

    cells: ExactSum  # [n_levels + 1, n_classes]

    @classmethod
    def of(cls, code: np.ndarray, label: np.ndarray, weight: np.ndarray | None, n_levels: int, n_classes: int) -> Self:
        """Counts of rows; a weight of None is 1 for every row."""
        code, label = np.ascontiguousarray(code), np.ascontiguousarray(label)
        if weight is None:
            return cls(ExactSum.of(_core.count(code, label, n_levels, n_classes)))
        limbs, low = _core.count_weighted(code, label, np.ascontiguousarray(weight), n_levels, n_classes)
        return cls(ExactSum.normalized(limbs.reshape(n_levels + 1, n_classes, -1), low))

    @classmethod
    def of_rows(cls, counts: np.ndarray, row_weight: int = 1) -> Self:
        """Counts from int64 [n_levels + 1, n_classes], each row with the integer weight `row_weight`."""
        return cls(ExactSum.of(counts * row_weight if row_weight > 1 else counts))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.cells + other.cells)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.cells - other.cells)

    def scale(self, factor: int) -> Self:
        """Same counts with every row repeated `factor` times."""
        return type(self)(self.cells.scale(factor))

    def recoded(self, levels: list[np.ndarray], classes: np.ndarray) -> Self:
        """Recoded counts: entry k of a mapping is the old code of the new level (or class) k, −1 if it is new."""
        indices = np.concatenate([[0], np.where(levels[0] < 0, -1, levels[0] + 1)])
        return type(self)(self.cells.take(indices, 0).take(classes, 1))

    def level_weights(self) -> np.ndarray | None:
        """Weight of each level over all classes: [n_levels]."""
        return self.known().sum(axis=1)

    def check(self, n_levels: int, n_classes: int) -> None:
        """Raise ValueError unless there is a cell for each level, missing values and each class."""
        self.cells.check((n_levels + 1, n_classes))

    def known(self, exponent: int = 0) -> np.ndarray:
        """Weight of each level in each class, times 2^−exponent: float64 [n_levels, n_classes]."""
        return self.cells.rounded(exponent)[1:]


class DistinctValues(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="distinct"):
    """Known values of a column, ascending, each with its exact weight in each class."""

    value: np.ndarray  # [n_values]
    cells: ExactSum  # [n_values, n_classes]

    @classmethod
    def of(cls, values: np.ndarray, label: np.ndarray, weight: np.ndarray | None, n_classes: int) -> Self:
        """Distinct values of these rows; raises ValueError for infinite ones."""
        known = ~np.isnan(values)
        if np.isinf(values).any():
            raise ValueError("a value is infinite")
        value, index = np.unique(values[known] + 0.0, return_inverse=True)  # turns −0.0 into 0.0
        weight = None if weight is None else weight[known]
        counts = Counts.of(index.astype(np.int32), label[known], weight, len(value), n_classes)
        return cls(value, counts.cells.take(np.arange(1, len(value) + 1)))

    def __add__(self, other: Self) -> Self:
        return self._combined(other, ExactSum.__add__)

    def __sub__(self, other: Self) -> Self:
        return self._combined(other, ExactSum.__sub__)._present()

    def recoded(self, levels: list[np.ndarray], classes: np.ndarray) -> Self:
        """Same values with recoded classes; −1 for a new class."""
        return type(self)(self.value, self.cells.take(classes, 1))

    def level_weights(self) -> np.ndarray | None:
        """None: numeric columns have no levels."""
        return None

    def check(self, n_classes: int) -> None:
        """Raise ValueError unless values are finite, ascending and have their weights."""
        value = self.value
        if value.dtype != np.float64 or value.ndim != 1 or not np.isfinite(value).all() or (np.diff(value) <= 0).any():
            raise ValueError("distinct values must be finite and ascending")
        self.cells.check((len(value), n_classes))

    def weights(self) -> np.ndarray:
        """Weight of each value in each class, in a common unit: [n_values, n_classes]."""
        return bounded(self.cells)[0]

    def _combined(self, other: Self, operation: Callable[[ExactSum, ExactSum], ExactSum]) -> Self:
        value = np.union1d(self.value, other.value)
        indices = [_positions(part.value, value) for part in (self, other)]
        return type(self)(value, operation(self.cells.take(indices[0]), other.cells.take(indices[1])))

    def _present(self) -> Self:
        nonzero = np.flatnonzero(self.cells.limbs.any(axis=(1, 2)))
        if len(nonzero) == len(self.value):
            return self
        return type(self)(self.value[nonzero], self.cells.take(nonzero))


def _positions(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    position = np.full(len(whole), -1, np.int64)
    position[np.searchsorted(whole, part)] = np.arange(len(part))
    return position
