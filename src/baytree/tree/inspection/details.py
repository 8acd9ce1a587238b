"""Details of a tree as text (like rpart's `summary`), the importance table, and why a tree is a single leaf."""

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

_MAX_LEVELS = 8  # levels of a branch that are named; the others are counted


class TreeDetails(TextResult, msgspec.Struct, frozen=True):
    """Pruning table, importances, and the record of each node, depth first; prints as text."""

    pruning: str
    importances: str
    classes: tuple[str, ...]  # empty in regression
    nodes: tuple[dict[str, Any], ...]

    def __str__(self) -> str:
        return "\n\n".join([self.pruning, self.importances, *(_node_text(node, self.classes) for node in self.nodes)])


def _node_text(node: dict[str, Any], classes: tuple[str, ...]) -> str:
    return "\n".join([_head(node), _answer(node, classes), *_test(node), *map(_surrogate, node["surrogates"])])


def _head(node: dict[str, Any]) -> str:
    parent = "" if node["parent"] is None else f", below node {node['parent']}"
    return f"node {node['id']}: {number(node['n'])} {'row' if node['n'] == 1 else 'rows'}{parent}"


def _answer(node: dict[str, Any], classes: tuple[str, ...]) -> str:
    impurity = f"impurity {node['impurity']:.5g}"
    if not classes:
        return f"  mean {node['mean']:.6g}, {impurity}"
    counts = zip(classes, node["counts"], strict=True)
    class_weights = ", ".join(f"{quoted(label)} {number(weight)}" for label, weight in counts if weight)
    return f"  prediction {quoted(node['prediction'])} ({class_weights}), {impurity}"


def _test(node: dict[str, Any]) -> list[str]:
    if not node.get("children"):
        return []
    children = ", ".join(map(str, node["children"]))
    return [f"  test {_test_text(node)}; to nodes {children}; complexity {node['complexity']:.5g}"]


def _test_text(test: dict[str, Any]) -> str:
    name = plain(test["column"])
    if test.get("threshold") is not None:
        return f"{name} {'<' if test.get('strict') else '≤'} {test['threshold']:.6g}"
    if test.get("groups") is None:
        return name
    return f"{name} in {' | '.join(listed(group, _MAX_LEVELS) for group in test['groups'])}"


def _surrogate(test: dict[str, Any]) -> str:
    swapped = ", branches reversed" if test.get("flipped") else ""
    return f"    surrogate {_test_text(test)}{swapped}; agrees in {test['agree']:.1%}"


class Importance(msgspec.Struct, frozen=True):
    """Importance of a column, and its components."""

    column: str
    importance: float  # proportion of the total
    gain: float  # of its own splits, in units of weight
    substitute: float  # gain of the splits for which it is a surrogate, times their adjusted agreement
    tests: int
    weight: float  # that passes its splits


class ImportanceTable(msgspec.Struct, frozen=True):
    """Columns of a tree by falling importance; prints as a table and converts to a data frame."""

    rows: tuple[Importance, ...]
    unused: int = 0  # columns without splits and surrogates, which are left out

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Importance]:
        return iter(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict per column."""
        return [msgspec.structs.asdict(row) for row in self.rows]

    def to_frame(self) -> Any:
        """Data frame of the library in use."""
        return frame_of({name: [getattr(row, name) for row in self] for name in Importance.__struct_fields__})

    def __str__(self) -> str:
        return "\n".join([*in_columns([list(Importance.__struct_fields__), *map(_cells, self)], "<>"), *self.notes()])

    def notes(self) -> list[str]:
        """Definition of importance, and the number of columns left out."""
        has_surrogates = any(row.substitute for row in self)
        surrogates = " and, as a surrogate, of other splits" if has_surrogates else ", without surrogates"
        left_out = [f"left out: {counted(self.unused, 'column')} not used"] if self.unused else []
        return [f"importance: gain of its splits{surrogates}, relative to the total", *left_out]

    def _repr_html_(self) -> str:
        from baytree.display.results import table  # imported on demand

        return table("importances", Importance.__struct_fields__, map(_cells, self), self.notes())


def _cells(row: Importance) -> list[str]:
    amounts = (row.gain, row.substitute, row.tests, row.weight)
    return [plain(row.column), f"{row.importance:.4f}", *map(number, amounts)]


def importance_table(tree: Tree, schema: Schema, unused: bool = False) -> ImportanceTable:
    """One row per used column (or all, with `unused`), by falling importance; of equals, in table order."""
    n, surrogates = len(schema), tree.surrogates
    importance = importances(tree, n)
    gain = shared(tree, tree.gain, n)
    substitute = np.bincount(surrogates.column, tree.gain[surrogates.node] * surrogates.adjusted, n)
    column, node = asked_columns(tree)
    tests, weight = np.bincount(column, minlength=n), np.bincount(column, tree.weight[node], n)
    amounts = (each.tolist() for each in (importance, gain, substitute, tests, weight))
    rows = [Importance(*row) for row in zip(schema.names, *amounts, strict=True)]
    listed_rows = [row for row in rows if unused or row.tests or row.importance > 0]
    return ImportanceTable(tuple(sorted(listed_rows, key=lambda row: -row.importance)), len(rows) - len(listed_rows))


def single_leaf_reason(tree: Tree, schema: Schema, policy: Policy, names: dict[str, str]) -> str:
    """First reason that applies; `names` maps parameters of the policy to those of the estimator."""
    stopping, size = policy.stopping, float(tree.rows[0] if policy.stopping.counts_rows else tree.weight[0])
    min_split, min_leaf = (names.get(name, name) for name in ("min_split", "min_leaf"))
    rows = counted(int(size), "row") if size == int(size) else f"{number(size)} rows"
    if tree.impurity[0] <= 0:
        return f"all rows are {plain(schema.classes[tree.prediction[0]])}" if tree.n_classes else "all targets are equal"
    if size < stopping.min_split:
        return f"{rows} < {min_split}={stopping.min_split:g}"
    if size < 2 * stopping.min_leaf:
        return f"{rows} < 2 × {min_leaf}={stopping.min_leaf:g}"
    if stopping.max_depth == 0:
        return "max_depth=0"
    if policy.choose is SplitSelection.ADJUSTED_P or stopping.alpha is not None:
        return f"no column is significant: {names.get('alpha', 'alpha')}={stopping.alpha:g}"
    if stopping.cp > 0 and not policy.pruning:
        return f"no split reduces the error by cp={stopping.cp:g} of the root error"
    if policy.pruning:
        return "pruning removed every split"
    if stopping.takes_no_gain or "takes_no_gain" not in names:
        return "no split improves the criterion"
    return f"no split improves the criterion; {names['takes_no_gain']}=True splits without a gain"
