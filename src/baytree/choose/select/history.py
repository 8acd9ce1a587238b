"""The steps of a search through sets of columns, and which of them was taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from baytree.show.results import Shown, frame_of
from baytree.show.terminal import aligned

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Step:
    """A set of columns that the search went through."""

    columns: tuple[int, ...]
    names: tuple[str, ...]
    move: str  # what was done to get here
    scores: np.ndarray  # [n_folds], larger is better

    @property
    def mean(self) -> float:
        """The mean over the folds."""
        return float(mean(self.scores))

    @property
    def standard_error(self) -> float:
        """The standard error of the mean over the folds."""
        known = self.scores[~np.isnan(self.scores)]
        return float(np.std(known, ddof=1) / np.sqrt(len(known))) if len(known) > 1 else 0.0


@dataclass(frozen=True, repr=False)
class History(Shown):
    """Every step of a search, in order, and the place of the one that was taken."""

    metric: str
    steps: tuple[Step, ...]
    taken: int

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, place: int) -> Step:
        return self.steps[place]

    def to_frame(self) -> Any:
        """A data frame, one row per step."""
        columns = {
            "columns": [len(step.columns) for step in self.steps],
            "move": [step.move for step in self.steps],
            "mean": [step.mean for step in self.steps],
            "standard_error": [step.standard_error for step in self.steps],
            "set": [", ".join(step.names) for step in self.steps],
            "taken": [place == self.taken for place in range(len(self.steps))],
        }
        return frame_of(columns)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The mean and its standard error by the number of columns; needs matplotlib."""
        from baytree.show.pictures.charts import band

        order = sorted(range(len(self.steps)), key=lambda place: (len(self.steps[place].columns), place))
        size = np.array([len(self.steps[place].columns) for place in order])
        mean = np.array([self.steps[place].mean for place in order])
        error = np.array([self.steps[place].standard_error for place in order])
        return band(size, mean, error, ("columns", self.metric), order.index(self.taken), ax)

    def __str__(self) -> str:
        rows = [
            [len(step.columns), step.move, step.mean, step.standard_error, "taken" if place == self.taken else ""]
            for place, step in enumerate(self.steps)
        ]
        return aligned(["columns", "step", self.metric, "± SE", ""], rows)


def mean(scores: np.ndarray) -> np.ndarray:
    """The mean over the last axis, the folds, of those that have a score; −∞ where none has, which is worse than any."""
    is_known = ~np.isnan(scores)
    total = np.where(is_known, scores, 0.0).sum(axis=-1)
    return np.where(is_known.any(axis=-1), total / np.maximum(is_known.sum(axis=-1), 1), -np.inf)
