"""The statistic of least squares: weight, means and centred products of all features and the target, which add up."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.linear.design.feature_layout import VALUE
from baytree.linear.scatter.alignment import aligned
from baytree.linear.scatter.observe import scatter_with_target, scatters_with_target
from baytree.linear.scatter.scatter import Scatter
from baytree.linear.scatter.target import with_target
from baytree.table.schema import Schema
from baytree.table.table import Table

_TRACE = 1e-13  # share of the rows that is none
_TOGETHER = 64  # groups of rows, whose products are in memory at once


class Products(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="products"):
    """The scatter of all rows as one class, the target its last feature."""

    scatter: Scatter

    @classmethod
    def of(cls, table: Table) -> Products:
        """The statistic of a table's rows, in one read of them."""
        return cls(scatter_with_target(table))

    @classmethod
    def of_groups(cls, table: Table, group: np.ndarray, n_groups: int) -> list[Products]:
        """The statistic of each group of rows, together in one read of them. group int [n_rows], 0, 1, …"""
        found = []
        for first in range(0, n_groups, _TOGETHER):
            own = np.flatnonzero((group >= first) & (group < first + _TOGETHER))
            some = table if len(own) == len(table) else table.take(own)
            number = min(_TOGETHER, n_groups - first)
            found += scatters_with_target(some, (group[own] - first).astype(np.int32), number)
        return [cls(scatter) for scatter in found]

    def __add__(self, other: Products) -> Products:
        return Products(self.scatter + other.scatter)

    def __sub__(self, other: Products) -> Products:
        return Products(_without_traces(self.scatter - other.scatter))

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(self.scatter.weight[0])

    def check(self, schema: Schema) -> None:
        """Raises an error unless the statistic, read from a file, fits a schema and could have come from rows."""
        self.scatter.check(with_target(schema))
        layout = self.scatter.layout
        if not len(layout) or layout.source[-1] != len(schema) or layout.level[-1] != VALUE:
            raise ValueError("products: the last feature must be the target")
        if not self.scatter.is_pooled:
            raise ValueError("products: all rows are of one class")

    def grown(self, old: Schema, new: Schema) -> Products:
        """The same statistic under a schema with other levels."""
        return Products(self.scatter.grown(with_target(old), with_target(new)))

    def shrunk(self, schema: Schema) -> tuple[Schema, Products]:
        """Without the collected levels that no row is left of."""
        smaller, scatter = self.scatter.shrunk(with_target(schema))
        return msgspec.structs.replace(schema, columns=smaller.columns[:-1]), Products(scatter)

    def beside(self, other: Products) -> tuple[Products, Products]:
        """Both statistics over the same features, pivot and units."""
        mine, theirs = aligned(self.scatter, other.scatter)
        return Products(mine), Products(theirs)


def _without_traces(seen: Scatter) -> Scatter:
    """The statistic with marks that no row is left of at 0, where taking away has left a rounding error."""
    gone = (seen.layout.level != VALUE) & (np.abs(seen.mean[0]) <= _TRACE)
    spread = np.where(gone[:, None] | gone, 0.0, seen.spread)
    return msgspec.structs.replace(seen, mean=np.where(gone, 0.0, seen.mean), spread=spread)
