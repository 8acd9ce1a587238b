"""A tree as cards to be drawn: what stands on each node's card, and where the card lies.

The layout is tidy: parents stand over the middle of their children, subtrees are as close as their outlines allow, and
equal subtrees are drawn alike.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.table.schema import Schema
from baytree.tree.model.conditions import Branches
from baytree.tree.model.structure import Tree
from baytree.tree.view.names import number, plain, quoted, shortened

MOST_CARDS = 2000
LINE, PAD, BAR = 17.0, 10.0, 8.0  # heights in pixels
CARD_HEIGHT = 2 * LINE + BAR + 2 * PAD
ROW_HEIGHT = CARD_HEIGHT + 64.0
GAP = 18.0
_LETTER = 7.1  # the mean width of a letter at 13 pixels
_MOST_LETTERS = 26
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
        return max(self.width, _width(self.branch) if self.branch else 0.0)


class Drawing(msgspec.Struct, frozen=True):
    """Cards in the order of the text, the middle of each from the left, and the names of the classes."""

    cards: tuple[Card, ...]
    middle: np.ndarray  # float64 [n_cards]
    classes: tuple[str, ...]  # none where the target is a number
    width: float
    depth: int


def draw(tree: Tree, schema: Schema, max_depth: int | None = None) -> Drawing:
    """The cards of a tree down to a depth, laid out."""
    cards = _cards(tree, schema, max_depth)
    middle = _middles(cards)
    classes = tuple(quoted(label) for label in (schema.classes or ())) if schema.target else ()
    width = max(m + card.slot / 2 for m, card in zip(middle, cards, strict=True))
    return Drawing(tuple(cards), middle, classes if tree.n_classes else (), width, max(card.depth for card in cards))


def colour(code: int) -> str:
    """The colour of a class."""
    return _COLOURS[code % len(_COLOURS)]


def opening_order(drawing: Drawing) -> list[int]:
    """The places of the cards that are split, in the order in which a tree grows: row by row from the top."""
    inner = {card.parent for card in drawing.cards if card.parent >= 0}
    return sorted(inner, key=lambda place: (drawing.cards[place].depth, place))


def _cards(tree: Tree, schema: Schema, max_depth: int | None) -> list[Card]:
    branches = Branches(tree, schema)
    least, most = float(tree.value[:, 0].min()), float(tree.value[:, 0].max())
    cards: list[Card] = []
    waiting: list[tuple[int, int, int, str, str]] = [(0, -1, 0, "", "")]
    while waiting:
        node, parent, depth, branch, asked = waiting.pop()
        is_open = tree.column[node] >= 0 and (max_depth is None or depth < max_depth)
        place = len(cards)
        if place == MOST_CARDS:
            raise ValueError(f"the tree has more than {MOST_CARDS} nodes to draw; give max_depth, for example max_depth=6")
        cards.append(_card(tree, schema, (node, parent, depth), (branch, asked), is_open, (least, most)))
        if is_open:
            first = int(tree.first[node])
            told = [(each.label(schema, 4), each.show(schema)) for each in branches.of(node)]
            waiting += [(first + b, place, depth + 1, *words) for b, words in reversed(list(enumerate(told)))]
    return cards


def _card(
    tree: Tree,
    schema: Schema,
    place: tuple[int, int, int],
    words: tuple[str, str],
    is_open: bool,
    span: tuple[float, float],
) -> Card:
    node, parent, depth = place
    question = plain(schema.columns[tree.column[node]].name) if is_open else ""
    answer, support, shares = _outcome(tree, schema, node, span)
    told = f"{shortened(answer, 14)}, {support}" if is_open and tree.n_classes else support
    longest = max(len(question), len(answer), len(told))
    tip = (words[1], f"{answer}: {support}", f"splits by {question}" if question else "")
    return Card(
        node=node,
        parent=parent,
        depth=depth,
        question=shortened(question, _MOST_LETTERS),
        answer=shortened(answer, _MOST_LETTERS),
        support=support,
        summary=told,
        branch=shortened(words[0], _MOST_LETTERS),
        tip="\n".join(line for line in tip if line),
        shares=shares,
        prediction=int(tree.prediction[node]),
        width=max(92.0, min(longest, _MOST_LETTERS + 14) * _LETTER + 2 * PAD),
    )


def _outcome(tree: Tree, schema: Schema, node: int, span: tuple[float, float]) -> tuple[str, str, tuple[float, ...]]:
    rows = f"{number(round(float(tree.weight[node]), 2))} rows"
    if not tree.n_classes:
        mean, extent = float(tree.value[node, 0]), span[1] - span[0]
        return f"{mean:.5g}", rows, ((mean - span[0]) / extent if extent > 0 else 1.0,)
    code = int(tree.prediction[node])
    classes = schema.classes if schema.target and schema.classes is not None else range(tree.n_classes)
    return quoted(classes[code]), f"{100 * tree.value[node, code]:.0f} % of {rows}", tuple(tree.value[node].tolist())


def _width(text: str) -> float:
    return len(text) * _LETTER * 0.92 + 8


def _middles(cards: list[Card]) -> np.ndarray:
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


def _absolute(cards: list[Card], shift: np.ndarray) -> np.ndarray:
    middle = np.zeros(len(cards))
    for place, card in enumerate(cards):  # a parent comes before its children
        middle[place] = shift[place] + (middle[card.parent] if card.parent >= 0 else 0.0)
    return middle - min(m - card.slot / 2 for m, card in zip(middle, cards, strict=True))
