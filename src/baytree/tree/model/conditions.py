"""Conditions of branches: an interval of numbers or a set of levels, and whether missing values pass.

`Branches` derives the conditions from the arrays of a tree. `Condition.meet` intersects conditions on the same column
along a path: 3 < x ≤ 10 instead of x > 3, x ≤ 20, x ≤ 10.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.rendering.tree_text import sentence
from baytree.summary.tree import NamedCondition
from baytree.tree.model.linear_combinations import Terms, describe_combination, summed, tested_columns
from baytree.tree.model.traversal import bounds

if TYPE_CHECKING:
    from baytree.tree.model.tree import Tree


class ValueRange(msgspec.Struct, frozen=True, gc=False):
    """Interval low < x ≤ high; `from_low` turns < into ≤ at the lower bound, `below_high` turns ≤ into < at the upper
    bound.
    """

    low: float = -inf
    high: float = inf
    from_low: bool = False
    below_high: bool = False

    def meet(self, other: ValueRange) -> ValueRange:
        """Intersection of both intervals."""
        left = max((self.low, not self.from_low), (other.low, not other.from_low))
        right = min((self.high, not self.below_high), (other.high, not other.below_high))
        return ValueRange(left[0], right[0], not left[1], not right[1])


class Condition(msgspec.Struct, frozen=True, gc=False):
    """Test on one column, or on a linear combination of columns, that a row passes or fails."""

    column: int
    allowed: ValueRange | tuple[int, ...]  # an interval of numbers, or level codes in order
    missing: bool = False  # a row with a missing value passes too
    terms: Terms = ()  # of a linear combination, whose index `column` then is

    def values(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """Values that the condition tests: the column or the linear combination, [n_rows]."""
        return summed(self.terms, values) if self.terms else values[self.column]

    def meet(self, other: Condition) -> Condition:
        """Intersection with another condition on the same column."""
        if isinstance(self.allowed, ValueRange) and isinstance(other.allowed, ValueRange):
            allowed: ValueRange | tuple[int, ...] = self.allowed.meet(other.allowed)
        elif isinstance(self.allowed, tuple) and isinstance(other.allowed, tuple):
            common = set(other.allowed)
            allowed = tuple(code for code in self.allowed if code in common)
        else:  # one of them lets only missing values pass
            allowed = ()
        return Condition(self.column, allowed, self.missing and other.missing, self.terms)

    def show(self, schema: Schema, max_levels: int | None = None) -> str:
        """Text of the condition: `3 < age ≤ 10 or missing`, `sex = female`."""
        return sentence(self.named(schema), max_levels)

    def named(self, schema: Schema) -> NamedCondition:
        """Record of the condition, with the names of its column and levels instead of codes."""
        column = (
            schema.columns[self.column]
            if not self.terms
            else Column(describe_combination(self.terms, schema.names), Kind.NUMERIC)
        )
        if not isinstance(self.allowed, ValueRange):
            levels = tuple(str(column.levels[code]) for code in self.allowed)
            return NamedCondition(column.name, levels=levels, missing=self.missing)
        low = self.allowed.low if self.allowed.low > -inf or self.allowed.from_low else None
        high = self.allowed.high if self.allowed.high < inf or self.allowed.below_high else None
        sides = (self.allowed.from_low, self.allowed.below_high)
        return NamedCondition(column.name, low, high, *sides, None, self.missing, column.unit)


class Branches:
    """Conditions of all branches of a tree. The arrays are converted to lists once, so that lookups are fast."""

    def __init__(self, tree: Tree, schema: Schema) -> None:
        self.tree, self.schema = tree, schema
        columns = tested_columns(tree, schema)
        self.kind = [column.kind for column in columns]
        self.n_levels = [len(column.levels) for column in columns]
        self.terms: list[Terms] = [() for _ in schema.columns] + (tree.sums.terms() if tree.sums else [])
        start = bounds(tree, tree.surrogates)
        self.start = start.tolist()
        self.has_surrogates = ((start[1:] > start[:-1]) & tree.uses_surrogates).tolist()
        self.column, self.first, self.branches = tree.column.tolist(), tree.first.tolist(), tree.branches.tolist()
        self.missing, self.cut, self.strict = tree.missing.tolist(), tree.cut.tolist(), tree.strict.tolist()
        self.levels, self.more_cuts = tree.levels.tolist(), _more_cuts(tree)
        self.is_merged = tree.significance is not None

    def of(self, node: int) -> Iterator[Condition]:
        """Yield the condition of each branch of a node, in order."""
        column, missing = self.column[node], self.missing[node]
        for branch in range(self.branches[node]):
            allows_missing = missing == branch and not self.has_surrogates[node]
            yield Condition(column, self._allowed(node, column, branch), allows_missing, self.terms[column])

    def substitutes(self, node: int) -> Iterator[tuple[Condition, Condition]]:
        """Yield, for each surrogate of a node, its conditions for the first and the second branch."""
        if not self.has_surrogates[node]:
            return
        tests = self.tree.surrogates
        for k in range(self.start[node], self.start[node + 1]):
            column = int(tests.column[k])
            first, second = (Condition(column, each, False) for each in self._sides(column, k))
            yield (second, first) if tests.flipped[k] and not tests.levels[k] else (first, second)

    def _sides(self, column: int, k: int) -> tuple[ValueRange | tuple[int, ...], ValueRange | tuple[int, ...]]:
        """Values that a surrogate sends to branch 0 and to branch 1; for a threshold, those below and those above it."""
        tests, codes = self.tree.surrogates, range(self.n_levels[column])
        if tests.levels[k]:
            selected = tests.branch_of[tests.start[k] : tests.start[k] + tests.levels[k]]
            return tuple(np.flatnonzero(selected == 0).tolist()), tuple(np.flatnonzero(selected == 1).tolist())
        cut, is_strict = float(tests.cut[k]), bool(tests.strict[k])
        if self.kind[column] is Kind.NUMERIC:
            return ValueRange(-inf, cut, False, is_strict), ValueRange(cut, inf, is_strict, False)
        below = tuple(c for c in codes if (c < cut if is_strict else c <= cut))
        return below, tuple(c for c in codes if c not in below)

    def _allowed(self, node: int, column: int, branch: int) -> ValueRange | tuple[int, ...]:
        """Non-missing values that a branch takes; empty for a branch of missing values only."""
        tree = self.tree
        if self.levels[node]:
            selected = tree.branch_of[tree.start[node] : tree.start[node] + tree.levels[node]]
            return tuple(np.flatnonzero(selected == branch).tolist())
        edges = self._edges(node)
        if branch > len(edges) - 2:
            return ()
        low, high, is_strict = edges[branch], edges[branch + 1], self.strict[node]
        if self.kind[column] is Kind.NUMERIC:
            return ValueRange(low, high, is_strict and branch > 0, is_strict and branch < len(edges) - 2)
        codes = range(self.n_levels[column])
        return tuple(c for c in codes if (low <= c < high if is_strict else low < c <= high))

    def _edges(self, node: int) -> list[float]:
        """Thresholds of a node's test between −inf and inf; an infinite threshold of a tree with merged levels is
        dropped.
        """
        cut = self.cut[node]
        if cut == inf and self.is_merged:
            return [-inf, inf]
        return [-inf, cut, *self.more_cuts.get(node, ()), inf]


def _more_cuts(tree: Tree) -> dict[int, list[float]]:
    thresholds: dict[int, list[float]] = {}
    for node, cut in zip(tree.more_cuts.node.tolist(), tree.more_cuts.cut.tolist(), strict=True):
        thresholds.setdefault(node, []).append(cut)
    return thresholds
