"""How well a linear regression fits the rows that it has seen: R², the residual standard error, F and what follows.

Student's t and the F distribution: tails and quantiles, without scipy.
"""

from __future__ import annotations

import math

import msgspec

from baytree import _core

_PERFECT = 1e-13  # unexplained share that sums of doubles cannot tell from 0


class FitQuality(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fit in four numbers; a row of weight 2 counts as two.

    What needs degrees of freedom is None where there are none: too few rows, or a penalty, which leaves them unknown.
    """

    weight: float  # of all rows
    rank: int  # features that are used
    unexplained: float  # share of the target's variance
    deviation: float  # of the target, divisor n
    is_penalised: bool = False

    def __post_init__(self) -> None:
        if not (0 <= self.unexplained <= 1 + 1e-9 and self.weight > 0 and self.rank >= 0 and 0 <= self.deviation < math.inf):
            raise ValueError("regression: the quality of the fit holds numbers that no rows give")

    @property
    def is_perfect(self) -> bool:
        """Whether nothing but rounding is left of the residuals."""
        return self.unexplained <= _PERFECT

    @property
    def degrees(self) -> float:
        """The degrees of freedom of the residuals: n − features − 1; 0 where there are none."""
        return 0.0 if self.is_penalised else max(0.0, self.weight - self.rank - 1)

    @property
    def r2(self) -> float:
        """The share of the variance that is explained."""
        return 1 - self.unexplained

    @property
    def adjusted_r2(self) -> float | None:
        """R² with variances by their degrees of freedom."""
        return 1 - self.unexplained * (self.weight - 1) / self.degrees if self.degrees else None

    @property
    def residual_error(self) -> float | None:
        """The residual standard error, √(RSS / degrees of freedom)."""
        return self.deviation * math.sqrt(self.unexplained * self.weight / self.degrees) if self.degrees else None

    @property
    def f(self) -> float | None:
        """The F statistic of all features together, on `rank` and `degrees` degrees of freedom."""
        if not self.degrees or not self.rank or not self.unexplained:
            return None
        return self.r2 / self.rank / (self.unexplained / self.degrees)

    @property
    def f_p(self) -> float | None:
        """The p-value of F."""
        return None if self.f is None else f_tail(self.f, float(self.rank), self.degrees)

    @property
    def log_likelihood(self) -> float | None:
        """Of Gaussian residuals with the variance RSS / n; infinite where nothing is left to explain."""
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


_HALVINGS = 200


def two_sided_p(t: float, degrees: float) -> float:
    """P(|T| ≥ |t|)."""
    return math.exp(_core.f_log_tail(t * t, 1.0, degrees))


def f_tail(statistic: float, between: float, within: float) -> float:
    """P(F ≥ statistic)."""
    return math.exp(_core.f_log_tail(statistic, between, within))


def t_quantile(level: float, degrees: float) -> float:
    """The t within which |T| lies with this probability; infinite for 1.

    >>> round(t_quantile(0.95, 10), 4)
    2.2281
    """
    if level >= 1:
        return math.inf
    low, high = 0.0, 1.0
    while 1 - two_sided_p(high, degrees) < level:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if 1 - two_sided_p(middle, degrees) < level else (low, middle)
    return high
