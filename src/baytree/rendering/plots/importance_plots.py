"""Plots of feature importances, impurity measures and cost-complexity pruning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from baytree.data.schema.schema import Schema
from baytree.display.palette import class_colour
from baytree.rendering.complexity_table import ComplexityTable, least_and_1se
from baytree.rendering.plots.charts import axes, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class FittedTree(Protocol):
    """Interface that `plot_importances` needs of an estimator."""

    schema_: Schema

    @property
    def feature_importances_(self) -> np.ndarray:
        """Importance of each column, summing to 1: [n_columns]."""
        ...


def plot_impurities(*, ax: Axes | None = None) -> Axes:
    """Plot the impurity of a two-class node against the proportion of one class: error, Gini and entropy.

    Parameters
    ----------
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; a new figure by default.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> import baytree as bt
    >>> bt.plot_impurities().get_ylabel()
    'impurity'
    """
    ax = axes(ax, (6.0, 4.0))
    proportion = np.linspace(0, 1, 401)
    for code, (name, curve) in enumerate(impurity_curves(proportion).items()):
        ax.plot(proportion, curve, label=name, color=class_colour(code), linewidth=2)
    ax.set_xlabel("proportion p of the first class")
    ax.set_ylabel("impurity")
    ax.legend(frameon=False)
    return ax


def impurity_curves(proportion: np.ndarray) -> dict[str, np.ndarray]:
    """Impurities of a node with class proportions p and 1 − p: min(p, 1 − p), 2p(1 − p), and the entropy in bits.

    >>> {name: float(curve[0]) for name, curve in impurity_curves(np.array([0.5])).items()}
    {'error': 0.5, 'gini': 0.5, 'entropy': 1.0}
    """
    proportion = np.asarray(proportion, float)
    proportions = np.stack([proportion, 1 - proportion])
    bits = -(proportions * np.log2(np.where(proportions > 0, proportions, 1.0))).sum(axis=0)
    return {"error": proportions.min(axis=0), "gini": 2 * proportion * (1 - proportion), "entropy": bits}


def plot_importances(model: FittedTree, *, ax: Axes | None = None, most: int = 20) -> Axes:
    """Plot the most important columns of a tree as bars.

    Parameters
    ----------
    model : fitted tree estimator
        Anything with `feature_importances_` and `schema_`.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; a new figure by default.
    most : int, default=20
        The number of columns to draw; unused columns are omitted.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> import baytree as bt
    >>> model = bt.CARTClassifier().fit(bt.datasets.load("iris"), "species")
    >>> len(bt.plot_importances(model).patches)
    4
    """
    names, importance = _named_importances(model)
    order = [j for j in np.argsort(-importance, kind="stable")[:most] if importance[j] > 0][::-1]
    ax = axes(ax, (6.0, 0.6 + 0.32 * len(order)))
    ax.barh([literal(names[j]) for j in order], importance[order], color=class_colour(0))
    ax.set_xlabel("proportion of the gain of all splits, surrogates included")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def complexity_plot(table: ComplexityTable, ax: Axes | None = None) -> Axes:
    """Plot training error and cross-validated error with its standard error against the number of splits."""
    ax = axes(ax)
    ax.plot(table.splits, table.risk, marker="o", markersize=3, color=class_colour(7), label="on the training rows")
    choices = least_and_1se(table)
    if choices is not None and table.error is not None and table.deviation is not None:
        style = {"marker": "o", "capsize": 3, "color": class_colour(0), "label": "cross-validated"}
        ax.errorbar(table.splits, table.error, yerr=table.deviation, **style)
        bound = table.error[choices[0]] + table.deviation[choices[0]]
        ax.axhline(bound, color=class_colour(7), linewidth=1, linestyle="--", label="minimum + one standard error")
        ax.plot(table.splits[choices[1]], table.error[choices[1]], marker="o", markersize=10, color=class_colour(0))
    ax.set_xlabel("splits")
    ax.locator_params(axis="x", integer=True)
    ax.set_ylabel("error relative to the root")
    ax.legend(frameon=False)
    return ax


def _named_importances(model: FittedTree) -> tuple[list[str], np.ndarray]:
    """Names of the columns as they were given, and their importances."""
    return [str(name) for name in model.schema_.inputs], np.asarray(model.feature_importances_)
