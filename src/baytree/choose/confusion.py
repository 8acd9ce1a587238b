"""How often each class was taken for each: counts that add up over parts, and the scores read off them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from baytree.choose import metrics
from baytree.show.terminal import aligned, escaped


@dataclass(frozen=True)
class Confusion:
    """Rows counted by their class and the class predicted for them, and the sum of their log losses."""

    counts: np.ndarray  # int64 [n_classes, n_classes]: truth, prediction
    log_losses: float = 0.0

    @classmethod
    def of(cls, truth: np.ndarray, answer: np.ndarray, probability: np.ndarray) -> Confusion:
        """The confusion of rows: the codes of their classes and of their answers, and [n_rows, n_classes]."""
        counts = metrics.confusion(truth, answer, probability.shape[1])
        return cls(counts, float(metrics.log_losses(truth, probability).sum()))

    def __add__(self, other: Confusion) -> Confusion:
        return Confusion(self.counts + other.counts, self.log_losses + other.log_losses)

    @property
    def n_rows(self) -> int:
        """How many rows were counted."""
        return int(self.counts.sum())

    @property
    def log_loss(self) -> float:
        """The mean of −log of the probability of what came true."""
        return self.log_losses / self.n_rows

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% interval of the accuracy."""
        n, share, z = self.n_rows, metrics.accuracy(self.counts), 1.959963984540054
        centre, half = share + z * z / (2 * n), z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        return float((centre - half) / (1 + z * z / n)), float((centre + half) / (1 + z * z / n))


def by_class(counts: np.ndarray, classes: Sequence[str]) -> str:
    """A line per class: its rows, precision, recall and F1."""
    scores = [_shown(score(counts)) for score in (metrics.precision, metrics.recall, metrics.f1)]
    rows = zip(classes, map(_count, counts.sum(axis=1).tolist()), *scores, strict=True)
    return aligned(["class", "rows", "precision", "recall", "F1"], rows)


def cells(counts: np.ndarray, classes: Sequence[str], corner: str) -> str:
    """A line per class: how often it was answered as each class."""
    names = list(map(escaped, classes))
    rows = [[name, *map(_count, row)] for name, row in zip(names, counts.tolist(), strict=True)]
    return aligned([corner, *names], rows)


def _shown(scores: np.ndarray) -> list[str]:
    return ["–" if np.isnan(score) else f"{score:.4f}" for score in scores]


def _count(rows: float) -> str:
    """A number of rows, or their weight."""
    return f"{rows:,}" if isinstance(rows, int) else f"{rows:,.6g}"
