"""Linear regression with the penalty strength chosen by cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from baytree import param_validation
from baytree.data.schema.schema import Schema
from baytree.estimators.base import PreparedRows
from baytree.estimators.inner_folds import InnerFolds, inner_folds
from baytree.estimators.linear.regression import LinearRegressor, plot_coefficient_path
from baytree.estimators.linear.regularization import MAX_STRENGTHS, folds_setting, is_count, positive_values
from baytree.folds.row_structure import RowStructure
from baytree.folds.splitters import CV
from baytree.linear.regression.learner import LinearRegressionCVLearner
from baytree.linear.regularization_path import HeldOutLossCurve, RegularizationPath
from baytree.param_validation import reject_text_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LinearRegressionCV(InnerFolds, LinearRegressor):
    """Linear regression with the penalty strength chosen by cross-validation.

    The rows are read once: the statistic of each fold is computed, the regularization path of a fold follows from the
    statistic of the other folds, and its squared error from its own cross products. Folds depend on the contents of the
    rows, not on their order.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"}, default="l2"
        Penalty on the coefficients: sum of squares, sum of absolute values, or both.
    lambdas : int or sequence of float, default=100
        Penalty strengths λ to choose from, or their number: they are then log-spaced as in glmnet, from the smallest λ at
        which all lasso coefficients are zero down to 1/10,000 of it (1/100 if there are fewer rows than features). For a
        ridge penalty, the first is 1,000 times larger, so that its coefficients are close to zero.
    Cs : sequence of float, optional
        Inverse strengths C = 1 / (n λ) to choose from; replace `lambdas`.
    cv : int, "loo", splitter, vector of folds, or pairs of rows (train, test), default=10
        Number of folds, assigned by the contents of the rows; leave-one-out; any scikit-learn splitter; or given folds.
        Every row must be held out once.
    rule : {"min", "1se"}, default="min"
        Choose the smallest held-out error, or the strongest penalty within one standard error of it.
    scoring : {"squared_error", "absolute_error"}, default="squared_error"
        Held-out error that compares the strengths. Absolute errors read the rows once more.
    l1_ratio : float in [0, 1], optional
        Proportion of |b|₁ in the penalty, for ``penalty="elasticnet"``.
    standardize : bool, default=True
        Whether to penalise coefficients per standard deviation (divisor n) of their feature; fitted coefficients are in
        original units.
    ordinal : {"rank", "dummies"}, default="rank"
        Encode an ordinal column as one number, its rank, or as one feature per level except the first.
    missing : {"mean+indicator", "mean", "error"}, default="mean+indicator"
        How to treat missing values: replace them by the mean and add a missing indicator (in a nominal column, missing
        is a level), replace them by the mean or most frequent level only, or raise an error.
    conventions : {None, "glmnet"}, default=None
        ``"glmnet"`` reproduces that program's numbers: it weights |b|² by λ / sd(y) instead of λ, so that λ is in units of
        the target for every penalty. For a lasso there is no difference.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients of the features in original units.
    intercept_ : float
        Intercept for features in original units.
    lambda_ : float
        Chosen strength.
    C_ : float
        Chosen inverse strength, 1 / (n λ).
    r2_ : float
        Proportion of the target's variance that is explained on the training rows.
    curve_ : Curve
        Held-out error at each strength, by `scoring`: per fold, mean and standard error of the mean.
    path_ : Path
        Coefficients of the fit to all rows along the regularization path.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"size": [1.0, 2.0, 3.0, 4.0] * 5, "noise": [0.0, 1.0, 1.0, 0.0] * 5, "price": [3.0, 5.0, 7.0, 9.0] * 5}
    >>> model = bt.LinearRegressionCV(penalty="l1", cv=5).fit(rows, "price")
    >>> model.coef_.round(2).tolist()
    [2.0, 0.0]
    """

    curve_: HeldOutLossCurve
    path_: RegularizationPath

    def __init__(
        self,
        penalty: str = "l2",
        lambdas: int | ArrayLike = 100,
        Cs: ArrayLike | None = None,
        cv: CV = 10,
        rule: str = "min",
        l1_ratio: float | None = None,
        standardize: bool = True,
        ordinal: str = "rank",
        missing: str = "mean+indicator",
        conventions: str | None = None,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
        scoring: str = "squared_error",
    ):
        self.penalty = penalty
        self.lambdas = lambdas
        self.Cs = Cs
        self.cv = cv
        self.rule = rule
        self.scoring = scoring
        self.l1_ratio = l1_ratio
        self.standardize = standardize
        self.ordinal = ordinal
        self.missing = missing
        self.conventions = conventions
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    def plot_path(self, ax: Axes | None = None) -> Axes:
        """Plot the coefficients against the penalty strength with matplotlib."""
        check_is_fitted(self, "model_")
        return plot_coefficient_path(self.path_, ax)

    def plot_curve(self, ax: Axes | None = None) -> Axes:
        """Plot the held-out error against the penalty strength with matplotlib."""
        from baytree.rendering.plots.model_plots import plot_curve

        check_is_fitted(self, "curve_")
        curve = self.curve_
        return plot_curve(curve.lambdas, curve.mean, curve.error, (curve.best, curve.one_se), ax)

    def _learner(self, schema: Schema, fold: np.ndarray | None = None) -> LinearRegressionCVLearner:
        reject_text_columns(schema, "linear regression")
        if self.penalty is None:
            raise ValueError("penalty=None has no strength to choose; use LinearRegression()")
        return LinearRegressionCVLearner(
            self._options(),
            _strengths(self.lambdas),
            None if self.Cs is None else positive_values("Cs", self.Cs),
            folds_setting(self.cv) if fold is None else fold,
            param_validation.one_of("rule", self.rule, ("min", "1se")),
            param_validation.one_of("scoring", self.scoring, ("squared_error", "absolute_error")),
        )

    def _row_dependent_settings(
        self, entered: PreparedRows, structure: RowStructure | None = None
    ) -> dict[str, np.ndarray | None]:
        """Folds of the training rows, if they depend on their groups and times or on row numbers."""
        return {"fold": inner_folds(self.cv, entered, False, structure)}


def _strengths(given: int | ArrayLike) -> np.ndarray | int:
    """Values of λ to choose from, or their number."""
    return (
        param_validation.integer("lambdas", given, 1, MAX_STRENGTHS)
        if is_count(given)
        else positive_values("lambdas", given)
    )
