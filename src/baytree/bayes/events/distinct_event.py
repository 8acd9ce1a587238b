"""Events of one numeric column that need each of its distinct values."""

from __future__ import annotations

import numpy as np

from baytree.bayes.estimation import Group
from baytree.bayes.events.event import Event
from baytree.statistics.distinct import Distinct
from baytree.table.schema import Schema
from baytree.table.table import Table

MOST_DISTINCT = 1 << 22  # values of one column: more are refused, so that memory stays bounded


class DistinctEvent(Event[Distinct]):
    """What the events share that need every distinct value: kernels, cuts, and Weka's precision."""

    can_subtract = False
    statistics = (Distinct,)

    def observe(self, table: Table, group: Group) -> Distinct:
        """The distinct values of the column in each class."""
        (column,) = group.columns
        weight = None if table.is_unweighted else table.weight
        return Distinct.of(np.ascontiguousarray(table.values[column]), table.label, weight, table.n_classes)

    def check_shape(self, seen: Distinct, group: Group, schema: Schema) -> None:
        """A weight of each value in each class."""
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
