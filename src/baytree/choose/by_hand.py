"""Entropy, Gini impurity, classification error and information gain: a number with the table of its calculation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from baytree.choose.given_counts import branches, class_counts, counted
from baytree.choose.measure import Measure
from baytree.given import FrameLike
from baytree.settings import one_of


def entropy(
    values: FrameLike | None = None,
    column: str | None = None,
    *,
    counts: ArrayLike | Mapping[Any, float] | None = None,
    labels: ArrayLike | None = None,
) -> Measure:
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
    Measure
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
) -> Measure:
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
    Measure
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
) -> Measure:
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
    Measure
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


def conditional_entropy(values: FrameLike, given: ArrayLike | str, column: str | None = None) -> Measure:
    """H(Y | X) in bits: the entropy of Y that is left, on average, where X is known.

    Parameters
    ----------
    values : array-like or frame
        The column Y; or a frame, and then `given` is the name of Y and `column` that of X.
    given : array-like or str
        The column X, or the name of Y.
    column : str, optional
        The name of X.

    Returns
    -------
    Measure
        A float; `print` shows the calculation, a row for each value of X.

    Examples
    --------
    >>> import baytree as bt
    >>> bt.conditional_entropy(bt.datasets.load("gladiator"), "LikesGladiator", "Major")
    0.5
    """
    counts, levels, classes = counted(values, given, column)
    return _left("entropy", counts, levels, classes, "entropy left, in bits")


def information_gain(
    values: FrameLike, given: ArrayLike | str | None = None, column: str | None = None, criterion: str = "entropy"
) -> Measure:
    """What knowing X takes from the impurity of Y: H(Y) − H(Y | X), or the same of Gini's or of the error.

    Parameters
    ----------
    values : array-like or frame
        The column Y; a frame, and then `given` is the name of Y and `column` that of X; or, alone, a table of counts with
        a row for each branch and a column for each class.
    given : array-like or str, optional
        The column X, or the name of Y.
    column : str, optional
        The name of X.
    criterion : {"entropy", "gini", "error"}, default="entropy"
        The impurity: entropy in bits, Gini's, or the share of rows outside the commonest class.

    Returns
    -------
    Measure
        A float; `print` shows the calculation.

    Examples
    --------
    >>> import baytree as bt
    >>> round(bt.information_gain(bt.datasets.load("play-tennis"), "PlayTennis", "Outlook"), 4)
    0.2467
    >>> bt.information_gain([[20, 80], [80, 20]], criterion="error")
    0.3
    """
    one_of("criterion", criterion, tuple(_IMPURITIES))
    counts, levels, classes = branches(values) if given is None else counted(values, given, column)
    whole = float(_IMPURITIES[criterion](counts.sum(axis=0)))
    left = _left(criterion, counts, levels, classes, f"{criterion} left")
    total = ["before", counts.sum(), 1.0, *counts.sum(axis=0), whole, whole]
    gained = ["gain", "", "", *[""] * len(classes), "", whole - float(left)]
    return Measure.of(round(whole - float(left), 15), f"gain of {criterion}", left.header, [*left.rows, total, gained])


_IMPURITIES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "entropy": lambda n: _terms("entropy", n).sum(axis=-1),
    "gini": lambda n: 1 - np.square(_shares(n)).sum(axis=-1),
    "error": lambda n: 1 - _shares(n).max(axis=-1),
}


_TITLES = {"entropy": "entropy in bits", "gini": "gini", "error": "classification error"}
_TERMS: dict[str, tuple[str, str]] = {  # what the last column holds for each class, and how the last row sums it up
    "entropy": ("−p log₂ p", "sum"),
    "gini": ("p(1 − p)", "sum"),
    "error": ("1 − p", "least"),
}


def _impurity(criterion: str, counts: np.ndarray, names: Sequence[str]) -> Measure:
    """The impurity of these counts, with a row for each class."""
    share, terms = _shares(counts), _terms(criterion, counts)
    rows = [[name, *row] for name, *row in zip(names, counts.tolist(), share.tolist(), terms.tolist(), strict=True)]
    value, (term, total) = float(_IMPURITIES[criterion](counts)), _TERMS[criterion]
    last = [total, counts.sum(), share.sum(), value]
    return Measure.of(value, _TITLES[criterion], ["", "count", "share", term], [*rows, last])


def _left(criterion: str, counts: np.ndarray, levels: Sequence[str], classes: Sequence[str], title: str) -> Measure:
    """The impurity of each row of a table, and their mean by weight."""
    share, impurity = _shares(counts.sum(axis=1)), _IMPURITIES[criterion](counts)
    cells = zip(levels, counts.sum(axis=1), share, *counts.T, impurity, share * impurity, strict=True)
    left = float(share @ impurity)
    last = ["sum", counts.sum(), 1.0, *counts.sum(axis=0), "", left]
    header = ["", "rows", "share", *classes, criterion, f"share × {criterion}"]
    return Measure.of(round(left, 15), title, header, [*cells, last])


def _shares(counts: np.ndarray) -> np.ndarray:
    return counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1e-300)


def _terms(criterion: str, counts: np.ndarray) -> np.ndarray:
    """What each class contributes to the calculation of an impurity, in the shape of `counts`."""
    share = _shares(counts)
    if criterion == "entropy":
        return -share * np.log2(np.where(share > 0, share, 1.0))
    return share * (1 - share) if criterion == "gini" else 1 - share
