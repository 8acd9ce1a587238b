"""What is drawn of a class-conditional distribution: a density at many places, or the probability of each name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from baytree.bayes.events import Likelihood
from baytree.bayes.model import NaiveBayes
from baytree.show.pictures.charts import literal
from baytree.show.pictures.likelihood_plots import plot_densities, plot_probabilities
from baytree.table.schema import Kind, Schema
from baytree.table.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 256  # of a density curve
SHOWN = 20  # levels or words


def plot_column(model: NaiveBayes, schema: Schema, column: int, ax: Axes | None = None) -> Axes:
    """A density curve for each class of a numeric column, bars for all others; gives the axes."""
    likelihood = next(part for part in model.likelihoods if column in part.columns)
    names, rows = likelihood.distribution(schema, column)
    if names[:1] == ["mean"] and schema.columns[column].kind is Kind.NUMERIC:
        values = _places(rows)
        ax = plot_densities(values, _density(likelihood, schema, column, values), schema.classes, ax)
    else:
        ax = plot_probabilities(names[:SHOWN], rows[:SHOWN], schema.classes, ax)
    ax.set_xlabel(literal(schema.columns[column].name))
    ax.legend(title=literal(schema.target.name))
    return ax


def _places(rows: np.ndarray) -> np.ndarray:
    """Values from four deviations below the least mean to four above the greatest; of counts, whole numbers."""
    is_count = len(rows) == 1  # a Poisson distribution is its mean
    mean, scale = rows[0], np.sqrt(rows[0] + 1) if is_count else rows[1]
    values = np.linspace((mean - 4 * scale).min(), (mean + 4 * scale).max(), POINTS)
    return np.unique(np.maximum(np.round(values), 0)) if is_count else values


def _density(likelihood: Likelihood, schema: Schema, column: int, values: np.ndarray) -> np.ndarray:
    """The density of each class at each value: [n_values, n_classes]."""
    known = tuple(values if j == column else np.full(len(values), np.nan) for j in range(len(schema)))
    effects = likelihood.effects(Table(schema, known, np.ones(len(values))))
    return np.exp(effects[likelihood.columns.index(column)])
