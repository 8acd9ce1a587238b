"""Events of one numeric column that need each of its distinct values."""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree.bayes.estimation import Group
from baytree.statistics.distinct import Distinct
from baytree.table.schema import Kind, Schema
from baytree.table.table import Table

MOST_DISTINCT = 1 << 22  # values of one column: more are refused, so that memory stays bounded


class DistinctEvent:
    """What the events share that need every distinct value: kernels, cuts, and Weka's precision."""

    can_subtract = False

    def observe(self, table: Table, group: Group) -> Distinct:
        """The distinct values of the column in each class."""
        (column,) = group.columns
        weight = None if table.is_unweighted else table.weight
        return Distinct.of(np.ascontiguousarray(table.values[column]), table.label, weight, table.n_classes)

    def check(self, seen: Any, group: Group, schema: Schema) -> None:
        """Raises an error unless the statistic fits this column."""
        if len(group.columns) != 1 or schema.columns[group.columns[0]].kind is not Kind.NUMERIC:
            raise ValueError("an event of distinct values looks at one numeric column")
        if not isinstance(seen, Distinct):
            raise ValueError("an event of distinct values keeps the weight of each value")
        seen.check(len(schema.classes))


def counted(seen: Distinct, group: Group, schema: Schema) -> tuple[np.ndarray, np.ndarray]:
    """The values and their weights, unless there are too many to keep."""
    if len(seen.value) > MOST_DISTINCT:
        name = schema.columns[group.columns[0]].name
        raise ValueError(
            f"column {name!r} has {len(seen.value)} distinct values, and this event keeps the weight of each, up to "
            f"{MOST_DISTINCT}; round the column, or use numeric='gaussian'"
        )
    return seen.value, seen.weights()
