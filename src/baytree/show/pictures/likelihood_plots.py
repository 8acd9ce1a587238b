"""Pictures of what a column looks like in each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from baytree.show.pictures.charts import axes, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_densities(values: np.ndarray, density: np.ndarray, classes: Sequence[object], ax: Axes | None = None) -> Axes:
    """A curve for each class. density [n_values, n_classes]"""
    ax = axes(ax)
    for k, label in enumerate(classes):
        ax.plot(values, density[:, k], label=literal(label))
    ax.set_ylabel("density")
    return ax


def plot_probabilities(
    names: Sequence[str], probability: np.ndarray, classes: Sequence[object], ax: Axes | None = None
) -> Axes:
    """For each name a bar for each class, side by side. probability [n_names, n_classes]"""
    ax = axes(ax)
    width, middle = 0.8 / len(classes), (len(classes) - 1) / 2
    for k, label in enumerate(classes):
        ax.bar(np.arange(len(names)) + (k - middle) * width, probability[:, k], width, label=literal(label))
    ax.set_xticks(range(len(names)), [literal(name) for name in names], rotation=30, ha="right")
    ax.set_ylabel("probability")
    return ax
