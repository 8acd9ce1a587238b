"""A tree in every detail, node by node, as rpart's `summary` tells it.

How much each column did for a tree, as a table.

Why a tree is a single leaf, in words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from baytree.data.schema.schema import Schema
from baytree.display.results import TextResult, frame_of
from baytree.display.terminal import counted, in_columns, listed, number, plain, quoted
from baytree.tree.model.linear_combinations import asked_columns, shared
from baytree.tree.model.traversal import importances
from baytree.tree.model.tree import Tree
from baytree.tree.policy.policy import Policy, SplitSelection

_MOST_LEVELS = 8


class TreeDetails(TextResult, msgspec.Struct, frozen=True):
    """The table of pruning, the importances, and what is known of each node, depth first."""

    pruning: str
    importances: str
    classes: tuple[str, ...]  # none where the target is a number
    nodes: tuple[dict[str, Any], ...]

    def __str__(self) -> str:
        return "\n\n".join([self.pruning, self.importances, *(_told(node, self.classes) for node in self.nodes)])


def _told(node: dict[str, Any], classes: tuple[str, ...]) -> str:
    return "\n".join([_head(node), _answer(node, classes), *_test(node), *map(_surrogate, node["surrogates"])])


def _head(node: dict[str, Any]) -> str:
    parent = "" if node["parent"] is None else f", below node {node['parent']}"
    return f"node {node['id']}: {number(node['n'])} {'row' if node['n'] == 1 else 'rows'}{parent}"


def _answer(node: dict[str, Any], classes: tuple[str, ...]) -> str:
    impurity = f"impurity {node['impurity']:.5g}"
    if not classes:
        return f"  mean {node['mean']:.6g}, {impurity}"
    counts = zip(classes, node["counts"], strict=True)
    told = ", ".join(f"{quoted(label)} {number(weight)}" for label, weight in counts if weight)
    return f"  prediction {quoted(node['prediction'])} ({told}), {impurity}"


def _test(node: dict[str, Any]) -> list[str]:
    if not node.get("children"):
        return []
    ways = ", ".join(map(str, node["children"]))
    return [f"  test {_asked(node)}; to nodes {ways}; complexity {node['complexity']:.5g}"]


def _asked(test: dict[str, Any]) -> str:
    name = plain(test["column"])
    if test.get("threshold") is not None:
        return f"{name} {'<' if test.get('strict') else '≤'} {test['threshold']:.6g}"
    if test.get("groups") is None:
        return name
    return f"{name} in {' | '.join(listed(group, _MOST_LEVELS) for group in test['groups'])}"


def _surrogate(test: dict[str, Any]) -> str:
    sides = ", branches swapped" if test.get("flipped") else ""
    return f"    surrogate {_asked(test)}{sides}; agrees in {test['agree']:.1%}"


class Importance(msgspec.Struct, frozen=True):
    """One column: its share of all gains, and where they come from."""

    column: str
    importance: float  # share of the whole
    gain: float  # of its own tests, in units of weight
    substitute: float  # what it would have gained in place of others
    tests: int
    weight: float  # that passes its tests


class ImportanceTable(msgspec.Struct, frozen=True):
    """The columns of a tree, the most important first; prints as a table, and is a frame on demand."""

    rows: tuple[Importance, ...]
    unused: int = 0  # columns that no test asks and that stand in for none: left out

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Importance]:
        return iter(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict per column."""
        return [msgspec.structs.asdict(row) for row in self.rows]

    def to_frame(self) -> Any:
        """A data frame of the library that is in use."""
        return frame_of({name: [getattr(row, name) for row in self] for name in Importance.__struct_fields__})

    def __str__(self) -> str:
        return "\n".join([*in_columns([list(Importance.__struct_fields__), *map(_cells, self)], "<>"), *self.notes()])

    def notes(self) -> list[str]:
        """What the importance counts, and how many columns are left out."""
        stands_in = any(row.substitute for row in self)
        surrogates = " and, as a surrogate, its share of others'" if stands_in else ", without surrogates"
        left_out = [f"left out: {counted(self.unused, 'column')} not used"] if self.unused else []
        return [f"importance: what its tests gain{surrogates}, of the whole", *left_out]

    def _repr_html_(self) -> str:
        from baytree.display.results import table  # only a notebook asks for it

        return table("importances", Importance.__struct_fields__, map(_cells, self), self.notes())


def _cells(row: Importance) -> list[str]:
    amounts = (row.gain, row.substitute, row.tests, row.weight)
    return [plain(row.column), f"{row.importance:.4f}", *map(number, amounts)]


def importance_table(tree: Tree, schema: Schema, unused: bool = False) -> ImportanceTable:
    """One line per column that is used, or per column, by falling importance and, of equals, in the order of the table."""
    n, other = len(schema), tree.surrogates
    share = importances(tree, n)
    gain = shared(tree, tree.gain, n)
    substitute = np.bincount(other.column, tree.gain[other.node] * other.adjusted, n)
    column, node = asked_columns(tree)
    tests, weight = np.bincount(column, minlength=n), np.bincount(column, tree.weight[node], n)
    amounts = (each.tolist() for each in (share, gain, substitute, tests, weight))
    rows = [Importance(*row) for row in zip(schema.names, *amounts, strict=True)]
    told = [row for row in rows if unused or row.tests or row.importance > 0]
    return ImportanceTable(tuple(sorted(told, key=lambda row: -row.importance)), len(rows) - len(told))


def single_leaf_reason(tree: Tree, schema: Schema, policy: Policy, names: dict[str, str]) -> str:
    """The first reason that holds; `names` are those of the estimator's parameters where they are not the policy's."""
    stopping, size = policy.stopping, float(tree.rows[0] if policy.stopping.counts_rows else tree.weight[0])
    min_split, min_leaf = (names.get(name, name) for name in ("min_split", "min_leaf"))
    rows = counted(int(size), "row") if size == int(size) else f"{number(size)} rows"
    if tree.impurity[0] <= 0:
        return f"all rows are {plain(schema.classes[tree.prediction[0]])}" if tree.n_classes else "all rows have one number"
    if size < stopping.min_split:
        return f"{rows} < {min_split}={stopping.min_split:g}"
    if size < 2 * stopping.min_leaf:
        return f"{rows} < 2 × {min_leaf}={stopping.min_leaf:g}"
    if stopping.max_depth == 0:
        return "max_depth=0"
    if policy.choose is SplitSelection.ADJUSTED_P or stopping.alpha is not None:
        return f"no column is significant: {names.get('alpha', 'alpha')}={stopping.alpha:g}"
    if stopping.cp > 0 and not policy.pruning:
        return f"no test saves cp={stopping.cp:g} of the error without one"
    return "no test was left after pruning" if policy.pruning else "no test improves the criterion"
