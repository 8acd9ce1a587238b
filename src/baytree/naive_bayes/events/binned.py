"""Numbers in bins: cuts by the minimum description length, and the probability of each bin in each class.

Events of one numeric column that need each of its distinct values.
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

MOST_DISTINCT = 1 << 22  # values of one column: more are refused, so that memory stays bounded


class DistinctEvent(EventModel[DistinctValues]):
    """What the events share that need every distinct value: kernels, cuts, and Weka's precision."""

    can_subtract = False
    statistics = (DistinctValues,)

    def observe(self, table: Table, group: ColumnGroup) -> DistinctValues:
        """The distinct values of the column in each class."""
        (column,) = group.columns
        weight = None if table.is_unweighted else table.weight
        return DistinctValues.of(np.ascontiguousarray(table.values[column]), table.label, weight, table.n_classes)

    def check_shape(self, seen: DistinctValues, group: ColumnGroup, schema: Schema) -> None:
        """A weight of each value in each class."""
        seen.check(len(schema.classes))


def counted(seen: DistinctValues, group: ColumnGroup, schema: Schema) -> tuple[np.ndarray, np.ndarray]:
    """The values and their weights, unless there are too many to keep."""
    if len(seen.value) > MOST_DISTINCT:
        name = schema.columns[group.columns[0]].name
        raise ValueError(
            f"column {name!r} has {len(seen.value)} distinct values, and this event keeps the weight of each, up to "
            f"{MOST_DISTINCT}; round the column, or use numeric='gaussian'"
        )
    return seen.value, seen.weights()


class BinLikelihood(ColumnLikelihood, frozen=True, tag="bins"):
    """The probability of each bin of a numeric column in each class; bin k ends with the value at cut k."""

    cuts: np.ndarray  # [n_bins - 1], ascending
    span: np.ndarray  # [2]: the least and the greatest value in training
    log_probability: np.ndarray  # [n_bins, n_classes]

    def __post_init__(self) -> None:
        check_log_table(self.log_probability)
        if self.cuts.dtype != np.float64 or self.cuts.ndim != 1 or self.log_probability.shape[0] != len(self.cuts) + 1:
            raise ValueError("bins are one more than their cuts")
        if not np.isfinite(self.cuts).all() or (np.diff(self.cuts) <= 0).any():
            raise ValueError("cuts are finite and ascend")
        if self.span.dtype != np.float64 or self.span.shape != (2,) or not np.isfinite(self.span).all():
            raise ValueError("the span of a column is its least and its greatest value")

    def check(self, schema: Schema) -> None:
        """Raises an error unless the column is numeric and the classes as many."""
        check_numeric(self.columns, self.log_probability.shape[1], schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Adds the log-probability of each row's bin to its scores; a missing value adds nothing."""
        values = table.values[self.column]
        if np.isinf(values).any():
            raise ValueError("a value is infinite")
        code = np.searchsorted(self.cuts, values, side="left").astype(np.int32)
        code[np.isnan(values)] = -1
        _core.add_level_scores(code, self.log_probability, scores)

    def formula(self, steps: FormulaBuilder) -> Effects:
        """The log-probability of the bin, as an expression."""
        nothing, cuts = (0.0,) * self.log_probability.shape[1], numbers(self.cuts)
        return [(self.column, Lookup(self.column, matrix(self.log_probability), nothing, cuts))]

    def summary(self, schema: Schema) -> list[IntervalShares]:
        """The probability of each bin in each class."""
        column, probability = schema.columns[self.column], np.exp(self.log_probability).tolist()
        return [IntervalShares(column.name, tuple(self.cuts.tolist()), tuple(map(tuple, probability)), column.unit)]

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """The names of the bins and their probabilities [n_bins, n_classes]."""
        known = schema.columns[column]
        shown = [known.show(cut) for cut in self.cuts]
        if not shown:
            return [f"{known.name} = any"], np.exp(self.log_probability)
        inner = [f"{low} < {known.name} ≤ {high}" for low, high in pairwise(shown)]
        return [f"{known.name} ≤ {shown[0]}", *inner, f"{known.name} > {shown[-1]}"], np.exp(self.log_probability)

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """A number for each row of a class, anywhere within its bin."""
        edges = np.concatenate([self.span[:1], self.cuts, self.span[1:]])
        code = draw_codes(random, np.exp(self.log_probability), label)
        share = random.random(len(label))
        return [edges[code] * (1 - share) + edges[code + 1] * share]


class Discretized(DistinctEvent):
    """Bins between cuts that pay for their description (Fayyad and Irani 1993); then as for levels."""

    name = "discretized"
    is_density = True
    likelihoods = (BinLikelihood,)

    def read_prior(self, given: PriorsLike, column: Column) -> PriorsLike:
        """Pseudo-counts of its bins."""
        return read_pseudo_counts(given, column.name)

    def estimate(self, seen: DistinctValues, group: ColumnGroup, schema: Schema, estimation: Estimation) -> BinLikelihood:
        """The cuts, and the smoothed share of each bin among the known values of a class."""
        value, weight = counted(seen, group, schema)
        cuts = mdl_cuts_of_weights(value, weight)
        bins = np.searchsorted(cuts, value, side="left")
        counts = np.zeros((len(cuts) + 1, weight.shape[1]))
        np.add.at(counts, bins, weight)
        column = schema.columns[group.columns[0]]
        share = smoothed(counts, pseudo_counts(estimation, column.name, range(len(counts))))
        span = value[[0, -1]] if len(value) else np.zeros(2)
        with np.errstate(divide="ignore"):
            return BinLikelihood(group.columns[0], cuts, span, np.log(share))
