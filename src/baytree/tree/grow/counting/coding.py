"""Numbers as codes: the edges that part a numeric column into bins of similar weight, and a number's code among them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from baytree.engine.parts import Parts
from baytree.engine.rounds.quantiles import quantile_edges
from baytree.statistics.discretize import binned
from baytree.table.schema import Kind, Schema
from baytree.table.table import Table


class Coding(msgspec.Struct, frozen=True, dict=True):
    """How each column becomes codes: bin k of a numeric one holds edge[k − 1] < x ≤ edge[k]; levels are codes already."""

    schema: Schema
    edges: tuple[np.ndarray | None, ...]  # [n_columns], None where the column has levels

    @classmethod
    def of(cls, rows: Parts, n_bins: int) -> Coding:
        """Edges at the quantiles of the training rows."""
        numbers = [j for j, column in enumerate(rows.schema) if column.kind is Kind.NUMERIC]
        edges = dict(zip(numbers, quantile_edges(rows, numbers, n_bins), strict=True))
        return cls(rows.schema, tuple(edges.get(j) for j in range(len(rows.schema))))

    @cached_property
    def n_codes(self) -> list[int]:
        """The number of codes of each column."""
        each = zip(self.schema, self.edges, strict=True)
        return [len(column.levels) if edges is None else len(edges) + 1 for column, edges in each]

    @cached_property
    def is_ordered(self) -> list[bool]:
        """The columns in which only neighbours are alike."""
        return [column.kind is not Kind.NOMINAL for column in self.schema]

    def coded(self, table: Table) -> Table:
        """The table with every column as int32 codes, −1 where missing."""
        each = zip(table.values, self.edges, strict=True)
        codes = tuple(values if edges is None else binned(values, edges) for values, edges in each)
        return msgspec.structs.replace(table, values=codes)

    def cuts(self, column: int, group_of: np.ndarray) -> np.ndarray | None:
        """The edges between the groups of a numeric column's bins, each the last number of its group; None of levels."""
        edges = self.edges[column]
        return None if edges is None else edges[np.flatnonzero(np.diff(group_of))]

    def groups(self, column: int, group_of: np.ndarray, n_groups: int) -> list[list[Any]]:
        """The level names of each group of codes; of numbers, its interval in words."""
        from baytree.tree.view.nodes import intervals

        described, cuts = self.schema.columns[column], self.cuts(column, group_of)
        if cuts is None:
            return [[described.levels[code] for code in np.flatnonzero(group_of == group)] for group in range(n_groups)]
        known = [[each] for each in intervals(described, cuts)]
        return known + [[] for _ in range(n_groups - len(known))]
