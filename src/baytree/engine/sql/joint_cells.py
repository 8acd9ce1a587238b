"""Groups of equal rows as weighted rows, for statistics of combinations of values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from baytree.data.encoding.table import Table
from baytree.engine.sql.group_sizes import check_group_sizes

if TYPE_CHECKING:
    from baytree.engine.sql.partitions import SqlPartitions

MAX_COMBINATIONS = 1_000_000


def joint_table(rows: SqlPartitions, counts_rows: bool = False) -> Table:
    """One weighted row for each combination of values and class; raises ValueError for too many."""
    frame, schema = rows.frame, rows.schema
    names = list(dict.fromkeys(column.source for column in schema.columns))
    table = frame.table(names)
    keys = [f"c{j}" for j in range(len(names))]
    if frame.is_classification:
        keys.append("y")
    weight = table.w.sum() if "w" in table.columns and not counts_rows else table.count()
    groups = table.group_by(keys).aggregate(s=weight, n=table.count())
    check_group_sizes(frame, groups)
    answer = frame.run(groups.limit(MAX_COMBINATIONS + 1))
    if len(answer) > MAX_COMBINATIONS:
        raise ValueError(
            f"the columns have more than {MAX_COMBINATIONS:,} combinations of values; leave out columns or round numbers in "
            "the query"
        )
    columns = list(zip(*answer, strict=True))
    label = frame.class_codes(columns[len(names)]) if frame.is_classification else np.zeros(len(answer), np.int32)
    frame.set_order(names)
    values = []
    for column in schema.columns:
        j = names.index(column.source)
        given = np.array(columns[j], object if frame.is_string(names[j]) else np.float64)
        values.append(
            rows.encode(schema.columns.index(column), frame.decoded(j, given) if frame.is_string(names[j]) else given)
        )
    known = label >= 0
    amount = np.array(columns[len(keys)], np.float64)
    table_values = tuple(column_values[known] for column_values in values)
    return Table(schema, table_values, amount[known], label[known], False)
