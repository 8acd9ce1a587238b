"""Exact sums of doubles: a statistic whose value does not depend on order, partitioning or threads.

Numbers are stored as arrays of 32-bit limbs in a fixed-point format that covers the range of doubles (a superaccumulator;
Kulisch 1981). Every statistic is an array, a statistic or a tuple of them, and rests on `ExactSum`, so not one bit of a
model depends on the order of the rows, the boundaries of parts or the number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import msgspec
import numpy as np

from baytree import _core
from baytree.parallel.threads import free

LIMB_BITS = 32  # bits of a limb: its 64-bit integer holds the sum of 2^31 limbs before a carry

_MASK = (1 << LIMB_BITS) - 1

_MIN_PARALLEL_LIMBS = 1 << 15  # carrying fewer limbs takes little longer than starting threads

_UNIT_LIMB = 101  # index of the limb with weight 1: limb k has weight 2^(32 (k - 101)), as in src/core/numeric/exact_sum.hpp


class ExactSum(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Array of exact numbers in base 2^32: lowest limb first, starting at index `low`; the last limb is signed.

    The window of limbs is always minimal, so equal sums are equal arrays.

    >>> a = ExactSum.of(np.array([0.1, 1e300])); b = ExactSum.of(np.array([0.2, 1.0]))
    >>> ((a + b) - b) == a
    True
    """

    limbs: np.ndarray  # int64 [..., width]
    low: int = _UNIT_LIMB

    def __post_init__(self) -> None:
        if self.limbs.dtype != np.int64 or self.limbs.ndim < 1 or self.limbs.shape[-1] < 1:
            raise ValueError("the limbs of an exact sum must be 64-bit integers, at least one per number")
        if not 0 <= self.low <= self.low + self.limbs.shape[-1] <= 256:
            raise ValueError("an exact sum is outside the range of doubles")

    @classmethod
    def of(cls, values: np.ndarray) -> Self:
        """Exact numbers equal to these doubles or integers."""
        values = np.asarray(values)
        if values.dtype.kind in "iu":
            if values.size and _is_digit(values):
                return cls.normalized(values.astype(np.int64, copy=False)[..., None], _UNIT_LIMB)
            return cls.normalized(np.stack([values & _MASK, values >> LIMB_BITS], axis=-1).astype(np.int64), _UNIT_LIMB)
        fraction, exponent = np.frexp(values)
        integer = np.ldexp(fraction, 53).astype(np.int64)
        position = exponent.astype(np.int64) - 53 + LIMB_BITS * _UNIT_LIMB  # of the lowest bit, counted from limb 0
        limbs = np.zeros((*values.shape, 256), np.int64)
        # two halves of 26 and 27 bits, so that a shift within a limb stays inside 64 bits
        for half, bit in ((integer & ((1 << 26) - 1), position), (integer >> 26, position + 26)):
            limb = (bit // LIMB_BITS)[..., None]
            shifted = (half << (bit % LIMB_BITS))[..., None]
            np.put_along_axis(limbs, limb, np.take_along_axis(limbs, limb, -1) + shifted, -1)
        return cls.normalized(limbs, 0)

    @classmethod
    def zeros(cls, shape: tuple[int, ...]) -> Self:
        """Exact zeros."""
        return cls(np.zeros((*shape, 1), np.int64))

    @classmethod
    def normalized(cls, limbs: np.ndarray, low: int) -> Self:
        """Canonical form of limbs of any size below 2^62."""
        if limbs.shape[-1] == 1 and limbs.any() and _is_digit(limbs):  # shortcut for counts: there is nothing to carry
            return cls(limbs, low)
        n_threads = free() if limbs.size >= _MIN_PARALLEL_LIMBS else 1
        cells, low = _core.carried(np.ascontiguousarray(limbs).reshape(-1, limbs.shape[-1]), low, n_threads)
        return cls(cells.reshape(*limbs.shape[:-1], cells.shape[1]), low)

    @property
    def cells(self) -> np.ndarray:
        """Limbs of all numbers: int64 [n_numbers, width]."""
        return np.ascontiguousarray(self.limbs.reshape(-1, self.limbs.shape[-1]))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array of numbers."""
        return self.limbs.shape[:-1]

    def __add__(self, other: Self) -> Self:
        left, right, low = _aligned(self, other)
        return type(self).normalized(left + right, low)

    def __sub__(self, other: Self) -> Self:
        left, right, low = _aligned(self, other)
        return type(self).normalized(left - right, low)

    def scale(self, factor: int) -> Self:
        """Numbers times an integer below 2^29."""
        return type(self).normalized(self.limbs * factor, self.low)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExactSum) and self.low == other.low and np.array_equal(self.limbs, other.limbs)

    def __hash__(self) -> int:
        return hash((self.low, self.limbs.tobytes()))

    def integers(self) -> list[int]:
        """Numbers, flattened, as Python integers in units of 2^(32 (low − 101))."""
        flat = self.cells
        body = flat[:, :-1].astype("<u4")
        top = flat[:, -1].tolist()
        size = 4 * body.shape[1]
        raw = np.ascontiguousarray(body).tobytes()
        shift = LIMB_BITS * body.shape[1]
        return [int.from_bytes(raw[i * size : (i + 1) * size], "little") + (signed << shift) for i, signed in enumerate(top)]

    def check(self, shape: tuple[int, ...]) -> None:
        """Raise ValueError unless the numbers have this shape and every limb is in range."""
        if self.shape != shape:
            raise ValueError(f"exact sums have shape {self.shape} instead of {shape}")
        digits, top = self.limbs[..., :-1], self.limbs[..., -1]
        if (digits < 0).any() or (digits > _MASK).any() or (np.abs(top) > 1 << (LIMB_BITS - 1)).any():
            raise ValueError("the limbs of an exact sum are out of range")

    @property
    def exponent(self) -> int:
        """Power of two that is the unit of `integers`."""
        return LIMB_BITS * (self.low - _UNIT_LIMB)

    def rounded(self, exponent: int = 0) -> np.ndarray:
        """Numbers times 2^−exponent as doubles: exact below 2^53, otherwise correct up to the last bit."""
        width = self.limbs.shape[-1]
        if width == 1:  # counts, usually in units of 1
            unit = self.exponent - exponent
            return np.ldexp(self.limbs[..., 0], unit) if unit else self.limbs[..., 0].astype(np.float64)
        if width > 30:  # too wide for intermediate doubles: use integers
            values = [quotient(n, 1, self.exponent - exponent) for n in self.integers()]
            return np.array(values).reshape(self.shape)
        value = np.zeros(self.shape)
        for k in reversed(range(width)):  # from the top, where the sign cancels without rounding
            value = value + np.ldexp(self.limbs[..., k].astype(np.float64), LIMB_BITS * (k - width))
        return np.ldexp(value, self.magnitude - exponent)

    @property
    def magnitude(self) -> int:
        """Exponent of a power of two that exceeds all numbers in magnitude."""
        return LIMB_BITS * (self.low + self.limbs.shape[-1] - _UNIT_LIMB)

    def summed(self) -> Self:
        """Sum over the first axis, which is kept with length 1."""
        return type(self).normalized(self.limbs.sum(axis=0, keepdims=True), self.low)

    def take(self, index: np.ndarray, axis: int = 0) -> Self:
        """Numbers at these indices along an axis; index −1 gives zero."""
        index, limbs = np.asarray(index), np.moveaxis(self.limbs, axis, 0)
        selected = np.zeros((len(index), *limbs.shape[1:]), limbs.dtype)
        selected[index >= 0] = limbs[index[index >= 0]]
        return type(self)(*_trimmed(np.moveaxis(selected, 0, axis), self.low))


def bounded(cells: ExactSum) -> tuple[np.ndarray, int]:
    """Numbers as doubles times 2^−exponent, where the exponent is positive only if weights are near the largest double."""
    exponent = max(0, cells.magnitude - 900)
    return cells.rounded(exponent), exponent


def times_limbs(statistic: Any, limbs: int) -> Any:
    """Statistic with every weight multiplied by 2^(32 · limbs); all sums are linear in the weights."""
    if isinstance(statistic, ExactSum):
        return ExactSum(statistic.limbs, statistic.low + limbs) if statistic.limbs.any() else statistic
    if isinstance(statistic, tuple):
        return tuple(times_limbs(part, limbs) for part in statistic)
    if isinstance(statistic, msgspec.Struct):
        fields = statistic.__struct_fields__
        return msgspec.structs.replace(statistic, **{name: times_limbs(getattr(statistic, name), limbs) for name in fields})
    return statistic


def is_of_rows(statistic: object) -> bool:
    """Whether any rows could have this statistic. False after subtracting rows that were never added."""
    if isinstance(statistic, ExactSum):  # of weights, or of weighted non-negative numbers
        return not (statistic.limbs[..., -1] < 0).any()
    if hasattr(statistic, "is_of_rows"):  # statistics with signed sums have their own rule
        return statistic.is_of_rows()
    if isinstance(statistic, tuple):
        return all(is_of_rows(part) for part in statistic)
    if isinstance(statistic, msgspec.Struct):
        return all(is_of_rows(getattr(statistic, name)) for name in statistic.__struct_fields__)
    return True


def regrouped(parts: Sequence[tuple[ExactSum, np.ndarray]], n_targets: int) -> ExactSum:
    """Sum of the numbers of all parts by target index along the first axis: exact [n_places, ...]."""
    low = min(part.low for part, _ in parts)
    high = max(part.low + part.limbs.shape[-1] for part, _ in parts)
    limbs = np.zeros((n_targets, *parts[0][0].shape[1:], high - low), np.int64)
    width = int(np.prod(limbs.shape[1:]))  # explicit, since it cannot be inferred for zero places
    totals = limbs.reshape(n_targets, width)
    for part, index in parts:
        _core.add_at_places(totals, index, _window(part, low, high).reshape(len(index), width))
    return ExactSum.normalized(limbs, low)


def joined(sums: Sequence[ExactSum], axis: int) -> ExactSum:
    """Concatenate exact sums along an axis."""
    low = min(part.low for part in sums)
    high = max(part.low + part.limbs.shape[-1] for part in sums)
    windows = [_window(part, low, high + 1) for part in sums]
    return ExactSum.normalized(np.concatenate(windows, axis), low)


def quotient(numerator: int, denominator: int, exponent: int) -> float:
    """numerator / denominator · 2^exponent, correctly rounded; NaN if the denominator is 0."""
    if not denominator:
        return float("nan")
    try:
        return (numerator << exponent) / denominator if exponent >= 0 else numerator / (denominator << -exponent)
    except OverflowError:
        return float("inf") if numerator > 0 else float("-inf")


def _is_digit(values: np.ndarray) -> bool:
    return bool(values.min() >= -(1 << (LIMB_BITS - 1)) and values.max() < 1 << (LIMB_BITS - 1))


def _aligned(left: ExactSum, right: ExactSum) -> tuple[np.ndarray, np.ndarray, int]:
    low = min(left.low, right.low)
    high = max(left.low + left.limbs.shape[-1], right.low + right.limbs.shape[-1])
    return _window(left, low, high), _window(right, low, high), low


def _window(part: ExactSum, low: int, high: int) -> np.ndarray:
    limbs = np.zeros((*part.shape, high - low), np.int64)
    first = part.low - low
    limbs[..., first : first + part.limbs.shape[-1]] = part.limbs
    return limbs


def _trimmed(limbs: np.ndarray, low: int) -> tuple[np.ndarray, int]:
    """Minimal window: removes zero limbs below and sign extensions above."""
    if not limbs.any():
        return np.zeros((*limbs.shape[:-1], 1), np.int64), _UNIT_LIMB
    while limbs.shape[-1] > 1:
        below = limbs[..., -2]
        is_negative = below >> (LIMB_BITS - 1)
        if not np.array_equal(limbs[..., -1], -is_negative):
            break
        limbs = np.concatenate([limbs[..., :-2], (below - (is_negative << LIMB_BITS))[..., None]], axis=-1)
    first = int(np.argmax(limbs.reshape(-1, limbs.shape[-1]).any(axis=0)))
    return np.ascontiguousarray(limbs[..., first:]), low + first
