"""A tree in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from baytree.show.names import plain, quoted
from baytree.show.tree.card_layout import colour
from baytree.show.tree.condition_text import label
from baytree.show.tree.outline_text import outcome
from baytree.summary.tree import Node

_MOST_LEVELS = 12  # that are named beside an edge
_STYLE = (
    '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif"];',
    '  edge [fontname="sans-serif"];',
)


def to_dot(nodes: Sequence[Node], classes: Sequence[str], target: str) -> str:
    """The tree as a digraph; every name stands in a quoted string and cannot leave it."""
    statements = _statements(nodes, [quoted(each) for each in classes])
    return "\n".join([f"digraph {_quoted(plain(target))} {{", *_STYLE, *statements, "}"])


def _statements(nodes: Sequence[Node], names: Sequence[str]) -> Iterator[str]:
    edges = _edges(nodes)
    for node in nodes:
        yield _node(node, names)
        yield from edges.get(node.id, ())


def _edges(nodes: Sequence[Node]) -> dict[int, list[str]]:
    """The lines to the children of each node."""
    edges: dict[int, list[str]] = {}
    above: list[int] = []  # the last node of each depth
    for node in nodes:
        if node.condition:
            parent, words = above[node.depth - 1], _quoted(label(node.condition, _MOST_LEVELS))
            edges.setdefault(parent, []).append(f"  n{parent} -> n{node.id} [label={words}];")
        above[node.depth :] = [node.id]
    return edges


def _node(node: Node, names: Sequence[str]) -> str:
    asked = [f"{plain(node.column)}?"] if node.branches else []
    ink = "" if node.branches or not names else f', color="{colour(node.prediction)}"'
    return f"  n{node.id} [label={_quoted(*asked, outcome(node, names))}{ink}];"


def _quoted(*lines: str) -> str:
    r"""A quoted string of these lines. A backslash would begin an escape of Graphviz, so it is doubled; \n parts lines."""
    safe = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(safe) + '"'
