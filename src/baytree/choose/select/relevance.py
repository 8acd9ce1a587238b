"""What each column tells about the target, by a filter measure.

Filters are functions of counts. A numeric or ordinal column is first cut (`cuts`): at its one best place ("best"), where
Fayyad and Irani's criterion accepts a cut ("mdl"), or into ten equal shares ("quantiles"); "auto" takes the best place for
measures in bits, and equal shares for chi² and mRMR: a cut that was chosen to be the best has no honest p-value. Ordinal
columns keep their levels for chi². A text column is worth as much as its best word, present or absent; its p-value is
multiplied by the number of words that were tried. Only rows where the column is known count, and measures in bits are
then multiplied by the share of those rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from baytree import settings
from baytree.choose.select import measures
from baytree.choose.select.column_counts import ColumnCounts, WordsByClass, only
from baytree.choose.select.cuts import CUTS, Coded, cut_up, numbers_of
from baytree.choose.select.ranking import Rank, Ranking, ordered
from baytree.choose.select.redundancy import mrmr
from baytree.engine import threads
from baytree.engine.elsewhere import SPACE, Elsewhere, refuse_more_than_fits
from baytree.statistics.counts import Counts
from baytree.table.schema import Column, Kind, Schema
from baytree.table.table import Table, Tokens

IN_BITS: dict[str, Callable[[np.ndarray, float], float]] = {
    "information_gain": measures.information_gain,
    "gain_ratio": measures.gain_ratio,
    "symmetric_uncertainty": measures.symmetric_uncertainty,
}
COUNTED = (*IN_BITS, "chi2", "correlation", "spearman", "anova")  # of one column at a time
MEASURES = (*COUNTED, "mrmr", "importance", "lasso")


def rank(table: Table, by: str, cuts: str = "auto", words: bool = False, n_jobs: int | None = None) -> Ranking:
    """The columns of a table by a filter measure: any of `MEASURES` but the embedded ones."""
    refuse_what_is_not_counted(by, cuts, table.schema)
    if by == "mrmr":
        return Ranking(by, table.schema.target.name, mrmr(table, cuts))
    measure = Measure.of(by, cuts, words)
    return measure.ranking(table.schema, lambda j: measure.of_table(table, j), n_jobs)


def rank_where_rows_are(rows: Elsewhere, by: str, cuts: str = "auto", words: bool = False) -> Ranking:
    """The same of rows that stay where they are: one round counts what each column holds by class.

    A column of more than 65,536 different numbers is brought here with the labels, one at a time.
    """
    refuse_what_is_not_counted(by, cuts, rows.schema)
    measure = Measure.of(by, cuts, words)
    seen = rows.total(partial(ColumnCounts.of, range(len(rows.schema)))).columns

    def ranks(j: int) -> list[Rank]:
        column, counted = rows.schema.columns[j], seen[j]
        if isinstance(counted, WordsByClass):
            return measure.of_words(column, counted)
        if counted.is_complete:
            return measure.of_table(counted.stand_ins(column, rows.schema.target), 0)
        refuse_more_than_fits(rows.n_rows * BYTES_OF_A_CELL * SPACE, rows.source)
        return measure.of_table(rows.gather(partial(only, j)), 0)

    return measure.ranking(rows.schema, ranks, 1)


BYTES_OF_A_CELL = 20  # of a column with the labels and weights of its rows


def refuse_what_is_not_counted(by: str, cuts: str, schema: Schema) -> None:
    """Raises an error where a measure, or a way to cut, is none, or cannot be counted."""
    settings.one_of("by", by, MEASURES)
    settings.one_of("cuts", cuts, ("auto", *CUTS))
    if not schema.classes and by in ("mrmr", "chi2", *IN_BITS):
        raise ValueError(
            f"by={by!r} counts classes, but the target {schema.target.name!r} is a number; "
            "give by='correlation', 'anova' or 'importance'"
        )


@dataclass(frozen=True)
class Measure:
    """A filter measure, which looks at one column after the other."""

    by: str
    cut: str
    words: bool

    @classmethod
    def of(cls, by: str, cuts: str, words: bool) -> Measure:
        """The measure of this name; "auto" cuts as suits it."""
        return cls(by, cuts if cuts != "auto" else "quantiles" if by == "chi2" else "best", words)

    def ranking(self, schema: Schema, ranks: Callable[[int], list[Rank]], n_jobs: int | None) -> Ranking:
        """The ranks of all columns in order."""
        found = [rank for each in threads.in_order(ranks, range(len(schema)), n_jobs) for rank in each]
        found += [Rank(name, "left out", np.nan, "only identifies rows") for name in schema.left_out]
        return ordered(self.by, schema.target.name, found)

    def of_table(self, table: Table, j: int) -> list[Rank]:
        """The rank of a column; of each of its words, where they are asked for. Weights are numbers of rows."""
        column, values = table.schema.columns[j], table.values[j]
        if isinstance(values, Tokens):
            return self.of_words(column, WordsByClass.of(values, table.label, len(column.levels), table.n_classes))
        numbers = numbers_of(column, values)
        known = ~np.isnan(numbers)
        if not known.any():
            return [Rank(column.name, column.kind.value, np.nan, "no value is known", 0.0)]
        weight = None if table.is_unweighted else table.weight
        share = float(known.mean() if weight is None else weight[known].sum() / weight.sum())
        if self.by in IN_BITS or self.by == "chi2":
            return [self._counted(table, j, numbers, share)]
        n = np.ones(len(table), np.int64) if weight is None else weight.astype(np.int64)
        each, label = (
            given[known] if weight is None else np.repeat(given[known], n[known]) for given in (numbers, table.label)
        )
        test = self._tested(column, each, label, table.n_classes)
        return [Rank(column.name, column.kind.value, test.statistic, test.name, share, test.p)]

    def _counted(self, table: Table, j: int, numbers: np.ndarray, known: float) -> Rank:
        column, weight = table.schema.columns[j], None if table.is_unweighted else table.weight
        is_cut = column.kind is Kind.NUMERIC or (column.kind is Kind.ORDINAL and self.by != "chi2")
        coded = cut_up(column, numbers, table, self.cut) if is_cut else Coded(table.values[j], len(column.levels), "")
        counts = Counts.of(coded.codes, table.label, weight, coded.n_levels, table.n_classes).known()
        how = coded.how or f"{np.count_nonzero(counts.sum(axis=1))} levels"
        return self._rank_of(column.name, column.kind.value, counts, how, known)

    def _rank_of(self, name: str, kind: str, counts: np.ndarray, how: str, known: float) -> Rank:
        if self.by == "chi2":
            test = measures.chi_square(counts)
            return Rank(name, kind, test.statistic, how, known, test.p)
        missing = counts.sum() * (1 - known) / known if known else 0.0
        return Rank(name, kind, IN_BITS[self.by](counts, missing), how, known)

    def _tested(self, column: Column, numbers: np.ndarray, label: np.ndarray, n_classes: int) -> measures.Test:
        """Correlation or F by the kinds of the column and the target."""
        n_levels = len(column.levels)
        if self.by == "anova":
            if column.kind is Kind.NOMINAL:
                refused = measures.Test(np.nan, np.nan, "no number: no F")
                return refused if n_classes else measures.anova(label, numbers.astype(np.intp), n_levels)
            return measures.anova(numbers, label, n_classes) if n_classes else measures.regression_f(numbers, label)
        if column.kind is Kind.NOMINAL:
            codes = numbers.astype(np.int32)
            if n_classes:
                return measures.cramers_v(Counts.of(codes, label, None, n_levels, n_classes).known())
            return (measures.kruskal_wallis if self.by == "spearman" else measures.correlation_ratio)(label, codes, n_levels)
        is_by_ranks = column.kind is Kind.ORDINAL or self.by == "spearman"
        if n_classes > 2:
            return (measures.kruskal_wallis if is_by_ranks else measures.correlation_ratio)(numbers, label, n_classes)
        if is_by_ranks:
            return measures.spearman(numbers, label.astype(np.float64))
        return measures.pearson(numbers, label.astype(np.float64), "point-biserial" if n_classes else "Pearson")

    def of_words(self, column: Column, counted: WordsByClass) -> list[Rank]:
        """The rank of a text column by its best word, or of each word."""
        known = counted.share_known
        if not column.levels or self.by == "anova" or not counted.known.size:
            return [Rank(column.name, column.kind.value, np.nan, "no measure for words", known)]
        each = [self._word(column, word, counts, known) for word, counts in enumerate(counted.counts)]
        if self.words:
            return each
        best = min(each, key=lambda rank: rank.order(self.by))
        n_tried = len(each)
        p = min(best.p * n_tried, 1.0)
        return [replace(best, column=column.name, p=p, how=f"{best.how} of {n_tried} words")]

    def _word(self, column: Column, word: int, counts: np.ndarray, known: float) -> Rank:
        name, how = f"{column.name}: {column.levels[word]}", f"has {column.levels[word]!r}"
        if self.by in ("correlation", "spearman"):
            test = measures.cramers_v(counts)
            return Rank(name, column.kind.value, test.statistic, f"{test.name}, {how}", known, test.p)
        return self._rank_of(name, column.kind.value, counts, how, known)
