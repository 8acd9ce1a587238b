"""Stepwise search through column subsets: forward, backward, and floating (Pudil, Novovičová and Kittler 1994).

`SubsetSearch` does the steps, `History` records them and which one was selected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from baytree.display.results import TextResult, frame_of
from baytree.display.terminal import aligned
from baytree.feature_selection.subset_scores import Scorer

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SubsetSearch:
    """Stepwise search through column subsets; ties go to the earlier column."""

    def __init__(self, score: Scorer, names: Sequence[str], is_floating: bool):
        self._score, self._names, self._is_floating = score, names, is_floating
        self._steps: list[SelectionStep] = []
        self._best: dict[int, float] = {}  # best mean of each size

    def forward(self, size: int) -> list[SelectionStep]:
        """Steps from the empty set up to `size` columns."""
        chosen: list[int] = []
        while len(chosen) < size:
            chosen = self._add(chosen)
            while self._is_floating and len(chosen) > 2:
                smaller, scores = self._least_missed(chosen)
                if mean(scores) <= self._best[len(smaller)]:
                    break
                chosen = self._record(smaller, f"− {self._gone(chosen, smaller)}", scores)
        return self._steps

    def backward(self, chosen: list[int], size: int) -> list[SelectionStep]:
        """Steps from this set down to `size` columns."""
        first = self._score.added(chosen[:-1], chosen[-1:])[0]
        chosen = self._record(chosen, "all columns", first)
        all_columns = list(chosen)
        while len(chosen) > size:
            smaller, scores = self._least_missed(chosen)
            chosen = self._record(smaller, f"− {self._gone(chosen, smaller)}", scores)
            while self._is_floating and len(chosen) < len(all_columns) - 1:
                larger, scores = self._most_wanted(chosen, all_columns)
                if mean(scores) <= self._best[len(larger)]:
                    break
                chosen = self._record(larger, f"+ {self._names[larger[-1]]}", scores)
        return self._steps

    def _add(self, chosen: list[int]) -> list[int]:
        larger, scores = self._most_wanted(chosen, range(len(self._names)))
        return self._record(larger, f"+ {self._names[larger[-1]]}", scores)

    def _most_wanted(self, chosen: list[int], candidates: Sequence[int]) -> tuple[list[int], np.ndarray]:
        candidates = [j for j in candidates if j not in chosen]
        scores = self._score.added(chosen, candidates)
        best = int(np.argmax(mean(scores)))
        return [*chosen, candidates[best]], scores[best]

    def _least_missed(self, chosen: list[int]) -> tuple[list[int], np.ndarray]:
        candidates = sorted(chosen)
        scores = self._score.removed(chosen, candidates)
        best = int(np.argmax(mean(scores)))
        return [j for j in chosen if j != candidates[best]], scores[best]

    def _gone(self, chosen: list[int], smaller: list[int]) -> str:
        return self._names[next(j for j in chosen if j not in smaller)]

    def _record(self, chosen: list[int], move: str, scores: np.ndarray) -> list[int]:
        columns = tuple(sorted(chosen))
        self._steps.append(SelectionStep(columns, tuple(self._names[j] for j in columns), move, scores))
        self._best[len(columns)] = max(self._best.get(len(columns), -np.inf), float(mean(scores)))
        return chosen


@dataclass(frozen=True)
class SelectionStep:
    """Column subset that the search visited."""

    columns: tuple[int, ...]
    names: tuple[str, ...]
    move: str  # change that led to it
    scores: np.ndarray  # [n_folds], larger is better

    @property
    def mean(self) -> float:
        """Mean over the folds."""
        return float(mean(self.scores))

    @property
    def standard_error(self) -> float:
        """Standard error of the mean over the folds."""
        known = self.scores[~np.isnan(self.scores)]
        return float(np.std(known, ddof=1) / np.sqrt(len(known))) if len(known) > 1 else 0.0


@dataclass(frozen=True, repr=False)
class History(TextResult):
    """All steps of a search in order, and the index of the selected one."""

    metric: str
    steps: tuple[SelectionStep, ...]
    taken: int

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, position: int) -> SelectionStep:
        return self.steps[position]

    def to_frame(self) -> Any:
        """Data frame with one row per step."""
        columns = {
            "columns": [len(step.columns) for step in self.steps],
            "move": [step.move for step in self.steps],
            "mean": [step.mean for step in self.steps],
            "standard_error": [step.standard_error for step in self.steps],
            "set": [", ".join(step.names) for step in self.steps],
            "taken": [index == self.taken for index in range(len(self.steps))],
        }
        return frame_of(columns)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot mean and standard error by the number of columns; needs matplotlib."""
        from baytree.rendering.plots.charts import band

        order = sorted(range(len(self.steps)), key=lambda index: (len(self.steps[index].columns), index))
        size = np.array([len(self.steps[index].columns) for index in order])
        mean = np.array([self.steps[index].mean for index in order])
        error = np.array([self.steps[index].standard_error for index in order])
        return band(size, mean, error, ("columns", self.metric), order.index(self.taken), ax)

    def __str__(self) -> str:
        rows = [
            [len(step.columns), step.move, step.mean, step.standard_error, "taken" if index == self.taken else ""]
            for index, step in enumerate(self.steps)
        ]
        return aligned(["columns", "step", self.metric, "± SE", ""], rows)


def mean(scores: np.ndarray) -> np.ndarray:
    """Mean over the folds (last axis), ignoring NaN; −∞ if all are NaN, which is worse than any score."""
    is_known = ~np.isnan(scores)
    total = np.where(is_known, scores, 0.0).sum(axis=-1)
    return np.where(is_known.any(axis=-1), total / np.maximum(is_known.sum(axis=-1), 1), -np.inf)
