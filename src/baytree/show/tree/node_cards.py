"""Nodes of a tree as cards: what stands on each of them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from baytree.show.names import number, plain, quoted, shortened
from baytree.show.tree.card_layout import MOST_LETTERS, Card, Drawing, card_width, laid_out
from baytree.show.tree.condition_text import label, sentence
from baytree.show.tree.outline_text import share
from baytree.summary.tree import Node, TreeSummary

_MOST_LEVELS = 4  # that are named beside a branch


def drawing_of(nodes: Sequence[Node], target: str, classes: tuple[str, ...], shares: Sequence[tuple[float, ...]]) -> Drawing:
    """The cards of nodes in the order of the text, laid out; `shares` is what the bar of each shows."""
    names = tuple(map(quoted, classes))
    each = zip(nodes, parent_places(nodes), shares, strict=True)
    return laid_out([_card(node, parent, names, own) for node, parent, own in each], target, names)


def drawing_of_summary(summary: TreeSummary, most_levels: int) -> Drawing:
    """The upper levels of a tree, their bars by the weights of the classes or the place of the mean."""
    nodes = [node if node.depth < most_levels else _folded(node) for node in summary.nodes if node.depth <= most_levels]
    return drawing_of(nodes, summary.target, summary.classes, _shares(nodes, len(summary.classes)))


def parent_places(nodes: Sequence[Node]) -> list[int]:
    """The place of each node's parent, −1 at the root."""
    parents, last = [], [-1]  # the last node of each depth, above them nothing
    for place, node in enumerate(nodes):
        parents.append(last[node.depth])
        last[node.depth + 1 :] = [place]
    return parents


def _folded(node: Node) -> Node:
    return msgspec.structs.replace(node, branches=0)


def _shares(nodes: Sequence[Node], n_classes: int) -> list[tuple[float, ...]]:
    if not n_classes:
        least, most = min(node.value for node in nodes), max(node.value for node in nodes)
        return [((node.value - least) / (most - least) if most > least else 1.0,) for node in nodes]
    return [tuple(dict(node.counts).get(k, 0.0) / (node.weight or 1.0) for k in range(n_classes)) for node in nodes]


def _card(node: Node, parent: int, classes: tuple[str, ...], shares: tuple[float, ...]) -> Card:
    question = plain(node.column) if node.branches else ""
    rows = f"{number(round(node.weight, 2))} rows"
    answer = classes[node.prediction] if classes else f"{node.value:.5g}"
    support = f"{100 * node.value:.0f} % of {rows}" if classes else rows
    summary = f"{shortened(answer, 14)}, {support}" if question and classes else support
    way = sentence(node.condition) if node.condition else ""
    probability = "" if node.kept is None else f", probability {share(node.kept)}"
    tip = (way, f"{answer}: {support}", f"splits by {question}{probability}" if question else "")
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
