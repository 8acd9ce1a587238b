"""A tree as cards to be drawn: what stands on each node's card."""

from __future__ import annotations

from itertools import islice

import numpy as np

from baytree.show.names import number, plain, quoted, shortened
from baytree.show.tree.card_layout import MOST_LETTERS, Card, Drawing, card_width, laid_out
from baytree.show.tree.condition_text import label, sentence
from baytree.summary.tree import Node
from baytree.table.schema import Schema
from baytree.tree.model.outline import class_names, outlined
from baytree.tree.model.structure import Tree

MOST_CARDS = 2000
_MOST_LEVELS = 4  # that are named beside a branch


def draw(tree: Tree, schema: Schema, max_depth: int | None = None) -> Drawing:
    """The cards of a tree down to a depth, laid out."""
    nodes = list(islice(outlined(tree, schema, max_depth), MOST_CARDS + 1))
    if len(nodes) > MOST_CARDS:
        raise ValueError(f"the tree has more than {MOST_CARDS} nodes to draw; give max_depth, for example max_depth=6")
    classes = tuple(map(quoted, class_names(tree, schema)))
    shares = tree.value if tree.n_classes else _between_least_and_greatest(tree.value)
    cards = [
        _card(node, parent, classes, tuple(shares[node.id].tolist()))
        for node, parent in zip(nodes, _parents(nodes), strict=True)
    ]
    return laid_out(cards, schema.target.name, classes)


def _parents(nodes: list[Node]) -> list[int]:
    """The place of each node's parent, −1 at the root."""
    parents, last = [], [-1]  # the last node of each depth, above them nothing
    for place, node in enumerate(nodes):
        parents.append(last[node.depth])
        last[node.depth + 1 :] = [place]
    return parents


def _between_least_and_greatest(mean: np.ndarray) -> np.ndarray:
    """The place of each node's mean, from 0 to 1; 1 where all are equal. [n_nodes, 1]"""
    least, extent = mean.min(), mean.max() - mean.min()
    return (mean - least) / extent if extent > 0 else np.ones_like(mean)


def _card(node: Node, parent: int, classes: tuple[str, ...], shares: tuple[float, ...]) -> Card:
    question = plain(node.column) if node.branches else ""
    rows = f"{number(round(node.weight, 2))} rows"
    answer = classes[node.prediction] if classes else f"{node.value:.5g}"
    support = f"{100 * node.value:.0f} % of {rows}" if classes else rows
    summary = f"{shortened(answer, 14)}, {support}" if question and classes else support
    way = sentence(node.condition) if node.condition else ""
    tip = (way, f"{answer}: {support}", f"splits by {question}" if question else "")
    return Card(
        node=node.id,
        parent=parent,
        depth=node.depth,
        question=shortened(question, MOST_LETTERS),
        answer=shortened(answer, MOST_LETTERS),
        support=support,
        summary=summary,
        branch=shortened(label(node.condition, _MOST_LEVELS), MOST_LETTERS) if node.condition else "",
        tip="\n".join(line for line in tip if line),
        shares=shares,
        prediction=node.prediction,
        width=card_width(question, answer, summary),
    )
