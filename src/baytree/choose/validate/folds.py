"""Which rows are learnt from and which are kept back, by scikit-learn's splitters."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from baytree.choose.problem import Problem


class Fold(NamedTuple):
    """Rows to learn from, and rows to be answered for."""

    train: np.ndarray
    test: np.ndarray

    @property
    def is_complement(self) -> bool:
        """Whether every row is in exactly one of the two, as far as their numbers tell."""
        return not len(np.intersect1d(self.train, self.test, assume_unique=True))


class Folds(NamedTuple):
    """The folds of a problem, and how they were made, in words."""

    parts: tuple[Fold, ...]
    how: str

    @classmethod
    def of(cls, problem: Problem, cv: Any = 10, groups: Any = None, seed: int | None = 0) -> Folds:
        """The folds that `cv` asks for.

        A whole number is that many folds (never more than rows), stratified by class, whole groups together where `groups`
        are given; shuffled by the seed, or in the order of the rows where it is None. "loo" leaves out one row at a time; a
        share between 0 and 1 is held out once; any splitter of scikit-learn and any list of (train, test) is taken as it is.
        """
        splitter, how = _splitter(problem, cv, groups, seed)
        rows = np.zeros((len(problem), 1))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")
            if hasattr(splitter, "split"):
                groups = None if groups is None else np.asarray(groups)[problem.kept] if problem.kept is not None else groups
                pairs = splitter.split(rows, problem.label.values, groups)
            else:
                pairs = [tuple(problem.places(_indices(side)) for side in pair) for pair in splitter]
            parts = tuple(Fold(_indices(train), _indices(test)) for train, test in pairs)
        if not parts or any(not len(fold.train) or not len(fold.test) for fold in parts):
            raise ValueError(f"cv={cv!r} leaves a fold without rows; the table has {len(problem)} rows")
        return cls(parts, how or f"{len(parts)} folds by {type(splitter).__name__}")


def _splitter(problem: Problem, cv: Any, groups: Any, seed: int | None) -> tuple[Any, str]:
    from sklearn import model_selection as ms

    if isinstance(cv, str):
        if cv not in ("loo", "leave-one-out"):
            raise ValueError(f"cv={cv!r}: give a number of folds, 'loo', a share to hold out, or a splitter")
        return ms.LeaveOneOut(), f"{len(problem)} rows left out one by one"
    if isinstance(cv, float) and 0 < cv < 1:
        is_stratified = problem.is_classification and np.bincount(problem.label.values).min() > 1
        kind = ms.StratifiedShuffleSplit if is_stratified else ms.ShuffleSplit
        return kind(1, test_size=cv, random_state=seed or 0), f"{cv:.0%} of the rows held out, seed {seed}"
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        return _k_folds(problem, int(cv), groups, seed)
    if hasattr(cv, "split"):
        return cv, ""
    if np.iterable(cv):
        return list(cv), "given folds"
    raise ValueError(f"cv={cv!r}: give a number of folds, 'loo', a share to hold out, or a splitter")


def _k_folds(problem: Problem, k: int, groups: Any, seed: int | None) -> tuple[Any, str]:
    from sklearn import model_selection as ms

    if k < 2:
        raise ValueError(f"cv={k}: give at least 2 folds")
    if groups is not None:
        kind = ms.StratifiedGroupKFold if problem.is_classification else ms.GroupKFold
        return kind(k, shuffle=seed is not None, random_state=seed), f"{k} folds of whole groups, seed {seed}"
    k = min(k, len(problem))
    if problem.is_classification and np.bincount(problem.label.values).max() >= k:
        return ms.StratifiedKFold(k, shuffle=seed is not None, random_state=seed), f"{k} stratified folds, seed {seed}"
    return ms.KFold(k, shuffle=seed is not None, random_state=seed), f"{k} folds, seed {seed}"


def _indices(rows: Any) -> np.ndarray:
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.intp)
