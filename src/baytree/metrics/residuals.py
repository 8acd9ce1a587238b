"""Residuals of numeric predictions as exact sums that are additive over parts, and the regression metrics."""

from __future__ import annotations

from typing import Any, Self

import msgspec
import numpy as np

from baytree.metrics import scores as metrics
from baytree.statistics.exact_sum import quotient
from baytree.statistics.moments import Moments
from baytree.statistics.value_counts import WeightedValues

_TRUTH, _ERROR, _SIZE = range(3)


class Residuals(msgspec.Struct, frozen=True):
    """Exact sums of true values, errors and absolute errors; additive over parts."""

    n_rows: int
    moments: Moments  # [1, 3]: of true values, errors and absolute errors
    sizes: WeightedValues  # absolute errors
    n_unlabelled: int = 0  # rows that were skipped

    @classmethod
    def of(cls, truth: np.ndarray, answer: np.ndarray, weight: np.ndarray | None = None) -> Self:
        """Residuals of rows."""
        error, group = answer - truth, np.zeros(len(truth), np.int32)
        size = np.abs(error)
        moments = Moments.of(np.stack([truth, error, size], axis=1), group, weight, 1)
        return cls(len(truth), moments, WeightedValues.of(size, group, weight, 1))

    @classmethod
    def none(cls, n_unlabelled: int = 0) -> Self:
        """Residuals of no rows."""
        return msgspec.structs.replace(cls.of(np.zeros(0), np.zeros(0)), n_unlabelled=n_unlabelled)

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.n_rows + other.n_rows,
            self.moments + other.moments,
            self.sizes + other.sizes,
            self.n_unlabelled + other.n_unlabelled,
        )

    @property
    def mean_absolute(self) -> float:
        """Mean absolute error."""
        return float(self.moments.mean()[0, _SIZE])

    @property
    def mean_square(self) -> float:
        """Mean squared error."""
        weight, square = self.moments.weight, self.moments.square
        return quotient(square.integers()[_ERROR], weight.integers()[_ERROR], square.exponent - weight.exponent)

    @property
    def root_mean_square(self) -> float:
        """Root mean squared error."""
        return self.mean_square**0.5

    @property
    def explained(self) -> float:
        """R²: proportion of explained variance; NaN if all true values are equal."""
        return metrics.r2_score(self.mean_square, float(self.moments.deviation()[0, _TRUTH]) ** 2)

    @property
    def scores(self) -> dict[str, float]:
        """All regression metrics by name."""
        values: dict[str, Any] = {
            "RMSE": self.root_mean_square,
            "MAE": self.mean_absolute,
            "median error": metrics.median_of_counts(self.sizes.value, self.sizes.weights()[:, 0]),
            "R²": self.explained,
            "squared error": self.mean_square,
        }
        return {metric: values[metric] for metric in metrics.REGRESSION}
