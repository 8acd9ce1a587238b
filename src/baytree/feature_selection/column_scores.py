"""Scores of columns by filter measures, mRMR, and embedded measures (tree importance, L1 path).

Filters are functions of counts. Numeric and ordinal columns are binned first: at their single best cut point ("best"), by
Fayyad and Irani's criterion ("mdl"), or into ten quantile bins ("quantiles"). "auto" is "best" for measures in bits and
"quantiles" for chi² and mRMR, because a cut point that was optimised has no valid p-value. The information value is that of
the optimal bins of `bin_column`, in which missing values are a bin of their own. For chi² ordinal columns keep
their levels. A text column scores as much as its best word, present or absent, with a p-value multiplied by the number of
words. Only rows with a known value count; measures in bits are multiplied by the proportion of those rows.

mRMR (Ding and Peng 2005) selects columns of high relevance and low redundancy. Embedded measures come from models:
`feature_importances_` of a tree, or the step at which a column enters the L1 path of logistic regression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from baytree import param_validation
from baytree._typing import EstimatorLike
from baytree.binning.coarse_bins import BinningOptions, coarse_bins
from baytree.binning.column_bins import ColumnBins
from baytree.binning.fine_bins import fine_bins
from baytree.binning.objective import information_value
from baytree.data.encoding.table import Table, Tokens
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import LocalPartitions
from baytree.engine.remote import PEAK_MEMORY_FACTOR, RemotePartitions, check_memory
from baytree.estimators.linear.logistic import LogisticRegression
from baytree.estimators.tree.cart import CARTClassifier, CARTRegressor
from baytree.feature_selection import measures
from baytree.feature_selection.column_counts import CUTS, BinnedColumn, ColumnCounts, WordsByClass, cut_up, numbers_of, only
from baytree.feature_selection.ranking import Rank, Ranking, ordered
from baytree.model_selection.problem import SupervisedProblem
from baytree.model_selection.trials import fit_all_rows
from baytree.parallel import threads
from baytree.statistics.counts import Counts

IN_BITS: dict[str, Callable[[np.ndarray, float], float]] = {
    "information_gain": measures.information_gain,
    "gain_ratio": measures.gain_ratio,
    "symmetric_uncertainty": measures.symmetric_uncertainty,
}

COUNTED = (*IN_BITS, "information_value", "chi2", "correlation", "spearman", "anova")  # of a single column

MEASURES = (*COUNTED, "mrmr", "importance", "lasso")


def rank(table: Table, by: str, cuts: str = "auto", words: bool = False, n_jobs: int | None = None) -> Ranking:
    """Ranking of the columns of a table by a filter measure: any of `MEASURES` except the embedded ones."""
    refuse_what_is_not_counted(by, cuts, table.schema)
    if by == "mrmr":
        return Ranking(by, table.schema.target.name, mrmr(table, cuts))
    measure = FilterMeasure.of(by, cuts, words)
    return measure.ranking(table.schema, lambda j: measure.of_table(table, j), n_jobs)


def rank_remote(rows: RemotePartitions, by: str, cuts: str = "auto", words: bool = False) -> Ranking:
    """Ranking of remote rows: one pass counts the values of each column by class.

    A column of more than 65,536 different numbers is loaded with the labels, one column at a time.
    """
    refuse_what_is_not_counted(by, cuts, rows.schema)
    measure = FilterMeasure.of(by, cuts, words)
    columns = rows.map_reduce(partial(ColumnCounts.of, range(len(rows.schema)))).columns

    def ranks(j: int) -> list[Rank]:
        column, counts = rows.schema.columns[j], columns[j]
        if isinstance(counts, WordsByClass):
            return measure.of_words(column, counts)
        if counts.is_complete:
            return measure.of_table(counts.stand_ins(column, rows.schema.target), 0)
        check_memory(rows.n_rows * BYTES_OF_A_CELL * PEAK_MEMORY_FACTOR, rows.source)
        return measure.of_table(rows.gather(partial(only, j)), 0)

    return measure.ranking(rows.schema, ranks, 1)


BYTES_OF_A_CELL = 20  # of a column with the labels and weights of its rows


def refuse_what_is_not_counted(by: str, cuts: str, schema: Schema) -> None:
    """Raise ValueError if the measure or the binning is unknown, or the measure needs classes and there are none."""
    param_validation.one_of("by", by, MEASURES)
    param_validation.one_of("cuts", cuts, ("auto", *CUTS))
    if by == "information_value" and len(schema.classes) != 2:
        what = f"{len(schema.classes)} classes" if schema.classes else "numbers"
        raise ValueError(
            f"by='information_value' needs two classes, but the target {schema.target.name!r} has {what}; "
            f"give by={'information_gain' if schema.classes else 'correlation'!r}"
        )
    if not schema.classes and by in ("mrmr", "chi2", *IN_BITS):
        raise ValueError(
            f"by={by!r} needs classes, but the target {schema.target.name!r} is a number; "
            "give by='correlation', 'anova' or 'importance'"
        )


@dataclass(frozen=True)
class FilterMeasure:
    """Filter measure, applied to one column at a time."""

    by: str
    cut: str
    words: bool

    @classmethod
    def of(cls, by: str, cuts: str, words: bool) -> FilterMeasure:
        """Measure of this name, with the binning that "auto" means for it."""
        return cls(by, cuts if cuts != "auto" else "quantiles" if by == "chi2" else "best", words)

    def ranking(self, schema: Schema, ranks: Callable[[int], list[Rank]], n_jobs: int | None) -> Ranking:
        """Ranking of all columns."""
        all_ranks = [
            rank for column_ranks in threads.map_ordered(ranks, range(len(schema)), n_jobs) for rank in column_ranks
        ]
        all_ranks += [Rank(name, "left out", np.nan, "only identifies rows") for name in schema.left_out]
        return ordered(self.by, schema.target.name, all_ranks)

    def of_table(self, table: Table, j: int) -> list[Rank]:
        """Rank of a column, or of each of its words if requested. Weights are numbers of rows."""
        column, values = table.schema.columns[j], table.values[j]
        if isinstance(values, Tokens):
            return self.of_words(column, WordsByClass.of(values, table.label, len(column.levels), table.n_classes))
        numbers = numbers_of(column, values)
        known = ~np.isnan(numbers)
        if not known.any():
            return [Rank(column.name, column.kind.value, np.nan, "all values are missing", 0.0)]
        weight = None if table.is_unweighted else table.weight
        known_proportion = float(known.mean() if weight is None else weight[known].sum() / weight.sum())
        if self.by == "information_value":
            fine = fine_bins(LocalPartitions(table, 1), j)
            bins = ColumnBins(fine, coarse_bins(fine, BinningOptions()), "", table.schema.classes, self.by)
            return [Rank(column.name, column.kind.value, bins.value, f"{len(bins.names)} bins", known_proportion)]
        if self.by in IN_BITS or self.by == "chi2":
            return [self._counted(table, j, numbers, known_proportion)]
        n = np.ones(len(table), np.int64) if weight is None else weight.astype(np.int64)
        repeated, label = (
            array[known] if weight is None else np.repeat(array[known], n[known]) for array in (numbers, table.label)
        )
        test = self._tested(column, repeated, label, table.n_classes)
        return [Rank(column.name, column.kind.value, test.statistic, test.name, known_proportion, test.p)]

    def _counted(self, table: Table, j: int, numbers: np.ndarray, known: float) -> Rank:
        column, weight = table.schema.columns[j], None if table.is_unweighted else table.weight
        is_binned = column.kind is Kind.NUMERIC or (column.kind is Kind.ORDINAL and self.by != "chi2")
        coded = (
            cut_up(column, numbers, table, self.cut) if is_binned else BinnedColumn(table.values[j], len(column.levels), "")
        )
        counts = Counts.of(coded.codes, table.label, weight, coded.n_levels, table.n_classes).known()
        how = coded.how or f"{np.count_nonzero(counts.sum(axis=1))} levels"
        return self._rank_of(column.name, column.kind.value, counts, how, known)

    def _rank_of(self, name: str, kind: str, counts: np.ndarray, how: str, known: float) -> Rank:
        if self.by == "chi2":
            test = measures.chi_square(counts)
            return Rank(name, kind, test.statistic, how, known, test.p)
        missing = counts.sum() * (1 - known) / known if known else 0.0
        return Rank(name, kind, IN_BITS[self.by](counts, missing), how, known)

    def _tested(self, column: Column, numbers: np.ndarray, label: np.ndarray, n_classes: int) -> measures.TestResult:
        """Test of association by the kinds of the column and the target."""
        n_levels = len(column.levels)
        if self.by == "anova":
            if column.kind is Kind.NOMINAL:
                refused = measures.TestResult(np.nan, np.nan, "not numeric: no F")
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
        """Rank of a text column by its best word, or of each word."""
        known = counted.share_known
        if not column.levels or self.by == "anova" or not counted.known.size:
            return [Rank(column.name, column.kind.value, np.nan, "no measure for words", known)]
        word_ranks = [self._word(column, word, counts, known) for word, counts in enumerate(counted.counts)]
        if self.words:
            return word_ranks
        best = min(word_ranks, key=lambda rank: rank.order(self.by))
        n_words = len(word_ranks)
        p = min(best.p * n_words, 1.0)
        return [replace(best, column=column.name, p=p, how=f"{best.how} of {n_words} words")]

    def _word(self, column: Column, word: int, counts: np.ndarray, known: float) -> Rank:
        name, how = f"{column.name}: {column.levels[word]}", f"has {column.levels[word]!r}"
        if self.by == "information_value":
            value = float(information_value(counts, counts.sum(axis=0)).sum())
            return Rank(name, column.kind.value, value, how, known)
        if self.by in ("correlation", "spearman"):
            test = measures.cramers_v(counts)
            return Rank(name, column.kind.value, test.statistic, f"{test.name}, {how}", known, test.p)
        return self._rank_of(name, column.kind.value, counts, how, known)


def mrmr(table: Table, cuts: str = "auto") -> tuple[Rank, ...]:
    """Columns in the order of selection: next is the maximum of I(column; class) − mean I(column; selected columns).

    The difference form of mRMR (Ding and Peng 2005), in bits. Numbers are binned into ten quantiles unless `cuts` says
    otherwise; each pair uses the rows where both are known. Text columns come last, since their words are not one variable.
    """
    columns = [j for j, column in enumerate(table.schema) if column.kind is not Kind.TEXT]
    coded = [_coded(table, j, "quantiles" if cuts == "auto" else cuts) for j in columns]
    classes = BinnedColumn(table.label, table.n_classes, "")
    relevance = np.array([_information(column, classes) for column in coded])
    ranks = [_mrmr_rank(table, columns[k], coded[k], relevance[k], score) for k, score in _select_greedily(coded, relevance)]
    excluded = [(c.name, c.kind.value, "words are not one variable") for c in table.schema if c.kind is Kind.TEXT]
    excluded += [(name, "left out", "only identifies rows") for name in table.schema.left_out]
    return (*ranks, *(Rank(name, kind, np.nan, how) for name, kind, how in excluded))


def _select_greedily(coded: list[BinnedColumn], relevance: np.ndarray) -> list[tuple[int, float]]:
    """Selected columns in order, and the score of each when it was selected."""
    order: list[tuple[int, float]] = []
    redundancy = np.zeros(len(coded))
    is_remaining = np.ones(len(coded), bool)
    for n_chosen in range(len(coded)):
        score = np.where(is_remaining, relevance - redundancy / max(n_chosen, 1), -np.inf)
        best = int(np.argmax(score))
        order.append((best, float(score[best])))
        is_remaining[best] = False
        redundancy[is_remaining] += [_information(coded[k], coded[best]) for k in np.flatnonzero(is_remaining)]
    return order


def _coded(table: Table, j: int, cut: str) -> BinnedColumn:
    column = table.schema.columns[j]
    if column.kind is not Kind.NUMERIC:
        return BinnedColumn(table.values[j], len(column.levels), f"{len(column.levels)} levels")
    return cut_up(column, numbers_of(column, table.values[j]), table, cut)


def _information(left: BinnedColumn, right: BinnedColumn) -> float:
    known = (left.codes >= 0) & (right.codes >= 0)
    pair = left.codes[known].astype(np.int64) * right.n_levels + right.codes[known]
    counts = np.bincount(pair, minlength=left.n_levels * right.n_levels).reshape(left.n_levels, right.n_levels)
    return measures.mutual_information(counts.astype(np.float64))


def _mrmr_rank(table: Table, j: int, coded: BinnedColumn, relevance: float, score: float) -> Rank:
    column = table.schema.columns[j]
    how = f"{relevance:.3f} bits, {coded.how}"
    return Rank(column.name, column.kind.value, score, how, float((coded.codes >= 0).mean()))


STEPS = 100  # of the L1 path


def importance(problem: SupervisedProblem, estimator: EstimatorLike = None) -> Ranking:
    """Ranking by the `feature_importances_` of an estimator, by default a pruned CART, fitted to all rows."""
    default = CARTClassifier() if problem.is_classification else CARTRegressor()
    fitted = fit_all_rows(default if estimator is None else estimator, problem)
    if not hasattr(fitted, "feature_importances_"):
        raise ValueError(f"{type(fitted).__name__} has no feature_importances_; give a tree")
    names = problem.schema.names
    scores = np.asarray(fitted.feature_importances_, dtype=np.float64)
    if len(scores) == len(problem.schema.inputs):
        scores = scores[[problem.schema.inputs.index(source) for source in problem.schema.sources]]
    return _ranking("importance", problem, scores, [type(fitted).__name__] * len(names))


def lasso(problem: SupervisedProblem, estimator: EstimatorLike = None) -> Ranking:
    """Ranking by the L1 penalty at which a column's first feature enters logistic regression, relative to the first column.

    A nominal column has a feature per level, a text column one per word.
    """
    if not problem.is_classification:
        raise ValueError(f"by='lasso' needs classes, but the target {problem.name!r} is a number; give by='correlation'")
    fitted = fit_all_rows(LogisticRegression(penalty="l1", C=1.0, path=STEPS) if estimator is None else estimator, problem)
    path = fitted.path_
    enters = np.argmax((path.coef != 0).any(axis=1), axis=0)  # [n_features], the first step with a nonzero coefficient
    enters_at_all = (path.coef != 0).any(axis=(0, 1))
    scores = np.zeros(len(problem.schema))
    np.maximum.at(scores, fitted.model_.design.source, np.where(enters_at_all, path.lambdas[enters], 0.0))
    how = [f"enters at λ = {value:.3g}" if value > 0 else "never enters" for value in scores]
    return _ranking("lasso", problem, scores / max(scores.max(), np.finfo(float).tiny), how)


EMBEDDED = {"importance": importance, "lasso": lasso}


def _ranking(by: str, problem: SupervisedProblem, score: np.ndarray, how: list[str]) -> Ranking:
    known = [1 - problem.missing[column.name] for column in problem.schema]
    entries = zip(problem.schema, score, how, known, strict=True)
    ranks = [
        Rank(column.name, column.kind.value, float(value), description, known_proportion)
        for column, value, description, known_proportion in entries
    ]
    ranks += [Rank(name, "left out", np.nan, "only identifies rows") for name in problem.schema.left_out]
    return ordered(by, problem.name, ranks)
