"""Plots of a model's predictions over one or two columns: `plot_regions`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import narwhals as nw
import numpy as np

from baytree.display.palette import class_colour
from baytree.rendering.plots.charts import axes, legend, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from narwhals.typing import IntoDataFrame

_INK, _EDGE = "#1f2933", "#9aa5b1"


class FittedModel(Protocol):
    """Interface that `plot_regions` needs of an estimator; classifiers also have `classes_`."""

    def predict(self, X: IntoDataFrame) -> np.ndarray:
        """Class or number of each row."""
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
    """Plot the predictions of a model over one or two numeric columns, the others held at a typical value.

    Two columns give the regions of the classes, or a map of the predicted number. One column gives the fitted function of a
    regressor, or the probability of each class. The rows of the frame are shown as points. Numeric columns that are not
    drawn are held at their median, others at their most frequent value.

    Parameters
    ----------
    model : fitted classifier or regressor
        Anything with `predict`. Regions of a classifier with `predict_proba` are paler where the probability is lower.
    frame : data frame
        A table with named columns, as the model was fitted on.
    x : str or sequence of str
        The numeric column on the horizontal axis; or one or two columns.
    y : str, optional
        The numeric column on the vertical axis.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; a new figure by default.
    resolution : int, default=200
        The number of grid points along each axis.
    target : str, default=None
        The column of `frame` with the target of the points; the model's own target by default, if the frame has it.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes with the plot.

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
    model_target = getattr(getattr(model, "schema_", None), "target", None)
    target = model_target.name if target is None and model_target and model_target.name in rows.columns else target
    spans = [_span(rows[name].to_numpy(), resolution) for name in names]
    grid = _grid(rows.drop(target) if target else rows, names, spans)
    ax = axes(ax, (6.0, 4.5))
    classes = list(getattr(model, "classes_", ()))
    _DRAW_FUNCTIONS[bool(classes), len(names)](ax, model, _Grid(rows, names, spans, grid, target))
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
    """Frame of the same library with every grid point; other columns hold their median or most frequent value."""
    grid = {name: axis.ravel() for name, axis in zip(names, np.meshgrid(*spans), strict=True)}
    n = len(grid[names[0]])
    columns = {name: grid[name].tolist() if name in grid else [_typical(rows[name])] * n for name in rows.columns}
    return nw.from_dict(columns, backend=rows.implementation).to_native()


def _typical(column: nw.Series) -> object:
    """Median of numbers, else the most frequent value, the first of equally frequent ones; None without values."""
    known = column.drop_nulls()
    if not len(known):
        return None
    return known.median() if column.dtype.is_numeric() else known.mode().sort().item(0)


class _Grid(NamedTuple):
    """Grid of a plot: the drawn columns, the points at which the model is evaluated, and the rows that are shown."""

    rows: nw.DataFrame
    names: list[str]
    spans: list[np.ndarray]
    grid: IntoDataFrame
    target: str | None

    def points(self) -> list[np.ndarray]:
        """Values of the rows in the drawn columns."""
        return [self.rows[name].to_numpy() for name in self.names]


def _draw_regions(ax: Axes, model: Any, plane: _Grid) -> None:
    """Draw the regions of the classes, and the rows in the colour of their class."""
    classes = list(model.classes_)
    shape = (len(plane.spans[1]), len(plane.spans[0]))
    code, certainty = _predictions(model, plane.grid, classes)
    _paint(ax, code.reshape(shape), certainty.reshape(shape), *plane.spans)
    colour_of = {label: class_colour(code) for code, label in enumerate(classes)}
    ink = [colour_of.get(label, _EDGE) for label in plane.rows[plane.target].to_list()] if plane.target else _INK
    ax.scatter(*plane.points(), c=ink, s=14, edgecolors="white", linewidths=0.4)


