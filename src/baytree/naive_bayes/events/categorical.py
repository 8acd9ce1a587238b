"""Categorical event: a probability for each level of a nominal or ordinal column in each class."""

from __future__ import annotations

import numpy as np

from baytree import _core
from baytree._typing import PriorsLike
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.formula.builder import Effects, FormulaBuilder, matrix
from baytree.formula.expressions import Lookup
from baytree.naive_bayes.events.base import ColumnLikelihood, EventModel, Ready
from baytree.naive_bayes.events.estimation import (
    ColumnGroup,
    Estimation,
    default_pseudo_count,
    pseudo_counts,
    read_pseudo_counts,
    smoothed,
)
from baytree.naive_bayes.events.normal import log_proportion_moments
from baytree.naive_bayes.events.row_updates import LevelRowUpdate
from baytree.statistics.counts import Counts
from baytree.statistics.exact_sum import bounded
from baytree.summary.naive_bayes import LevelShares
from baytree.uncertainty.intervals import JEFFREYS


class LevelLikelihood(ColumnLikelihood, frozen=True, tag="levels"):
    """Probability of each level of a nominal or ordinal column in each class."""

    log_probability: np.ndarray  # [n_levels, n_classes]

    def __post_init__(self) -> None:
        check_log_table(self.log_probability)

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the column has these levels and the target these classes."""
        column = schema.columns[self.column]
        expected = (len(column.levels), len(schema.classes))
        if column.kind in (Kind.NUMERIC, Kind.TEXT) or self.log_probability.shape != expected:
            raise ValueError(f"the likelihood of column {column.name!r} does not fit its levels")

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Add the log-probability of each row's level to its scores; missing values contribute nothing."""
        _core.add_level_scores(np.ascontiguousarray(table.values[self.column]), self.log_probability, scores)

    def formula(self, steps: FormulaBuilder) -> Effects:
        """Log-probability of the level, as an expression."""
        missing_scores = (0.0,) * self.log_probability.shape[1]
        return [(self.column, Lookup(self.column, matrix(self.log_probability), missing_scores))]

    def summary(self, schema: Schema) -> list[LevelShares]:
        """Probability of each level in each class."""
        names, probability = self.distribution(schema, self.column)
        return [LevelShares(schema.columns[self.column].name, tuple(names), tuple(map(tuple, probability.tolist())))]

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """Names of the levels and their probabilities [n_levels, n_classes]."""
        described = schema.columns[column]
        return [described.show(code) for code in range(len(described.levels))], np.exp(self.log_probability)

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """Random level for each row, given its class."""
        if not schema.columns[self.column].levels:  # all values were missing
            return [np.full(len(label), None, object)]
        levels = np.empty(len(schema.columns[self.column].levels), object)
        levels[:] = schema.columns[self.column].levels
        return [levels[draw_codes(random, np.exp(self.log_probability), label)]]


