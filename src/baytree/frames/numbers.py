"""Numbers and dates as doubles: exactly, or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np

from .raw import Numbers

_FINER = {"ns": 1000, "ps": 10**6, "fs": 10**9, "as": 10**12}


def whole_dates(whole: np.ndarray, missing: np.ndarray, unit: str) -> Numbers:
    """Dates as numbers of a unit in which they are exact doubles: microseconds at the finest."""
    if unit in _FINER:
        whole, unit = whole // _FINER[unit], "us"
    values = whole.astype(np.float64)
    values[missing] = np.nan
    return Numbers(values, unit)


def as_doubles(values: np.ndarray) -> np.ndarray:
    return values if values.dtype == np.float64 else values.astype(np.float64)


def refuse_inexact(whole: np.ndarray, doubles: np.ndarray, name: str) -> None:
    if whole.dtype.itemsize < 8 or not len(whole):
        return
    limit = 1 << 53
    if whole.max() <= limit and (whole.dtype.kind == "u" or whole.min() >= -limit):
        return
    same = doubles.astype(whole.dtype) == whole
    same &= np.abs(doubles) < 2.0**63 if whole.dtype.kind == "i" else doubles < 2.0**64
    if not same.all():
        row = int(np.argmin(same))
        raise inexact(name, row, whole[row])


def inexact(name: str, row: int, value: Any) -> ValueError:
    return ValueError(
        f"column {name!r}, row {row}: {value} is beyond 2^53 and has no exact double; "
        "declare the column nominal if it is a code, or subtract an offset"
    )
