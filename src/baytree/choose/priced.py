"""What answers cost: the class of least expected cost held against the truth, as counts that add up over parts."""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np

from baytree.choose import metrics
from baytree.statistics.counts import Counts
from baytree.statistics.exact import ExactSum


class Priced(msgspec.Struct, frozen=True):
    """Rows by their class and by the class of least expected cost, without rounding: parts add up to the whole."""

    costs: np.ndarray  # [n_classes, n_classes]: of answering the second class where the first is true
    cells: ExactSum  # [n_classes, n_classes]: weights by class and by the class of least expected cost

    @classmethod
    def of(cls, truth: np.ndarray, probability: np.ndarray, weight: np.ndarray | None, costs: np.ndarray) -> Self:
        """Of rows: the codes of their classes, and [n_rows, n_classes]."""
        answer = metrics.least_costly(probability, costs)
        cells = Counts.of(truth.astype(np.int32), answer.astype(np.int32), weight, len(costs), len(costs)).cells
        return cls(costs, cells.take(np.arange(1, len(costs) + 1)))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.costs, self.cells + other.cells)

    @property
    def expected(self) -> float:
        """What a row costs on average where the class of least expected cost is answered."""
        return self.of_answers(self.cells.rounded())

    def of_answers(self, counts: np.ndarray) -> float:
        """What a row costs on average, of weights by class and by the class answered."""
        return float((counts * self.costs).sum() / counts.sum())

    def of_one_answer(self, counts: np.ndarray) -> tuple[int, float]:
        """The class that costs least where every row gets the same answer, and what a row costs then."""
        cost = counts.sum(axis=1) @ self.costs / counts.sum()
        return int(cost.argmin()), float(cost.min())
