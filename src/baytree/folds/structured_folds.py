"""Folds that respect groups and times of the rows, and folds as arrays for learners with folds of their own.

`read_folds` is `read_cv` for rows with a `RowStructure`. In time, the rows are sorted, the last of them are cut into test
blocks, and each block is predicted from earlier rows only (an expanding window). With groups as well, rows of a group that
is tested are left out of training.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from baytree.folds.row_structure import RowStructure
from baytree.folds.splitters import CV, Fold, Folds, names_rows, read_cv

_NEITHER, _TRAIN, _TEST = 0, 1, 2  # role of a row in a fold


def read_folds(cv: CV, label: np.ndarray, is_classification: bool, structure: RowStructure, seed: int | None = 0) -> Folds:
    """Folds that `cv` asks for, with the groups and times of the rows respected.

    >>> structure = RowStructure(time=np.array([3.0, 1.0, 2.0, 2.0]), time_name="day")
    >>> folds = read_folds(2, np.zeros(4, int), True, structure)
    >>> [(fold.train.tolist(), fold.test.tolist()) for fold in folds.parts]
    [([1], [2, 3]), ([1, 2, 3], [0])]
    >>> folds.how
    '2 folds in the order of day, each after its training rows'
    """
    if structure.time is None:
        if structure.gap or structure.test_size is not None:
            raise ValueError("gap= and test_size= need time=, the column that orders the rows")
        folds = read_cv(cv, len(label), label, is_classification, structure.groups, seed)
        return folds._replace(how=_naming(folds.how, structure.group_name)) if structure.group_name else folds
    if names_rows(cv):
        raise ValueError("cv names the rows of each fold, so time= has nothing to order; give one of them")
    order = np.argsort(structure.time, kind="stable")
    if hasattr(cv, "split") and not isinstance(cv, str):
        return _by_splitter(cv, label, is_classification, structure, order)
    return _expanding_windows(cv, structure, order)


def _naming(how: str, group: str) -> str:
    """Description with the name of the column of groups."""
    return how.replace("by group", f"by group ({group})", 1) if "by group" in how else f"{how}, groups by {group}"


def _by_splitter(cv: CV, label: np.ndarray, is_classification: bool, structure: RowStructure, order: np.ndarray) -> Folds:
    """Folds of a splitter on the sorted rows."""
    if structure.gap or structure.test_size is not None:
        raise ValueError(f"give gap and test_size to the splitter {type(cv).__name__}, not beside it")
    groups = None if structure.groups is None else structure.groups[order]
    folds = read_cv(cv, len(label), label[order], is_classification, groups)
    parts = tuple(Fold(np.sort(order[fold.train]), np.sort(order[fold.test])) for fold in folds.parts)
    return Folds(parts, f"{folds.how} in the order of {structure.time_name or 'time'}")


def _expanding_windows(cv: CV, structure: RowStructure, order: np.ndarray) -> Folds:
    assert structure.time is not None
    times, n = structure.time[order], len(order)
    name = structure.time_name or "time"
    if times[0] == times[-1]:
        raise ValueError(f"time={name!r} is the same in all rows; give a column that orders them, or omit time=")
    n_folds, size = _sizes(cv, structure.test_size, n)
    starts = np.searchsorted(times, times[np.maximum(n - size * np.arange(n_folds, 0, -1), 0)])  # equal times stay together
    starts = np.unique(starts[starts > 0])
    if not len(starts):
        starts = np.searchsorted(times, times[-1:])
    gap = structure.gap * structure.ticks
    parts = []
    for first, end in zip(starts.tolist(), [*starts[1:].tolist(), n], strict=True):
        train, test = order[: int(np.searchsorted(times, times[first] - gap))], order[first:end]
        if structure.groups is not None:
            train = train[~np.isin(structure.groups[train], structure.groups[test])]
        if len(train):  # the first blocks may have no training rows before the gap, or of other groups
            parts.append(Fold(np.sort(train), np.sort(test)))
    if not parts:
        raise ValueError(_without_training_rows(structure, name, float(times[-1] - times[0])))
    return Folds(tuple(parts), _in_words(len(parts), name, structure))


def _without_training_rows(structure: RowStructure, name: str, span: float) -> str:
    if structure.gap:
        days = " days" if structure.unit else ""
        return (
            f"gap={structure.gap:g} leaves no row to train on before any test rows: {name!r} spans "
            f"{span / structure.ticks:g}{days}; give a smaller gap"
        )
    return "every row before the test rows belongs to a group that is tested; give only one of groups= and time="


def _sizes(cv: CV, test_size: float | None, n: int) -> tuple[int, int]:
    """Number of test blocks and of rows in each."""
    if isinstance(cv, float) and 0 < cv < 1:
        return 1, max(1, round(cv * n))
    if isinstance(cv, bool) or not isinstance(cv, (int, np.integer)) or cv < 1:
        raise ValueError(f"cv={cv!r} with time=: give a number of folds, a proportion of the last rows, or a splitter")
    if test_size is None:
        return min(int(cv), n - 1), max(n // (min(int(cv), n - 1) + 1), 1)
    size = round(test_size * n) if test_size < 1 else int(test_size)
    if not 1 <= size < n:
        raise ValueError(f"test_size={test_size!r}: give a proportion, or a number of rows below {n:,}")
    return min(int(cv), (n - 1) // size), size


def _in_words(n_folds: int, name: str, structure: RowStructure) -> str:
    unit = " days" if structure.unit else ""
    gap = f" with a gap of {structure.gap:g}{unit}" if structure.gap else ""
    groups = f", by group ({structure.group_name})".replace(" ()", "") if structure.groups is not None else ""
    each = "each" if n_folds > 1 else "tested"
    return f"{n_folds} fold{'s' * (n_folds > 1)} in the order of {name}, {each} after its training rows{gap}{groups}"


# --- folds as arrays ----------------------------------------------------------------------------------------------------


def as_array(folds: Folds, n_rows: int) -> np.ndarray:
    """Folds as an array: the fold of each row, or the role of each row in each fold.

    int64 [n_rows] if every row is tested once and trains all other folds; else int8 [n_rows, n_folds].
    """
    fold = np.full(n_rows, -1, np.int64)
    n_tested = 0
    for number, part in enumerate(folds.parts):
        fold[part.test] = number
        n_tested += len(part.test)
    is_partition = n_tested == n_rows and (fold >= 0).all()
    if is_partition and all(len(part.train) + len(part.test) == n_rows and part.is_complement for part in folds.parts):
        return fold
    role = np.zeros((n_rows, len(folds.parts)), np.int8)
    for number, part in enumerate(folds.parts):
        role[part.train, number] = _TRAIN
        role[part.test, number] = _TEST
    return role


def fold_numbers(fold: np.ndarray) -> list[int]:
    """Numbers of the folds of an array of folds."""
    return list(range(fold.shape[1])) if fold.ndim == 2 else np.unique(fold).tolist()


def is_train(fold: np.ndarray, number: int) -> np.ndarray:
    """Whether each row trains this fold: bool [n_rows]."""
    return fold[:, number] == _TRAIN if fold.ndim == 2 else fold != number


def is_test(fold: np.ndarray, number: int) -> np.ndarray:
    """Whether each row is tested in this fold: bool [n_rows]."""
    return fold[:, number] == _TEST if fold.ndim == 2 else fold == number


def pairs_of(fold: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of each fold."""
    for number in fold_numbers(fold):
        yield np.flatnonzero(is_train(fold, number)), np.flatnonzero(is_test(fold, number))
