"""Linear combinations of numeric columns that oblique splits compare with a threshold.

Combination k has the column index n_columns + k, so a test that reads it is an ordinary threshold test. It is missing in
a row that lacks one of its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.tree.model import arrays

if TYPE_CHECKING:
    from baytree.tree.model.tree import Tree

Terms = tuple[tuple[int, float], ...]  # columns in table order, each with its weight


class LinearCombinations(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="sums"):
    """Weighted sums of numeric columns, term by term; a test whose column is `n_columns` + k reads combination k."""

    n_columns: int  # of the table
    place: np.ndarray  # int32 [n_terms], the combination that a term belongs to, ascending
    column: np.ndarray  # int32 [n_terms], ascending within a combination
    weight: np.ndarray  # float64 [n_terms]

    def __post_init__(self) -> None:
        arrays.check_sums(self)

    def __len__(self) -> int:
        return int(self.place[-1]) + 1

    @classmethod
    def of(cls, terms: list[Terms], n_columns: int) -> LinearCombinations:
        """Record of several combinations."""
        length = [len(each) for each in terms]
        flat = [term for each in terms for term in each]
        column, weight = np.array([j for j, _ in flat], np.int32), np.array([w for _, w in flat], np.float64)
        return cls(n_columns, np.repeat(np.arange(len(terms), dtype=np.int32), length), column, weight)

    def terms(self) -> list[Terms]:
        """Terms of each combination."""
        ends = np.searchsorted(self.place, np.arange(1, len(self)))
        parts = zip(np.split(self.column, ends), np.split(self.weight, ends), strict=True)
        return [tuple(zip(column.tolist(), weight.tolist(), strict=True)) for column, weight in parts]


def terms_of(tree: Tree, column: int) -> Terms:
    """Terms of the combination that a test reads; empty if it reads one column."""
    sums = tree.sums
    return sums.terms()[column - sums.n_columns] if sums and column >= sums.n_columns else ()


def summed(terms: Terms, values: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """Weighted sum of each row, added from the left, float64 [n_rows]; NaN if a value is missing or infinities cancel."""
    with np.errstate(invalid="ignore", over="ignore"):
        first, *others = (weight * np.asarray(values[j]) for j, weight in terms)
        for other in others:
            first = first + other
    return first


def with_sums(tree: Tree, values: list[np.ndarray]) -> list[np.ndarray]:
    """Values of the table's columns, followed by those of the tree's linear combinations."""
    return values if not tree.sums else [*values, *(summed(terms, values) for terms in tree.sums.terms())]


def tested_columns(tree: Tree, schema: Schema) -> tuple[Column, ...]:
    """Columns that tests may read, by index: those of the table, then the linear combinations, named by their text."""
    if not tree.sums:
        return schema.columns
    return (
        *schema.columns,
        *(Column(describe_combination(terms, schema.names), Kind.NUMERIC) for terms in tree.sums.terms()),
    )


def describe_combination(terms: Terms, names: tuple[str, ...] | list[str]) -> str:
    """Text of a linear combination.

    >>> describe_combination(((0, 1.0), (1, -1.5)), ["width", "length"])
    'width − 1.5 × length'
    """
    parts = "".join(f"{' − ' if weight < 0 else ' + '}{_term(abs(weight), names[j])}" for j, weight in terms)
    text = f"−{parts[3:]}" if terms[0][1] < 0 else parts[3:]
    return f"({text})" if text in names else text


def _term(weight: float, name: str) -> str:
    return name if weight == 1 else f"{weight:.17g} × {name}"


def shared(tree: Tree, amount: np.ndarray, n_columns: int) -> np.ndarray:
    """Sum of node amounts by tested column, float64 [n_columns]; that of a combination is split equally among its
    columns.
    """
    inner = tree.column >= 0
    total = np.bincount(tree.column[inner], amount[inner], n_columns)
    if not tree.sums:
        return total
    each = total[tree.sums.place + n_columns] if len(total) > n_columns else np.zeros(len(tree.sums.place))
    parts = each / np.bincount(tree.sums.place)[tree.sums.place]
    return total[:n_columns] + np.bincount(tree.sums.column, parts, n_columns)


def only_used(column: np.ndarray, sums: LinearCombinations) -> tuple[np.ndarray, LinearCombinations | msgspec.UnsetType]:
    """Drop unused linear combinations; return the renumbered columns of tests [n_nodes] and the combinations that remain."""
    used = np.unique(column[column >= sums.n_columns])
    if not len(used):
        return column, msgspec.UNSET
    every = sums.terms()
    remaining = LinearCombinations.of([every[position - sums.n_columns] for position in used.tolist()], sums.n_columns)
    return np.where(column < sums.n_columns, column, sums.n_columns + np.searchsorted(used, column)).astype(
        np.int32
    ), remaining


def asked_columns(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of a tested column and the node of the test, two int arrays [n_reads]; a combination yields one per column."""
    inner = np.flatnonzero(tree.column >= 0)
    if not tree.sums:
        return tree.column[inner], inner
    plain = inner[tree.column[inner] < tree.sums.n_columns]
    position = tree.column - tree.sums.n_columns
    read = [(node, term) for node in inner for term in np.flatnonzero(tree.sums.place == position[node])]
    node, term = np.array(read, np.int64).reshape(-1, 2).T
    return np.concatenate([tree.column[plain], tree.sums.column[term]]), np.concatenate([plain, node])
