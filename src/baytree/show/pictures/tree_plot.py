"""A tree drawn by matplotlib: cards and lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baytree.show.pictures.charts import axes, legend, literal
from baytree.show.tree.card_layout import CARD_HEIGHT, ROW_HEIGHT, Drawing, colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INK, _EDGE = "#1f2933", "#9aa5b1"


def plot_tree(drawing: Drawing, ax: Axes | None = None) -> Axes:
    """The tree on the given axes, or on new ones."""
    height = drawing.depth * ROW_HEIGHT + CARD_HEIGHT
    ax = axes(ax, (max(4.0, drawing.width / 90), max(2.5, height / 90)))
    ax.set_xlim(-10, drawing.width + 10)
    ax.set_ylim(height + 10, -30)
    ax.axis("off")
    for place in range(len(drawing.cards)):
        _draw_card(ax, drawing, place)
    legend(ax, drawing.classes)
    return ax


def _draw_card(ax: Axes, drawing: Drawing, place: int) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    card, middle = drawing.cards[place], float(drawing.middle[place])
    left, top = middle - card.width / 2, card.depth * ROW_HEIGHT
    if card.parent >= 0:
        above = float(drawing.middle[card.parent]), top - ROW_HEIGHT + CARD_HEIGHT
        ax.plot([above[0], middle], [above[1], top], color=_EDGE, linewidth=1, zorder=1)
        halo = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        ax.text(middle, top - 12, literal(card.branch), ha="center", va="center", fontsize=7, color=_INK, bbox=halo)
    is_leaf = not card.question
    edge = colour(card.prediction) if is_leaf and drawing.classes else _EDGE
    box = FancyBboxPatch((left, top), card.width, CARD_HEIGHT, "round,pad=0,rounding_size=8", fc="white", ec=edge, zorder=2)
    ax.add_patch(box)
    words = card.answer if is_leaf else f"{card.question}?"
    ax.text(middle, top + 18, literal(words), ha="center", va="center", fontsize=8, weight="bold", color=_INK)
    ax.text(middle, top + 35, literal(card.summary), ha="center", va="center", fontsize=7, color=_INK)
    start, whole = left + 8, card.width - 16
    for code, share in enumerate(card.shares):
        ax.add_patch(Rectangle((start, top + CARD_HEIGHT - 16), share * whole, 8, color=colour(code), zorder=3))
        start += share * whole
