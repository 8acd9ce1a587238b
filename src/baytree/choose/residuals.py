"""How far predicted numbers are from the true ones: sums that add up over parts, and the scores read off them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baytree.choose import metrics


@dataclass(frozen=True)
class Residuals:
    """The sums of absolute and squared errors of rows, and the mean and the squared deviations of their true numbers."""

    n_rows: int = 0
    absolute: float = 0.0
    squared: float = 0.0
    mean: float = 0.0
    spread: float = 0.0  # about the mean, so that a large offset costs no digits

    @classmethod
    def of(cls, truth: np.ndarray, answer: np.ndarray) -> Residuals:
        """The residuals of rows."""
        error, mean = answer - truth, float(truth.mean())
        return cls(len(truth), float(abs(error).sum()), float(error @ error), mean, float(((truth - mean) ** 2).sum()))

    def __add__(self, other: Residuals) -> Residuals:
        n = self.n_rows + other.n_rows
        apart = other.mean - self.mean
        return Residuals(
            n,
            self.absolute + other.absolute,
            self.squared + other.squared,
            self.mean + apart * other.n_rows / max(n, 1),
            self.spread + other.spread + apart * apart * self.n_rows * other.n_rows / max(n, 1),
        )

    @property
    def mean_absolute(self) -> float:
        """The mean distance between answer and truth."""
        return self.absolute / self.n_rows

    @property
    def root_mean_square(self) -> float:
        """The root of the mean squared distance."""
        return (self.squared / self.n_rows) ** 0.5

    @property
    def explained(self) -> float:
        """R²: the share of the variance that is explained; NaN where the true numbers are all the same."""
        return metrics.explained(self.squared, self.spread)
