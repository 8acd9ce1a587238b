"""The numbers of a whole column at which a cut of some of its rows may lie: C4.5 cuts at the largest one below a middle."""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np


class CutValues(msgspec.Struct, frozen=True):
    """The different numbers of a column, and as the program that is followed measures them."""

    ends: np.ndarray  # float64 [n], ascending
    measured: np.ndarray  # float64 [n]
    marks: np.ndarray  # float64, a few numbers by which the core measures some rows as it would measure all

    @classmethod
    def of(cls, ends: np.ndarray, is_single: bool) -> Self:
        """In float32 where that tells all numbers apart."""
        with np.errstate(over="ignore"):
            single = ends.astype(np.float32).astype(np.float64)
        merged = np.flatnonzero(np.diff(single) <= 0)[:1]
        marks = np.concatenate([ends[:1], ends[-1:], ends[merged], ends[merged + 1]])
        is_told_apart = is_single and not len(merged) and bool(np.isfinite(single).all())
        return cls(ends, single if is_told_apart else ends, marks)

    def beside(self, values: np.ndarray) -> np.ndarray:
        """The numbers at which cuts between any two of these values may lie; all where that is no more work."""
        own = np.searchsorted(self.ends, np.unique(values[~np.isnan(values)]))
        if len(own) * (len(own) - 1) // 2 >= len(self.ends):
            return self.ends
        low, high = np.triu_indices(len(own), 1)
        at = np.searchsorted(self.measured, self._halfway(own[low], own[high]), side="right") - 1
        return np.unique(np.concatenate([self.ends[at], self.marks]))

    def _halfway(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        real = np.float64 if self.measured is self.ends else np.float32
        a, b = self.measured[low].astype(real), self.measured[high].astype(real)
        with np.errstate(over="ignore"):
            middle = (a + b) / real(2)
        middle = np.where(np.isfinite(middle), middle, a / 2 + b / 2)
        return np.where((middle < b) & (middle >= a), middle, a)
