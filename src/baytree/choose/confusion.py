"""How often each class was taken for each: counts that add up over parts, and the scores read off them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Confusion:
    """Rows counted by their class and the class predicted for them, and the sum of their log losses."""

    counts: np.ndarray  # int64 [n_classes, n_classes]: truth, prediction
    log_loss: float = 0.0

    @classmethod
    def of(cls, truth: np.ndarray, answer: np.ndarray, probabilities: np.ndarray) -> Confusion:
        """The confusion of rows: the codes of their classes and of their answers, and [n_rows, n_classes]."""
        n = probabilities.shape[1]
        counts = np.bincount(truth * n + answer, minlength=n * n).reshape(n, n)
        given = probabilities[np.arange(len(truth)), truth]
        return cls(counts, float(-np.log(np.maximum(given, np.finfo(float).tiny)).sum()))

    def __add__(self, other: Confusion) -> Confusion:
        return Confusion(self.counts + other.counts, self.log_loss + other.log_loss)

    @property
    def n_rows(self) -> int:
        """How many rows were counted."""
        return int(self.counts.sum())

    @property
    def accuracy(self) -> float:
        """The share of rows whose class was predicted."""
        return float(np.trace(self.counts) / self.n_rows)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% interval of the accuracy."""
        n, share, z = self.n_rows, self.accuracy, 1.959963984540054
        centre, half = share + z * z / (2 * n), z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        return float((centre - half) / (1 + z * z / n)), float((centre + half) / (1 + z * z / n))

    @property
    def precision(self) -> np.ndarray:
        """[n_classes] of the rows predicted as a class, the share that is of it; NaN where none was."""
        return _share(np.diag(self.counts), self.counts.sum(axis=0))

    @property
    def recall(self) -> np.ndarray:
        """[n_classes] of the rows of a class, the share predicted as it; NaN where there is none."""
        return _share(np.diag(self.counts), self.counts.sum(axis=1))

    @property
    def f1(self) -> np.ndarray:
        """[n_classes] the harmonic mean of precision and recall; 0 where no row of the class was found."""
        return _share(2 * np.diag(self.counts), self.counts.sum(axis=0) + self.counts.sum(axis=1))

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of the classes that have rows."""
        return float(np.nanmean(self.recall))

    @property
    def correlation(self) -> float:
        """Matthews' correlation of classes and answers; 0 where either is always the same."""
        truth, answer, n = self.counts.sum(axis=1).astype(float), self.counts.sum(axis=0).astype(float), float(self.n_rows)
        size = np.sqrt((n * n - truth @ truth) * (n * n - answer @ answer))
        return float((np.trace(self.counts) * n - truth @ answer) / size) if size > 0 else 0.0


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
