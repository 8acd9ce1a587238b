"""What users count by hand: columns, counts, probabilities or a table of branches, to counts with their names."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from baytree.given import FrameLike
from baytree.show.names import plain
from baytree.table import label_reading


def amounts(values: FrameLike) -> tuple[np.ndarray, list[str]]:
    """Counts and their names: of numbers themselves, else of how often each value occurs."""
    if isinstance(values, Mapping):
        return _positive(np.array(list(values.values()), float)), [plain(name) for name in values]
    array = np.asarray(values)
    if array.dtype.kind in "iuf":
        return _positive(array.astype(float)), [str(k) for k in range(1, array.size + 1)]
    code, names = _coded(values, "values")
    return np.bincount(code[code >= 0], minlength=len(names)).astype(float), names


def _positive(counts: np.ndarray) -> np.ndarray:
    if counts.ndim != 1 or not np.isfinite(counts).all() or (counts < 0).any() or not counts.sum() > 0:
        raise ValueError("numbers are counts or probabilities: give a row of them, none below 0, not all 0")
    return counts


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
