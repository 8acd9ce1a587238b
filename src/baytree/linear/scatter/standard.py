"""Standard units from a statistic: centres that are doubles, scales that rows can be divided by, and the design of both."""

from __future__ import annotations

import numpy as np

from baytree import notices
from baytree.linear.design.design import Design
from baytree.linear.scatter.scatter import Scatter
from baytree.table.schema import Column


def design_of(seen: Scatter, centre: np.ndarray, scale: np.ndarray, reference: np.ndarray) -> Design:
    """How rows get into standard units, of a centre and scale in the statistic's own units."""
    return Design(seen.layout, (seen.pivot / seen.unit + centre) * seen.unit, scale * seen.unit, reference)


def divisible(scale: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Scales that, times their unit, are doubles other than 0 and infinity: rows will be divided by them."""
    with np.errstate(over="ignore"):
        return np.clip(scale * unit, 5e-324, np.finfo(np.float64).max) / unit


def as_double(centre: np.ndarray, seen: Scatter) -> np.ndarray:
    """The centre that rows can be taken from: a double in the column's own units."""
    pivot = seen.pivot / seen.unit
    return np.where(seen.unit == 1, centre, (pivot + centre) * seen.unit / seen.unit - pivot)


def warn_of_columns(what: str, which: np.ndarray, seen: Scatter, columns: tuple[Column, ...], then: str) -> None:
    """Tell of the columns that these features come from what they are, and what follows from it."""
    names = list(dict.fromkeys(columns[j].name for j in seen.layout.source[which]))
    shown = ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    notices.warn(f"columns {shown} are {what}: {then}")
