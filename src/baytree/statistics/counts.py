"""The weight of every level in every class."""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np

from baytree import _core
from baytree.statistics.exact import ExactSum


class Counts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="counts"):
    """The weight of every level in every class; missing values are counted apart, before the first level."""

    cells: ExactSum  # [n_levels + 1, n_classes]

    @classmethod
    def of(cls, code: np.ndarray, label: np.ndarray, weight: np.ndarray | None, n_levels: int, n_classes: int) -> Self:
        """Counts of these rows; a weight of None is 1 for every row."""
        code, label = np.ascontiguousarray(code), np.ascontiguousarray(label)
        if weight is None:
            return cls(ExactSum.of(_core.count(code, label, n_levels, n_classes)))
        limbs, low = _core.count_weighted(code, label, np.ascontiguousarray(weight), n_levels, n_classes)
        return cls(ExactSum.carried(limbs.reshape(n_levels + 1, n_classes, -1), low))

    @classmethod
    def of_rows(cls, counts: np.ndarray, each: int = 1) -> Self:
        """Counts of rows that are counted already, each of which weighs a whole number: int64 [n_levels + 1, n_classes]."""
        return cls(ExactSum.of(counts * each if each > 1 else counts))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.cells + other.cells)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.cells - other.cells)

    def times(self, factor: int) -> Self:
        """The same counts with every row so many times."""
        return type(self)(self.cells.times(factor))

    def recoded(self, levels: list[np.ndarray], classes: np.ndarray) -> Self:
        """The same counts under other codes: entry k tells which old level (or class) the new k was, −1 for none."""
        places = np.concatenate([[0], np.where(levels[0] < 0, -1, levels[0] + 1)])
        return type(self)(self.cells.take(places, 0).take(classes, 1))

    def level_weights(self) -> np.ndarray | None:
        """The weight of each level over all classes: [n_levels]."""
        return self.known().sum(axis=1)

    def check(self, n_levels: int, n_classes: int) -> None:
        """Raises an error unless there is a cell for each level, missing values and each class."""
        self.cells.check((n_levels + 1, n_classes))

    def known(self, exponent: int = 0) -> np.ndarray:
        """The weight of each level in each class, times 2^−exponent: float64 [n_levels, n_classes]."""
        return self.cells.rounded(exponent)[1:]
