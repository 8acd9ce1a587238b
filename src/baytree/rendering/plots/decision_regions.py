"""What a model predicts over one or two columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import narwhals as nw
import numpy as np

from baytree.rendering.plots.charts import axes, legend, literal
from baytree.rendering.tree_layout import colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from narwhals.typing import IntoDataFrame

_INK, _EDGE = "#1f2933", "#9aa5b1"


class FittedModel(Protocol):
    """What `plot_regions` asks of an estimator; of a classifier `classes_`, too."""

    def predict(self, X: IntoDataFrame) -> np.ndarray:
        """The class, or the number, of each row."""
        ...


def plot_regions(
    model: FittedModel,
    frame: IntoDataFrame,
    x: str | Sequence[str],
    y: str | None = None,
    *,
    ax: Axes | None = None,
    resolution: int = 200,
    target: str | None = None,
) -> Axes:
    """Draw what a model predicts over one or two numeric columns, the others held at a typical value.

    Over two columns: the regions of the classes, or a map of the predicted number. Over one column: the fitted function of
    a regressor, or the probability of each class. The rows of the frame are shown as points. Numeric columns that are not
    drawn are held at their median, others at their most frequent value.

    Parameters
    ----------
    model : fitted classifier or regressor
        Anything with `predict`. Regions of a classifier with `predict_proba` are paler the less sure it is.
    frame : data frame
        A table with named columns, as the model was fitted on.
    x : str or sequence of str
        The numeric column on the horizontal axis; or one or two columns.
    y : str, optional
        The numeric column on the vertical axis.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; a new figure by default.
    resolution : int, default=200
        The number of points along each axis that the model is asked about.
    target : str, default=None
        The column of `frame` with the target of the points; the model's own target by default, where the frame has it.

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
    >>> line = bt.LinearRegression().fit(iris[["petal_length", "petal_width"]], "petal_width")
    >>> bt.plot_regions(line, iris, ["petal_length"]).get_ylabel()
    'petal_width'
    """
    rows = nw.from_native(frame, eager_only=True)
    names = _drawn_columns(x, y, rows)
    learnt = getattr(getattr(model, "schema_", None), "target", None)
    target = learnt.name if target is None and learnt and learnt.name in rows.columns else target
    spans = [_span(rows[name].to_numpy(), resolution) for name in names]
    grid = _grid(rows.drop(target) if target else rows, names, spans)
    ax = axes(ax, (6.0, 4.5))
    classes = list(getattr(model, "classes_", ()))
    _DRAWN[bool(classes), len(names)](ax, model, _Plane(rows, names, spans, grid, target))
    ax.set_xlabel(literal(names[0]))
    if len(names) == 2:
        ax.set_ylabel(literal(names[1]))
    legend(ax, [str(label) for label in classes])
    return ax


def _drawn_columns(x: str | Sequence[str], y: str | None, rows: nw.DataFrame) -> list[str]:
    names = [x] if isinstance(x, str) else list(x)
    names += [] if y is None else [y]
    if len(names) not in (1, 2):
        raise ValueError(f"regions are drawn over one or two columns, but {len(names)} are given: {names}")
    for name in names:
        if name not in rows.columns or not rows[name].dtype.is_numeric():
            raise ValueError(f"column {name!r}: regions need numeric columns of the frame; it has {rows.columns}")
    return names


def _span(values: np.ndarray, resolution: int) -> np.ndarray:
    known = values[np.isfinite(values.astype(float))].astype(float)
    if not len(known):
        raise ValueError("a column for regions holds no finite number")
    low, high = float(known.min()), float(known.max())
    margin = 0.05 * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, resolution)


def _grid(rows: nw.DataFrame, names: list[str], spans: list[np.ndarray]) -> IntoDataFrame:
    """A frame of the same kind with every point of the grid; other columns hold their median or most frequent value."""
    places = {name: axis.ravel() for name, axis in zip(names, np.meshgrid(*spans), strict=True)}
    n = len(places[names[0]])
    columns = {name: places[name].tolist() if name in places else [_typical(rows[name])] * n for name in rows.columns}
    return nw.from_dict(columns, backend=rows.implementation).to_native()


def _typical(column: nw.Series) -> object:
    """The median of numbers, else the most frequent value, of equally frequent ones the first; None of nothing."""
    known = column.drop_nulls()
    if not len(known):
        return None
    return known.median() if column.dtype.is_numeric() else known.mode().sort().item(0)


class _Plane(NamedTuple):
    """The columns that are drawn, where the model is asked, and the rows that are shown."""

    rows: nw.DataFrame
    names: list[str]
    spans: list[np.ndarray]
    grid: IntoDataFrame
    target: str | None

    def points(self) -> list[np.ndarray]:
        """The rows in the columns that are drawn."""
        return [self.rows[name].to_numpy() for name in self.names]


def _draw_regions(ax: Axes, model: Any, plane: _Plane) -> None:
    """The regions of the classes, and the rows in the colour of theirs."""
    classes = list(model.classes_)
    shape = (len(plane.spans[1]), len(plane.spans[0]))
    code, sureness = _answers(model, plane.grid, classes)
    _paint(ax, code.reshape(shape), sureness.reshape(shape), *plane.spans)
    place = {label: colour(code) for code, label in enumerate(classes)}
    ink = [place.get(label, _EDGE) for label in plane.rows[plane.target].to_list()] if plane.target else _INK
    ax.scatter(*plane.points(), c=ink, s=14, edgecolors="white", linewidths=0.4)


def _draw_probabilities(ax: Axes, model: Any, plane: _Plane) -> None:
    """The probability of each class along a column, and the rows of each class below the axis."""
    classes = list(model.classes_)
    ask = getattr(model, "predict_proba", None)
    if ask is None:
        raise ValueError(f"{type(model).__name__} has no predict_proba; give two columns for its regions")
    for k, share in enumerate(np.asarray(ask(plane.grid)).T):
        ax.plot(plane.spans[0], share, color=colour(k))
    x, labels = plane.points()[0], plane.rows[plane.target].to_list() if plane.target else []
    for k, label in enumerate(classes):
        own = np.array([each == label for each in labels], bool)
        if own.any():
            ax.scatter(x[own], np.full(own.sum(), -0.04 - 0.03 * k), color=colour(k), s=8, linewidths=0)
    ax.set_ylim(top=1.12)  # room for the legend
    ax.set_ylabel("probability")


def _draw_map(ax: Axes, model: Any, plane: _Plane) -> None:
    """The predicted number as a colour, and the rows by their own number in the same colours."""
    found = np.asarray(model.predict(plane.grid), float).reshape(len(plane.spans[1]), len(plane.spans[0]))
    numbers = plane.rows[plane.target].to_numpy().astype(float) if plane.target else None
    both = found if numbers is None else np.append(found, numbers[np.isfinite(numbers)])
    scale: dict[str, Any] = {"vmin": float(np.nanmin(both)), "vmax": float(np.nanmax(both)), "cmap": "viridis"}
    extent = (plane.spans[0][0], plane.spans[0][-1], plane.spans[1][0], plane.spans[1][-1])
    image = ax.imshow(found, extent=extent, origin="lower", aspect="auto", **scale)
    ax.figure.colorbar(image, ax=ax, label=literal(plane.target or "prediction"))
    points: dict[str, Any] = {"color": _INK} if numbers is None else {"c": numbers, **scale}
    ax.scatter(*plane.points(), s=14, edgecolors="white", linewidths=0.4, **points)


def _draw_function(ax: Axes, model: Any, plane: _Plane) -> None:
    """The predicted number along a column, over the rows."""
    if plane.target:
        ax.scatter(plane.points()[0], plane.rows[plane.target].to_numpy(), color=_EDGE, s=14, linewidths=0)
    ax.plot(plane.spans[0], np.asarray(model.predict(plane.grid), float), color=colour(0), linewidth=2)
    ax.set_ylabel(literal(plane.target or "prediction"))


_DRAWN = {  # by whether there are classes, and the number of columns
    (True, 2): _draw_regions,
    (True, 1): _draw_probabilities,
    (False, 2): _draw_map,
    (False, 1): _draw_function,
}


def _answers(model: FittedModel, grid: IntoDataFrame, classes: list) -> tuple[np.ndarray, np.ndarray]:
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
