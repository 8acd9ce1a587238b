"""Exact weight, sum and sum of squares of columns per class, and the means and standard deviations derived from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Self

import msgspec
import numpy as np

from baytree import _core
from baytree.parallel.threads import free
from baytree.statistics.exact_sum import LIMB_BITS, ExactSum, joined, quotient

_MIN_PARALLEL_CELLS = 1 << 12  # columns, or cells of class and column; fewer take little longer than starting threads


class Moments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="moments", dict=True):
    """Exact weight, sum and sum of squares of the known values of columns in classes."""

    weight: ExactSum  # [n_classes, n_columns]
    total: ExactSum  # [n_classes, n_columns]
    square: ExactSum  # [n_classes, n_columns]

    @classmethod
    def of(cls, values: np.ndarray, label: np.ndarray, weight: np.ndarray | None, n_classes: int) -> Self:
        """Moments of a matrix [n_rows, n_columns] of any memory layout."""
        unit = np.empty(0) if weight is None else np.ascontiguousarray(weight)
        parts = _core.moments(values, np.ascontiguousarray(label), unit, n_classes, _threads(values.shape[1]))
        return cls(*(_table(part, n_classes, values.shape[1]) for part in parts))

    @classmethod
    def of_columns(cls, columns: Sequence[np.ndarray], label: np.ndarray, weight: np.ndarray | None, n_classes: int) -> Self:
        """Moments of separate contiguous columns of doubles."""
        unit = np.empty(0) if weight is None else np.ascontiguousarray(weight)
        threads = _threads(len(columns))
        parts = _core.moments_of_columns(list(columns), np.ascontiguousarray(label), unit, n_classes, threads)
        return cls(*(_table(part, n_classes, len(columns)) for part in parts))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Moments of several matrices side by side."""
        if len(parts) == 1:
            return parts[0]
        fields = zip(*((part.weight, part.total, part.square) for part in parts), strict=True)
        return cls(*(joined(field, 1) for field in fields))

    def pooled(self) -> Self:
        """Moments over all classes: [1, n_columns]."""
        return type(self)(self.weight.summed(), self.total.summed(), self.square.summed())

    def __add__(self, other: Self) -> Self:
        return type(self)(self.weight + other.weight, self.total + other.total, self.square + other.square)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.weight - other.weight, self.total - other.total, self.square - other.square)

    def recoded(self, levels: list[np.ndarray], classes: np.ndarray) -> Self:
        """Same moments with recoded classes; −1 for a new class."""
        return type(self)(self.weight.take(classes), self.total.take(classes), self.square.take(classes))

    def level_weights(self) -> np.ndarray | None:
        """None: numeric columns have no levels."""
        return None

    def check(self, n_classes: int, n_columns: int) -> None:
        """Raise ValueError unless there is a cell for each class and column."""
        for field in (self.weight, self.total, self.square):
            field.check((n_classes, n_columns))

    def mean(self) -> np.ndarray:
        """Mean of each column in each class, correctly rounded; NaN without known values: [n_classes, n_columns]."""
        return self._means(1, self._cell).reshape(self.total.shape)

    def mean_of_all(self) -> np.ndarray:
        """Mean of each column over all classes: [n_columns]."""
        pooled = cache(self.pooled)
        return self._means(len(self.total.limbs), lambda cell: pooled()._cell(cell))

    def deviation(self) -> np.ndarray:
        """Standard deviation (divisor n), correctly rounded before the root; NaN without known values.

        From n Σwx² − (Σwx)², an exact integer, so there is no cancellation for any offset or scale of the column.
        """
        return self._deviations(1, self._cell).reshape(self.total.shape)

    def deviation_of_all(self) -> np.ndarray:
        """Standard deviation of each column over all classes: [n_columns]. The array is cached: do not modify it."""
        return self._deviation_of_all

    @cached_property
    def _deviation_of_all(self) -> np.ndarray:  # used by the outlier warning and by the estimation
        pooled = cache(self.pooled)
        return self._deviations(len(self.total.limbs), lambda cell: pooled()._cell(cell))

    def _means(self, n_layers: int, alone: Callable[[int], Self]) -> np.ndarray:
        """Means of cells that are sums of `n_layers` layers; `alone` returns the moments of a single cell.

        Cells that the kernel cannot do exactly (NaN) are computed with Python integers.
        """
        if not n_layers:
            return np.full(self.total.shape[1], np.nan)
        weight, total = _layers(self.weight, n_layers), _layers(self.total, n_layers)
        values = _core.exact_means(weight, total, self.total.exponent - self.weight.exponent, _threads(weight.size))
        for cell in np.flatnonzero(np.isnan(values)):
            part = alone(int(cell))
            unit = part.total.exponent - part.weight.exponent
            values[cell] = quotient(part.total.integers()[0], part.weight.integers()[0], unit)
        return values

    def _deviations(self, n_layers: int, alone: Callable[[int], Self]) -> np.ndarray:
        if not n_layers:
            return np.full(self.total.shape[1], np.nan)
        total_zeros, square_zeros, unit = self._units()
        unit -= 2 * self.weight.exponent
        weight, total, square = (_layers(field, n_layers) for field in (self.weight, self.total, self.square))
        zeros = total_zeros // LIMB_BITS, square_zeros // LIMB_BITS
        values = _core.exact_deviations(weight, total, square, *zeros, unit, _threads(weight.size))
        for cell in np.flatnonzero(np.isnan(values)):
            part = alone(int(cell))
            unit = part._units()[2] - 2 * part.weight.exponent
            values[cell] = _root_of_quotient(part._spreads()[0], part.weight.integers()[0] ** 2, unit)
        return values

    def is_of_rows(self) -> bool:
        """Whether any rows could have these moments: no negative weight or variance, and empty cells without weight."""
        weights, squares = self.weight.integers(), self.square.integers()
        cells = zip(weights, squares, self._spreads(), strict=True)
        return all(
            (weight > 0 or weight == square) and square >= 0 and squared_deviations >= 0
            for weight, square, squared_deviations in cells
        )

    def _units(self) -> tuple[int, int, int]:
        """Shifts in bits that bring (Σwx)² and n Σwx² to a common unit, and the exponent of that unit."""
        squares_unit = self.square.exponent + self.weight.exponent
        totals_unit = 2 * self.total.exponent
        unit = min(squares_unit, totals_unit)
        return totals_unit - unit, squares_unit - unit, unit

    def _spreads(self) -> list[int]:
        """n Σwx² − (Σwx)² of each cell, flattened."""
        total_zeros, square_zeros, _ = self._units()
        cells = zip(self.weight.integers(), self.total.integers(), self.square.integers(), strict=True)
        return [(w * s << square_zeros) - (t * t << total_zeros) for w, t, s in cells]

    def _cell(self, cell: int) -> Self:
        """Moments of a single cell, in the same units."""
        fields = (self.weight, self.total, self.square)
        return type(self)(*(ExactSum(field.cells[cell : cell + 1], field.low) for field in fields))


def _layers(field: ExactSum, n_layers: int) -> np.ndarray:
    """Limbs by layer: [n_layers, n_cells, width]."""
    cells = field.cells
    return cells.reshape(n_layers, len(cells) // n_layers, cells.shape[1])


def _threads(n_cells: int) -> int:
    return free() if n_cells >= _MIN_PARALLEL_CELLS else 1


def _table(part: tuple[np.ndarray, int], n_classes: int, n_columns: int) -> ExactSum:
    limbs, low = part
    return ExactSum(limbs.reshape(n_classes, n_columns, limbs.shape[1]), low)


def _root_of_quotient(numerator: int, denominator: int, exponent: int) -> float:
    """√(numerator / denominator · 2^exponent), without overflow or underflow of the quotient."""
    if not denominator:
        return float("nan")
    size = numerator.bit_length() - denominator.bit_length() + exponent
    shift = size - size % 2
    return float(np.ldexp(np.sqrt(quotient(numerator, denominator, exponent - shift)), shift // 2))
