"""Quinlan's pessimistic error estimate"""

from __future__ import annotations

from statistics import NormalDist

import msgspec
import numpy as np

from baytree import _core
from baytree.tree.policy.policy import ReferenceProgram

# Quinlan's normal deviates by confidence; between two of them the deviate is interpolated.
Z_TABLE = (
    (0.0, 4.0), (0.001, 3.09), (0.005, 2.58), (0.01, 2.33), (0.05, 1.65),
    (0.10, 1.28), (0.20, 0.84), (0.40, 0.25), (1.0, 0.0),
)  # fmt: skip


class PessimisticError(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The upper confidence limit of a node's errors.

    z is the normal deviate of the confidence, `top_share` the share of the right cases that is feared to be wrong
    where nearly all are wrong already.
    """

    confidence: float
    z: float
    top_share: float

    def __call__(self, n: float, errors: float) -> float:
        """Errors to expect from n new cases, after this many were seen.

        >>> round(pessimism("c4.5", 0.25)(6, 0), 4)
        1.2378
        """
        return errors + _core.extra_errors(n, errors, self.confidence, self.z, self.top_share)


def pessimism(arithmetic: str, confidence: float) -> PessimisticError:
    """The estimate of C4.5 release 8 and C5.0 (interpolated deviates) or of J48 (exact deviates)."""
    if arithmetic in (ReferenceProgram.C45, ReferenceProgram.C50):
        at, deviate = zip(*Z_TABLE, strict=True)
        return PessimisticError(confidence, float(np.interp(confidence, at, deviate)), 0.67)
    return PessimisticError(confidence, NormalDist().inv_cdf(1 - confidence), 1.0)
