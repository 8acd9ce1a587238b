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

import numpy as np

from baytree import settings
from baytree.choose.select import measures
from baytree.choose.select.cuts import CUTS, Coded, cut_up, numbers_of
from baytree.choose.select.ranking import Rank, Ranking, ordered
from baytree.choose.select.redundancy import mrmr
from baytree.engine import threads
from baytree.statistics.counts import Counts
from baytree.table.schema import Column, Kind
from baytree.table.table import Table, Tokens

IN_BITS: dict[str, Callable[[np.ndarray, float], float]] = {
    "information_gain": measures.information_gain,
    "gain_ratio": measures.gain_ratio,
    "symmetric_uncertainty": measures.symmetric_uncertainty,
}
MEASURES = (*IN_BITS, "chi2", "correlation", "spearman", "anova", "mrmr", "importance", "lasso")


def rank(table: Table, by: str, cuts: str = "auto", words: bool = False, n_jobs: int | None = None) -> Ranking:
    """The columns of a table by a filter measure: any of `MEASURES` but the embedded ones."""
    settings.one_of("by", by, MEASURES)
    settings.one_of("cuts", cuts, ("auto", *CUTS))
    if table.n_classes == 0 and by in ("mrmr", "chi2", *IN_BITS):
        raise ValueError(
            f"by={by!r} counts classes, but the target {table.schema.target.name!r} is a number; "
            "give by='correlation', 'anova' or 'importance'"
        )
    if by == "mrmr":
        return Ranking(by, table.schema.target.name, mrmr(table, cuts))
    cut = cuts if cuts != "auto" else "quantiles" if by == "chi2" else "best"
    measure = Measure(table, by, cut, words)
    found = [rank for ranks in threads.in_order(measure.ranks, range(len(table.schema)), n_jobs) for rank in ranks]
    found += [Rank(name, "left out", np.nan, "only identifies rows") for name in table.schema.left_out]
    return ordered(by, table.schema.target.name, found)


@dataclass(frozen=True)
class Measure:
    """A filter measure and the table that it looks at, column by column."""

    table: Table
    by: str
    cut: str
    words: bool

    def ranks(self, j: int) -> list[Rank]:
        """The rank of a column; of each of its words, where they are asked for."""
        column, values = self.table.schema.columns[j], self.table.values[j]
        if isinstance(values, Tokens):
            return self._words(column, values)
        numbers = numbers_of(column, values)
        known = ~np.isnan(numbers)
        if not known.any():
            return [Rank(column.name, column.kind.value, np.nan, "no value is known", 0.0)]
        if self.by in IN_BITS or self.by == "chi2":
            return [self._counted(column, values, numbers, float(known.mean()))]
        test = self._tested(column, numbers[known], self.table.label[known])
        return [Rank(column.name, column.kind.value, test.statistic, test.name, float(known.mean()), test.p)]

    def _counted(self, column: Column, values: np.ndarray, numbers: np.ndarray, known: float) -> Rank:
        is_cut = column.kind is Kind.NUMERIC or (column.kind is Kind.ORDINAL and self.by != "chi2")
        coded = cut_up(column, numbers, self.table, self.cut) if is_cut else Coded(values, len(column.levels), "")
        counts = Counts.of(coded.codes, self.table.label, None, coded.n_levels, self.table.n_classes).known()
        how = coded.how or f"{np.count_nonzero(counts.sum(axis=1))} levels"
        return self._rank_of(column.name, column.kind.value, counts, how, known)

    def _rank_of(self, name: str, kind: str, counts: np.ndarray, how: str, known: float) -> Rank:
        if self.by == "chi2":
            test = measures.chi_square(counts)
            return Rank(name, kind, test.statistic, how, known, test.p)
        missing = counts.sum() * (1 - known) / known if known else 0.0
        return Rank(name, kind, IN_BITS[self.by](counts, missing), how, known)

    def _tested(self, column: Column, numbers: np.ndarray, label: np.ndarray) -> measures.Test:
        """Correlation or F by the kinds of the column and the target."""
        n_classes, n_levels = self.table.n_classes, len(column.levels)
        if self.by == "anova":
            if column.kind is Kind.NOMINAL:
                refused = measures.Test(np.nan, np.nan, "no number: no F")
                return refused if n_classes else measures.anova(label, numbers.astype(np.intp), n_levels)
            return measures.anova(numbers, label, n_classes) if n_classes else measures.regression_f(numbers, label)
        if column.kind is Kind.NOMINAL:
            codes = numbers.astype(np.int32)
            if n_classes:
                return measures.cramers_v(Counts.of(codes, label, None, n_levels, n_classes).known())
            return measures.correlation_ratio(label, codes, n_levels)
        if n_classes > 2:
            return measures.correlation_ratio(numbers, label, n_classes)
        if column.kind is Kind.ORDINAL or self.by == "spearman":
            return measures.spearman(numbers, label.astype(np.float64))
        return measures.pearson(numbers, label.astype(np.float64), "point-biserial" if n_classes else "Pearson")

    def _words(self, column: Column, tokens: Tokens) -> list[Rank]:
        known = float(1 - tokens.missing.mean())
        if not column.levels or self.by == "anova" or not self.table.n_classes:
            return [Rank(column.name, column.kind.value, np.nan, "no measure for words", known)]
        each = [self._word(column, word, counts, known) for word, counts in enumerate(self._word_counts(column, tokens))]
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

    def _word_counts(self, column: Column, tokens: Tokens) -> np.ndarray:
        """Documents with and without each word in each class: [n_words, 2, n_classes]."""
        n_classes, n_words = self.table.n_classes, len(column.levels)
        label = np.repeat(self.table.label, np.diff(tokens.start)).astype(np.int64)
        cells = np.bincount(tokens.code * n_classes + label, minlength=n_words * n_classes).reshape(n_words, n_classes)
        all_known = np.bincount(self.table.label[~tokens.missing], minlength=n_classes)
        return np.stack([cells, all_known - cells], axis=1).astype(np.float64)
