"""The weights of rows as they come: one finite number for each, none negative, not all zero."""

from __future__ import annotations

import numpy as np

from baytree.given import WeightsLike
from baytree.table.frames import Numbers, RawFrame


def read_weights(given: WeightsLike, n_rows: int) -> tuple[np.ndarray, bool]:
    """The weights of the rows and whether all are 1: finite, none negative, not all zero."""
    weight, is_unweighted = read_part_weights(given, n_rows)
    if not is_unweighted and not weight.any():
        raise ValueError(
            "Sample weights are all zero: no row counts; sample_weight must contain at least one non-zero number"
        )
    return weight, is_unweighted


def read_part_weights(given: WeightsLike, n_rows: int) -> tuple[np.ndarray, bool]:
    """The weights of the rows of one part, which may all be zero, and whether all are 1."""
    if given is None:
        return np.ones(n_rows), True
    weight = np.asarray(given, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weight.shape}; give one weight for each of the {n_rows} rows")
    for is_wrong, what in ((np.isnan(weight), "NaN"), (np.isinf(weight), "infinite"), (weight < 0, "negative")):
        if is_wrong.any():
            row = int(np.argmax(is_wrong))
            raise ValueError(f"sample_weight, row {row}: {weight[row]} is {what}; weights are finite and not negative")
    return weight, bool((weight == 1).all())


def weight_column(frame: RawFrame, name: str) -> np.ndarray:
    """The weights in a column of this name."""
    raw = frame.columns.get(name) if frame.is_named else None
    if not isinstance(raw, Numbers):
        what = "is no column" if raw is None else "holds no numbers"
        raise ValueError(f"sample_weight={name!r} {what}; give the name of a column of numbers, or the weights")
    return raw.values
