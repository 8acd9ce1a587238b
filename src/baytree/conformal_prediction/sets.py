"""Results of conformal prediction: prediction sets of classes and prediction intervals of numbers.

`PredictionSets` and `PredictionIntervals` predict for new rows at any error rate α, `Promise` records the guarantee, and
`Coverage` the observed coverage on labelled rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from baytree import param_validation
from baytree._typing import EstimatorLike, FrameLike, TargetLike
from baytree._warnings import renamed
from baytree.base.labelled_rows import column_named
from baytree.base.predictor import is_without_rows
from baytree.conformal_prediction.fold_models import NewRows, RefittedFoldModel
from baytree.conformal_prediction.nonconformity import CalibrationFold, ConformalScores, CrossConformal
from baytree.data.encoding import read_target as target_reading
from baytree.display.results import TextResult
from baytree.display.terminal import escaped
from baytree.uncertainty.intervals import TIE_TOLERANCE, least_conforming, lower_bounds


@dataclass(frozen=True)
class Promise:
    """Requested error rate, the method, and the guaranteed coverage."""

    alpha: float
    how: str  # name of the method
    guarantee: float  # guaranteed mean coverage for exchangeable rows, whatever their distribution
    n_rows: float  # total weight of the calibration rows

    def __str__(self) -> str:
        return (
            f"{self.how}, {self.n_rows:g} calibration rows; "
            f"coverage {1 - self.alpha:.0%} requested, {self.guarantee:.0%} guaranteed for exchangeable rows"
        )


@dataclass(frozen=True)
class Coverage(TextResult):
    """Observed coverage and size of prediction sets or intervals.

    Attributes
    ----------
    share : float
        Proportion of rows whose set or interval contains the truth.
    size : float
        Mean number of classes in a set, or median width of an interval.
    by_class : dict
        Coverage by true class; empty for numbers.
    single, empty : float
        Proportion of sets with one class, and with none; 0 for numbers.
    n_rows : int
        Number of rows.
    """

    share: float
    size: float
    by_class: dict[Any, float]
    single: float
    empty: float
    n_rows: int

    def __str__(self) -> str:
        if not self.by_class:
            return f"{self.share:.1%} of {self.n_rows:,} intervals contain the true value; median width {self.size:.4g}"
        lines = [
            f"{self.share:.1%} of {self.n_rows:,} sets contain the true class; mean size {self.size:.2f} classes "
            f"({self.single:.0%} with one, {self.empty:.0%} empty)"
        ]
        return "\n".join(
            [*lines, *(f"  {escaped(str(label))}: {proportion:.1%}" for label, proportion in self.by_class.items())]
        )


@dataclass(frozen=True, repr=False)
class PredictionSets(TextResult):
    """Conformal prediction sets of a classifier: sets of classes that contain the true class with probability 1 − α.

    Attributes
    ----------
    estimator_ : estimator
        The estimator, fitted to all rows.
    classes_ : ndarray
        Class labels, in the order of the columns of `predict_set` and `p_values`.
    guarantee_settings : Promise
        Error rate (`alpha`), method (`how`) and guaranteed coverage (`guarantee`).
    by_class : bool
        Whether the guarantee holds within each class.
    """

    estimator_: EstimatorLike
    classes_: np.ndarray
    guarantee_settings: Promise
    by_class: bool
    _comparison: ConformalScores
    _totals: np.ndarray  # [n_classes] total weight of the rows that each class is compared with

    def p_values(self, X: FrameLike) -> np.ndarray:
        """Return conformal p-values: the proportion of observed rows that conform no better than the row with each class.

        Parameters
        ----------
        X : data frame, array or dict of columns
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The p-value of the true class is below any α with probability at most α.
        """
        if is_without_rows(X):
            return np.empty((0, len(self.classes_)))
        weight = self._comparison.of_classes(NewRows.of(X, self.estimator_), self.by_class)
        return (weight + 1) / (self._totals + 1)

    def predict_set(self, X: FrameLike, alpha: float | None = None) -> np.ndarray:
        """Return which classes are in the prediction set of each row.

        Parameters
        ----------
        X : data frame, array or dict of columns
            Rows to predict.
        alpha : float, optional
            Accepted error rate; by default that of the `promise`.

        Returns
        -------
        ndarray of bool of shape (n_rows, n_classes)
            Columns in the order of `classes_`.
        """
        alpha = self.guarantee_settings.alpha if alpha is None else param_validation.open_interval("alpha", alpha)
        return self.p_values(X) > alpha * (1 + TIE_TOLERANCE)

    def predict(self, X: FrameLike, alpha: float | None = None) -> list[tuple[Any, ...]]:
        """Return the prediction set of each row as a tuple of classes, in the order of `classes_`.

        Parameters
        ----------
        X : data frame, array or dict of columns
            Rows to predict.
        alpha : float, optional
            Accepted error rate; by default that of the `promise`.
        """
        classes = self.classes_.tolist()
        members = self.predict_set(X, alpha).tolist()
        return [tuple(label for label, is_in in zip(classes, row, strict=True) if is_in) for row in members]

    def bounds(self, alpha: float | None = None) -> np.ndarray:
        """Return the smallest probability with which each class enters a set; only for ``cv="fitted"``.

        Parameters
        ----------
        alpha : float, optional
            Accepted error rate; by default that of the `promise`.

        Returns
        -------
        ndarray of shape (n_classes,)
            Equal for all classes, unless the guarantee holds within each class.
        """
        alpha = self.guarantee_settings.alpha if alpha is None else param_validation.open_interval("alpha", alpha)
        part = _of_one_model(self._comparison)
        rows = [part.label == k if self.by_class else slice(None) for k in range(len(self.classes_))]
        return np.array([least_conforming(part.conformity()[own], part.weight[own], alpha) for own in rows])

    def coverage(self, X: FrameLike, y: TargetLike = None, alpha: float | None = None) -> Coverage:
        """Measure how often the sets of rows with a known class contain it.

        Parameters
        ----------
        X : data frame, array or dict of columns
            Labelled rows.
        y : str or array-like, optional
            Name of the target column in `X`, or the classes; by default the column that the estimator was trained on.
        alpha : float, optional
            Accepted error rate; by default that of the `promise`.
        """
        read = target_reading.read_classes(_truth(X, y, self.estimator_), "y")
        position = {label: code for code, label in enumerate(self.classes_.tolist())}
        known = np.array([*(position.get(label, -1) for label in read.target.classes or ()), -1])
        code, members = known[np.where(read.missing, -1, read.values)], self.predict_set(X, alpha)
        rows = np.flatnonzero(~read.missing)
        held = np.where(code >= 0, members[np.arange(len(members)), code], False)[rows]
        by_class = {label: float(held[code[rows] == k].mean()) for label, k in position.items() if (code[rows] == k).any()}
        size = members[rows].sum(axis=1)
        proportions = float((size == 1).mean()), float((size == 0).mean())
        return Coverage(float(held.mean()), float(size.mean()), by_class, *proportions, len(rows))

    def __str__(self) -> str:
        within = ", within each class" if self.by_class else ""
        return f"prediction sets of {type(self.estimator_).__name__}{within}: {self.guarantee_settings}"

    promise = renamed("promise", "guarantee_settings")


@dataclass(frozen=True, repr=False)
class PredictionIntervals(TextResult):
    """Conformal prediction intervals of a regressor, which contain the true number with probability 1 − α.

    Attributes
    ----------
    estimator_ : estimator
        The estimator, fitted to all rows.
    guarantee_settings : Promise
        Error rate (`alpha`), method (`how`) and guaranteed coverage (`guarantee`).
    """

    estimator_: EstimatorLike
    guarantee_settings: Promise
    _comparison: ConformalScores
    _weight: np.ndarray  # [n_seen]

    def predict_set(self, X: FrameLike, alpha: float | None = None) -> np.ndarray:
        """Return the interval of each row: quantiles of μ₋ᵢ(x) − Rᵢ and μ₋ᵢ(x) + Rᵢ over the observed rows i.

        Parameters
        ----------
        X : data frame, array or dict of columns
            Rows to predict.
        alpha : float, optional
            Accepted error rate; by default that of the `promise`.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Lower and upper bound; infinite if there are too few rows for the error rate.
        """
        alpha = self.guarantee_settings.alpha if alpha is None else param_validation.open_interval("alpha", alpha)
        if is_without_rows(X):
            return np.empty((0, 2))
        number, miss = self._comparison.of_numbers(NewRows.of(X, self.estimator_))
        low = lower_bounds(number - miss[:, None], self._weight, alpha)
        high = -lower_bounds(-number - miss[:, None], self._weight, alpha)
        return np.stack([np.minimum(low, high), np.maximum(low, high)], axis=1)

    def predict(self, X: FrameLike, alpha: float | None = None) -> np.ndarray:
        """Return the interval of each row, as `predict_set`.

        Parameters
        ----------
        X : data frame, array or dict of columns
            Rows to predict.
        alpha : float, optional
            Accepted error rate; by default that of the `promise`.
        """
        return self.predict_set(X, alpha)

    def bounds(self, alpha: float | None = None) -> np.ndarray:
        """Return the half-width of the intervals; only for ``cv="fitted"``.

        Parameters
        ----------
        alpha : float, optional
            Accepted error rate; by default that of the `promise`.

        Returns
        -------
        ndarray of shape (1,)
            Infinite if there are too few rows for the error rate.
        """
        alpha = self.guarantee_settings.alpha if alpha is None else param_validation.open_interval("alpha", alpha)
        part = _of_one_model(self._comparison)
        miss = np.abs(part.label - part.answers[:, 0])
        return -lower_bounds(-miss[:, None], self._weight, alpha)

    def coverage(self, X: FrameLike, y: TargetLike = None, alpha: float | None = None) -> Coverage:
        """Measure how often the intervals of rows with a known number contain it.

        Parameters
        ----------
        X : data frame, array or dict of columns
            Labelled rows.
        y : str or array-like, optional
            Name of the target column in `X`, or the numbers; by default the column that the estimator was trained on.
        alpha : float, optional
            Accepted error rate; by default that of the `promise`.
        """
        read = target_reading.read_numbers(_truth(X, y, self.estimator_), "y")
        rows = np.flatnonzero(~read.missing)
        low, high = self.predict_set(X, alpha)[rows].T
        held = (low <= read.values[rows]) & (read.values[rows] <= high)
        return Coverage(float(held.mean()), float(np.median(high - low)), {}, 0.0, 0.0, len(rows))

    def __str__(self) -> str:
        return f"prediction intervals of {type(self.estimator_).__name__}: {self.guarantee_settings}"

    promise = renamed("promise", "guarantee_settings")


def _of_one_model(comparison: ConformalScores) -> CalibrationFold:
    """Return the calibration rows of an estimator that was fitted before; raise ValueError for any other method."""
    if not (
        isinstance(comparison, CrossConformal)
        and len(comparison.parts) == 1
        and isinstance(comparison.parts[0].model, RefittedFoldModel)
    ):
        raise ValueError(
            "bounds need a single fitted model and held-out rows; use bt.conformal(model, held_out, target, cv='fitted')"
        )
    return comparison.parts[0]


def _truth(X: FrameLike, y: TargetLike, estimator: EstimatorLike) -> Any:
    if y is None and hasattr(estimator, "schema_"):
        y = estimator.schema_.target.name
    return column_named(X, y) if isinstance(y, str) else y
