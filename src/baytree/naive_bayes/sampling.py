"""Naive Bayes as a generative model: sampling rows, log-densities, and plots of class-conditional distributions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from baytree.base.model import softmax
from baytree.data.encoding.table import Table, is_missing
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema
from baytree.naive_bayes.events.registry import Likelihood
from baytree.naive_bayes.model import NaiveBayes
from baytree.rendering.plots.charts import literal
from baytree.rendering.plots.model_plots import plot_densities, plot_probabilities

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_DRAWN_VALUES = 1 << 27  # maximum number of values per call


def draw(model: NaiveBayes, schema: Schema, n: int, label: np.ndarray, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Rows drawn for the given class codes, as columns of values that a user would write; the target is last."""
    if n * max(len(schema), 1) > MAX_DRAWN_VALUES:
        raise ValueError(f"n={n}: {n} rows of {len(schema)} columns are too many for one call; draw fewer rows at a time")
    values: dict[int, np.ndarray] = {}
    for likelihood in model.likelihoods:
        values.update(zip(likelihood.columns, likelihood.draw(random, label, schema), strict=True))
    rows = {schema.columns[j].name: _with_unit(values[j], schema.columns[j].unit) for j in sorted(values)}
    classes = np.empty(len(schema.classes), object)
    classes[:] = schema.classes
    return {**rows, schema.target.name: classes[label]}


def draw_classes(probability: np.ndarray, n: int, random: np.random.Generator) -> np.ndarray:
    """Codes of n classes drawn from class probabilities."""
    return random.choice(len(probability), n, p=probability / probability.sum())


def log_densities(model: NaiveBayes, table: Table) -> np.ndarray:
    """log p(x) of each row, summed over classes: [n_rows]."""
    scores = model.scores(table)
    top = scores.max(axis=1)
    with np.errstate(invalid="ignore"):
        log_sum = np.log(np.exp(scores - np.where(np.isneginf(top), 0.0, top)[:, None]).sum(axis=1))
    return np.where(np.isneginf(top), -np.inf, top + log_sum)


def typicalities(model: NaiveBayes, table: Table, expected: Table) -> np.ndarray:
    """Proportion of expected rows that are at most as probable as each row, given its missing values: [n_rows]."""
    typicality = np.empty(len(table))
    missing = np.stack([is_missing(values) for values in table.values], axis=1)
    patterns, index = np.unique(missing, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        values = tuple(_all_missing(v) if is_absent else v for v, is_absent in zip(expected.values, pattern, strict=True))
        densities = np.sort(log_densities(model, msgspec.structs.replace(expected, values=values)))
        rows = np.flatnonzero(index.ravel() == k)
        typicality[rows] = (np.searchsorted(densities, log_densities(model, table.take(rows)), side="right") + 1) / (
            len(densities) + 1
        )
    return typicality


def _all_missing(values: np.ndarray) -> np.ndarray:
    """Array of the same length and dtype with all values missing."""
    return np.full_like(values, np.nan if np.asarray(values).dtype.kind == "f" else -1)


def posterior_of(model: NaiveBayes, table: Table) -> np.ndarray:
    """Class probabilities given the known columns of a single row: [n_classes]."""
    scores = model.scores(table)[0]
    if np.isneginf(scores).all():
        raise ValueError("the given values are impossible in every class, so no rows can be drawn")
    return softmax(scores[None])[0]


def split_conditions(given: Mapping[str, Any] | None, schema: Schema) -> tuple[Any, dict[str, Any]]:
    """Given class, or None, and given values of columns; raises ValueError for unknown names or classes."""
    columns = dict(given or {})
    for name in columns:
        if name != schema.target.name and name not in schema.names:
            raise ValueError(f"given={name!r}: no such column; the columns are {', '.join(map(repr, schema.names))}")
    label = columns.pop(schema.target.name, None)
    if label is not None and label not in schema.classes:
        raise ValueError(f"given[{schema.target.name!r}]={label!r}; the classes are {list(schema.classes)}")
    return label, columns


def _with_unit(values: np.ndarray, unit: str | None) -> np.ndarray:
    return values if unit is None else np.round(values).astype(np.int64).astype(f"datetime64[{unit}]")


CURVE_POINTS = 256  # points of a density curve

MAX_SHOWN_LEVELS = 20  # levels or words in a plot


def plot_column(model: NaiveBayes, schema: Schema, column: int, ax: Axes | None = None) -> Axes:
    """Plot a density curve per class for a numeric column, bars for any other; return the axes."""
    likelihood = next(part for part in model.likelihoods if column in part.columns)
    names, rows = likelihood.distribution(schema, column)
    if names[:1] == ["mean"] and schema.columns[column].kind is Kind.NUMERIC:
        values = _grid(rows)
        ax = plot_densities(values, _density(likelihood, schema, column, values), schema.classes, ax)
    else:
        ax = plot_probabilities(names[:MAX_SHOWN_LEVELS], rows[:MAX_SHOWN_LEVELS], schema.classes, ax)
    ax.set_xlabel(literal(schema.columns[column].name))
    ax.legend(title=literal(schema.target.name))
    return ax


def _grid(rows: np.ndarray) -> np.ndarray:
    """Grid from four standard deviations below the smallest mean to four above the largest; integers for counts."""
    is_count = len(rows) == 1  # a Poisson distribution has the mean as its only parameter
    mean, scale = rows[0], np.sqrt(rows[0] + 1) if is_count else rows[1]
    values = np.linspace((mean - 4 * scale).min(), (mean + 4 * scale).max(), CURVE_POINTS)
    return np.unique(np.maximum(np.round(values), 0)) if is_count else values


def _density(likelihood: Likelihood, schema: Schema, column: int, values: np.ndarray) -> np.ndarray:
    """Density of each class at each value: [n_values, n_classes]."""
    known = tuple(values if j == column else np.full(len(values), np.nan) for j in range(len(schema)))
    effects = likelihood.effects(Table(schema, known, np.ones(len(values))))
    return np.exp(effects[likelihood.columns.index(column)])
