"""The smallest group that may leave the database: `min_count` of `baytree.sql`, checked there before anything is fetched."""

from __future__ import annotations

from typing import Any


def check_group_sizes(rows: Any, groups: Any) -> None:
    """Raise ValueError if a group has fewer than `rows.min_count` rows; `groups` has their numbers of rows as `n`."""
    if rows.min_count <= 1:
        return
    smallest = rows.run(groups.aggregate(n=groups.n.min()))[0][0]
    if smallest is not None and smallest < rows.min_count:
        raise ValueError(
            f"a group of this query has {smallest} rows, fewer than min_count={rows.min_count}; round numbers or join rare "
            "levels in the query, or leave out the columns with rare values"
        )
