"""A tree in words: one line per node, indented by depth, with the test that leads to it."""

from __future__ import annotations

from math import exp

from baytree.table.schema import Kind, Schema
from baytree.tree.model.structure import Significance, Tree, depths, parents, preorder
from baytree.tree.view.names import plain
from baytree.tree.view.nodes import groups
from baytree.tree.view.outline import MOST_BARS, lines


def describe(tree: Tree, schema: Schema) -> str:
    """The nodes depth first: how a row gets there, its rows, and what is predicted there; splits with their p-values."""
    if tree.significance is not None:
        return "\n".join(lines(tree, schema, notes=_p_values(tree.significance)))
    depth, parent = depths(tree).tolist(), parents(tree).tolist()
    tests, outcomes = _Tests(tree, schema), _Outcomes(tree, schema)
    return "\n".join(f"{_indent(depth[node])}{tests.of(parent[node], node)}{outcomes.of(node)}" for node in preorder(tree))


def _p_values(splits: Significance) -> dict[int, str]:
    adjusted = zip(splits.node.tolist(), splits.log_adjusted.tolist(), strict=True)
    return {node: f"; adjusted p {_told(log_p)}" for node, log_p in adjusted}


def _told(log_p: float) -> str:
    return f"{exp(min(log_p, 0.0)):.3g}" if log_p > -700 else "below 1e-304"


def _indent(depth: int) -> str:
    return "|  " * depth if depth <= MOST_BARS else f"{'|  ' * MOST_BARS}({depth}) "


class _Tests:
    """The tests that lead to nodes. Reads the arrays once, so that asking is quick."""

    def __init__(self, tree: Tree, schema: Schema) -> None:
        self.tree, self.schema = tree, schema
        self.column, self.first, self.levels = tree.column.tolist(), tree.first.tolist(), tree.levels.tolist()
        self.cut, self.strict = tree.cut.tolist(), tree.strict.tolist()
        self.name = [plain(column.name) for column in schema.columns]

    def of(self, parent: int, node: int) -> str:
        """What a row passes on its way from a parent to a node; nothing at the root."""
        if node == 0:
            return ""
        column, branch = self.schema.columns[self.column[parent]], node - self.first[parent]
        name = self.name[self.column[parent]]
        if branch == 2 and self.levels[parent] == 0:
            return f"{name} is missing: "
        if column.kind is not Kind.NUMERIC:
            levels = groups(self.tree, self.schema, parent)[branch]
            return f"{name} in {{{', '.join(map(plain, levels))}}}: " if levels else f"{name} is missing: "
        sign = ("<" if self.strict[parent] else "<=", ">=" if self.strict[parent] else ">")[branch]
        return f"{name} {sign} {column.show(self.cut[parent])}: "


class _Outcomes:
    """What nodes predict."""

    def __init__(self, tree: Tree, schema: Schema) -> None:
        self.n_classes, self.rows, self.prediction = tree.n_classes, tree.rows.tolist(), tree.prediction.tolist()
        chosen = tree.prediction if tree.n_classes else 0
        self.value = tree.value[range(len(tree)), chosen].tolist()
        classes = schema.classes if schema.target and schema.classes else range(tree.n_classes)
        self.classes = [plain(label) for label in classes]

    def of(self, node: int) -> str:
        """The prediction, the rows and, of a class, its share."""
        if not self.n_classes:
            return f"{self.value[node]:.6g} ({self.rows[node]} rows)"
        return f"{self.classes[self.prediction[node]]} ({self.rows[node]} rows, {self.value[node]:.3f})"
