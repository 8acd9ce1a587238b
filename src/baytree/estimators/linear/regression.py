"""Linear regression: least squares, or at one strength of a penalty.

What both linear regressions share: their common parameters, and how a fitted model is read.
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
from baytree.estimators.incremental import AdditiveRegressor
from baytree.estimators.linear.logistic import l1_ratio_of
from baytree.estimators.prediction import Regressor
from baytree.linear.design.learn import MISSING_POLICIES
from baytree.linear.regression.derive import path_to
from baytree.linear.regression.learner import LinearRegressionLearner, refuse_text
from baytree.linear.regression.model import RegressionModel, RegressionTable, collinear_names
from baytree.linear.regression.normal_equations import RegressionOptions
from baytree.linear.regularization_path import RegularizationPath
from baytree.parallel.blas import at_most

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LinearRegressor(Regressor):
    """A regressor whose model is a linear regression."""

    penalty: str | None
    l1_ratio: float | None
    standardize: bool
    ordinal: str
    missing: str
    conventions: str | None
    model_: RegressionModel
    _accepts_infinite = True  # infinities are refused while reading, which saves a read of the table

    @property
    def coef_(self) -> np.ndarray:
        """The coefficients of the features in original units. [n_features]

        A column of numbers that is left out, as an identifier, has the coefficient 0.
        """
        linear = self.model_.linear
        return self.schema_.with_numbers_left_out(linear.in_original_units()[0][0], linear.design.source)

    @property
    def intercept_(self) -> float:
        """The intercept for features in original units."""
        return float(self.model_.linear.in_original_units()[1][0])

    @property
    def r2_(self) -> float:
        """The share of the target's variance that is explained in training."""
        return self.model_.quality.r2

    def coefficients(self, level: float = 0.95) -> RegressionTable:
        """The coefficients and, for an unpenalised fit, standard errors, t, p and intervals of this level."""
        check_is_fitted(self, "model_")
        return self.model_.coefficients(self.schema_, param_validation.number("level", level, 0, 1))

    def plot(self, ax: Axes | None = None) -> Axes:
        """The coefficients per standard deviation, the largest first, with their intervals (matplotlib)."""
        from baytree.rendering.plots.model_plots import plot_slopes

        return plot_slopes(self.coefficients().rows, ax)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")  # the parameter `lambda_` ends like a fitted attribute, and is none

    def _options(self) -> RegressionOptions:
        """What both linear regressions let users choose."""
        return RegressionOptions(
            l1_share=l1_ratio_of(self.penalty, self.l1_ratio),
            is_penalised=self.penalty is not None,
            standardize=param_validation.flag("standardize", self.standardize),
            ordinal=param_validation.one_of("ordinal", self.ordinal, ("rank", "dummies")),
            missing=param_validation.one_of("missing", self.missing, MISSING_POLICIES),
            conventions=param_validation.one_of("conventions", self.conventions, (None, "glmnet")),
        )


def plot_coefficient_path(path: RegularizationPath, ax: Axes | None) -> Axes:
    """The coefficients against the strength of the penalty."""
    from baytree.rendering.plots.model_plots import plot_path

    return plot_path(path.lambdas, path.importance, path.names, ax)


_STRENGTHS = 100  # along a path


