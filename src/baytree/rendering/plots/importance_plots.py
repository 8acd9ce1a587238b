"""Pictures that users ask for by name: importances, impurities, and what a model says over a plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from baytree.data.schema.schema import Schema
from baytree.rendering.complexity_table import ComplexityTable, least_and_1se
from baytree.rendering.plots.charts import axes, literal
from baytree.rendering.tree_layout import colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class FittedTree(Protocol):
    """What `plot_importances` reads of an estimator."""

    schema_: Schema

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of each column: [n_columns]."""
        ...


def plot_impurities(*, ax: Axes | None = None) -> Axes:
    """Draw the three impurities of two classes against the share of one of them: error, Gini and entropy.

    Parameters
    ----------
    ax : matplotlib.axes.Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes with the picture.

    Examples
    --------
    >>> import baytree as bt
    >>> bt.plot_impurities().get_ylabel()
    'impurity'
    """
    ax = axes(ax, (6.0, 4.0))
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


def plot_importances(model: FittedTree, *, ax: Axes | None = None, most: int = 20) -> Axes:
    """Draw the columns that matter most to a tree, as bars.

    Parameters
    ----------
    model : fitted tree estimator
        Anything with `feature_importances_` and `schema_`.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; a new figure by default.
    most : int, default=20
        The number of columns to draw; those that the tree does not use are left out.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes with the picture.

    Examples
    --------
    >>> import baytree as bt
    >>> model = bt.CARTClassifier().fit(bt.datasets.load("iris"), "species")
    >>> len(bt.plot_importances(model).patches)
    4
    """
    names, share = _named_importances(model)
    order = [j for j in np.argsort(-share, kind="stable")[:most] if share[j] > 0][::-1]
    ax = axes(ax, (6.0, 0.6 + 0.32 * len(order)))
    ax.barh([literal(names[j]) for j in order], share[order], color=colour(0))
    ax.set_xlabel("share of what the splits gain, surrogates included")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def complexity_plot(table: ComplexityTable, ax: Axes | None = None) -> Axes:
    """Errors against the number of splits: on the training rows and, with their deviation, of cross-validation."""
    ax = axes(ax)
    ax.plot(table.splits, table.risk, marker="o", markersize=3, color=colour(7), label="on the training rows")
    found = least_and_1se(table)
    if found is not None and table.error is not None and table.deviation is not None:
        style = {"marker": "o", "capsize": 3, "color": colour(0), "label": "cross-validated"}
        ax.errorbar(table.splits, table.error, yerr=table.deviation, **style)
        bound = table.error[found[0]] + table.deviation[found[0]]
        ax.axhline(bound, color=colour(7), linewidth=1, linestyle="--", label="least + one standard error")
        ax.plot(table.splits[found[1]], table.error[found[1]], marker="o", markersize=10, color=colour(0))
    ax.set_xlabel("splits")
    ax.locator_params(axis="x", integer=True)
    ax.set_ylabel("error, as a share of the root's")
    ax.legend(frameon=False)
    return ax


def _named_importances(model: FittedTree) -> tuple[list[str], np.ndarray]:
    """The importances of the columns as they were given, and their names."""
    return [str(name) for name in model.schema_.inputs], np.asarray(model.feature_importances_)
