"""A tree in the DOT language of Graphviz."""

from __future__ import annotations

from baytree.table.schema import Schema
from baytree.tree.model.conditions import Branches
from baytree.tree.model.structure import Tree
from baytree.tree.view.cards import colour
from baytree.tree.view.names import plain
from baytree.tree.view.outline import Outcome


def to_dot(tree: Tree, schema: Schema, *, max_depth: int | None = None) -> str:
    """The tree as a digraph; every name stands in a quoted string and cannot leave it."""
    name = plain(schema.target.name) if schema.target else "tree"
    statements = _statements(tree, schema, max_depth)
    return "\n".join([f"digraph {_quoted(name)} {{", *_STYLE, *statements, "}"])


_STYLE = (
    '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif"];',
    '  edge [fontname="sans-serif"];',
)


def _statements(tree: Tree, schema: Schema, max_depth: int | None) -> list[str]:
    branches, outcome = Branches(tree, schema), Outcome(tree, schema)
    statements: list[str] = []
    waiting = [(0, 0)]
    while waiting:
        node, depth = waiting.pop()
        is_open = tree.column[node] >= 0 and (max_depth is None or depth < max_depth)
        statements.append(_node(tree, schema, outcome, node, is_open))
        if not is_open:
            continue
        first = int(tree.first[node])
        for branch, condition in enumerate(branches.of(node)):
            statements.append(f"  n{node} -> n{first + branch} [label={_quoted(condition.label(schema, 12))}];")
        waiting += [(first + b, depth + 1) for b in reversed(range(int(tree.branches[node])))]
    return statements


def _node(tree: Tree, schema: Schema, outcome: Outcome, node: int, is_open: bool) -> str:
    asked = [f"{plain(schema.columns[tree.column[node]].name)}?"] if is_open else []
    ink = "" if is_open or not tree.n_classes else f', color="{colour(int(tree.prediction[node]))}"'
    return f"  n{node} [label={_quoted(*asked, outcome.of(node))}{ink}];"


def _quoted(*lines: str) -> str:
    r"""A quoted string of these lines. A backslash would begin an escape of Graphviz, so it is doubled; \n parts lines."""
    safe = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(safe) + '"'