class Categorical(EventModel[Counts]):
    """Probability of each level in each class, with a Dirichlet prior (symmetric unless given) if `estimate` is 'bayes'."""

    name = "categorical"
    kinds = (Kind.NOMINAL, Kind.ORDINAL)
    statistics = (Counts,)
    likelihoods = (LevelLikelihood,)

    def read_prior(self, given: PriorsLike, column: Column) -> PriorsLike:
        """Pseudo-counts of the levels."""
        return read_pseudo_counts(given, column.name)

    def observe(self, table: Table, group: ColumnGroup) -> Counts:
        """Weight of each level in each class."""
        (column,) = group.columns
        n_levels = len(table.schema.columns[column].levels)
        weight = None if table.is_unweighted else table.weight
        return Counts.of(table.values[column], table.label, weight, n_levels, table.n_classes)

    def check_shape(self, statistic: Counts, group: ColumnGroup, schema: Schema) -> None:
        """Check that there is a cell for each level, for missing values, and for each class."""
        statistic.check(len(schema.columns[group.columns[0]].levels), len(schema.classes))

    def prior_text(self, estimation: Estimation) -> str | None:
        """Description of the pseudo-count of each level."""
        added = default_pseudo_count(estimation)
        return f"each level counts {added:g} more than it occurs" if added else None

    def estimate(self, statistic: Counts, group: ColumnGroup, schema: Schema, estimation: Estimation) -> LevelLikelihood:
        """Smoothed proportion of each level among the known values of a class."""
        column = schema.columns[group.columns[0]]
        counts, exponent = bounded(statistic.cells)
        proportion = smoothed(counts[1:], pseudo_counts(estimation, column.name, column.levels, exponent))
        return LevelLikelihood(group.columns[0], self.logarithm(proportion))

    def add_leave_one_out_scores(
        self, statistic: Counts, group: ColumnGroup, table: Table, estimation: Estimation, scores: np.ndarray
    ) -> None:
        """Add leave-one-out scores by table look-up: only the probabilities of the row's own class change."""
        if not table.is_unweighted:
            return super().add_leave_one_out_scores(statistic, group, table, estimation, scores)
        ordinary = self.estimate(statistic, group, table.schema, estimation).log_probability
        left_out = self._left_out(statistic, group, table.schema, estimation)
        n_levels, n_classes = ordinary.shape
        effects = np.zeros((n_classes, n_levels + 1, n_classes))  # missing first, adds nothing
        effects[:, 1:] = ordinary
        for c in range(n_classes):
            effects[c, 1:, c] = left_out[:, c]
        index = table.label * np.int32(n_levels + 1) + table.values[group.columns[0]]
        return _core.add_level_scores(index + np.int32(1), effects.reshape(-1, n_classes), scores)

    def add_fractional_leave_one_out_scores(
        self, statistic: Counts, group: ColumnGroup, table: Table, estimation: Estimation, scores: np.ndarray
    ) -> None:
        """As `add_leave_one_out_scores`, with each row's weight subtracted from the counts of its own class."""
        if table.is_unweighted:
            return self.add_leave_one_out_scores(statistic, group, table, estimation, scores)
        column, code = table.schema.columns[group.columns[0]], np.asarray(table.values[group.columns[0]])
        rows = np.flatnonzero(code >= 0)
        code, label, weight = code[rows], table.label[rows], table.weight[rows]
        counts, added = statistic.known(), pseudo_counts(estimation, column.name, column.levels)
        effects = self.estimate(statistic, group, table.schema, estimation).log_probability[code]
        proportion = (np.maximum(counts[code, label] - weight, 0.0) + added[code]) / (
            np.maximum(counts.sum(axis=0)[label] - weight, 0.0) + added.sum()
        )
        effects[np.arange(len(rows)), label] = self.logarithm(proportion)
        scores[rows] += effects
        return None

    def row_update(
        self, statistic: Counts, group: ColumnGroup, changes: Table, sign: int, estimation: Estimation
    ) -> LevelRowUpdate | None:
        """Level probabilities after each change: recomputed for the class of the changed row, unchanged for the others."""
        column = changes.schema.columns[group.columns[0]]
        code, label, index = np.asarray(changes.values[group.columns[0]]), changes.label, np.arange(len(changes))
        log_probability = self.estimate(statistic, group, changes.schema, estimation).log_probability
        counts, is_known = statistic.known().T[label], code >= 0
        counts[index[is_known], code[is_known]] += sign * changes.weight[is_known]
        counts = np.where(counts <= 1e-12 * np.maximum(counts.max(axis=1, keepdims=True), 1e-300), 0.0, counts)
        proportion = smoothed(counts.T, pseudo_counts(estimation, column.name, column.levels))
        return LevelRowUpdate(
            log_probability, np.ascontiguousarray(self.logarithm(proportion).T), label, np.zeros(len(changes), bool)
        )

    def update_inputs(self, table: Table, group: ColumnGroup) -> Ready:
        """Codes of the levels."""
        return [np.ascontiguousarray(table.values[group.columns[0]])]

    def _left_out(self, statistic: Counts, group: ColumnGroup, schema: Schema, estimation: Estimation) -> np.ndarray:
        """Log-probability of each level in each class after removing a row of that level and class, of weight 1."""
        column = schema.columns[group.columns[0]]
        counts = statistic.known()
        added = pseudo_counts(estimation, column.name, column.levels)
        total = counts.sum(axis=0) - 1 + added.sum()
        with np.errstate(invalid="ignore", divide="ignore"):
            proportion = np.where(total > 0, (counts - 1 + added[:, None]) / total, 1 / max(len(counts), 1))
        return self.logarithm(np.where(counts >= 1, proportion, 0.0))  # otherwise there is no such row to remove

    def add_posterior(
        self,
        statistic: Counts,
        group: ColumnGroup,
        table: Table,
        estimation: Estimation,
        mean: np.ndarray,
        variance: np.ndarray,
    ) -> None:
        """Add mean and variance of the log-probability of the level under a Dirichlet posterior."""
        code = np.ascontiguousarray(table.values[group.columns[0]])
        for added, moments in zip((mean, variance), log_proportion_moments(statistic.known() + JEFFREYS), strict=True):
            _core.add_level_scores(code, moments, added)

    def logarithm(self, proportion: np.ndarray) -> np.ndarray:
        """Logarithm of proportions; a level that never occurs in a class is impossible in it (−inf)."""
        with np.errstate(divide="ignore"):
            return np.log(proportion)


def check_log_table(log_probability: np.ndarray) -> None:
    """Raise ValueError unless this is a float64 table of log-probabilities [n_levels, n_classes]."""
    if log_probability.dtype != np.float64 or log_probability.ndim != 2:
        raise ValueError("a likelihood of levels must be a float64 table of levels and classes")
    if np.isnan(log_probability).any() or (log_probability > 1e-9).any():
        raise ValueError("log-probabilities must be at most 0")


def draw_codes(random: np.random.Generator, probability: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Random code for each row, from its class's column of a table of probabilities [n_levels, n_classes]."""
    total = np.cumsum(probability, axis=0)
    chance = random.random(len(label)) * total[-1, label]
    code = np.zeros(len(label), np.int64)
    for c in np.unique(label):
        code[label == c] = np.searchsorted(total[:, c], chance[label == c], side="right")
    return np.minimum(code, len(probability) - 1)
