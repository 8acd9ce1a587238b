"""A tree as cards to be drawn: what stands on each node's card, and where the card lies.

The layout is tidy: parents stand over the middle of their children, subtrees are as close as their outlines allow, and
equal subtrees are drawn alike.

Nodes of a tree as cards: what stands on each of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from baytree.display.terminal import number, plain, quoted, shortened
from baytree.rendering.tree_text import label, sentence, share
from baytree.summary.tree import Node, TreeSummary

LINE, PAD, BAR = 17.0, 10.0, 8.0  # heights in pixels

CARD_HEIGHT = 2 * LINE + BAR + 2 * PAD

ROW_HEIGHT = CARD_HEIGHT + 64.0

GAP = 18.0

MOST_LETTERS = 26  # of a line of a card

_LETTER = 7.1  # the mean width of a letter at 13 pixels

_COLOURS = ("#3b76af", "#ee8636", "#519e3e", "#c53a32", "#8d69b8", "#84584e", "#d57dbe", "#7f7f7f", "#bdbc45", "#4faecb")


class Card(msgspec.Struct, frozen=True):
    """A node as it is drawn; `branch` is the text on the line that leads to it."""

    node: int
    parent: int  # the place of the parent's card, −1 at the root
    depth: int
    question: str  # the column that is asked for; empty at a leaf
    answer: str
    support: str
    summary: str  # answer and support in one line, for a card whose first line is the question
    branch: str
    tip: str  # everything in full
    shares: tuple[float, ...]  # of the classes; or one number, the place of the mean between the least and the greatest
    prediction: int
    width: float

    @property
    def slot(self) -> float:
        """The width that the card and the text above it need."""
        return max(self.width, len(self.branch) * _LETTER * 0.92 + 8 if self.branch else 0.0)


class TreeDrawing(msgspec.Struct, frozen=True):
    """Cards in the order of the text, the middle of each from the left, and the names of the target and its classes."""

    cards: tuple[Card, ...]
    middle: np.ndarray  # float64 [n_cards]
    target: str
    classes: tuple[str, ...]  # none where the target is a number
    width: float
    depth: int


def layout_tree(cards: Sequence[Card], target: str, classes: tuple[str, ...]) -> TreeDrawing:
    """The drawing of these cards."""
    middle = _middles(cards)
    width = max(m + card.slot / 2 for m, card in zip(middle, cards, strict=True))
    return TreeDrawing(tuple(cards), middle, target, classes, width, max(card.depth for card in cards))


def card_width(*lines: str) -> float:
    """The width of a card that holds these lines."""
    longest = max(map(len, lines))
    return max(92.0, min(longest, MOST_LETTERS + 14) * _LETTER + 2 * PAD)


def colour(code: int) -> str:
    """The colour of a class."""
    return _COLOURS[code % len(_COLOURS)]


def opening_order(drawing: TreeDrawing) -> list[int]:
    """The places of the cards that are split, in the order in which a tree grows: row by row from the top."""
    inner = {card.parent for card in drawing.cards if card.parent >= 0}
    return sorted(inner, key=lambda place: (drawing.cards[place].depth, place))


def _middles(cards: Sequence[Card]) -> np.ndarray:
    """The middle of each card. Children are placed before parents, each as far left as the outlines before it allow."""
    children: list[list[int]] = [[] for _ in cards]
    for place, card in enumerate(cards):
        if card.parent >= 0:
            children[card.parent].append(place)
    shift = np.zeros(len(cards))  # from the parent's middle
    outlines: list[list[tuple[float, float]]] = [[] for _ in cards]  # per depth below: (left, right) from the middle
    for place in reversed(range(len(cards))):
        half = cards[place].slot / 2
        offsets = _side_by_side([outlines[child] for child in children[place]])
        shift[children[place]] = offsets
        outlines[place] = [(-half, half), *_joined([outlines[child] for child in children[place]], offsets)]
        for child in children[place]:
            outlines[child] = []
    return _absolute(cards, shift)


def _side_by_side(outlines: list[list[tuple[float, float]]]) -> np.ndarray:
    """The middles of siblings around their parent's."""
    middles: list[float] = []
    reach: list[float] = []  # per depth, the right end of what lies already there
    for outline in outlines:
        middle = max((r + GAP - left for r, (left, _) in zip(reach, outline, strict=False)), default=0.0)
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
    for place, card in enumerate(cards):  # a parent comes before its children
        middle[place] = shift[place] + (middle[card.parent] if card.parent >= 0 else 0.0)
    return middle - min(m - card.slot / 2 for m, card in zip(middle, cards, strict=True))


_MOST_LEVELS = 4  # that are named beside a branch


def drawing_of(
    nodes: Sequence[Node], target: str, classes: tuple[str, ...], shares: Sequence[tuple[float, ...]]
) -> TreeDrawing:
    """The cards of nodes in the order of the text, laid out; `shares` is what the bar of each shows."""
    names = tuple(map(quoted, classes))
    each = zip(nodes, parent_places(nodes), shares, strict=True)
    return layout_tree([_card(node, parent, names, own) for node, parent, own in each], target, names)


def drawing_of_summary(summary: TreeSummary, most_levels: int) -> TreeDrawing:
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
