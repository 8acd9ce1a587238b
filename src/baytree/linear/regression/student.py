"""Student's t and the F distribution: tails and quantiles, without scipy."""

from __future__ import annotations

import math

from baytree import _core

_HALVINGS = 200


def two_sided_p(t: float, degrees: float) -> float:
    """P(|T| ≥ |t|)."""
    return math.exp(_core.f_log_tail(t * t, 1.0, degrees))


def f_tail(statistic: float, between: float, within: float) -> float:
    """P(F ≥ statistic)."""
    return math.exp(_core.f_log_tail(statistic, between, within))


def reach(level: float, degrees: float) -> float:
    """The t within which |T| lies with this probability; infinite for 1.

    >>> round(reach(0.95, 10), 4)
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
