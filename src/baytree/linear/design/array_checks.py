"""What the arrays of a record must be: a file could hold anything."""

from __future__ import annotations

import numpy as np


def check_integers(what: str, **arrays: np.ndarray) -> None:
    """Refuse arrays that are not flat int32."""
    for name, array in arrays.items():
        if array.dtype != np.int32 or array.ndim != 1:
            raise ValueError(f"{what}: {name} must be a vector of int32")


def check_floats(what: str, **arrays: np.ndarray) -> None:
    """Refuse arrays that are not finite float64."""
    for name, array in arrays.items():
        if array.dtype != np.float64 or not np.isfinite(array).all():
            raise ValueError(f"{what}: {name} must hold finite float64 numbers")
