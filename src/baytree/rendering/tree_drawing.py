"""Decision tree as SVG, static or growing split by split, and in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.etree import ElementTree as xml

from baytree.display.palette import class_colour, legend_labels
from baytree.display.terminal import MAX_LISTED_LEVELS, plain, quoted, shortened
from baytree.rendering.tree_layout import (
    BAR_HEIGHT,
    CARD_HEIGHT,
    CARD_PADDING,
    LINE_HEIGHT,
    ROW_HEIGHT,
    Card,
    TreeDrawing,
    opening_order,
)
from baytree.rendering.tree_text import label, outcome
from baytree.summary.tree import Node

# Lengths in pixels.

_MARGIN = 16.0

_LEGEND_HEIGHT = 30.0

_INK, _PALE, _EDGE, _TRACK = "#1f2933", "#52606d", "#9aa5b1", "#e4e7eb"

_SECONDS_PER_SPLIT = 1.0  # time between two splits in the animation of a growing tree

_SVG_STYLE = (
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:13px;"
    f"fill:{_INK}}} .name{{font-weight:600}} .pale{{fill:{_PALE}}} .branch{{font-size:12px;paint-order:stroke;stroke:#fff;"
    "stroke-width:4px;stroke-linejoin:round}"
)


def to_svg(drawing: TreeDrawing) -> str:
    """Static SVG of the whole tree."""
    return _picture(drawing, set(opening_order(drawing)))


def growth_frames(drawing: TreeDrawing) -> list[str]:
    """One SVG per split, from the root alone to the whole tree, all of the same size."""
    order = opening_order(drawing)
    return [_picture(drawing, set(order[:k])) for k in range(len(order) + 1)]


def growth_svg(drawing: TreeDrawing) -> str:
    """One animated SVG in which the tree grows split by split; without animation support it shows the whole tree."""
    order = opening_order(drawing)
    root, canvas = _canvas(drawing)
    split_at = {position: k + 1 for k, position in enumerate(order)}
    n_steps = len(order) + 3  # pause on the whole tree
    for position, card in enumerate(drawing.cards):
        begin, end = split_at.get(card.parent, 0), split_at.get(position)
        layer = xml.SubElement(canvas, "g")
        _edge(layer, drawing, position)
        _appear(layer, begin, None, n_steps)
        if end is not None:
            before_split = xml.SubElement(canvas, "g", opacity="0")
            _svg_node(before_split, drawing, position, is_split=False)
            _appear(before_split, begin, end, n_steps)
        after_split = xml.SubElement(canvas, "g")
        _svg_node(after_split, drawing, position, is_split=end is not None)
        _appear(after_split, begin if end is None else end, None, n_steps)
    return xml.tostring(root, encoding="unicode")


def _picture(drawing: TreeDrawing, split: set[int]) -> str:
    root, canvas = _canvas(drawing)
    shown = [position for position, card in enumerate(drawing.cards) if _is_shown(drawing, card, split)]
    for position in shown:
        _edge(canvas, drawing, position)
    for position in shown:
        _svg_node(canvas, drawing, position, position in split)
    return xml.tostring(root, encoding="unicode")


def _is_shown(drawing: TreeDrawing, card: Card, split: set[int]) -> bool:
    while card.parent >= 0:
        if card.parent not in split:
            return False
        card = drawing.cards[card.parent]
    return True


def _canvas(drawing: TreeDrawing) -> tuple[xml.Element, xml.Element]:
    """SVG element with the legend, and the group in which the tree is drawn."""
    legend = _legend_words(drawing)
    width = max(drawing.width, _legend_width(legend)) + 2 * _MARGIN
    height = _LEGEND_HEIGHT + drawing.depth * ROW_HEIGHT + CARD_HEIGHT + 2 * _MARGIN
    size = {"width": _n(width), "height": _n(height), "viewBox": f"0 0 {_n(width)} {_n(height)}"}
    name = f"decision tree for {plain(drawing.target)}"
    attributes = {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "aria-label": name}
    root = xml.Element("svg", {**attributes, **size})
    xml.SubElement(root, "style").text = _SVG_STYLE
    xml.SubElement(root, "rect", width="100%", height="100%", fill="#fff")
    _legend(root, legend)
    left = (width - drawing.width) / 2
    return root, xml.SubElement(root, "g", transform=f"translate({_n(left)} {_n(_MARGIN + _LEGEND_HEIGHT)})")


def _legend_words(drawing: TreeDrawing) -> list[tuple[str, str | None]]:
    name = shortened(plain(drawing.target), 40)
    shown = [(shortened(label, 24), class_colour(code)) for code, label in enumerate(legend_labels(drawing.classes))]
    return [(f"{name}:" if shown else f"mean of {name}", None), *shown]


def _legend_width(words: list[tuple[str, str | None]]) -> float:
    return sum(len(text) * 7.4 + (34 if fill else 16) for text, fill in words)


def _legend(root: xml.Element, words: list[tuple[str, str | None]]) -> None:
    left = _MARGIN
    for text, fill in words:
        if fill:
            xml.SubElement(root, "rect", x=_n(left), y=_n(_MARGIN), width="12", height="12", rx="3", fill=fill)
            left += 18
        _text(root, left, _MARGIN + 11, text, "name" if not fill else "", "start")
        left += len(text) * 7.4 + 16


def _edge(canvas: xml.Element, drawing: TreeDrawing, position: int) -> None:
    """Draw the line from the parent's card, and the branch label above the card."""
    card = drawing.cards[position]
    if card.parent < 0:
        return
    x, top = float(drawing.middle[position]), card.depth * ROW_HEIGHT
    from_x, from_y = float(drawing.middle[card.parent]), top - ROW_HEIGHT + CARD_HEIGHT
    bend, end_y = from_y + 20, top - 24
    curve = f"C{_n(from_x)} {_n(bend + 8)} {_n(x)} {_n(bend - 8)} {_n(x)} {_n(end_y)}"
    path_data = f"M{_n(from_x)} {_n(from_y)}{curve}L{_n(x)} {_n(top)}"
    xml.SubElement(canvas, "path", d=path_data, fill="none", stroke=_EDGE, attrib={"stroke-width": "1.5"})
    _text(canvas, x, top - 10, card.branch, "branch")


