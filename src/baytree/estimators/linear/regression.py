"""Linear regression: least squares or a given penalty strength, and the base class of both linear regressions.

Everything is derived from one mergeable statistic, the cross products of features and target (`linear.regression`), so
training can continue, merge and forget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
from sklearn.utils.validation import check_is_fitted

from baytree import param_validation
from baytree._typing import FrameLike, TargetLike, WeightsLike
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import LocalPartitions
from baytree.estimators.incremental import MergeableRegressor
from baytree.estimators.linear.logistic import l1_ratio_of
from baytree.estimators.prediction import Regressor
from baytree.linear.design.learn import MISSING_POLICIES
from baytree.linear.regression.derive import path_to
from baytree.linear.regression.learner import LinearRegressionLearner
from baytree.linear.regression.model import RegressionModel, RegressionTable, collinear_names
from baytree.linear.regression.normal_equations import RegressionOptions
from baytree.linear.regularization_path import RegularizationPath
from baytree.parallel.blas import at_most
from baytree.param_validation import reject_text_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LinearRegressor(Regressor):
    """Base of regressors with a linear model: shared options, coefficients, plots."""

    penalty: str | None
    l1_ratio: float | None
    standardize: bool
    ordinal: str
    missing: str
    conventions: str | None
    model_: RegressionModel
    _accepts_infinite = True  # infinities are refused while reading, which saves one pass over the table

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the features in original units. float64 [n_features]

        A numeric column that was dropped as an identifier has the coefficient 0.
        """
        linear = self.model_.linear
        return self.schema_.with_numbers_left_out(linear.in_original_units()[0][0], linear.design.source)

    @property
    def intercept_(self) -> float:
        """Intercept for features in original units."""
        return float(self.model_.linear.in_original_units()[1][0])

    @property
    def r2_(self) -> float:
        """Proportion of the target's variance that is explained on the training rows."""
        return self.model_.quality.r2

    def coefficients(self, level: float = 0.95) -> RegressionTable:
        """Table of coefficients; without a penalty also standard errors, t, p and confidence intervals."""
        check_is_fitted(self, "model_")
        return self.model_.coefficients(self.schema_, param_validation.number("level", level, 0, 1))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the coefficients per standard deviation, largest first, with their intervals (matplotlib)."""
        from baytree.rendering.plots.model_plots import plot_coefficients

        return plot_coefficients({"": self.coefficients().rows}, ax)

    def plot_coefficients(self, ax: Axes | None = None) -> Axes:
        """Plot the coefficients per standard deviation, largest first, with their intervals; the same as `plot`."""
        return self.plot(ax)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")  # the parameter `lambda_` is named like a fitted attribute

    def _options(self) -> RegressionOptions:
        """Validated options that both linear regressions share."""
        return RegressionOptions(
            l1_share=l1_ratio_of(self.penalty, self.l1_ratio),
            is_penalised=self.penalty is not None,
            standardize=param_validation.flag("standardize", self.standardize),
            ordinal=param_validation.one_of("ordinal", self.ordinal, ("rank", "dummies")),
            missing=param_validation.one_of("missing", self.missing, MISSING_POLICIES),
            conventions=param_validation.one_of("conventions", self.conventions, (None, "glmnet")),
        )


def plot_coefficient_path(path: RegularizationPath, ax: Axes | None) -> Axes:
    """Plot the coefficients against the penalty strength."""
    from baytree.rendering.plots.model_plots import plot_path

    return plot_path(path.lambdas, path.importance, path.names, ax)


_PATH_LENGTH = 100  # penalty strengths along a path


class LinearRegression(LinearRegressor, MergeableRegressor):
    """Linear regression on a raw table: least squares, or with an l1, l2 or elastic-net penalty.

    Minimises RSS / 2n + λ (l1_ratio |b|₁ + (1 − l1_ratio) / 2 |b|²); the intercept is not penalised. Everything is derived
    from one statistic, the cross products of all pairs of columns, so the model supports `partial_fit`, `merge`, `forget`
    and exact leave-one-out predictions. Nominal columns become one feature per level except the first. Missing numbers are
    replaced by the mean, and every column with missing values has a missing indicator. Without a penalty, a feature that is
    a linear combination of earlier ones (to one part in 1e9 of its variance) is not used, as in R's ``lm``, and a warning
    names it.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", None}, default=None
        Penalty on the coefficients: sum of squares, sum of absolute values, both, or none.
    C : float, default=1.0
        Inverse penalty strength: λ = 1 / (n C), where n is the total weight of the rows; 1 / `alpha` of scikit-learn's
        ``Ridge``.
    lambda_ : float, optional
        Penalty strength λ itself, as in glmnet and scikit-learn's ``Lasso`` and ``ElasticNet``; replaces `C`.
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
        Coefficients of the features in original units; 0 for features that are not used.
    intercept_ : float
        Intercept for features in original units.
    collinear_ : list of str
        Features that are not used because they are linear combinations of earlier ones.
    r2_ : float
        Proportion of the target's variance that is explained on the training rows.
    adjusted_r2_ : float or None
        R² adjusted for degrees of freedom; None, like the next attributes, after a penalised fit or without residual
        degrees of freedom. A row of weight 2 counts as two.
    residual_standard_error_ : float or None
        Residual standard error.
    residual_error_ : float or None
        Short name of `residual_standard_error_`.
    df_residual_ : float or None
        Residual degrees of freedom.
    degrees_ : float or None
        Short name of `df_residual_`.
    f_statistic_ : float or None
        F statistic of the whole model.
    f_ : float or None
        Short name of `f_statistic_`.
    log_likelihood_ : float or None
        Log-likelihood with Gaussian residuals.
    aic_ : float or None
        Akaike information criterion; parameters are counted as in R: coefficients, intercept and variance.
    bic_ : float or None
        Bayesian (Schwarz) information criterion.
    path_ : Path
        For a penalised fit, the coefficients along the regularization path, from the smallest strength with all
        coefficients zero to λ.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"size": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", "red", "blue"], "price": [3.0, 6.0, 7.0, 10.0]}
    >>> model = bt.LinearRegression().fit(rows, "price")
    >>> model.coef_.round(6).tolist(), model.predict({"size": [5.0], "colour": ["red"]}).round(6).tolist()
    ([2.0, -1.0], [11.0])
    """

    def __init__(
        self,
        penalty: str | None = None,
        C: float = 1.0,
        lambda_: float | None = None,
        l1_ratio: float | None = None,
        standardize: bool = True,
        ordinal: str = "rank",
        missing: str = "mean+indicator",
        conventions: str | None = None,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ):
        self.penalty = penalty
        self.C = C
        self.lambda_ = lambda_
        self.l1_ratio = l1_ratio
        self.standardize = standardize
        self.ordinal = ordinal
        self.missing = missing
        self.conventions = conventions
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    @property
    def collinear_(self) -> list[str]:
        """Features that are not used because they are linear combinations of earlier ones."""
        return list(collinear_names(self.model_, self.schema_))

    @property
    def adjusted_r2_(self) -> float | None:
        """R² adjusted for degrees of freedom."""
        return self.model_.quality.adjusted_r2

    @property
    def residual_standard_error_(self) -> float | None:
        """Residual standard error."""
        return self.model_.quality.residual_error

    @property
    def residual_error_(self) -> float | None:
        """Short name of `residual_standard_error_`."""
        return self.residual_standard_error_

    @property
    def df_residual_(self) -> float | None:
        """Residual degrees of freedom."""
        return self.model_.quality.degrees or None

    @property
    def degrees_(self) -> float | None:
        """Short name of `df_residual_`."""
        return self.df_residual_

    @property
    def f_statistic_(self) -> float | None:
        """F statistic of the whole model."""
        return self.model_.quality.f

    @property
    def f_(self) -> float | None:
        """Short name of `f_statistic_`."""
        return self.f_statistic_

    @property
    def log_likelihood_(self) -> float | None:
        """Log-likelihood with Gaussian residuals."""
        return self.model_.quality.log_likelihood

    @property
    def aic_(self) -> float | None:
        """Akaike information criterion."""
        return self.model_.quality.aic

    @property
    def bic_(self) -> float | None:
        """Bayesian (Schwarz) information criterion."""
        return self.model_.quality.bic

    @property
    def path_(self) -> RegularizationPath:
        """Coefficients along the regularization path, derived from the statistic on access."""
        if self.penalty is None:
            raise AttributeError("penalty=None has no path; give penalty='l1', 'l2' or 'elasticnet'")
        with at_most(self.n_jobs):
            return path_to(self.seen_, self.schema_, self._all_options(), _PATH_LENGTH)

    def plot_path(self, ax: Axes | None = None) -> Axes:
        """Plot the coefficients against the penalty strength with matplotlib."""
        check_is_fitted(self, "model_")
        return plot_coefficient_path(self.path_, ax)

    def leave_one_out(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> np.ndarray:
        """Exact leave-one-out predictions: each row by the model of all other rows, in one pass. float64 [n_rows]"""
        table = self._prepare_rows(X, y, sample_weight).table
        return self._learner(table.schema).leave_one_out(LocalPartitions(table, self.n_jobs))

    def _learner(self, schema: Schema) -> LinearRegressionLearner:
        reject_text_columns(schema, "linear regression")
        return LinearRegressionLearner(self._all_options())

    def _all_options(self) -> RegressionOptions:
        return msgspec.structs.replace(
            self._options(),
            C=param_validation.positive("C", self.C),
            lambda_=None if self.lambda_ is None else param_validation.finite("lambda_", self.lambda_, 0),
        )
