"""Engine of databases: rows stay there, and statistics are computed by aggregate queries.

1. `rows.SqlRows` is a query on a connection (`database`), opened by `sql`, or a relation of DuckDB, Ibis or narwhals.
2. `frame.SqlFrame` counts the values of its columns, from which the schema is inferred.
3. `partitions.SqlPartitions` answers `map_reduce` for observations that declare an aggregate form (`engine.aggregates`):
   the cells of a query (`cells`) become a few weighted rows with the same counts, and the observation runs on them.
4. For trees, the tests so far become a CASE expression by which the rows are grouped (`column_codes`).

Counts are exact, so that models of counts are the same as in memory; sums of doubles agree to about 1e-10.
"""

from __future__ import annotations

from typing import Any

from baytree.engine.sql.rows import SqlRows, rows_of


def source_of(relation: Any) -> SqlRows | None:
    """Rows of a query or of a relation as a source of this engine; None for other objects of the same libraries."""
    return relation if isinstance(relation, SqlRows) else rows_of(relation)