def _svg_node(canvas: xml.Element, drawing: TreeDrawing, position: int, is_split: bool) -> None:
    card = drawing.cards[position]
    left, top = float(drawing.middle[position]) - card.width / 2, card.depth * ROW_HEIGHT
    group = xml.SubElement(canvas, "g", transform=f"translate({_n(left)} {_n(top)})")
    xml.SubElement(group, "title").text = card.tip
    ink = _EDGE if is_split or not drawing.classes else class_colour(card.prediction)
    frame = {"width": _n(card.width), "height": _n(CARD_HEIGHT), "rx": "8", "stroke": ink, "stroke-width": "1.5"}
    xml.SubElement(group, "rect", {**frame, "fill": "#fff"})
    if not is_split:
        xml.SubElement(group, "rect", {**frame, "fill": ink, "fill-opacity": "0.08"})
    middle = card.width / 2
    _text(group, middle, CARD_PADDING + 12, f"{card.question}?" if is_split else card.answer, "name")
    _text(group, middle, CARD_PADDING + LINE_HEIGHT + 12, card.summary if is_split else card.support, "pale")
    _bar(group, card, bool(drawing.classes))


def _bar(group: xml.Element, card: Card, has_classes: bool) -> None:
    left, bar_width, top = CARD_PADDING, card.width - 2 * CARD_PADDING, CARD_PADDING + 2 * LINE_HEIGHT + 2
    position = {"y": _n(top), "height": _n(BAR_HEIGHT)}
    xml.SubElement(group, "rect", {**position, "x": _n(left), "width": _n(bar_width), "fill": _TRACK, "rx": "2"})
    for code, proportion in enumerate(card.shares):
        if proportion > 0:
            xml.SubElement(
                group, "rect", {**position, "x": _n(left), "width": _n(proportion * bar_width), "fill": class_colour(code)}
            )
            left += proportion * bar_width if has_classes else 0


def _text(parent: xml.Element, x: float, y: float, text: str, style: str = "", anchor: str = "middle") -> None:
    position = {"x": _n(x), "y": _n(y), "text-anchor": anchor}
    xml.SubElement(parent, "text", {**position, "class": style} if style else position).text = text


def _appear(layer: xml.Element, begin: int, end: int | None, n_steps: int) -> None:
    """Animate the visibility of a layer from step `begin` until `end`; without animation its opacity attribute applies."""
    stops = [(0.0, int(begin == 0)), (begin / n_steps, 1), (1.0 if end is None else end / n_steps, int(end is None))]
    times = ";".join(_n(time) for time, _ in stops)
    values = ";".join(str(value) for _, value in stops)
    duration = f"{_n(n_steps * _SECONDS_PER_SPLIT)}s"
    motion = {"attributeName": "opacity", "calcMode": "discrete", "dur": duration, "repeatCount": "indefinite"}
    xml.SubElement(layer, "animate", {**motion, "values": values, "keyTimes": times})


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"


_DOT_STYLE = (
    '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif"];',
    '  edge [fontname="sans-serif"];',
)


def to_dot(nodes: Sequence[Node], classes: Sequence[str], target: str) -> str:
    """Tree as a DOT digraph; every name is inside a quoted string, properly escaped."""
    statements = _statements(nodes, [quoted(name) for name in classes])
    return "\n".join([f"digraph {_quoted(plain(target))} {{", *_DOT_STYLE, *statements, "}"])


def _statements(nodes: Sequence[Node], names: Sequence[str]) -> Iterator[str]:
    edges = _edges(nodes)
    for node in nodes:
        yield _dot_node(node, names)
        yield from edges.get(node.id, ())


def _edges(nodes: Sequence[Node]) -> dict[int, list[str]]:
    """Edges to the children of each node."""
    edges: dict[int, list[str]] = {}
    above: list[int] = []  # the last node of each depth
    for node in nodes:
        if node.condition:
            parent, words = above[node.depth - 1], _quoted(label(node.condition, MAX_LISTED_LEVELS))
            edges.setdefault(parent, []).append(f"  n{parent} -> n{node.id} [label={words}];")
        above[node.depth :] = [node.id]
    return edges


def _dot_node(node: Node, names: Sequence[str]) -> str:
    test = [f"{plain(node.column)}?"] if node.branches else []
    ink = "" if node.branches or not names else f', color="{class_colour(node.prediction)}"'
    return f"  n{node.id} [label={_quoted(*test, outcome(node, names))}{ink}];"


def _quoted(*lines: str) -> str:
    r"""Quoted DOT string of these lines. Backslashes start escapes in Graphviz, so they are doubled; \n separates lines."""
    safe = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(safe) + '"'
