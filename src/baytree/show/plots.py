"""Pictures by matplotlib, which is imported only when one is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree.table.schema import Schema
from baytree.tree.model.structure import Tree
from baytree.tree.view.cards import CARD_HEIGHT, ROW_HEIGHT, Drawing, colour, draw

_INK, _EDGE = "#1f2933", "#9aa5b1"


def plot_tree(tree: Tree, schema: Schema, *, ax: Any = None, max_depth: int | None = None) -> Any:
    """A tree as cards and lines; gives the axes."""
    drawing = draw(tree, schema, max_depth)
    height = drawing.depth * ROW_HEIGHT + CARD_HEIGHT
    ax = ax or _axes((max(4.0, drawing.width / 90), max(2.5, height / 90)))
    ax.set_xlim(-10, drawing.width + 10)
    ax.set_ylim(height + 10, -30)
    ax.axis("off")
    for place in range(len(drawing.cards)):
        _draw_card(ax, drawing, place)
    _legend(ax, list(drawing.classes))
    return ax


def plot_regions(
    model: Any, frame: Any, x: str, y: str, *, ax: Any = None, resolution: int = 200, target: str | None = None
) -> Any:
    """What a classifier says over the plane of two numeric columns, the others held at a typical value; gives the axes.

    `frame` is a table with named columns. Its rows are shown as points; their colour is the class in the column `target`,
    or in the model's own target column where the frame has it.
    """
    import narwhals as nw

    rows = nw.from_native(frame, eager_only=True)
    for name in (x, y):
        if name not in rows.columns or not rows[name].dtype.is_numeric():
            raise ValueError(f"column {name!r}: regions need two numeric columns of the frame; it has {rows.columns}")
    learnt = getattr(getattr(model, "schema_", None), "target", None)
    target = learnt.name if target is None and learnt and learnt.name in rows.columns else target
    grid_x, grid_y = _span(rows[x].to_numpy(), resolution), _span(rows[y].to_numpy(), resolution)
    classes = list(model.classes_)
    grid = _grid(rows.drop(target) if target else rows, x, y, grid_x, grid_y)
    code, surety = _answers(model, grid, classes)
    ax = ax or _axes((6.0, 4.5))
    _paint(ax, code.reshape(resolution, resolution), surety.reshape(resolution, resolution), grid_x, grid_y)
    _points(ax, rows, x, y, target, classes)
    ax.set_xlabel(_literal(x))
    ax.set_ylabel(_literal(y))
    _legend(ax, [str(label) for label in classes])
    return ax


def plot_impurities(*, ax: Any = None) -> Any:
    """The three impurities of two classes against the share of one: error, Gini and entropy; gives the axes."""
    ax = ax or _axes((6.0, 4.0))
    share = np.linspace(0, 1, 401)
    for code, (name, curve) in enumerate(impurity_curves(share).items()):
        ax.plot(share, curve, label=name, color=colour(code), linewidth=2)
    ax.set_xlabel("share p of the first class")
    ax.set_ylabel("impurity")
    ax.legend(frameon=False)
    return ax


def impurity_curves(share: np.ndarray) -> dict[str, np.ndarray]:
    """Impurities of a node with classes in shares p and 1 − p: min(p, 1 − p), 2p(1 − p), and the entropy in bits.

    >>> {name: float(curve[0]) for name, curve in impurity_curves(np.array([0.5])).items()}
    {'error': 0.5, 'gini': 0.5, 'entropy': 1.0}
    """
    share = np.asarray(share, float)
    both = np.stack([share, 1 - share])
    bits = -(both * np.log2(np.where(both > 0, both, 1.0))).sum(axis=0)
    return {"error": both.min(axis=0), "gini": 2 * share * (1 - share), "entropy": bits}


def plot_importances(model: Any, *, ax: Any = None, most: int = 20) -> Any:
    """The columns that matter most, as bars; gives the axes."""
    names = [str(name) for name in getattr(model, "feature_names_in_", model.schema_.names)]
    share = np.asarray(model.feature_importances_)
    if len(names) != len(share):
        names = list(model.schema_.names)
    order = np.argsort(-share, kind="stable")[:most][::-1]
    ax = ax or _axes((6.0, 0.6 + 0.32 * len(order)))
    ax.barh([_literal(names[j]) for j in order], share[order], color=colour(0))
    ax.set_xlabel("share of what the splits gain")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _axes(size: tuple[float, float]) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib; install it with: pip install 'baytree[plot]'") from error
    return plt.subplots(figsize=size, layout="constrained")[1]


def _literal(text: str) -> str:
    r"""Text that matplotlib shows as it is: a dollar sign would begin mathematics."""
    return str(text).replace("\\", "\\\\").replace("$", "\\$")


def _legend(ax: Any, classes: list[str]) -> None:
    if not classes:
        return
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=colour(code), label=_literal(name)) for code, name in enumerate(classes[:12])]
    ax.legend(handles=handles, frameon=False, loc="upper left", ncols=min(6, len(handles)), fontsize="small")


def _draw_card(ax: Any, drawing: Drawing, place: int) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    card, middle = drawing.cards[place], float(drawing.middle[place])
    left, top = middle - card.width / 2, card.depth * ROW_HEIGHT
    if card.parent >= 0:
        above = float(drawing.middle[card.parent]), top - ROW_HEIGHT + CARD_HEIGHT
        ax.plot([above[0], middle], [above[1], top], color=_EDGE, linewidth=1, zorder=1)
        halo = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        ax.text(middle, top - 12, _literal(card.branch), ha="center", va="center", fontsize=7, color=_INK, bbox=halo)
    is_leaf = not card.question
    edge = colour(card.prediction) if is_leaf and drawing.classes else _EDGE
    box = FancyBboxPatch((left, top), card.width, CARD_HEIGHT, "round,pad=0,rounding_size=8", fc="white", ec=edge, zorder=2)
    ax.add_patch(box)
    words = card.answer if is_leaf else f"{card.question}?"
    ax.text(middle, top + 18, _literal(words), ha="center", va="center", fontsize=8, weight="bold", color=_INK)
    ax.text(middle, top + 35, _literal(card.summary), ha="center", va="center", fontsize=7, color=_INK)
    start, whole = left + 8, card.width - 16
    for code, share in enumerate(card.shares):
        ax.add_patch(Rectangle((start, top + CARD_HEIGHT - 16), share * whole, 8, color=colour(code), zorder=3))
        start += share * whole


def _span(values: np.ndarray, resolution: int) -> np.ndarray:
    known = values[np.isfinite(values.astype(float))].astype(float)
    if not len(known):
        raise ValueError("a column for regions holds no finite number")
    low, high = float(known.min()), float(known.max())
    margin = 0.05 * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, resolution)


def _grid(rows: Any, x: str, y: str, grid_x: np.ndarray, grid_y: np.ndarray) -> Any:
    """A frame of the same kind with every point of the grid; other columns hold their median or most frequent value."""
    one = rows.head(1)
    place_x, place_y = (axis.ravel() for axis in np.meshgrid(grid_x, grid_y))
    columns = {}
    for name in rows.columns:
        known = rows[name].drop_nulls()
        if name in (x, y):
            columns[name] = place_x if name == x else place_y
        elif rows[name].dtype.is_numeric() and len(known):
            columns[name] = np.full(len(place_x), known.median())
        else:
            columns[name] = [known.mode().sort().item(0) if len(known) else None] * len(place_x)
    import narwhals as nw

    return nw.from_dict(columns, backend=one.implementation).to_native()


def _answers(model: Any, grid: Any, classes: list) -> tuple[np.ndarray, np.ndarray]:
    """The code of the class at each point, and how sure the model is of it."""
    place = {label: code for code, label in enumerate(classes)}
    code = np.array([place[label] for label in np.asarray(model.predict(grid)).tolist()])
    if not hasattr(model, "predict_proba"):
        return code, np.ones(len(code))
    return code, np.asarray(model.predict_proba(grid))[np.arange(len(code)), code]


def _paint(ax: Any, code: np.ndarray, surety: np.ndarray, grid_x: np.ndarray, grid_y: np.ndarray) -> None:
    from matplotlib.colors import to_rgb

    ink = np.array([to_rgb(colour(k)) for k in range(int(code.max()) + 1)])[code]
    strength = (0.12 + 0.38 * np.clip(surety, 0, 1))[:, :, None]
    extent = (grid_x[0], grid_x[-1], grid_y[0], grid_y[-1])
    ax.imshow(strength * ink + (1 - strength), extent=extent, origin="lower", aspect="auto", interpolation="nearest")


def _points(ax: Any, rows: Any, x: str, y: str, target: str | None, classes: list) -> None:
    place = {label: colour(code) for code, label in enumerate(classes)}
    ink = [place.get(label, _EDGE) for label in rows[target].to_list()] if target else _INK
    ax.scatter(rows[x].to_numpy(), rows[y].to_numpy(), c=ink, s=14, edgecolors="white", linewidths=0.4)
