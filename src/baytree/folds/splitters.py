"""Read the `cv=` argument of all functions: a number of folds, "loo", a proportion, a splitter, pairs of rows, or a fold per
row.

This is the only place that interprets `cv=`, so it means the same everywhere. `read_cv` is the entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from baytree._typing import FrameLike, TargetLike

_REMEDY = (
    "give a number of folds, 'loo', a proportion to hold out, a splitter, the fold of each row, "
    "or pairs (train, test) of rows"
)


class Splitter(Protocol):
    """Protocol of objects that assign rows to folds, such as scikit-learn's splitters."""

    def split(self, X: FrameLike, y: TargetLike = None, groups: ArrayLike | None = None) -> Iterable[tuple[Any, Any]]:
        """Yield pairs (train, test) of row indices."""
        ...


CV = int | float | str | Splitter | Iterable[Any]  # accepted values of `cv=`: see `read_cv`


class Fold(NamedTuple):
    """Training rows and test rows."""

    train: np.ndarray  # [n_train]
    test: np.ndarray  # [n_test]

    @property
    def is_complement(self) -> bool:
        """Whether the training and test rows are disjoint."""
        return not len(np.intersect1d(self.train, self.test, assume_unique=True))


class Folds(NamedTuple):
    """Folds, and a description of how they were made."""

    parts: tuple[Fold, ...]
    how: str

    def of_rows(self, n_rows: int) -> np.ndarray:
        """Number of the fold that holds each row out (int64 [n_rows]). Raises ValueError if a row is never held out."""
        fold = np.full(n_rows, -1, np.int64)
        for number, part in enumerate(self.parts):
            fold[part.test] = number
        if (fold < 0).any():
            raise ValueError(f"cv never holds row {int(np.argmin(fold))} out; every row must be in one fold")
        return fold


def read_cv(
    cv: CV, n_rows: int, label: np.ndarray, is_classification: bool, groups: ArrayLike | None = None, seed: int | None = 0
) -> Folds:
    """Folds that `cv` asks for.

    An integer is the number of folds (at most the number of rows), stratified by class, shuffled by the seed unless that is
    None; with `groups`, whole groups stay together. "loo" leaves out one row (or group) at a time; a proportion between 0
    and 1 is held out once. A scikit-learn splitter, pairs of rows (indices or masks) and a vector with the fold of each row
    are used unchanged.

    >>> folds = read_cv([0, 1, 0, 1], 4, np.zeros(4, int), is_classification=True)
    >>> [fold.test.tolist() for fold in folds.parts]
    [[0, 2], [1, 3]]
    """
    pairs, how = _pairs(cv, n_rows, label, is_classification, groups, seed)
    parts = tuple(Fold(*(_numbers(rows, n_rows) for rows in _pair(each))) for each in pairs)
    if not parts or any(not len(fold.train) or not len(fold.test) for fold in parts):
        raise ValueError(f"cv={cv!r} leaves a fold without rows; the table has {n_rows} sample{'s' * (n_rows != 1)}")
    return Folds(parts, how or f"{len(parts)} folds by {type(cv).__name__}")


def repeated(deals: Sequence[Folds], seed: int) -> Folds:
    """Concatenated folds of several repetitions over the same rows; their seeds count up from `seed`."""
    if len(deals) == 1:
        return deals[0]
    parts = tuple(part for deal in deals for part in deal.parts)
    plain = deals[0].how.removesuffix(f", seed {seed}")
    return Folds(parts, f"{plain}, repeated {len(deals)} times, seeds {seed} to {seed + len(deals) - 1}")


def names_rows(cv: CV) -> bool:
    """Whether `cv` refers to the rows of one table: pairs of rows, or the fold of each row."""
    return np.iterable(cv) and not hasattr(cv, "split")


