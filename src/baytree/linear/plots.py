"""Pictures of linear models (matplotlib): discriminant axes, coefficient paths, loss and cross-validation curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree.linear.logistic.cross_validation import Curve
from baytree.linear.logistic.path import Path
from baytree.table.table import Table

_NAMED = 12  # features that get a name beside their line


def plot_axes(coordinates: np.ndarray, table: Table, ax: Any = None) -> Any:
    """Rows on the first two discriminant axes, or heaps along the only one."""
    ax = ax or _axes()
    for k, name in enumerate(table.schema.classes):
        own = coordinates[table.label == k]
        if coordinates.shape[1] > 1:
            ax.scatter(own[:, 0], own[:, 1], s=12, alpha=0.7, label=str(name))
        elif coordinates.shape[1] == 1:
            ax.hist(own[:, 0], bins=30, alpha=0.6, label=str(name))
    ax.set_xlabel("discriminant axis 1")
    ax.set_ylabel("discriminant axis 2" if coordinates.shape[1] > 1 else "rows")
    ax.legend()
    return ax


def plot_path(path: Path, ax: Any = None) -> Any:
    """Coefficients per standard deviation against log10 λ, strongest penalty on the right."""
    ax = ax or _axes()
    x = np.log10(path.lambdas)
    last = np.abs(path.importance[-1]).max(axis=0)
    named = set(np.argsort(-last, kind="stable")[:_NAMED].tolist())
    for j, name in enumerate(path.names):
        for k in range(path.importance.shape[1]):
            (line,) = ax.plot(x, path.importance[:, k, j], linewidth=1)
            if j in named and k == int(np.abs(path.importance[-1, :, j]).argmax()):
                ax.annotate(name, (x[-1], path.importance[-1, k, j]), fontsize=8, color=line.get_color())
    ax.set_xlabel("log10 λ")
    ax.set_ylabel("coefficient per standard deviation")
    return ax


def plot_curve(curve: Curve, ax: Any = None) -> Any:
    """The held-out loss against log10 λ with its standard error, and both choices."""
    ax = ax or _axes()
    x = np.log10(curve.lambdas)
    ax.errorbar(x, curve.mean, yerr=curve.error, fmt="o-", markersize=4, linewidth=1, capsize=2)
    ax.axvline(x[curve.best], linestyle="--", linewidth=1, label="least loss")
    ax.axvline(x[curve.one_se], linestyle=":", linewidth=1, label="one standard error")
    ax.set_xlabel("log10 λ")
    ax.set_ylabel("held-out loss")
    ax.legend()
    return ax


def plot_loss(curves: list[tuple[float, ...]], ax: Any = None) -> Any:
    """The objective after each step of a solver; one line per class where each was fitted against the rest."""
    ax = ax or _axes()
    for curve in curves:
        ax.plot(np.arange(len(curve)), curve, linewidth=1.5)
    if max(len(curve) for curve in curves) > 1:
        ax.set_xscale("symlog")
    ax.set_xlabel("step")
    ax.set_ylabel("mean loss + penalty")
    return ax


def _axes() -> Any:
    import matplotlib.pyplot as plt

    return plt.subplots()[1]
