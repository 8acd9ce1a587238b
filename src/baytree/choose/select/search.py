"""A walk through sets of columns: forwards, backwards, and back again where that helps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from baytree.choose.select.history import Step, mean
from baytree.choose.select.scorers import Scorer


class Search:
    """A walk through sets of columns; equal scores go to the earlier column."""

    def __init__(self, score: Scorer, names: Sequence[str], is_floating: bool):
        self._score, self._names, self._is_floating = score, names, is_floating
        self._steps: list[Step] = []
        self._best: dict[int, float] = {}  # the best mean of each size

    def forward(self, size: int) -> list[Step]:
        """The steps from the empty set up to a size."""
        chosen: list[int] = []
        while len(chosen) < size:
            chosen = self._add(chosen)
            while self._is_floating and len(chosen) > 2:
                smaller, scores = self._least_missed(chosen)
                if mean(scores) <= self._best[len(smaller)]:
                    break
                chosen = self._record(smaller, f"− {self._gone(chosen, smaller)}", scores)
        return self._steps

    def backward(self, chosen: list[int], size: int) -> list[Step]:
        """The steps from this set down to a size."""
        first = self._score.added(chosen[:-1], chosen[-1:])[0]
        chosen = self._record(chosen, "all columns", first)
        everything = list(chosen)
        while len(chosen) > size:
            smaller, scores = self._least_missed(chosen)
            chosen = self._record(smaller, f"− {self._gone(chosen, smaller)}", scores)
            while self._is_floating and len(chosen) < len(everything) - 1:
                larger, scores = self._most_wanted(chosen, everything)
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
        self._steps.append(Step(columns, tuple(self._names[j] for j in columns), move, scores))
        self._best[len(columns)] = max(self._best.get(len(columns), -np.inf), float(mean(scores)))
        return chosen
