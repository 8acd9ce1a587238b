"""A target of numbers as one more column, the last: then the scatter of the rows holds all that least squares needs."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.table.schema import Column, Kind, Schema, Target
from baytree.table.table import SparseColumns, Table


def with_target(schema: Schema, n_groups: int = 1) -> Schema:
    """The schema whose last column is the target, a number, and whose classes are groups of rows."""
    target = Column(schema.target.name, Kind.NUMERIC)
    return msgspec.structs.replace(schema, columns=(*schema.columns, target), target=Target("", tuple(range(n_groups))))


def beside_target(table: Table, group: np.ndarray, n_groups: int) -> Table:
    """The table with its target as the last column, its rows in groups. group int32 [n_rows]"""
    values, label = table.values, table.label
    if isinstance(values, SparseColumns):
        from scipy.sparse import hstack

        values = SparseColumns(hstack([values.matrix, label[:, None]], format="csr"))
    else:
        values = (*values, label)
    return Table(with_target(table.schema, n_groups), values, table.weight, group, table.is_unweighted)
