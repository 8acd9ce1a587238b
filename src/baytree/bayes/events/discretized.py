"""Numbers in bins: cuts by the minimum description length, and the probability of each bin in each class."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from baytree import _core
from baytree.bayes.estimation import Estimation, Group, pseudo_counts, read_pseudo_counts, smoothed
from baytree.bayes.events.categorical import check_log_table, draw_codes
from baytree.bayes.events.distinct_event import DistinctEvent, counted
from baytree.bayes.events.likelihood import ColumnLikelihood, check_numeric
from baytree.formula.expressions import Lookup
from baytree.formula.steps import Effects, Steps, matrix, numbers
from baytree.given import PriorsLike
from baytree.statistics.discretize import mdl_cuts_of_weights
from baytree.statistics.distinct import Distinct
from baytree.summary.bayes import IntervalShares
from baytree.table.schema import Column, Schema
from baytree.table.table import Table


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

    def formula(self, steps: Steps) -> Effects:
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

    def derive(self, seen: Distinct, group: Group, schema: Schema, estimation: Estimation) -> BinLikelihood:
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
