"""What a branch asks of its column: an interval of numbers or a set of levels, and whether missing values come along.

Conditions on the same column along a path meet in one: 3 < x ≤ 10 instead of x > 3, x ≤ 20, x ≤ 10.
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
    """low < x ≤ high; `from_low` and `below_high` turn these into ≤ and <."""

    low: float = -inf
    high: float = inf
    from_low: bool = False
    below_high: bool = False

    def meet(self, other: ValueRange) -> ValueRange:
        """The numbers in both."""
        left = max((self.low, not self.from_low), (other.low, not other.from_low))
        right = min((self.high, not self.below_high), (other.high, not other.below_high))
        return ValueRange(left[0], right[0], not left[1], not right[1])


class Condition(msgspec.Struct, frozen=True, gc=False):
    """A test on one column, or on a sum of several, that a row passes or not."""

    column: int
    allowed: ValueRange | tuple[int, ...]  # numbers, or codes of levels in order
    missing: bool = False  # a row without a value passes too
    terms: Terms = ()  # of a sum, whose place `column` then is

    def values(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """What the condition is asked of: [n_rows]."""
        return summed(self.terms, values) if self.terms else values[self.column]

    def meet(self, other: Condition) -> Condition:
        """Both conditions on the same column in one."""
        if isinstance(self.allowed, ValueRange) and isinstance(other.allowed, ValueRange):
            allowed: ValueRange | tuple[int, ...] = self.allowed.meet(other.allowed)
        elif isinstance(self.allowed, tuple) and isinstance(other.allowed, tuple):
            kept = set(other.allowed)
            allowed = tuple(code for code in self.allowed if code in kept)
        else:  # one of them lets missing values pass only
            allowed = ()
        return Condition(self.column, allowed, self.missing and other.missing, self.terms)

    def show(self, schema: Schema, most_levels: int | None = None) -> str:
        """The condition in words: `3 < age ≤ 10 or missing`, `sex = female`."""
        return sentence(self.named(schema), most_levels)

    def named(self, schema: Schema) -> NamedCondition:
        """The condition with the names of its column and levels instead of codes."""
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
    """The conditions of a tree's branches. Reads the arrays once, so that asking is quick."""

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
        """The condition of each branch of a node, in order."""
        column, missing = self.column[node], self.missing[node]
        for branch in range(self.branches[node]):
            comes = missing == branch and not self.has_surrogates[node]
            yield Condition(column, self._allowed(node, column, branch), comes, self.terms[column])

    def substitutes(self, node: int) -> Iterator[tuple[Condition, Condition]]:
        """What the surrogates of a node ask for its two branches, the one that is asked first first."""
        if not self.has_surrogates[node]:
            return
        tests = self.tree.surrogates
        for k in range(self.start[node], self.start[node + 1]):
            column = int(tests.column[k])
            first, second = (Condition(column, each, False) for each in self._sides(column, k))
            yield (second, first) if tests.flipped[k] and not tests.levels[k] else (first, second)

    def _sides(self, column: int, k: int) -> tuple[ValueRange | tuple[int, ...], ValueRange | tuple[int, ...]]:
        """What a surrogate by levels sends to each branch, or one by a cut to below and above it."""
        tests, codes = self.tree.surrogates, range(self.n_levels[column])
        if tests.levels[k]:
            taken = tests.branch_of[tests.start[k] : tests.start[k] + tests.levels[k]]
            return tuple(np.flatnonzero(taken == 0).tolist()), tuple(np.flatnonzero(taken == 1).tolist())
        cut, is_strict = float(tests.cut[k]), bool(tests.strict[k])
        if self.kind[column] is Kind.NUMERIC:
            return ValueRange(-inf, cut, False, is_strict), ValueRange(cut, inf, is_strict, False)
        below = tuple(c for c in codes if (c < cut if is_strict else c <= cut))
        return below, tuple(c for c in codes if c not in below)

    def _allowed(self, node: int, column: int, branch: int) -> ValueRange | tuple[int, ...]:
        """What a branch takes of the values that are known; nothing where it is for missing ones alone."""
        tree = self.tree
        if self.levels[node]:
            taken = tree.branch_of[tree.start[node] : tree.start[node] + tree.levels[node]]
            return tuple(np.flatnonzero(taken == branch).tolist())
        edges = self._edges(node)
        if branch > len(edges) - 2:
            return ()
        low, high, is_strict = edges[branch], edges[branch + 1], self.strict[node]
        if self.kind[column] is Kind.NUMERIC:
            return ValueRange(low, high, is_strict and branch > 0, is_strict and branch < len(edges) - 2)
        codes = range(self.n_levels[column])
        return tuple(c for c in codes if (low <= c < high if is_strict else low < c <= high))

    def _edges(self, node: int) -> list[float]:
        """The thresholds of a test by cuts, and an infinite one on both sides; where levels merge, none at infinity."""
        cut = self.cut[node]
        if cut == inf and self.is_merged:
            return [-inf, inf]
        return [-inf, cut, *self.more_cuts.get(node, ()), inf]


def _more_cuts(tree: Tree) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for node, cut in zip(tree.more_cuts.node.tolist(), tree.more_cuts.cut.tolist(), strict=True):
        found.setdefault(node, []).append(cut)
    return found
