"""Grouped cells of columns: how often each value occurs in each class, at each node of a tree.

All queries of the engine have this one shape, `SELECT column, node, class, value, COUNT(*) … GROUP BY`, for many columns in
one UNION ALL over a common table expression that computes class, weight and node once. Columns of numbers and of strings
are asked separately, because a column of a result has one type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from baytree.engine.sql import expressions
from baytree.engine.sql.expressions import ibis
from baytree.engine.sql.group_sizes import check_group_sizes

MAX_COLUMNS_PER_QUERY = 60  # branches of one UNION ALL: planners take quadratic time for many

MAX_CELLS = 2_000_000  # rows of one query's result: about 300 MB of Python values


class TooManyCells(ValueError):
    """A column has more groups than may be fetched."""


class Cells(msgspec.Struct, frozen=True):
    """Groups of one column; the label is a class code, or 0 without classes."""

    value: Any  # float64 with NaN, or a list of strings and None [n_cells]
    node: np.ndarray  # int64 [n_cells]
    label: np.ndarray  # int32 [n_cells]
    rows: np.ndarray  # int64 [n_cells]
    weight: np.ndarray  # float64 [n_cells], sums of weights


def grouped(
    rows: Any, table: Any, values: Mapping[int, Any], node: Any = None, max_cells: int = MAX_CELLS
) -> dict[int, Cells]:
    """Cells of each column by class; `rows` is the `SqlRows`, `table` its clean expression, `values` what is grouped by."""
    numbers = {j: value for j, value in values.items() if not value.type().is_string()}
    strings = {j: value for j, value in values.items() if value.type().is_string()}
    found: dict[int, Cells] = {}
    for part in (numbers, strings):
        names = list(part)
        for first in range(0, len(names), MAX_COLUMNS_PER_QUERY):
            batch = names[first : first + MAX_COLUMNS_PER_QUERY]
            found |= _fetch(rows, table, {j: part[j] for j in batch}, node, max_cells)
    return {j: found[j] for j in values}


def _fetch(rows: Any, table: Any, values: Mapping[int, Any], node: Any, max_cells: int) -> dict[int, Cells]:
    is_weighted = "w" in table.columns
    base = table.select(
        node=expressions.whole(0) if node is None else node,
        **{name: table[name] for name in ("y", "w") if name in table.columns},
        **{f"v{j}": value for j, value in values.items()},
    )
    if node is not None:
        base = base.filter(base.node >= 0)
    keys = ["node", *(["y"] if "y" in base.columns else [])]
    parts = []
    for j in values:
        sums = {"n": base.count(), **({"s": base.w.sum()} if is_weighted else {})}
        groups = base.group_by(*keys, v=base[f"v{j}"]).aggregate(**sums)
        parts.append(groups.select(part=expressions.whole(j), **{name: groups[name] for name in groups.columns}))
    union = parts[0] if len(parts) == 1 else ibis.union(*parts)
    check_group_sizes(rows, union)
    answer = rows.run(union.limit(max_cells + 1))
    names = list(union.columns)
    if len(answer) > max_cells:
        raise TooManyCells(f"{len(values)} columns have more than {max_cells:,} groups")
    return _by_column(rows, answer, names, values, is_weighted)


def _by_column(rows: Any, answer: list[tuple], names: list[str], values: Mapping[int, Any], is_weighted: bool) -> dict:
    columns = dict(zip(names, zip(*answer, strict=True), strict=True)) if answer else dict.fromkeys(names, ())
    part = np.array(columns["part"], np.int64)
    label = rows.class_codes(columns["y"]) if "y" in columns else np.zeros(len(part), np.int32)
    node, count = np.array(columns["node"], np.int64), np.array(columns["n"], np.int64)
    weight = np.array(columns["s"], np.float64) if is_weighted else count.astype(np.float64)
    is_number = not next(iter(values.values())).type().is_string()
    value = np.array(columns["v"], np.float64 if is_number else object)
    cells = {}
    for j in values:
        own = np.flatnonzero((part == j) & (label >= 0))
        own_value = value[own] + 0.0 if is_number else rows.decoded(j, value[own])  # −0.0 is 0.0
        cells[j] = Cells(own_value, node[own], label[own], count[own], weight[own])
    return cells
