"""Layout of decision trees: the content of each node's card and its position.

The layout is tidy (Reingold and Tilford, 1981): parents are centred over their children, subtrees are as close as their
outlines allow, and equal subtrees are drawn equally.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from baytree.display.terminal import MAX_LISTED_LEVELS, number, plain, quoted, shortened
from baytree.rendering.tree_text import label, proportion, sentence
from baytree.summary.tree import Node, TreeSummary

LINE_HEIGHT, CARD_PADDING, BAR_HEIGHT = 17.0, 10.0, 8.0  # heights in pixels

CARD_HEIGHT = 2 * LINE_HEIGHT + BAR_HEIGHT + 2 * CARD_PADDING

ROW_HEIGHT = CARD_HEIGHT + 64.0

CARD_GAP = 18.0  # pixels between neighbouring cards

MAX_LINE_CHARACTERS = 26  # of a line of a card; longer lines would make trees too wide

_CHARACTER_WIDTH = 7.1  # pixels: mean width of a character in 13-pixel type


class Card(msgspec.Struct, frozen=True):
    """Card of a node; `branch` is the label of the line that leads to it."""

    node: int
    parent: int  # index of the parent's card, −1 at the root
    depth: int
    question: str  # name of the tested column; empty at a leaf
    answer: str
    support: str
    summary: str  # prediction and support in one line, for a card whose first line is the test
    branch: str
    tip: str  # tooltip with the full text
    shares: tuple[
        float, ...
    ]  # class proportions; or one number, the relative position of the mean between minimum and maximum
    prediction: int
    width: float

    @property
    def slot(self) -> float:
        """Width that the card and the label above it need."""
        return max(self.width, len(self.branch) * _CHARACTER_WIDTH * 0.92 + 8 if self.branch else 0.0)


class TreeDrawing(msgspec.Struct, frozen=True):
    """Cards in depth-first order, the x coordinate of each card's middle, and the names of the target and its classes."""

    cards: tuple[Card, ...]
    middle: np.ndarray  # float64 [n_cards]
    target: str
    classes: tuple[str, ...]  # empty if the target is numeric
    width: float
    depth: int


def layout_tree(cards: Sequence[Card], target: str, classes: tuple[str, ...]) -> TreeDrawing:
    """Compute the positions of the cards."""
    middle = _middles(cards)
    width = max(m + card.slot / 2 for m, card in zip(middle, cards, strict=True))
    return TreeDrawing(tuple(cards), middle, target, classes, width, max(card.depth for card in cards))


def card_width(*lines: str) -> float:
    """Width of a card that contains these lines."""
    longest = max(map(len, lines))
    return max(92.0, min(longest, MAX_LINE_CHARACTERS + 14) * _CHARACTER_WIDTH + 2 * CARD_PADDING)


def opening_order(drawing: TreeDrawing) -> list[int]:
    """Indices of the cards with children, in the order in which a tree grows: level by level from the root."""
    parents = {card.parent for card in drawing.cards if card.parent >= 0}
    return sorted(parents, key=lambda position: (drawing.cards[position].depth, position))


def _middles(cards: Sequence[Card]) -> np.ndarray:
    """x coordinate of each card's middle. Children are placed before parents, each as far left as the outlines allow."""
    children: list[list[int]] = [[] for _ in cards]
    for position, card in enumerate(cards):
        if card.parent >= 0:
            children[card.parent].append(position)
    shift = np.zeros(len(cards))  # relative to the parent's middle
    outlines: list[list[tuple[float, float]]] = [[] for _ in cards]  # per depth below: (left, right) relative to the middle
    for position in reversed(range(len(cards))):
        half = cards[position].slot / 2
        offsets = _side_by_side([outlines[child] for child in children[position]])
        shift[children[position]] = offsets
        outlines[position] = [(-half, half), *_joined([outlines[child] for child in children[position]], offsets)]
        for child in children[position]:
            outlines[child] = []
    return _absolute(cards, shift)


def _side_by_side(outlines: list[list[tuple[float, float]]]) -> np.ndarray:
    """Offsets of siblings from their parent's middle."""
    middles: list[float] = []
    reach: list[float] = []  # per depth, the right end of the siblings placed so far
    for outline in outlines:
        middle = max((r + CARD_GAP - left for r, (left, _) in zip(reach, outline, strict=False)), default=0.0)
        middles.append(middle)
        reach = [middle + right for _, right in outline] + reach[len(outline) :]
    offsets = np.array(middles)
    return offsets - (offsets[0] + offsets[-1]) / 2 if len(offsets) else offsets