def _draw_probabilities(ax: Axes, model: Any, plane: _Grid) -> None:
    """Draw the probability of each class along a column, and the rows of each class below the axis."""
    classes = list(model.classes_)
    predict_proba = getattr(model, "predict_proba", None)
    if predict_proba is None:
        raise ValueError(f"{type(model).__name__} has no predict_proba; give two columns for its regions")
    for k, probability in enumerate(np.asarray(predict_proba(plane.grid)).T):
        ax.plot(plane.spans[0], probability, color=class_colour(k))
    x, labels = plane.points()[0], plane.rows[plane.target].to_list() if plane.target else []
    for k, label in enumerate(classes):
        own = np.array([each == label for each in labels], bool)
        if own.any():
            ax.scatter(x[own], np.full(own.sum(), -0.04 - 0.03 * k), color=class_colour(k), s=8, linewidths=0)
    ax.set_ylim(top=1.12)  # space for the legend
    ax.set_ylabel("probability")


def _draw_map(ax: Axes, model: Any, plane: _Grid) -> None:
    """Draw the predicted number as a colour map, and the rows by their target on the same scale."""
    predicted = np.asarray(model.predict(plane.grid), float).reshape(len(plane.spans[1]), len(plane.spans[0]))
    numbers = plane.rows[plane.target].to_numpy().astype(float) if plane.target else None
    all_numbers = predicted if numbers is None else np.append(predicted, numbers[np.isfinite(numbers)])
    scale: dict[str, Any] = {"vmin": float(np.nanmin(all_numbers)), "vmax": float(np.nanmax(all_numbers)), "cmap": "viridis"}
    extent = (plane.spans[0][0], plane.spans[0][-1], plane.spans[1][0], plane.spans[1][-1])
    image = ax.imshow(predicted, extent=extent, origin="lower", aspect="auto", **scale)
    ax.figure.colorbar(image, ax=ax, label=literal(plane.target or "prediction"))
    points: dict[str, Any] = {"color": _INK} if numbers is None else {"c": numbers, **scale}
    ax.scatter(*plane.points(), s=14, edgecolors="white", linewidths=0.4, **points)


def _draw_function(ax: Axes, model: Any, plane: _Grid) -> None:
    """Draw the predicted number along a column, over the rows."""
    if plane.target:
        ax.scatter(plane.points()[0], plane.rows[plane.target].to_numpy(), color=_EDGE, s=14, linewidths=0)
    ax.plot(plane.spans[0], np.asarray(model.predict(plane.grid), float), color=class_colour(0), linewidth=2)
    ax.set_ylabel(literal(plane.target or "prediction"))


_DRAW_FUNCTIONS = {  # by whether there are classes, and the number of columns
    (True, 2): _draw_regions,
    (True, 1): _draw_probabilities,
    (False, 2): _draw_map,
    (False, 1): _draw_function,
}


def _predictions(model: FittedModel, grid: IntoDataFrame, classes: list) -> tuple[np.ndarray, np.ndarray]:
    """Class code at each grid point, and its probability."""
    code_of = {label: code for code, label in enumerate(classes)}
    code = np.array([code_of[label] for label in np.asarray(model.predict(grid)).tolist()])
    ask = getattr(model, "predict_proba", None)
    return code, np.ones(len(code)) if ask is None else np.asarray(ask(grid))[np.arange(len(code)), code]


def _paint(ax: Axes, code: np.ndarray, sureness: np.ndarray, span_x: np.ndarray, span_y: np.ndarray) -> None:
    from matplotlib.colors import to_rgb

    ink = np.array([to_rgb(class_colour(k)) for k in range(int(code.max()) + 1)])[code]
    opacity = (0.12 + 0.38 * np.clip(sureness, 0, 1))[:, :, None]
    extent = (span_x[0], span_x[-1], span_y[0], span_y[-1])
    ax.imshow(opacity * ink + (1 - opacity), extent=extent, origin="lower", aspect="auto", interpolation="nearest")
