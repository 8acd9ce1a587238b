"""The baseline that every model has to beat: always the largest class, or the mean, of the training rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from baytree.choose.problem import Problem
from baytree.choose.validate.trials import Trial
from baytree.folds.cv import Fold


def trials_of_the_baseline(problem: Problem, folds: tuple[Fold, ...]) -> Iterator[Trial]:
    """What the training rows alone would answer in each fold, without a look at any column."""
    for fold in folds:
        same = _shares(problem, fold.train) if problem.is_classification else _mean(problem, fold.train)
        repeated = np.repeat(same[None], len(fold.test), axis=0)
        if problem.is_classification:
            yield Trial(fold.test, len(fold.train), repeated.argmax(axis=1), repeated, 0.0)
        else:
            yield Trial(fold.test, len(fold.train), repeated[:, 0], None, 0.0)


def _shares(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """[n_classes] the share of each class."""
    counts = np.bincount(problem.label.values[rows], problem.weight[rows], len(problem.classes))
    return counts / counts.sum()


def _mean(problem: Problem, rows: np.ndarray) -> np.ndarray:
    return np.array([np.average(problem.label.values[rows], weights=problem.weight[rows])])
