"""What both linear regressions share: their common parameters, and how a fitted model is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from baytree import settings
from baytree.estimators.base import Regressor
from baytree.estimators.linear.face import l1_share_of
from baytree.linear.design.learn import MISSING_POLICIES
from baytree.linear.penalty_path import Path
from baytree.linear.regression.model import Regression
from baytree.linear.regression.options import Options
from baytree.linear.regression.slopes import SlopeTable

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
    model_: Regression
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

    def coefficients(self, level: float = 0.95) -> SlopeTable:
        """The coefficients and, for an unpenalised fit, standard errors, t, p and intervals of this level."""
        check_is_fitted(self, "model_")
        return self.model_.coefficients(self.schema_, settings.number("level", level, 0, 1))

    def plot(self, ax: Axes | None = None) -> Axes:
        """The coefficients per standard deviation, the largest first, with their intervals (matplotlib)."""
        from baytree.show.pictures.linear_plots import plot_slopes

        return plot_slopes(self.coefficients().rows, ax)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")  # the parameter `lambda_` ends like a fitted attribute, and is none

    def _options(self) -> Options:
        """What both linear regressions let users choose."""
        return Options(
            l1_share=l1_share_of(self.penalty, self.l1_ratio),
            is_penalised=self.penalty is not None,
            standardize=settings.flag("standardize", self.standardize),
            ordinal=settings.one_of("ordinal", self.ordinal, ("rank", "dummies")),
            missing=settings.one_of("missing", self.missing, MISSING_POLICIES),
            conventions=settings.one_of("conventions", self.conventions, (None, "glmnet")),
        )


def picture_of(path: Path, ax: Axes | None) -> Axes:
    """The coefficients against the strength of the penalty."""
    from baytree.show.pictures.linear_plots import plot_path

    return plot_path(path.lambdas, path.importance, path.names, ax)
