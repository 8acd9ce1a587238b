"""The features that splines are made of: numbers and ranks, levels against the first one, gaps; in units near their size.

A unit is a power of two, so that nothing is rounded on the way to it and back. It is 1 for every column of an ordinary size:
what a line's new part must be at least (see `forward`) is told in the units of the column.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.engine.parts import InMemory
from baytree.linear.design.array_checks import check_floats
from baytree.linear.design.feature_layout import VALUE, Layout
from baytree.linear.design.learn import learn_layout
from baytree.linear.design.spread import look_at, moments_of
from baytree.linear.splines.options import Options
from baytree.table.schema import Schema
from baytree.table.table import Table, refuse_infinite

FAR = 1e60  # units; a product of three of them is still a double
_ORDINARY = 1e-30, 1e30


class Features(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which features a table has, their units and ranges, and the level that each nominal column is compared with."""

    layout: Layout
    unit: np.ndarray  # float64 [n_features], powers of two
    range: np.ndarray  # float64 [n_features, 2], least and greatest in units
    reference: np.ndarray  # int32 [n_columns]; -1 where there is none

    def __post_init__(self) -> None:
        check_floats("features", unit=self.unit, range=self.range)
        if self.unit.shape != (len(self.layout),) or not (np.frexp(self.unit)[0] == 0.5).all():
            raise ValueError("features: a power of two is needed for each feature")
        if self.range.shape != (len(self.layout), 2):
            raise ValueError("features: a range is needed for each feature")
        if self.reference.dtype != np.int32 or self.reference.shape != (self.layout.n_columns,):
            raise ValueError("features: a reference level is needed for each column")

    def check(self, schema: Schema) -> None:
        """Raises an error unless the features fit the columns of a schema."""
        self.layout.check(schema)
        for j, column in enumerate(schema.columns):
            if not -1 <= self.reference[j] < max(len(column.levels), 1):
                raise ValueError(f"features: column {column.name!r} has no such reference level")

    def __len__(self) -> int:
        return len(self.layout)

    def of(self, table: Table) -> np.ndarray:
        """The features of all rows in their units. [n_features, n_rows]"""
        return _in_units(self.layout.by_feature(table), self.unit, table)


def learn_features(table: Table, options: Options) -> tuple[Features, np.ndarray]:
    """The features of a table's rows, and what they are in these; levels that do not occur have none."""
    rows = InMemory(table)
    look = look_at(rows)
    layout, reference, moments = learn_layout(rows, look, ordinal=options.ordinal, missing=options.missing)
    x = layout.by_feature(table)
    ends = np.stack([x.min(axis=1), x.max(axis=1)], axis=1)  # [n_features, 2]
    occurs = np.flatnonzero((layout.level == VALUE) | (ends != 0).any(axis=1))
    if len(occurs) < len(x):
        layout, ends, x = layout.take(occurs), ends[occurs], x[occurs]
    spread = (moments or moments_of(rows, layout, look))[1] if options.standardize else None
    unit = _units(ends, None if spread is None else np.where(spread > 0, spread, 1.0))
    return Features(layout, unit, ends / unit[:, None], reference), _in_units(x, unit, table)


def _in_units(x: np.ndarray, unit: np.ndarray, table: Table) -> np.ndarray:
    """Features in their units, in place. [n_features, n_rows]"""
    if not np.isfinite(x).all():
        refuse_infinite(table.schema, table.values)
    if (unit != 1).any():
        x /= unit[:, None]
    return np.clip(x, -FAR, FAR, out=x)


def _units(ends: np.ndarray, spread: np.ndarray | None) -> np.ndarray:
    """The power of two below each feature's spread or, without one, below its size where that is out of the ordinary."""
    size = np.abs(ends).max(axis=1, initial=0.0) if spread is None else spread
    is_ordinary = (size > _ORDINARY[0]) & (size < _ORDINARY[1]) if spread is None else np.zeros(len(size), bool)
    exponent = np.clip(np.frexp(size)[1] - 1, -1074, 1000).astype(float)
    return np.where(is_ordinary | (size == 0), 1.0, np.exp2(exponent))
