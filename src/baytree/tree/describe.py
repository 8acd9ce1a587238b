"""A tree in words: one line per node, indented by depth, with the test that leads to it."""

from __future__ import annotations

from baytree.table import Kind, Schema
from baytree.tree.nodes import groups
from baytree.tree.structure import Tree, depths, parents, preorder


def describe(tree: Tree, schema: Schema) -> str:
    """The nodes depth first: how a row gets there, its rows, and what is predicted there."""
    depth, parent = depths(tree), parents(tree)
    return "\n".join(
        f"{'|  ' * int(depth[node])}{_test(tree, schema, int(parent[node]), node)}{_outcome(tree, schema, node)}"
        for node in preorder(tree)
    )


def _test(tree: Tree, schema: Schema, parent: int, node: int) -> str:
    if node == 0:
        return ""
    column, branch = schema.columns[tree.column[parent]], node - int(tree.first[parent])
    if branch == 2 and tree.levels[parent] == 0:
        return f"{column.name} is missing: "
    if column.kind is not Kind.NUMERIC:
        levels = groups(tree, schema, parent)[branch]
        return f"{column.name} in {{{', '.join(map(str, levels))}}}: " if levels else f"{column.name} is missing: "
    sign = ("<" if tree.strict[parent] else "<=", ">=" if tree.strict[parent] else ">")[branch]
    return f"{column.name} {sign} {column.show(tree.cut[parent])}: "


def _outcome(tree: Tree, schema: Schema, node: int) -> str:
    rows = f"{int(tree.rows[node])} rows"
    if not tree.n_classes:
        return f"{tree.value[node, 0]:.6g} ({rows})"
    chosen = int(tree.prediction[node])
    classes = schema.classes if schema.target and schema.classes else range(tree.n_classes)
    return f"{classes[chosen]} ({rows}, {tree.value[node, chosen]:.3f})"
