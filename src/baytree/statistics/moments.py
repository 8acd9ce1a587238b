"""Weight, sum and sum of squares of columns in classes, exactly, and the means and deviations that follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Self

import msgspec
import numpy as np

from baytree import _core
from baytree.parallel.threads import free
from baytree.statistics.exact_sum import BITS, ExactSum, joined, quotient

_MANY = 1 << 12  # columns or cells that are worth a thread of their own


class Moments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="moments", dict=True):
    """Weight, sum and sum of squares of the known values of columns in classes, exactly."""

    weight: ExactSum  # [n_classes, n_columns]
    total: ExactSum  # [n_classes, n_columns]
    square: ExactSum  # [n_classes, n_columns]

    @classmethod
    def of(cls, values: np.ndarray, label: np.ndarray, weight: np.ndarray | None, n_classes: int) -> Self:
        """Moments of a matrix [n_rows, n_columns], wherever its values lie in memory."""
        unit = np.empty(0) if weight is None else np.ascontiguousarray(weight)
        parts = _core.moments(values, np.ascontiguousarray(label), unit, n_classes, _threads(values.shape[1]))
        return cls(*(_table(part, n_classes, values.shape[1]) for part in parts))

    @classmethod
    def of_columns(cls, columns: Sequence[np.ndarray], label: np.ndarray, weight: np.ndarray | None, n_classes: int) -> Self:
        """Moments of columns of doubles, each of which lies together."""
        unit = np.empty(0) if weight is None else np.ascontiguousarray(weight)
        threads = _threads(len(columns))
        parts = _core.moments_of_columns(list(columns), np.ascontiguousarray(label), unit, n_classes, threads)
        return cls(*(_table(part, n_classes, len(columns)) for part in parts))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The moments of all columns of several matrices, side by side."""
        if len(parts) == 1:
            return parts[0]
        fields = zip(*((part.weight, part.total, part.square) for part in parts), strict=True)
        return cls(*(joined(field, 1) for field in fields))

    def pooled(self) -> Self:
        """The moments over all classes: [1, n_columns]."""
        return type(self)(self.weight.summed(), self.total.summed(), self.square.summed())

    def __add__(self, other: Self) -> Self:
        return type(self)(self.weight + other.weight, self.total + other.total, self.square + other.square)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.weight - other.weight, self.total - other.total, self.square - other.square)

    def recoded(self, levels: list[np.ndarray], classes: np.ndarray) -> Self:
        """The same moments under other class codes; −1 for a new class."""
        return type(self)(self.weight.take(classes), self.total.take(classes), self.square.take(classes))

    def level_weights(self) -> np.ndarray | None:
        """None: numbers have no levels."""
        return None

    def check(self, n_classes: int, n_columns: int) -> None:
        """Raises an error unless there is a cell for each class and column."""
        for field in (self.weight, self.total, self.square):
            field.check((n_classes, n_columns))

    def mean(self) -> np.ndarray:
        """The mean of each column in each class, correctly rounded; NaN where nothing is known."""
        return self._means(1, self._cell).reshape(self.total.shape)

    def mean_of_all(self) -> np.ndarray:
        """The mean of each column over all classes: [n_columns]."""
        pooled = cache(self.pooled)
        return self._means(len(self.total.limbs), lambda cell: pooled()._cell(cell))

    def deviation(self) -> np.ndarray:
        """The standard deviation (divisor n), correctly rounded before its root; NaN where nothing is known.

        From n Σwx² − (Σwx)², an exact integer: no offset or scale of the column can hurt.
        """
        return self._deviations(1, self._cell).reshape(self.total.shape)

    def deviation_of_all(self) -> np.ndarray:
        """The standard deviation of each column over all classes: [n_columns]; never to be written to."""
        return self._deviation_of_all

    @cached_property
    def _deviation_of_all(self) -> np.ndarray:  # asked for by what warns of outliers, and by what derives the model
        pooled = cache(self.pooled)
        return self._deviations(len(self.total.limbs), lambda cell: pooled()._cell(cell))

    def _means(self, n_layers: int, alone: Callable[[int], Self]) -> np.ndarray:
        """The means of cells that are the sums of so many layers; `alone` gives the moments of one of them."""
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
        zeros = total_zeros // BITS, square_zeros // BITS
        values = _core.exact_deviations(weight, total, square, *zeros, unit, _threads(weight.size))
        for cell in np.flatnonzero(np.isnan(values)):
            part = alone(int(cell))
            unit = part._units()[2] - 2 * part.weight.exponent
            values[cell] = _root_of_quotient(part._spreads()[0], part.weight.integers()[0] ** 2, unit)
        return values

    def is_of_rows(self) -> bool:
        """Whether any rows could have these moments: no weight and no variance is negative, nothing weighs nothing."""
        weights, squares = self.weight.integers(), self.square.integers()
        cells = zip(weights, squares, self._spreads(), strict=True)
        return all((weight > 0 or weight == square) and square >= 0 and spread >= 0 for weight, square, spread in cells)

    def _units(self) -> tuple[int, int, int]:
        """By how many bits (Σwx)² and n Σwx² are shifted to be in one unit, and its exponent."""
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
        """The moments of one cell alone, in the same units."""
        fields = (self.weight, self.total, self.square)
        return type(self)(*(ExactSum(field.cells[cell : cell + 1], field.low) for field in fields))


def _layers(field: ExactSum, n_layers: int) -> np.ndarray:
    """The limbs of cells that are the sums of layers: [n_layers, n_cells, width]."""
    cells = field.cells
    return cells.reshape(n_layers, len(cells) // n_layers, cells.shape[1])


def _threads(n_cells: int) -> int:
    return free() if n_cells >= _MANY else 1


def _table(part: tuple[np.ndarray, int], n_classes: int, n_columns: int) -> ExactSum:
    limbs, low = part
    return ExactSum(limbs.reshape(n_classes, n_columns, limbs.shape[1]), low)


def _root_of_quotient(numerator: int, denominator: int, exponent: int) -> float:
    """√(numerator / denominator · 2^exponent), the quotient brought into the middle of the doubles first."""
    if not denominator:
        return float("nan")
    size = numerator.bit_length() - denominator.bit_length() + exponent
    shift = size - size % 2
    return float(np.ldexp(np.sqrt(quotient(numerator, denominator, exponent - shift)), shift // 2))
