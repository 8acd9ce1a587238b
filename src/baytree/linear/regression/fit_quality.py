"""Goodness of fit of a linear regression: R², residual standard error, F, log-likelihood, AIC and BIC.

Also tails and quantiles of Student's t and the F distribution, without scipy.
"""

from __future__ import annotations

import math

import msgspec

from baytree import _core

_MIN_UNEXPLAINED = 1e-13  # unexplained proportion of variance that is rounding


class FitQuality(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fit in four numbers, from which all measures follow; a row of weight 2 counts as two.

    Measures that need degrees of freedom are None if there are none: too few rows, or a penalty, with which they are
    unknown.
    """

    weight: float  # total weight of the rows
    rank: int  # number of features that are used
    unexplained: float  # proportion of the target's variance
    deviation: float  # standard deviation of the target, divisor n
    is_penalised: bool = False

    def __post_init__(self) -> None:
        if not (0 <= self.unexplained <= 1 + 1e-9 and self.weight > 0 and self.rank >= 0 and 0 <= self.deviation < math.inf):
            raise ValueError("regression: the goodness of fit holds values that cannot come from rows")

    @property
    def is_perfect(self) -> bool:
        """Whether the residuals are only rounding errors."""
        return self.unexplained <= _MIN_UNEXPLAINED

    @property
    def degrees(self) -> float:
        """Residual degrees of freedom, n − features − 1; 0 if there are none or a penalty is used."""
        return 0.0 if self.is_penalised else max(0.0, self.weight - self.rank - 1)

    @property
    def r2(self) -> float:
        """Proportion of the target's variance that is explained."""
        return 1 - self.unexplained

    @property
    def adjusted_r2(self) -> float | None:
        """Adjusted R², with variances by their degrees of freedom."""
        return 1 - self.unexplained * (self.weight - 1) / self.degrees if self.degrees else None

    @property
    def residual_error(self) -> float | None:
        """Residual standard error, √(RSS / degrees of freedom)."""
        return self.deviation * math.sqrt(self.unexplained * self.weight / self.degrees) if self.degrees else None

    @property
    def f(self) -> float | None:
        """F statistic of all features, with `rank` and `degrees` degrees of freedom."""
        if not self.degrees or not self.rank or not self.unexplained:
            return None
        return self.r2 / self.rank / (self.unexplained / self.degrees)

    @property
    def f_p(self) -> float | None:
        """p-value of the F statistic."""
        return None if self.f is None else f_tail(self.f, float(self.rank), self.degrees)

    @property
    def log_likelihood(self) -> float | None:
        """Gaussian log-likelihood with variance RSS / n; infinite for a perfect fit."""
        if self.is_penalised:
            return None
        if not self.unexplained or not self.deviation:
            return math.inf
        return -self.weight / 2 * (math.log(2 * math.pi * self.unexplained) + 2 * math.log(self.deviation) + 1)

    @property
    def aic(self) -> float | None:
        """2 · parameters − 2 · log-likelihood; the parameters are the coefficients, the intercept and the variance."""
        return self._criterion(2.0)

    @property
    def bic(self) -> float | None:
        """log n · parameters − 2 · log-likelihood."""
        return self._criterion(math.log(self.weight))

    def _criterion(self, cost: float) -> float | None:
        likelihood = self.log_likelihood
        return None if likelihood is None else cost * (self.rank + 2) - 2 * likelihood


_MAX_HALVINGS = 200


def two_sided_p(t: float, degrees: float) -> float:
    """P(|T| ≥ |t|)."""
    return math.exp(_core.f_log_tail(t * t, 1.0, degrees))


def f_tail(statistic: float, between: float, within: float) -> float:
    """P(F ≥ statistic)."""
    return math.exp(_core.f_log_tail(statistic, between, within))


def t_quantile(level: float, degrees: float) -> float:
    """The t with P(|T| ≤ t) = level; infinite for level 1.

    >>> round(t_quantile(0.95, 10), 4)
    2.2281
    """
    if level >= 1:
        return math.inf
    low, high = 0.0, 1.0
    while 1 - two_sided_p(high, degrees) < level:
        low, high = high, 2 * high
    for _ in range(_MAX_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if 1 - two_sided_p(middle, degrees) < level else (low, middle)
    return high
