"""Quinlan's pessimistic error estimate: the upper confidence limit of a binomial error rate (Quinlan 1993)."""

from __future__ import annotations

from statistics import NormalDist

import msgspec
import numpy as np

from baytree import _core
from baytree.tree.policy.policy import ReferenceProgram

# Quinlan's table of normal deviates by confidence; values in between are interpolated.
Z_TABLE = (
    (0.0, 4.0), (0.001, 3.09), (0.005, 2.58), (0.01, 2.33), (0.05, 1.65),
    (0.10, 1.28), (0.20, 0.84), (0.40, 0.25), (1.0, 0.0),
)  # fmt: skip


class PessimisticError(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Upper confidence limit of a node's errors.

    z is the normal deviate of the confidence, `top_share` the proportion of the correct cases that is added as errors if
    nearly all cases are errors.
    """

    confidence: float
    z: float
    top_share: float

    def __call__(self, n: float, errors: float) -> float:
        """Expected errors on n new cases, after `errors` errors were observed on n cases.

        >>> round(pessimism("c4.5", 0.25)(6, 0), 4)
        1.2378
        """
        return errors + _core.extra_errors(n, errors, self.confidence, self.z, self.top_share)


def pessimism(arithmetic: str, confidence: float) -> PessimisticError:
    """Error estimate of C4.5 release 8 and C5.0 (interpolated deviates) or of J48 (exact deviates)."""
    if arithmetic in (ReferenceProgram.C45, ReferenceProgram.C50):
        confidences, deviate = zip(*Z_TABLE, strict=True)
        return PessimisticError(confidence, float(np.interp(confidence, confidences, deviate)), 0.67)
    return PessimisticError(confidence, NormalDist().inv_cdf(1 - confidence), 1.0)
