"""Pictures of linear models: discriminant axes, coefficient paths, loss and cross-validation curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from baytree.show.pictures.charts import axes, literal
from baytree.summary.linear import Slope

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMED = 12  # lines whose names are written large
_SHOWN = 30  # features of a picture of coefficients


def plot_axes(coordinates: np.ndarray, label: np.ndarray, classes: Sequence[object], ax: Axes | None = None) -> Axes:
    """Rows on the first two discriminant axes, or heaps along the only one. coordinates [n_rows, n_axes]"""
    ax = axes(ax, (8.0, 4.5))
    for k, name in enumerate(classes):
        own = coordinates[label == k]
        if coordinates.shape[1] > 1:
            ax.scatter(own[:, 0], own[:, 1], s=12, alpha=0.7, label=literal(name))
        elif coordinates.shape[1] == 1:
            ax.hist(own[:, 0], bins=30, alpha=0.6, label=literal(name))
    ax.set_xlabel("discriminant axis 1")
    ax.set_ylabel("discriminant axis 2" if coordinates.shape[1] > 1 else "rows")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)  # beside the points, not on them
    return ax


def ring(coordinates: np.ndarray, which: np.ndarray, label: str, ax: Axes) -> Axes:
    """Rings around some of the rows of a plot of axes. which bool [n_rows]"""
    if coordinates.shape[1] > 1 and which.any():
        own = coordinates[which]
        ax.scatter(own[:, 0], own[:, 1], s=60, facecolors="none", edgecolors="0.2", linewidths=1, label=label)
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return ax


def plot_path(lambdas: np.ndarray, importance: np.ndarray, names: Sequence[str], ax: Axes | None = None) -> Axes:
    """Coefficients per standard deviation against log10 λ, strongest penalty on the right. importance [n, k, p]"""
    ax = axes(ax)
    x = np.log10(lambdas)
    is_many = importance.shape[1] * importance.shape[2] > _NAMED
    for j, name in enumerate(names):
        for k in range(importance.shape[1]):
            (line,) = ax.plot(x, importance[:, k, j], linewidth=1, color=f"C{j % 10}")
            if importance[-1, k, j]:
                end, style = (x[-1], importance[-1, k, j]), {"va": "center", "fontsize": 5 if is_many else 8}
                ax.annotate(literal(name), end, (4, 0), textcoords="offset points", color=line.get_color(), **style)
    ax.margins(x=0.18)
    ax.set_xlabel("log10 λ")
    ax.set_ylabel("coefficient per standard deviation")
    return ax


def plot_slopes(slopes: Sequence[Slope], ax: Axes | None = None) -> Axes:
    """What a standard deviation of each feature changes, the largest on top, with intervals where there are some."""
    ax = axes(ax)
    shown = sorted((slope for slope in slopes if slope.column and slope.estimate), key=lambda slope: abs(slope.importance))
    for at, slope in enumerate(shown := shown[-_SHOWN:]):
        ax.plot(slope.importance, at, "o", color="C0")
        if slope.interval is not None:
            per_sd = slope.importance / slope.estimate
            ax.plot([end * per_sd for end in slope.interval], [at, at], "-", color="C0", linewidth=1)
    ax.axvline(0, linestyle=":", linewidth=1, color="0.5")
    ax.set_yticks(range(len(shown)), [literal(slope.feature) for slope in shown])
    ax.set_xlabel("change per standard deviation")
    return ax


def plot_curve(lambdas: np.ndarray, mean: np.ndarray, error: np.ndarray, choices: tuple[int, int], ax: Axes | None) -> Axes:
    """The held-out loss against log10 λ with its standard error, and both choices: least loss, one standard error."""
    ax = axes(ax)
    x = np.log10(lambdas)
    ax.errorbar(x, mean, yerr=error, fmt="o-", markersize=4, linewidth=1, capsize=2)
    ax.axvline(x[choices[0]], linestyle="--", linewidth=1, label="least loss")
    ax.axvline(x[choices[1]], linestyle=":", linewidth=1, label="one standard error")
    ax.set_xlabel("log10 λ")
    ax.set_ylabel("held-out loss")
    ax.legend()
    return ax


def plot_loss(curves: Sequence[Sequence[float]], ax: Axes | None = None) -> Axes:
    """The objective after each step of a solver; one line per class where each was fitted against the rest."""
    ax = axes(ax)
    for curve in curves:
        ax.plot(np.arange(len(curve)), curve, linewidth=1.5)
    if max(len(curve) for curve in curves) > 1:
        ax.set_xscale("symlog")
    ax.set_xlabel("step")
    ax.set_ylabel("mean loss + penalty")
    return ax