def _joined(outlines: list[list[tuple[float, float]]], offsets: np.ndarray) -> list[tuple[float, float]]:
    joined: list[tuple[float, float]] = []
    for outline, offset in zip(outlines, offsets, strict=True):
        for level, (left, right) in enumerate(outline):
            if level == len(joined):
                joined.append((left + offset, right + offset))
            else:
                joined[level] = (min(joined[level][0], left + offset), max(joined[level][1], right + offset))
    return joined


def _absolute(cards: Sequence[Card], shift: np.ndarray) -> np.ndarray:
    middle = np.zeros(len(cards))
    for position, card in enumerate(cards):  # a parent comes before its children
        middle[position] = shift[position] + (middle[card.parent] if card.parent >= 0 else 0.0)
    return middle - min(m - card.slot / 2 for m, card in zip(middle, cards, strict=True))


_MAX_BRANCH_LEVELS = 4  # levels that are listed at a branch


def drawing_of(
    nodes: Sequence[Node], target: str, classes: tuple[str, ...], proportions: Sequence[tuple[float, ...]]
) -> TreeDrawing:
    """Drawing of nodes in depth-first order; `proportions` has the proportions of each card's bar."""
    names = tuple(map(quoted, classes))
    items = zip(nodes, parent_places(nodes), proportions, strict=True)
    return layout_tree([_card(node, parent, names, own) for node, parent, own in items], target, names)


def drawing_of_summary(summary: TreeSummary, max_levels: int) -> TreeDrawing:
    """Drawing of the upper levels of a tree; bars show class proportions or the position of the mean."""
    nodes = [node if node.depth < max_levels else _folded(node) for node in summary.nodes if node.depth <= max_levels]
    return drawing_of(nodes, summary.target, summary.classes, _shares(nodes, len(summary.classes)))


def parent_places(nodes: Sequence[Node]) -> list[int]:
    """Index of each node's parent, −1 at the root."""
    parents, last = [], [-1]  # the last node of each depth, preceded by -1 for the root's parent
    for position, node in enumerate(nodes):
        parents.append(last[node.depth])
        last[node.depth + 1 :] = [position]
    return parents


def _folded(node: Node) -> Node:
    return msgspec.structs.replace(node, branches=0)


def _shares(nodes: Sequence[Node], n_classes: int) -> list[tuple[float, ...]]:
    if not n_classes:
        lowest, highest = min(node.value for node in nodes), max(node.value for node in nodes)
        return [((node.value - lowest) / (highest - lowest) if highest > lowest else 1.0,) for node in nodes]
    return [tuple(dict(node.counts).get(k, 0.0) / (node.weight or 1.0) for k in range(n_classes)) for node in nodes]


def _card(node: Node, parent: int, classes: tuple[str, ...], proportions: tuple[float, ...]) -> Card:
    question = plain(node.column) if node.branches else ""
    rows = f"{number(round(node.weight, 2))} rows"
    answer = classes[node.prediction] if classes else f"{node.value:.5g}"
    support = f"{100 * node.value:.0f} % of {rows}" if classes else rows
    summary = f"{shortened(answer, 14)}, {support}" if question and classes else support
    branch = label(node.condition, _MAX_BRANCH_LEVELS, MAX_LINE_CHARACTERS) if node.condition else ""
    path = sentence(node.condition, MAX_LISTED_LEVELS) if node.condition else ""
    probability = "" if node.kept is None else f", probability {proportion(node.kept)}"
    tip = (path, f"{answer}: {support}", f"splits by {question}{probability}" if question else "")
    return Card(
        node=node.id,
        parent=parent,
        depth=node.depth,
        question=shortened(question, MAX_LINE_CHARACTERS),
        answer=shortened(answer, MAX_LINE_CHARACTERS),
        support=support,
        summary=summary,
        branch=shortened(branch, MAX_LINE_CHARACTERS),
        tip="\n".join(line for line in tip if line),
        shares=proportions,
        prediction=node.prediction,
        width=card_width(question, answer, summary),
    )
