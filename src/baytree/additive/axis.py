"""Axes of curves and surfaces: the bins of a column, with the bin of missing values last."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.linear.design.feature_layout import check_floats, check_integers
from baytree.statistics.binning import bin_codes


class Axis(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bins of a column: intervals closed above for numbers, else a bin per level or group of levels; then missing.

    >>> Axis(0, np.array([1.0, 5.0]), np.empty(0, np.int32)).n_bins
    4
    """

    column: int
    cuts: np.ndarray  # float64 [n_intervals − 1], ascending; empty for levels
    bin_of_level: np.ndarray  # int32 [n_levels]; empty for numbers

    @property
    def n_known(self) -> int:
        """Number of bins of known values."""
        return int(self.bin_of_level.max()) + 1 if len(self.bin_of_level) else len(self.cuts) + 1

    @property
    def n_bins(self) -> int:
        """Number of bins with that of missing values."""
        return self.n_known + 1

    def __post_init__(self) -> None:
        check_floats("axis", cuts=self.cuts)
        check_integers("axis", bin_of_level=self.bin_of_level)

    def bins(self, values: np.ndarray) -> np.ndarray:
        """Bin of each encoded value. int64 [n_rows]"""
        if len(self.bin_of_level):
            return np.append(self.bin_of_level, self.n_known).astype(np.int64)[values]  # −1 is the last
        code = bin_codes(values, self.cuts).astype(np.int64)
        code[code < 0] = self.n_known
        return code

    def names(self, column: Column) -> list[str]:
        """Names of the bins, that of missing values last."""
        if len(self.bin_of_level):
            shown = [column.show(code) for code in range(len(column.levels))]
            return [
                *(", ".join(shown[c] for c in np.flatnonzero(self.bin_of_level == b)) for b in range(self.n_known)),
                "missing",
            ]
        if not len(self.cuts):
            return ["any value", "missing"]
        at = [column.show(float(cut)) for cut in self.cuts]
        inner = [f"{a} < … ≤ {b}" for a, b in pairwise(at)]
        return [f"≤ {at[0]}", *inner, f"> {at[-1]}", "missing"]

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the axis fits its column."""
        if not 0 <= self.column < len(schema):
            raise ValueError("additive model: an axis belongs to a column that does not exist")
        column = schema.columns[self.column]
        is_numeric = column.kind is Kind.NUMERIC
        if column.kind is Kind.TEXT or is_numeric != (not len(self.bin_of_level)):
            raise ValueError(f"additive model: the axis of column {column.name!r} does not fit its kind")
        if not is_numeric and len(self.bin_of_level) != len(column.levels):
            raise ValueError(f"additive model: the axis of column {column.name!r} needs a bin for each level")
        if not is_numeric and not np.array_equal(np.unique(self.bin_of_level), np.arange(self.n_known)):
            raise ValueError(f"additive model: the bins of column {column.name!r} must be numbered from 0")
        if (np.diff(self.cuts) <= 0).any() or (len(self.cuts) and not is_numeric):
            raise ValueError(f"additive model: the edges of column {column.name!r} must be ascending")


def column_axis(table: Table, j: int, max_bins: int, n_quantiles: int) -> Axis | None:
    """Axis of a column; None if all known values are equal and none is missing.

    A number has a bin per value up to `max_bins` values, else bins of similar weight, with frequent values apart.
    """
    column, values = table.schema.columns[j], table.values[j]
    if column.kind is not Kind.NUMERIC:
        present = np.unique(values)
        return None if len(present) < 2 else Axis(j, np.empty(0), np.arange(len(column.levels), dtype=np.int32))
    cuts = value_cuts(np.ascontiguousarray(values), table.weight, max_bins, n_quantiles)
    is_constant = not len(cuts) and (not np.isnan(values).any() or np.isnan(values).all())
    return None if is_constant else Axis(j, cuts, np.empty(0, np.int32))


def value_cuts(values: np.ndarray, weight: np.ndarray, max_bins: int, n_quantiles: int) -> np.ndarray:
    """Upper edges of bins, without the last: one per value, or quantiles and the edges of frequent values."""
    distinct, index = np.unique(values[~np.isnan(values)] + 0.0, return_inverse=True)
    if len(distinct) <= max_bins:
        return distinct[:-1]
    mass = np.bincount(index, weight[~np.isnan(values)], len(distinct))
    cumulative = np.cumsum(mass)
    goal = cumulative[-1] * np.arange(1, n_quantiles) / n_quantiles
    last = np.searchsorted(cumulative, goal * (1 - 1e-12))
    spike = np.flatnonzero(mass > cumulative[-1] / n_quantiles)
    position = np.unique(np.concatenate([last, spike, spike - 1]))
    return distinct[position[(position >= 0) & (position < len(distinct) - 1)]]


def coarse_axis(axis: Axis, weight: np.ndarray, n_bins: int) -> Axis:
    """Axis with at most `n_bins` bins of known values: neighbouring intervals joined, rare levels pooled.

    weight [axis.n_bins] is the weight of the rows in each bin.
    """
    known = weight[: axis.n_known]
    if axis.n_known <= n_bins:
        return axis
    if not len(axis.bin_of_level):
        cumulative = np.cumsum(known)
        position = np.unique(np.searchsorted(cumulative, cumulative[-1] * np.arange(1, n_bins) / n_bins * (1 - 1e-12)))
        return Axis(axis.column, axis.cuts[position[position < len(axis.cuts)]], axis.bin_of_level)
    order = np.argsort(-known, kind="stable")
    new = np.full(axis.n_known, n_bins - 1, np.int32)
    new[np.sort(order[: n_bins - 1])] = np.arange(n_bins - 1)
    return Axis(axis.column, axis.cuts, new[axis.bin_of_level])