def _pairs(
    cv: CV, n_rows: int, label: np.ndarray, is_classification: bool, groups: ArrayLike | None, seed: int | None
) -> tuple[Iterable[Any], str]:
    """Pairs of rows and a description of how they were made, empty for a splitter, which is named by its class."""
    rows = np.zeros((n_rows, 1))
    if isinstance(cv, (str, bytes)):
        if cv not in ("loo", "leave-one-out"):
            raise ValueError(f"cv={cv!r}: {_REMEDY}")
        if groups is not None:
            n_groups = _count_groups(groups)
            return _splitters().LeaveOneGroupOut().split(rows, label, groups), f"{n_groups} groups, leave-one-group-out"
        return _splitters().LeaveOneOut().split(rows), f"{n_rows} rows, leave-one-out"
    if isinstance(cv, float) and 0 < cv < 1 and groups is not None:
        _count_groups(groups)
        splitter = _splitters().GroupShuffleSplit(1, test_size=cv, random_state=seed or 0)
        return splitter.split(rows, label, groups), f"{cv:.0%} of the groups held out, seed {seed or 0}"
    if isinstance(cv, float) and 0 < cv < 1:
        is_stratified = is_classification and np.bincount(label).min() > 1
        ms = _splitters()
        kind = ms.StratifiedShuffleSplit if is_stratified else ms.ShuffleSplit
        seed = seed or 0  # a random draw always needs a seed
        return kind(1, test_size=cv, random_state=seed).split(rows, label), f"{cv:.0%} of the rows held out, seed {seed}"
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        return _k_folds(int(cv), rows, label, is_classification, groups, seed)
    if hasattr(cv, "split"):
        return cv.split(rows, label) if groups is None else cv.split(rows, label, groups), ""
    if np.iterable(cv):
        return _given(list(cv), n_rows), "given folds"
    raise ValueError(f"cv={cv!r}: {_REMEDY}")


def _k_folds(
    k: int, rows: np.ndarray, label: np.ndarray, is_classification: bool, groups: ArrayLike | None, seed: int | None
) -> tuple[Iterable[Any], str]:
    if k < 2:
        raise ValueError(f"cv={k}: give at least 2 folds")
    seed_text = "" if seed is None else f", seed {seed}"
    if groups is not None:
        ms, k = _splitters(), min(k, _count_groups(groups))
        kind: type = ms.StratifiedGroupKFold if is_classification else ms.GroupKFold
        splitter = kind(k, shuffle=seed is not None, random_state=seed)
        return splitter.split(rows, label, groups), f"{k} folds by group{seed_text}"
    k = min(k, len(rows))
    if is_classification and np.bincount(label).max() >= k:
        return _by_fold(_stratified(label, k, seed)), f"{k} stratified folds{seed_text}"
    return _splitters().KFold(k, shuffle=seed is not None, random_state=seed).split(rows), f"{k} folds{seed_text}"


def _count_groups(groups: ArrayLike) -> int:
    """Number of groups; raises ValueError if there is one only."""
    n_groups = len(np.unique(np.asarray(groups)))
    if n_groups < 2:
        raise ValueError("all rows are of one group, so none can be tested on another; give other groups, or omit groups=")
    return n_groups


def _splitters() -> ModuleType:
    """scikit-learn's `model_selection`, imported late because that is slow and the usual folds do not need it."""
    from sklearn import model_selection

    return model_selection


def _stratified(label: np.ndarray, k: int, seed: int | None) -> np.ndarray:
    """Fold of each row (int64 [n_rows]) as by scikit-learn's StratifiedKFold, without its warning about classes smaller than
    k.
    """
    _, first, code = np.unique(label, return_index=True, return_inverse=True)
    code = np.argsort(np.argsort(first))[code]  # classes in order of first appearance
    sorted_codes = np.sort(code)
    allocation = np.array([np.bincount(sorted_codes[turn::k], minlength=len(first)) for turn in range(k)])  # [k, n_classes]
    random, fold = np.random.RandomState(seed), np.empty(len(label), np.int64)
    for c in range(len(first)):
        assignment = np.repeat(np.arange(k), allocation[:, c])
        if seed is not None:
            random.shuffle(assignment)
        fold[code == c] = assignment
    return fold


def _given(pairs: list[Any], n_rows: int) -> Iterable[Any]:
    """Pairs as given, or the pairs that a fold per row defines."""
    if not pairs or hasattr(pairs[0], "__len__"):
        return pairs
    if len(pairs) != n_rows:
        raise ValueError(f"cv gives {len(pairs)} folds for {n_rows} rows")
    return _by_fold(np.unique(np.asarray(pairs), return_inverse=True)[1])


def _by_fold(fold: np.ndarray) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    return ((np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in range(int(fold.max()) + 1))


def _pair(pair: object) -> Sequence[ArrayLike] | np.ndarray:
    if not isinstance(pair, (tuple, list, np.ndarray)) or len(pair) != 2:
        raise ValueError(f"cv holds {pair!r}: {_REMEDY}")
    return pair


def _numbers(given: ArrayLike, n_rows: int) -> np.ndarray:
    """Indices of these rows, from indices or a mask. int [n]"""
    rows = np.asarray(given)
    if rows.dtype == bool and rows.shape == (n_rows,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise ValueError(f"cv holds out {given!r}: {_REMEDY}")
    if rows.size and not -n_rows <= rows.min() <= rows.max() < n_rows:
        raise ValueError(f"cv names row {int(rows.max())}, but there are {n_rows} rows")
    return rows.astype(np.intp)
