"""Read what users give to `entropy`, `gini` and `information_gain`: labels, counts or a table of counts."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from baytree.given import FrameLike
from baytree.show.names import plain
from baytree.table import label_reading


def class_counts(
    values: FrameLike | None, column: str | None, counts: ArrayLike | Mapping[Any, float] | None, labels: ArrayLike | None
) -> tuple[np.ndarray, list[str]]:
    """Counts of the classes [n_classes] and their names, from exactly one of `values`, `counts` and `labels`.

    Numbers in an array or a Series are labels. A bare list of numbers could be labels or counts, so it is refused.
    """
    if (values is None) + (counts is None) + (labels is None) != 2:
        raise ValueError("give exactly one of: a frame and the name of its column, labels=, counts=")
    if column is not None:
        if values is None:
            raise ValueError(f"column={column!r} goes with a frame: give the frame first, without labels= and counts=")
        labels = column_of(values, column)
    elif isinstance(values, Mapping):
        if not all(_is_number(each) for each in values.values()):
            raise ValueError("this dict holds columns: name the one that is meant as the second argument")
        counts = values
    elif isinstance(values, (list, tuple)) and all(each is None or _is_number(each) for each in values):
        raise ValueError(
            "a list of numbers may be labels or counts: give labels=[0, 1, 1] for the labels of rows, or counts=[9, 5] for "
            "the counts or proportions of classes"
        )
    elif values is not None:
        labels = values
    return _given_counts(counts) if counts is not None else _label_counts(labels)


def _is_number(value: Any) -> bool:
    return isinstance(value, Number) and not isinstance(value, (bool, np.bool_))


def _label_counts(labels: Any) -> tuple[np.ndarray, list[str]]:
    array = np.asarray(labels)
    if array.dtype.kind == "f" and (is_fraction := np.isfinite(array) & (array != np.floor(array))).any():
        raise ValueError(
            f"numbers like {array[is_fraction][0]:.4g} are hardly labels: give counts= for the counts or proportions of "
            "classes, or the labels as strings"
        )
    code, names = _coded(labels, "labels")
    counts = np.bincount(code[code >= 0], minlength=len(names)).astype(float)
    if not counts.sum():
        raise ValueError("there is no label: every value is missing, or there is none")
    return counts, names


def _given_counts(given: Any) -> tuple[np.ndarray, list[str]]:
    is_named = isinstance(given, Mapping)
    counts = np.asarray(list(given.values()) if is_named else given, float)
    if counts.ndim != 1 or not np.isfinite(counts).all() or (counts < 0).any() or not counts.sum() > 0:
        raise ValueError("counts: give one count or proportion for each class, none below 0, not all 0")
    return counts, [plain(name) for name in given] if is_named else [str(k) for k in range(1, counts.size + 1)]


def branches(values: FrameLike) -> tuple[np.ndarray, list[str], list[str]]:
    counts = np.asarray(values, float)
    if counts.ndim != 2:
        raise ValueError("give the two columns, a frame and two names, or a table of counts with a row for each branch")
    names = [f"branch {k}" for k in range(1, len(counts) + 1)]
    return counts, names, [f"class {k}" for k in range(1, counts.shape[1] + 1)]


def counted(values: FrameLike, given: FrameLike, column: str | None) -> tuple[np.ndarray, list[str], list[str]]:
    """How often each value of X comes with each of Y, where both are known: [n_levels, n_classes], and their names."""
    (y, classes), (x, levels) = (
        (_coded(values, "values"), _coded(given, "given"))
        if column is None
        else (_coded(column_of(values, given), given), _coded(column_of(values, column), column))
    )
    if len(x) != len(y):
        raise ValueError(f"one column has {len(y)} rows, the other {len(x)}")
    known = (x >= 0) & (y >= 0)
    counts = np.zeros((len(levels), len(classes)))
    np.add.at(counts, (x[known], y[known]), 1.0)
    return counts, levels, classes


def _coded(values: FrameLike, name: str) -> tuple[np.ndarray, list[str]]:
    read = label_reading.read_classes(values, name)
    return read.values, [plain(each) for each in read.target.classes or ()]


def column_of(frame: FrameLike, name: str) -> ArrayLike:
    columns = list(getattr(frame, "columns", frame))
    if name not in columns:
        raise ValueError(f"there is no column {name!r}; there is {', '.join(map(str, columns))}")
    return frame[name]
