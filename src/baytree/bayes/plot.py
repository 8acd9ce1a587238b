"""Class-conditional distributions as pictures; matplotlib is imported only here."""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree.bayes.model import NaiveBayes
from baytree.table.schema import Kind, Schema
from baytree.table.table import Table

POINTS = 256  # of a density curve
SHOWN = 20  # levels or words


def plot_column(model: NaiveBayes, schema: Schema, column: int, ax: Any = None) -> Any:
    """A density curve for each class of a numeric column, bars for all others; gives the axes."""
    import matplotlib.pyplot as plt

    ax = plt.subplots()[1] if ax is None else ax
    likelihood = next(part for part in model.likelihoods if column in part.columns)
    names, rows = likelihood.distribution(schema, column)
    if names[:1] == ["mean"] and schema.columns[column].kind is Kind.NUMERIC:
        _curves(ax, likelihood, schema, column, rows)
    else:
        _bars(ax, names[:SHOWN], rows[:SHOWN], schema)
    ax.set_xlabel(schema.columns[column].name)
    ax.legend(title=schema.target.name)
    return ax


def _curves(ax: Any, likelihood: Any, schema: Schema, column: int, rows: np.ndarray) -> None:
    mean, scale = rows[0], rows[1] if len(rows) > 1 else np.sqrt(rows[0] + 1)
    place = np.linspace((mean - 4 * scale).min(), (mean + 4 * scale).max(), POINTS)
    if getattr(likelihood, "rule", None) == "poisson":
        place = np.unique(np.maximum(np.round(place), 0))
    values = tuple(place if j == column else np.full(len(place), np.nan) for j in range(len(schema)))
    effect = likelihood.effects(Table(schema, values, np.ones(len(place))))[likelihood.columns.index(column)]
    for k, label in enumerate(schema.classes):
        ax.plot(place, np.exp(effect[:, k]), label=str(label))
    ax.set_ylabel("density")


def _bars(ax: Any, names: list[str], rows: np.ndarray, schema: Schema) -> None:
    width = 0.8 / len(schema.classes)
    for k, label in enumerate(schema.classes):
        ax.bar(np.arange(len(names)) + (k - (len(schema.classes) - 1) / 2) * width, rows[:, k], width, label=str(label))
    ax.set_xticks(range(len(names)), names, rotation=30, ha="right")
    ax.set_ylabel("probability")
