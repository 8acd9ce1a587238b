"""The statistic of the features that are fitted: ranks, gaps filled and marked, no reference levels."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.linear.design.feature_layout import MISSING, Layout
from baytree.linear.regression.options import Options
from baytree.linear.scatter.alignment import keys_of, refilled
from baytree.linear.scatter.recode import at_mean, by_rank, commonest, gaps_as_levels, without_references
from baytree.linear.scatter.scatter import Scatter
from baytree.table.schema import Column


def coded(seen: Scatter, columns: tuple[Column, ...], options: Options) -> tuple[Scatter, np.ndarray]:
    """The statistic of the features as they are fitted, the target last; the reference level of each column."""
    seen = at_mean(_ranked(seen, columns, options))
    if options.missing == "mean":
        seen = _without_gaps(seen, commonest(seen))
    return without_references(seen)


def coded_like(other: Scatter, layout: Layout, columns: tuple[Column, ...], options: Options) -> Scatter:
    """The statistic of other rows in the features of a layout, with its stand-ins for gaps."""
    other = gaps_as_levels(refilled(_ranked(other, columns, options), layout.fill), layout.mode)
    wanted = set(keys_of(layout))
    return other.take(np.array([f for f, key in enumerate(keys_of(other.layout)) if key in wanted], int))


def _ranked(seen: Scatter, columns: tuple[Column, ...], options: Options) -> Scatter:
    return by_rank(seen, columns) if options.ordinal == "rank" else seen


def _without_gaps(seen: Scatter, mode: np.ndarray) -> Scatter:
    """Gaps of levels as these levels, and no marks of gaps."""
    seen = gaps_as_levels(seen, mode)
    layout = msgspec.structs.replace(seen.layout, mode=mode)
    kept = np.flatnonzero(layout.level != MISSING)
    return msgspec.structs.replace(seen, layout=layout).take(kept)
