"""Entropy, Gini impurity, classification error and information gain, as numbers that print their calculation.

For teaching; trees have their own criteria in the core. `class_counts`, `branches` and `counted` read labels, counts or a
table of counts from user input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Number
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from baytree._typing import FrameLike
from baytree.data import frames
from baytree.data.encoding import read_target as target_reading
from baytree.data.frames.numbers import Numbers
from baytree.display.terminal import in_columns, number, plain
from baytree.param_validation import one_of
from baytree.statistics import binning


def entropy(
    values: FrameLike | None = None,
    column: str | None = None,
    *,
    counts: ArrayLike | Mapping[Any, float] | None = None,
    labels: ArrayLike | None = None,
) -> CalculatedNumber:
    """H = −Σ p log₂ p in bits, of labels, counts or proportions.

    Parameters
    ----------
    values : frame, array, Series, list or dict, optional
        A frame, with `column`; or the labels of rows, where numbers are labels like any other; or a dict of the counts of
        classes. A bare list or tuple of numbers is refused, because it could be either: use `labels` or `counts`.
    column : str, optional
        Column of the frame.
    counts : array-like or dict, optional
        Counts or proportions of the classes.
    labels : array-like, optional
        Labels of rows.

    Returns
    -------
    CalculatedNumber
        A float; `print` shows the calculation.

    Examples
    --------
    >>> import baytree as bt
    >>> bt.entropy(labels=[0, 1, 1, 0])
    1.0
    >>> round(bt.entropy(counts=[1 / 3, 2 / 3]), 3)
    0.918
    >>> print(bt.entropy({"No": 5, "Yes": 9}))
    entropy in bits = 0.9403
         count   share  −p log₂ p
    No       5  0.3571     0.5305
    Yes      9  0.6429     0.4098
    sum     14       1     0.9403
    """
    return _impurity("entropy", *class_counts(values, column, counts, labels))


def gini(
    values: FrameLike | None = None,
    column: str | None = None,
    *,
    counts: ArrayLike | Mapping[Any, float] | None = None,
    labels: ArrayLike | None = None,
) -> CalculatedNumber:
    """1 − Σ p², the probability that two rows drawn at random are of different classes.

    Parameters
    ----------
    values : frame, array, Series, list or dict, optional
        A frame, with `column`; or the labels of rows, where numbers are labels like any other; or a dict of the counts of
        classes. A bare list or tuple of numbers is refused, because it could be either: use `labels` or `counts`.
    column : str, optional
        Column of the frame.
    counts : array-like or dict, optional
        Counts or proportions of the classes.
    labels : array-like, optional
        Labels of rows.

    Returns
    -------
    CalculatedNumber
        A float; `print` shows the calculation.

    Examples
    --------
    >>> import baytree as bt
    >>> bt.gini(counts=[1, 1])
    0.5
    """
    return _impurity("gini", *class_counts(values, column, counts, labels))


def classification_error(
    values: FrameLike | None = None,
    column: str | None = None,
    *,
    counts: ArrayLike | Mapping[Any, float] | None = None,
    labels: ArrayLike | None = None,
) -> CalculatedNumber:
    """1 − max p, the proportion of rows outside the most frequent class.

    Parameters
    ----------
    values : frame, array, Series, list or dict, optional
        A frame, with `column`; or the labels of rows, where numbers are labels like any other; or a dict of the counts of
        classes. A bare list or tuple of numbers is refused, because it could be either: use `labels` or `counts`.
    column : str, optional
        Column of the frame.
    counts : array-like or dict, optional
        Counts or proportions of the classes.
    labels : array-like, optional
        Labels of rows.

    Returns
    -------
    CalculatedNumber
        A float; `print` shows the calculation.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.classification_error({"No": 5, "Yes": 15}))
    classification error = 0.2500
         count   share   1 − p
    No       5  0.2500  0.7500
    Yes     15  0.7500  0.2500
    least   20       1  0.2500
    """
    return _impurity("error", *class_counts(values, column, counts, labels))


def conditional_entropy(values: FrameLike, given: ArrayLike | str, column: str | None = None) -> CalculatedNumber:
    """H(Y | X) in bits: the mean entropy of Y that remains when X is known.

    Parameters
    ----------
    values : array-like or frame
        Column Y; or a frame, and then `given` is the name of Y and `column` that of X.
    given : array-like or str
        Column X, or the name of Y.
    column : str, optional
        Name of X.

    Returns
    -------
    CalculatedNumber
        A float; `print` shows the calculation, a row for each value of X.

    Examples
    --------
    >>> import baytree as bt
    >>> bt.conditional_entropy(bt.datasets.load("gladiator"), "LikesGladiator", "Major")
    0.5
    """
    counts, levels, classes = counted(values, given, column)
    return _conditional("entropy", counts, levels, classes, "remaining entropy in bits")


class GainAtThreshold(NamedTuple):
    """Information gain of a column, and the threshold at which its numbers are split; None for a column of levels."""

    gain: CalculatedNumber
    threshold: float | None


@overload
def information_gain(
    values: FrameLike,
    given: ArrayLike | str | None = None,
    column: str | None = None,
    criterion: str = "entropy",
    *,
    full: Literal[False] = False,
) -> CalculatedNumber: ...


@overload
def information_gain(
    values: FrameLike,
    given: ArrayLike | str | None = None,
    column: str | None = None,
    criterion: str = "entropy",
    *,
    full: Literal[True],
) -> GainAtThreshold: ...


def information_gain(
    values: FrameLike,
    given: ArrayLike | str | None = None,
    column: str | None = None,
    criterion: str = "entropy",
    *,
    full: bool = False,
) -> CalculatedNumber | GainAtThreshold:
    """Reduction of the impurity of Y by knowing X: H(Y) − H(Y | X), or the same for the Gini impurity or the error.

    A numeric X is split once, at the threshold with the largest gain, as in `rank_features`.

    Parameters
    ----------
    values : array-like or frame
        Column Y; a frame, and then `given` is the name of Y and `column` that of X; or, alone, a table of counts with
        a row for each branch and a column for each class.
    given : array-like or str, optional
        Column X, or the name of Y.
    column : str, optional
        Name of X.
    criterion : {"entropy", "gini", "error"}, default="entropy"
        Impurity measure: entropy in bits, Gini impurity, or the proportion of rows outside the most frequent class.
    full : bool, default=False
        Return the threshold, too.

    Returns
    -------
    CalculatedNumber or GainAtThreshold
        A float; `print` shows the calculation. With `full=True` a pair of this number, `gain`, and the `threshold` of a
        numeric X; None if X has levels or no threshold gains.

    Examples
    --------
    >>> import baytree as bt
    >>> round(bt.information_gain(bt.datasets.load("play-tennis"), "PlayTennis", "Outlook"), 4)
    0.2467
    >>> bt.information_gain([[20, 80], [80, 20]], criterion="error")
    0.3
    >>> bt.information_gain(["a", "a", "b", "b"], [1.0, 2.0, 4.0, 5.0], full=True)
    GainAtThreshold(gain=1.0, threshold=3.0)
    """
    one_of("criterion", criterion, tuple(_IMPURITIES))
    if given is None:
        counts, levels, classes, threshold = *branches(values), None
    else:
        y, x = _named_columns(values, given, column)
        counts, levels, classes, threshold = _counts_by_level_or_threshold(y, x, criterion)
    before = float(_IMPURITIES[criterion](counts.sum(axis=0)))
    remaining = _conditional(criterion, counts, levels, classes, f"remaining {criterion}")
    total = ["before", counts.sum(), 1.0, *counts.sum(axis=0), before, before]
    gain = max(0.0, round(before - float(remaining), 15))  # rounding may leave −1e-16
    last = ["gain", "", "", *[""] * len(classes), "", gain]
    result = CalculatedNumber.of(gain, f"gain of {criterion}", remaining.header, [*remaining.rows, total, last])
    return GainAtThreshold(result, threshold) if full else result


_IMPURITIES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "entropy": lambda n: _terms("entropy", n).sum(axis=-1),
    "gini": lambda n: 1 - np.square(_proportions(n)).sum(axis=-1),
    "error": lambda n: 1 - _proportions(n).max(axis=-1),
}

_TITLES = {"entropy": "entropy in bits", "gini": "gini", "error": "classification error"}

_TERMS: dict[str, tuple[str, str]] = {  # title of the last column, and how the last row aggregates it
    "entropy": ("−p log₂ p", "sum"),
    "gini": ("p(1 − p)", "sum"),
    "error": ("1 − p", "least"),
}


def _impurity(criterion: str, counts: np.ndarray, names: Sequence[str]) -> CalculatedNumber:
    """Impurity of these counts, with a table row for each class."""
    proportion, terms = _proportions(counts), _terms(criterion, counts)
    rows = [[name, *row] for name, *row in zip(names, counts.tolist(), proportion.tolist(), terms.tolist(), strict=True)]
    value, (term, total) = float(_IMPURITIES[criterion](counts)), _TERMS[criterion]
    last = [total, counts.sum(), proportion.sum(), value]
    return CalculatedNumber.of(value, _TITLES[criterion], ["", "count", "share", term], [*rows, last])


def _conditional(
    criterion: str, counts: np.ndarray, levels: Sequence[str], classes: Sequence[str], title: str
) -> CalculatedNumber:
    """Impurity of each row of a table, and their weighted mean."""
    proportion, impurity = _proportions(counts.sum(axis=1)), _IMPURITIES[criterion](counts)
    cells = zip(levels, counts.sum(axis=1), proportion, *counts.T, impurity, proportion * impurity, strict=True)
    mean_impurity = float(proportion @ impurity)
    last = ["sum", counts.sum(), 1.0, *counts.sum(axis=0), "", mean_impurity]
    header = ["", "rows", "share", *classes, criterion, f"share × {criterion}"]
    return CalculatedNumber.of(round(mean_impurity, 15), title, header, [*cells, last])


def _proportions(counts: np.ndarray) -> np.ndarray:
    return counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1e-300)


def _terms(criterion: str, counts: np.ndarray) -> np.ndarray:
    """What each class contributes to the calculation of an impurity, in the shape of `counts`."""
    proportion = _proportions(counts)
    if criterion == "entropy":
        return -proportion * np.log2(np.where(proportion > 0, proportion, 1.0))
    return proportion * (1 - proportion) if criterion == "gini" else 1 - proportion


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
            raise ValueError("this dict holds columns: give the name of one of them as the second argument")
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
            f"numbers like {array[is_fraction][0]:.4g} do not look like labels: give counts= for the counts or "
            "proportions of classes, or the labels as strings"
        )
    code, names = _coded(labels, "labels")
    counts = np.bincount(code[code >= 0], minlength=len(names)).astype(float)
    if not counts.sum():
        raise ValueError("there are no labels: the input is empty, or every value is missing")
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


class _NamedColumn(NamedTuple):
    values: Any
    name: str


def _named_columns(values: FrameLike, given: FrameLike, column: str | None) -> tuple[_NamedColumn, _NamedColumn]:
    """Y and X as the user gave them."""
    if column is None:
        return _NamedColumn(values, "values"), _NamedColumn(given, "given")
    return _NamedColumn(column_of(values, given), given), _NamedColumn(column_of(values, column), column)


def counted(values: FrameLike, given: FrameLike, column: str | None) -> tuple[np.ndarray, list[str], list[str]]:
    """Co-occurrence counts of the values of X and Y where both are known: [n_levels, n_classes], and their names."""
    y, x = _named_columns(values, given, column)
    label, classes = _coded(*y)
    code, levels = _coded(*x)
    return _co_occurrences(label, code, len(classes), len(levels)), levels, classes


def _counts_by_level_or_threshold(
    y: _NamedColumn, x: _NamedColumn, criterion: str
) -> tuple[np.ndarray, list[str], list[str], float | None]:
    """Counts of the classes by the level of X, or on both sides of its best threshold; names, and the threshold."""
    label, classes = _coded(*y)
    raw = frames.read_column(*x)
    if not isinstance(raw, Numbers):
        code, levels = _coded(*x)
        return _co_occurrences(label, code, len(classes), len(levels)), levels, classes, None
    _check_lengths(label, raw.values)
    numbers = np.where(label >= 0, raw.values, np.nan)
    threshold = _best_threshold(numbers, label, len(classes), criterion)
    if threshold is None:
        code, levels = np.where(np.isnan(numbers), -1, 0), ["no threshold gains"]
    else:
        code, levels = binning.bin_codes(numbers, np.array([threshold])), [f"≤ {threshold:.6g}", f"> {threshold:.6g}"]
    return _co_occurrences(label, code, len(classes), len(levels)), levels, classes, threshold


def _best_threshold(numbers: np.ndarray, label: np.ndarray, n_classes: int, criterion: str) -> float | None:
    """Midpoint of neighbouring numbers with the largest gain; the lowest of several, None if none gains."""
    rows = np.flatnonzero(~np.isnan(numbers))
    rows = rows[np.argsort(numbers[rows], kind="stable")]
    below = np.cumsum(np.eye(n_classes)[label[rows]], axis=0)  # [n_rows, n_classes]
    boundaries = np.flatnonzero(np.diff(numbers[rows]) > 0)
    if not len(boundaries):
        return None
    left, right, impurity = below[boundaries], below[-1] - below[boundaries], _IMPURITIES[criterion]
    n_left = left.sum(axis=1) / len(rows)
    gain = float(impurity(below[-1])) - n_left * impurity(left) - (1 - n_left) * impurity(right)
    best = int(np.argmax(gain > gain.max() - MIN_GAIN))
    if gain[best] <= MIN_GAIN:
        return None
    lower, upper = numbers[rows[boundaries[best]]], numbers[rows[boundaries[best] + 1]]
    middle = lower + (upper - lower) / 2
    return float(middle if middle < upper else lower)


MIN_GAIN = 1e-12  # differences below are rounding


def _co_occurrences(label: np.ndarray, code: np.ndarray, n_classes: int, n_levels: int) -> np.ndarray:
    _check_lengths(label, code)
    known = (code >= 0) & (label >= 0)
    counts = np.zeros((n_levels, n_classes))
    np.add.at(counts, (code[known], label[known]), 1.0)
    if not counts.sum():
        raise ValueError("no row has a value in both columns")
    return counts


def _check_lengths(label: np.ndarray, values: np.ndarray) -> None:
    if len(values) != len(label):
        raise ValueError(f"one column has {len(label)} rows, the other {len(values)}")


def _coded(values: FrameLike, name: str) -> tuple[np.ndarray, list[str]]:
    read = target_reading.read_classes(values, name)
    return read.values, [plain(each) for each in read.target.classes or ()]


def column_of(frame: FrameLike, name: str) -> ArrayLike:
    columns = list(getattr(frame, "columns", frame))
    if name not in columns:
        raise ValueError(f"there is no column {name!r}; the columns are {', '.join(map(str, columns))}")
    return frame[name]


class CalculatedNumber(float):
    """Number that can show how it was computed: `print` gives the table, otherwise it behaves like any float.

    Attributes
    ----------
    name : str
        Name of the measure.
    header : tuple of str
        Names of the table's columns.
    rows : tuple of tuples
        Table of the calculation, with the result in the last row.
    """

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, value: float, name: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> CalculatedNumber:
        """Number with its table."""
        measure = cls(value)
        measure.name, measure.header, measure.rows = name, tuple(header), tuple(map(tuple, rows))
        return measure

    def __str__(self) -> str:
        cells = [list(self.header), *([_formatted(cell) for cell in row] for row in self.rows)]
        return "\n".join([f"{self.name} = {float(self):.4f}", *in_columns(cells, "<>")])

    def __repr__(self) -> str:
        return float.__repr__(self)

    def _repr_html_(self) -> str:
        from baytree.display.results import table  # only notebooks need it

        rows = [[_formatted(cell) for cell in row] for row in self.rows]
        return table(f"{self.name} = {float(self):.4f}", self.header, rows)


def _formatted(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    return number(float(cell)) if float(cell) == int(cell) else f"{cell:.4f}"
