"""What conformal prediction gives: sets of classes or intervals of numbers that hold the truth as often as was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from baytree import param_validation
from baytree._typing import EstimatorLike, FrameLike, TargetLike
from baytree.base.labelled_rows import column_named
from baytree.base.predictor import is_without_rows
from baytree.conformal_prediction.fold_models import NewRows, RefittedFoldModel
from baytree.conformal_prediction.nonconformity import CalibrationFold, ConformalScores, CrossConformal
from baytree.data.encoding import read_target as target_reading
from baytree.display.results import TextResult
from baytree.display.terminal import escaped
from baytree.uncertainty.intervals import TIE, least_conforming, lower_bounds


@dataclass(frozen=True)
class Promise:
    """What was asked for, and how it is kept."""

    alpha: float
    how: str  # the way, in words
    guarantee: float  # at least so often on average, whatever the rows are like, if they are exchangeable
    n_rows: float  # weight of the rows compared with

    def __str__(self) -> str:
        return (
            f"{self.how}, {self.n_rows:g} rows compared with; "
            f"{1 - self.alpha:.0%} asked for, {self.guarantee:.0%} guaranteed for exchangeable rows"
        )


@dataclass(frozen=True)
class Coverage(TextResult):
    """How often sets held the truth, and how large they were.

    Attributes
    ----------
    share : float
        The share of rows whose set or interval holds the truth.
    size : float
        The mean number of classes in a set, or the median width of an interval.
    by_class : dict
        The share for each class of the truth; empty of numbers.
    single, empty : float
        The share of sets with one class, and with none; 0 of numbers.
    n_rows : int
        The number of rows.
    """

    share: float
    size: float
    by_class: dict[Any, float]
    single: float
    empty: float
    n_rows: int

    def __str__(self) -> str:
        if not self.by_class:
            return f"{self.share:.1%} of {self.n_rows:,} rows within their interval, whose median width is {self.size:.4g}"
        lines = [
            f"{self.share:.1%} of {self.n_rows:,} rows within their set of {self.size:.2f} classes on average "
            f"({self.single:.0%} of one, {self.empty:.0%} of none)"
        ]
        return "\n".join([*lines, *(f"  {escaped(str(label))}: {share:.1%}" for label, share in self.by_class.items())])


@dataclass(frozen=True, repr=False)
class PredictionSets(TextResult):
    """Sets of classes that hold the true one as often as was asked for.

    Attributes
    ----------
    estimator_ : estimator
        The estimator, learnt from all rows.
    classes_ : ndarray
        The classes, in the order of the columns of `predict_set` and `p_values`.
    promise : Promise
        What was asked for (`alpha`), how it is kept (`how`) and what is guaranteed (`guarantee`).
    by_class : bool
        Whether the promise is kept within each class.
    """

    estimator_: EstimatorLike
    classes_: np.ndarray
    promise: Promise
    by_class: bool
    _comparison: ConformalScores
    _totals: np.ndarray  # [n_classes]: the weight of the rows that each class is compared with

    def p_values(self, X: FrameLike) -> np.ndarray:
        """How well each row would conform to the rows seen if it had each class: among them, the share no better.

        Parameters
        ----------
        X : data frame, array or dict of columns
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            For the true class it is below any α at most α of the time.
        """
        if is_without_rows(X):
            return np.empty((0, len(self.classes_)))
        weight = self._comparison.of_classes(NewRows.of(X, self.estimator_), self.by_class)
        return (weight + 1) / (self._totals + 1)

    def predict_set(self, X: FrameLike, alpha: float | None = None) -> np.ndarray:
        """Whether each class is in the set of each row.

        Parameters
        ----------
        X : data frame, array or dict of columns
            The rows.
        alpha : float, optional
            How often the truth may be missed; as it was asked for by default.

        Returns
        -------
        ndarray of bool of shape (n_rows, n_classes)
            In the order of `classes_`.
        """
        alpha = self.promise.alpha if alpha is None else param_validation.open_interval("alpha", alpha)
        return self.p_values(X) > alpha * (1 + TIE)

    def predict(self, X: FrameLike, alpha: float | None = None) -> list[tuple[Any, ...]]:
        """The set of each row: its classes, in their order.

        Parameters
        ----------
        X : data frame, array or dict of columns
            The rows.
        alpha : float, optional
            How often the truth may be missed; as it was asked for by default.
        """
        classes = self.classes_.tolist()
        members = self.predict_set(X, alpha).tolist()
        return [tuple(label for label, is_in in zip(classes, row, strict=True) if is_in) for row in members]

    def bounds(self, alpha: float | None = None) -> np.ndarray:
        """The least probability with which each class is in a set, of a model that was fitted before (``cv="fitted"``).

        Parameters
        ----------
        alpha : float, optional
            How often the truth may be missed; as it was asked for by default.

        Returns
        -------
        ndarray of shape (n_classes,)
            The same for all classes, unless the promise is kept within each.
        """
        alpha = self.promise.alpha if alpha is None else param_validation.open_interval("alpha", alpha)
        part = _of_one_model(self._comparison)
        rows = [part.label == k if self.by_class else slice(None) for k in range(len(self.classes_))]
        return np.array([least_conforming(part.conformity()[own], part.weight[own], alpha) for own in rows])

    def coverage(self, X: FrameLike, y: TargetLike = None, alpha: float | None = None) -> Coverage:
        """How often the sets of rows with a known class hold it.

        Parameters
        ----------
        X : data frame, array or dict of columns
            The rows.
        y : str or array-like, optional
            The name of the target column in `X`, or the classes; by default the column that was learnt.
        alpha : float, optional
            How often the truth may be missed; as it was asked for by default.
        """
        read = target_reading.read_classes(_truth(X, y, self.estimator_), "y")
        place = {label: code for code, label in enumerate(self.classes_.tolist())}
        known = np.array([*(place.get(label, -1) for label in read.target.classes or ()), -1])
        code, members = known[np.where(read.missing, -1, read.values)], self.predict_set(X, alpha)
        rows = np.flatnonzero(~read.missing)
        held = np.where(code >= 0, members[np.arange(len(members)), code], False)[rows]
        by_class = {label: float(held[code[rows] == k].mean()) for label, k in place.items() if (code[rows] == k).any()}
        size = members[rows].sum(axis=1)
        shares = float((size == 1).mean()), float((size == 0).mean())
        return Coverage(float(held.mean()), float(size.mean()), by_class, *shares, len(rows))

    def __str__(self) -> str:
        within = ", within each class" if self.by_class else ""
        return f"prediction sets of {type(self.estimator_).__name__}{within}: {self.promise}"


@dataclass(frozen=True, repr=False)
class PredictionIntervals(TextResult):
    """Intervals that hold a row's number as often as was asked for.

    Attributes
    ----------
    estimator_ : estimator
        The estimator, learnt from all rows.
    promise : Promise
        What was asked for (`alpha`), how it is kept (`how`) and what is guaranteed (`guarantee`).
    """

    estimator_: EstimatorLike
    promise: Promise
    _comparison: ConformalScores
    _weight: np.ndarray  # [n_seen]

    def predict_set(self, X: FrameLike, alpha: float | None = None) -> np.ndarray:
        """The interval of each row's number: from μ₋ᵢ(x) − Rᵢ to μ₋ᵢ(x) + Rᵢ, over the rows i that were seen.

        Parameters
        ----------
        X : data frame, array or dict of columns
            The rows.
        alpha : float, optional
            How often the truth may be missed; as it was asked for by default.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            The lower and the upper bound; infinite where the rows are too few for what was asked for.
        """
        alpha = self.promise.alpha if alpha is None else param_validation.open_interval("alpha", alpha)
        if is_without_rows(X):
            return np.empty((0, 2))
        number, miss = self._comparison.of_numbers(NewRows.of(X, self.estimator_))
        low = lower_bounds(number - miss[:, None], self._weight, alpha)
        high = -lower_bounds(-number - miss[:, None], self._weight, alpha)
        return np.stack([np.minimum(low, high), np.maximum(low, high)], axis=1)

    def predict(self, X: FrameLike, alpha: float | None = None) -> np.ndarray:
        """The interval of each row's number, as `predict_set`.

        Parameters
        ----------
        X : data frame, array or dict of columns
            The rows.
        alpha : float, optional
            How often the truth may be missed; as it was asked for by default.
        """
        return self.predict_set(X, alpha)

    def bounds(self, alpha: float | None = None) -> np.ndarray:
        """How far an interval reaches to both sides of the number, of a model that was fitted before (``cv="fitted"``).

        Parameters
        ----------
        alpha : float, optional
            How often the truth may be missed; as it was asked for by default.

        Returns
        -------
        ndarray of shape (1,)
            Infinite where the rows are too few for what was asked for.
        """
        alpha = self.promise.alpha if alpha is None else param_validation.open_interval("alpha", alpha)
        part = _of_one_model(self._comparison)
        miss = np.abs(part.label - part.answers[:, 0])
        return -lower_bounds(-miss[:, None], self._weight, alpha)

    def coverage(self, X: FrameLike, y: TargetLike = None, alpha: float | None = None) -> Coverage:
        """How often the intervals of rows with a known number hold it.

        Parameters
        ----------
        X : data frame, array or dict of columns
            The rows.
        y : str or array-like, optional
            The name of the target column in `X`, or the numbers; by default the column that was learnt.
        alpha : float, optional
            How often the truth may be missed; as it was asked for by default.
        """
        read = target_reading.read_numbers(_truth(X, y, self.estimator_), "y")
        rows = np.flatnonzero(~read.missing)
        low, high = self.predict_set(X, alpha)[rows].T
        held = (low <= read.values[rows]) & (read.values[rows] <= high)
        return Coverage(float(held.mean()), float(np.median(high - low)), {}, 0.0, 0.0, len(rows))

    def __str__(self) -> str:
        return f"prediction intervals of {type(self.estimator_).__name__}: {self.promise}"


def _of_one_model(comparison: ConformalScores) -> CalibrationFold:
    """The rows that the model itself, as it was fitted before, is compared with."""
    if not (
        isinstance(comparison, CrossConformal)
        and len(comparison.parts) == 1
        and isinstance(comparison.parts[0].model, RefittedFoldModel)
    ):
        raise ValueError(
            "these sets ask models of other rows than the one that answers; "
            "bt.conformal(model, held_out, target, cv='fitted') compares with rows that the model has not learnt from"
        )
    return comparison.parts[0]


def _truth(X: FrameLike, y: TargetLike, estimator: EstimatorLike) -> Any:
    if y is None and hasattr(estimator, "schema_"):
        y = estimator.schema_.target.name
    return column_named(X, y) if isinstance(y, str) else y
