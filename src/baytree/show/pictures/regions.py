"""What a classifier says over the plane of two columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import narwhals as nw
import numpy as np

from baytree.show.pictures.charts import axes, legend, literal
from baytree.show.tree.card_layout import colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from narwhals.typing import IntoDataFrame

_INK, _EDGE = "#1f2933", "#9aa5b1"


class FittedClassifier(Protocol):
    """What `plot_regions` asks of an estimator."""

    classes_: np.ndarray

    def predict(self, X: IntoDataFrame) -> np.ndarray:
        """The class of each row."""
        ...


def plot_regions(
    model: FittedClassifier,
    frame: IntoDataFrame,
    x: str,
    y: str,
    *,
    ax: Axes | None = None,
    resolution: int = 200,
    target: str | None = None,
) -> Axes:
    """Draw what a classifier says over the plane of two numeric columns, the others held at a typical value.

    The rows of the frame are shown as points. Numeric columns outside the plane are held at their median, others at their
    most frequent value.

    Parameters
    ----------
    model : fitted classifier
        Anything with `predict` and `classes_`; where it has `predict_proba`, colours are paler the less sure it is.
    frame : data frame
        A table with named columns, as the model was fitted on.
    x : str
        The numeric column on the horizontal axis.
    y : str
        The numeric column on the vertical axis.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; a new figure by default.
    resolution : int, default=200
        The number of points along each side of the plane that the model is asked about.
    target : str, default=None
        The column of `frame` whose classes colour the points; the model's own target by default, where the frame has it.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes with the picture.

    Examples
    --------
    >>> import baytree as bt
    >>> iris = bt.datasets.load("iris")
    >>> model = bt.CARTClassifier().fit(iris, "species")
    >>> bt.plot_regions(model, iris, "petal_length", "petal_width", resolution=20).get_xlabel()
    'petal_length'
    """
    rows = nw.from_native(frame, eager_only=True)
    for name in (x, y):
        if name not in rows.columns or not rows[name].dtype.is_numeric():
            raise ValueError(f"column {name!r}: regions need two numeric columns of the frame; it has {rows.columns}")
    learnt = getattr(getattr(model, "schema_", None), "target", None)
    target = learnt.name if target is None and learnt and learnt.name in rows.columns else target
    span_x, span_y = _span(rows[x].to_numpy(), resolution), _span(rows[y].to_numpy(), resolution)
    classes = list(model.classes_)
    grid = _grid(rows.drop(target) if target else rows, x, y, span_x, span_y)
    code, sureness = _answers(model, grid, classes)
    ax = axes(ax, (6.0, 4.5))
    _paint(ax, code.reshape(resolution, resolution), sureness.reshape(resolution, resolution), span_x, span_y)
    _points(ax, rows, x, y, target, classes)
    ax.set_xlabel(literal(x))
    ax.set_ylabel(literal(y))
    legend(ax, [str(label) for label in classes])
    return ax


def _span(values: np.ndarray, resolution: int) -> np.ndarray:
    known = values[np.isfinite(values.astype(float))].astype(float)
    if not len(known):
        raise ValueError("a column for regions holds no finite number")
    low, high = float(known.min()), float(known.max())
    margin = 0.05 * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, resolution)


def _grid(rows: nw.DataFrame, x: str, y: str, span_x: np.ndarray, span_y: np.ndarray) -> IntoDataFrame:
    """A frame of the same kind with every point of the grid; other columns hold their median or most frequent value."""
    place_x, place_y = (axis.ravel() for axis in np.meshgrid(span_x, span_y))
    columns: dict[str, Sequence[object]] = {}
    for name in rows.columns:
        if name in (x, y):
            columns[name] = (place_x if name == x else place_y).tolist()
        else:
            columns[name] = [_typical(rows[name])] * len(place_x)
    return nw.from_dict(columns, backend=rows.implementation).to_native()


def _typical(column: nw.Series) -> object:
    """The median of numbers, else the most frequent value, of equally frequent ones the first; None of nothing."""
    known = column.drop_nulls()
    if not len(known):
        return None
    return known.median() if column.dtype.is_numeric() else known.mode().sort().item(0)


def _answers(model: FittedClassifier, grid: IntoDataFrame, classes: list) -> tuple[np.ndarray, np.ndarray]:
    """The code of the class at each point, and how sure the model is of it."""
    place = {label: code for code, label in enumerate(classes)}
    code = np.array([place[label] for label in np.asarray(model.predict(grid)).tolist()])
    ask = getattr(model, "predict_proba", None)
    return code, np.ones(len(code)) if ask is None else np.asarray(ask(grid))[np.arange(len(code)), code]


def _paint(ax: Axes, code: np.ndarray, sureness: np.ndarray, span_x: np.ndarray, span_y: np.ndarray) -> None:
    from matplotlib.colors import to_rgb

    ink = np.array([to_rgb(colour(k)) for k in range(int(code.max()) + 1)])[code]
    strength = (0.12 + 0.38 * np.clip(sureness, 0, 1))[:, :, None]
    extent = (span_x[0], span_x[-1], span_y[0], span_y[-1])
    ax.imshow(strength * ink + (1 - strength), extent=extent, origin="lower", aspect="auto", interpolation="nearest")


def _points(ax: Axes, rows: nw.DataFrame, x: str, y: str, target: str | None, classes: list) -> None:
    place = {label: colour(code) for code, label in enumerate(classes)}
    ink = [place.get(label, _EDGE) for label in rows[target].to_list()] if target else _INK
    ax.scatter(rows[x].to_numpy(), rows[y].to_numpy(), c=ink, s=14, edgecolors="white", linewidths=0.4)