class LinearRegression(LinearRegressor, AdditiveRegressor):
    """Linear regression on a raw table: least squares, or with an l1 or l2 penalty, or both.

    Minimises RSS / 2n + λ (l1_ratio |b|₁ + (1 − l1_ratio) / 2 |b|²), the intercept free. Everything follows from one
    statistic, the products of all pairs of columns: so the model can go on learning, merge with others, forget rows, and
    answer for each row as if it had not been seen. Nominal columns become one feature per level but the first; gaps of
    numbers are filled by the mean, and every column with gaps has a feature that marks them. Without a penalty, a feature
    that earlier ones determine (to one part in 1e9 of its variance) is not used, as in R's ``lm``, and a warning names it.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", None}, default=None
        What keeps coefficients small: the sum of their squares, that of their sizes, both, or nothing.
    C : float, default=1.0
        The inverse strength of the penalty: λ = 1 / (n C) for rows that weigh n in all; 1 / `alpha` of scikit-learn's
        ``Ridge``.
    lambda_ : float, optional
        The strength λ itself, as glmnet and scikit-learn's ``Lasso`` and ``ElasticNet`` take it; takes the place of `C`.
    l1_ratio : float in [0, 1], optional
        The share of |b|₁ for ``penalty="elasticnet"``.
    standardize : bool, default=True
        Whether b is counted per standard deviation (divisor n) of its feature; coefficients come back in original units.
    ordinal : {"rank", "dummies"}, default="rank"
        An ordinal column as one number, its rank, or as one feature per level but the first.
    missing : {"mean+indicator", "mean", "error"}, default="mean+indicator"
        What a gap is: the mean and a mark that it was one (of a nominal column a level of its own), the mean or the
        commonest level alone, or an error.
    conventions : {None, "glmnet"}, default=None
        ``"glmnet"`` gives that program's numbers: it counts |b|² with λ / sd(y) instead of λ, so that λ is in units of the
        target for every penalty. For a lasso there is no difference.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients of the features in original units; 0 for those that are not used.
    intercept_ : float
        The intercept for features in original units.
    collinear_ : list of str
        The features that are not used because earlier ones determine them.
    r2_ : float
        The share of the target's variance that is explained in training.
    adjusted_r2_ : float or None
        R² with variances by their degrees of freedom; None, as the next ones, after a penalised fit or without degrees of
        freedom. A row of weight 2 counts as two.
    residual_error_ : float or None
        The residual standard error.
    degrees_ : float or None
        The degrees of freedom of the residuals.
    f_ : float or None
        The F statistic of all features together.
    log_likelihood_ : float or None
        Of Gaussian residuals.
    aic_ : float or None
        Akaike's criterion, as R counts parameters: coefficients, intercept and variance.
    bic_ : float or None
        Schwarz's criterion.
    path_ : Path
        Of a penalised fit, the coefficients along the strengths from the one that keeps no column to λ.

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
        """The features that are not used because earlier ones determine them."""
        return list(collinear_names(self.model_, self.schema_))

    @property
    def adjusted_r2_(self) -> float | None:
        """R² with variances by their degrees of freedom."""
        return self.model_.quality.adjusted_r2

    @property
    def residual_error_(self) -> float | None:
        """The residual standard error."""
        return self.model_.quality.residual_error

    @property
    def degrees_(self) -> float | None:
        """The degrees of freedom of the residuals."""
        return self.model_.quality.degrees or None

    @property
    def f_(self) -> float | None:
        """The F statistic of all features together."""
        return self.model_.quality.f

    @property
    def log_likelihood_(self) -> float | None:
        """The log-likelihood of Gaussian residuals."""
        return self.model_.quality.log_likelihood

    @property
    def aic_(self) -> float | None:
        """Akaike's criterion."""
        return self.model_.quality.aic

    @property
    def bic_(self) -> float | None:
        """Schwarz's criterion."""
        return self.model_.quality.bic

    @property
    def path_(self) -> RegularizationPath:
        """The coefficients along the strengths of the penalty; it follows from the statistic, so it is found on demand."""
        if self.penalty is None:
            raise AttributeError("penalty=None has no path; give penalty='l1', 'l2' or 'elasticnet'")
        with at_most(self.n_jobs):
            return path_to(self.seen_, self.schema_, self._all_options(), _STRENGTHS)

    def plot_path(self, ax: Axes | None = None) -> Axes:
        """The coefficients against the strength of the penalty (matplotlib)."""
        check_is_fitted(self, "model_")
        return plot_coefficient_path(self.path_, ax)

    def leave_one_out(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> np.ndarray:
        """The number of each row of a table under the model of all its other rows, exactly, in one pass."""
        table = self._prepare_rows(X, y, sample_weight).table
        return self._learner(table.schema).leave_one_out(LocalPartitions(table, self.n_jobs))

    def _learner(self, schema: Schema) -> LinearRegressionLearner:
        refuse_text(schema)
        return LinearRegressionLearner(self._all_options())

    def _all_options(self) -> RegressionOptions:
        return msgspec.structs.replace(
            self._options(),
            C=param_validation.positive("C", self.C),
            lambda_=None if self.lambda_ is None else param_validation.finite("lambda_", self.lambda_, 0),
        )
