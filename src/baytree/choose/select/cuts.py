"""Columns as codes: numbers cut where that tells most, where it pays for itself, or into equal shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from baytree.statistics import discretize
from baytree.table.schema import Column, Kind
from baytree.table.table import Table

CUTS: dict[str, Callable[..., np.ndarray]] = {  # of values, labels, the number of classes and how often each row comes
    "best": discretize.best_cut,
    "mdl": discretize.mdl_cuts,
    "quantiles": lambda values, _label, _n, times: discretize.quantile_cuts(
        values, np.ones(len(values)) if times is None else times
    ),
}


class Coded(NamedTuple):
    """A column as codes, −1 for missing, and how they were found."""

    codes: np.ndarray  # int32 [n_rows]
    n_levels: int
    how: str


def cut_up(column: Column, numbers: np.ndarray, table: Table, cut: str) -> Coded:
    """The numbers of a column in bins; one bin where no cut helps."""
    points = CUTS[cut](numbers, table.label, table.n_classes, None if table.is_unweighted else table.weight)
    codes = discretize.binned(numbers, points) if len(points) else np.where(np.isnan(numbers), -1, 0).astype(np.int32)
    return Coded(codes, len(points) + 1, cut_in_words(column, points))


def numbers_of(column: Column, values: np.ndarray) -> np.ndarray:
    """Values as numbers with NaN; codes are their own numbers."""
    if column.kind is Kind.NUMERIC:
        return np.ascontiguousarray(values)
    return np.where(values < 0, np.nan, values.astype(np.float64))


def cut_in_words(column: Column, points: np.ndarray) -> str:
    """The cuts as a reader sees them."""
    if not len(points):
        return "no cut helps"
    if len(points) > 1:
        return f"{len(points) + 1} bins"
    if column.kind is Kind.ORDINAL:
        return f"≤ {column.show(int(np.floor(points[0])))}"
    return f"≤ {column.show(float(points[0]))}"
