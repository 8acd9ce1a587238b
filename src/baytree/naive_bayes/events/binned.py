"""Discretized numeric columns (Fayyad and Irani 1993), and the base class of events that need all distinct values.

Cut points follow the minimum description length principle; each bin then has a smoothed probability per class.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from baytree import _core
from baytree._typing import PriorsLike
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Column
from baytree.data.schema.schema import Schema
from baytree.formula.builder import Effects, FormulaBuilder, matrix, numbers
from baytree.formula.expressions import Lookup
from baytree.naive_bayes.events.base import ColumnLikelihood, EventModel, check_numeric
from baytree.naive_bayes.events.categorical import check_log_table, draw_codes
from baytree.naive_bayes.events.estimation import ColumnGroup, Estimation, pseudo_counts, read_pseudo_counts, smoothed
from baytree.statistics.binning import mdl_cuts_of_weights
from baytree.statistics.counts import DistinctValues
from baytree.summary.naive_bayes import IntervalShares

MAX_DISTINCT = 1 << 22  # distinct values of a column; more are refused to bound memory


class DistinctEvent(EventModel[DistinctValues]):
    """Base class of events that need every distinct value: kernels, discretization and Weka's precision."""

    can_subtract = False
    statistics = (DistinctValues,)

    def observe(self, table: Table, group: ColumnGroup) -> DistinctValues:
        """Distinct values of the column and their weight in each class."""
        (column,) = group.columns
        weight = None if table.is_unweighted else table.weight
        return DistinctValues.of(np.ascontiguousarray(table.values[column]), table.label, weight, table.n_classes)

    def check_shape(self, statistic: DistinctValues, group: ColumnGroup, schema: Schema) -> None:
        """Check that there is a weight for each value and class."""
        statistic.check(len(schema.classes))


def value_weights(statistic: DistinctValues, group: ColumnGroup, schema: Schema) -> tuple[np.ndarray, np.ndarray]:
    """Distinct values and their weights [n_values, n_classes]; raises ValueError if there are more than `MAX_DISTINCT`."""
    if len(statistic.value) > MAX_DISTINCT:
        name = schema.columns[group.columns[0]].name
        raise ValueError(
            f"column {name!r} has {len(statistic.value)} distinct values, more than this event can store: at most "
            f"{MAX_DISTINCT}; round the column, or use numeric='gaussian'"
        )
    return statistic.value, statistic.weights()


class BinLikelihood(ColumnLikelihood, frozen=True, tag="bins"):
    """Probability of each bin of a numeric column in each class; bin k includes its upper edge, cuts[k]."""

    cuts: np.ndarray  # [n_bins - 1], ascending
    span: np.ndarray  # [2]: minimum and maximum in training
    log_probability: np.ndarray  # [n_bins, n_classes]

    def __post_init__(self) -> None:
        check_log_table(self.log_probability)
        if self.cuts.dtype != np.float64 or self.cuts.ndim != 1 or self.log_probability.shape[0] != len(self.cuts) + 1:
            raise ValueError("there must be one more bin than cut points")
        if not np.isfinite(self.cuts).all() or (np.diff(self.cuts) <= 0).any():
            raise ValueError("cut points must be finite and ascending")
        if self.span.dtype != np.float64 or self.span.shape != (2,) or not np.isfinite(self.span).all():
            raise ValueError("the span of a column must be its finite minimum and maximum")

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the column is numeric and the number of classes matches."""
        check_numeric(self.columns, self.log_probability.shape[1], schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Add the log-probability of each row's bin to its scores; missing values contribute nothing."""
        values = table.values[self.column]
        if np.isinf(values).any():
            raise ValueError("a value is infinite")
        code = np.searchsorted(self.cuts, values, side="left").astype(np.int32)
        code[np.isnan(values)] = -1
        _core.add_level_scores(code, self.log_probability, scores)

    def formula(self, steps: FormulaBuilder) -> Effects:
        """Log-probability of the bin, as an expression."""
        missing_scores, cuts = (0.0,) * self.log_probability.shape[1], numbers(self.cuts)
        return [(self.column, Lookup(self.column, matrix(self.log_probability), missing_scores, cuts))]

    def summary(self, schema: Schema) -> list[IntervalShares]:
        """Probability of each bin in each class."""
        column, probability = schema.columns[self.column], np.exp(self.log_probability).tolist()
        return [IntervalShares(column.name, tuple(self.cuts.tolist()), tuple(map(tuple, probability)), column.unit)]

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """Names of the bins and their probabilities [n_bins, n_classes]."""
        described = schema.columns[column]
        labels = [described.show(cut) for cut in self.cuts]
        if not labels:
            return [f"{described.name} = any"], np.exp(self.log_probability)
        inner = [f"{low} < {described.name} ≤ {high}" for low, high in pairwise(labels)]
        return [f"{described.name} ≤ {labels[0]}", *inner, f"{described.name} > {labels[-1]}"], np.exp(self.log_probability)

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """Random values, uniform within a random bin of the row's class."""
        edges = np.concatenate([self.span[:1], self.cuts, self.span[1:]])
        code = draw_codes(random, np.exp(self.log_probability), label)
        fraction = random.random(len(label))
        return [edges[code] * (1 - fraction) + edges[code + 1] * fraction]


class Discretized(DistinctEvent):
    """Bins by the minimum description length principle (Fayyad and Irani 1993), each with a smoothed probability."""

    name = "discretized"
    is_density = True
    likelihoods = (BinLikelihood,)

    def read_prior(self, given: PriorsLike, column: Column) -> PriorsLike:
        """Pseudo-counts of the bins."""
        return read_pseudo_counts(given, column.name)

    def estimate(
        self, statistic: DistinctValues, group: ColumnGroup, schema: Schema, estimation: Estimation
    ) -> BinLikelihood:
        """Cut points, and the smoothed proportion of each bin among the known values of a class."""
        value, weight = value_weights(statistic, group, schema)
        cuts = mdl_cuts_of_weights(value, weight)
        bins = np.searchsorted(cuts, value, side="left")
        counts = np.zeros((len(cuts) + 1, weight.shape[1]))
        np.add.at(counts, bins, weight)
        column = schema.columns[group.columns[0]]
        proportion = smoothed(counts, pseudo_counts(estimation, column.name, range(len(counts))))
        span = value[[0, -1]] if len(value) else np.zeros(2)
        with np.errstate(divide="ignore"):
            return BinLikelihood(group.columns[0], cuts, span, np.log(proportion))
