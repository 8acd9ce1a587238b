"""Columns in the order of what they tell about the target, each score with the way it was found.

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
from typing import Any

import numpy as np

from baytree.choose.select import measures
from baytree.engine import threads
from baytree.show.results import Shown, frame_of
from baytree.show.terminal import aligned
from baytree.statistics import discretize
from baytree.statistics.counts import Counts
from baytree.table.schema import Column, Kind
from baytree.table.table import Table, Tokens

CUTS: dict[str, Callable[..., np.ndarray]] = {
    "best": discretize.best_cut,
    "mdl": discretize.mdl_cuts,
    "quantiles": lambda values, *_: discretize.quantile_cuts(values),
}
IN_BITS: dict[str, Callable[[np.ndarray, float], float]] = {
    "information_gain": measures.information_gain,
    "gain_ratio": measures.gain_ratio,
    "symmetric_uncertainty": measures.symmetric_uncertainty,
}
MEASURES = (*IN_BITS, "chi2", "correlation", "spearman", "anova", "mrmr", "importance", "lasso")


@dataclass(frozen=True)
class Rank:
    """What one column, or one word of a text column, tells about the target."""

    column: str
    kind: str
    score: float
    how: str
    known: float = 1.0
    p: float = np.nan
    bonferroni: float = np.nan
    fdr: float = np.nan

    def order(self, by: str) -> tuple[bool, float, float]:
        """Smaller is better: for tests the p-value, then the size of the score; unknown scores last."""
        if np.isnan(self.score):
            return True, 0.0, 0.0
        return False, self.p if by in ("chi2", "anova") else 0.0, -abs(self.score)


@dataclass(frozen=True, repr=False)
class Ranking(Shown):
    """Columns from the most to the least telling. Prints as a table, converts with `to_frame`, draws with `plot`."""

    by: str
    target: str
    ranks: tuple[Rank, ...]

    def __len__(self) -> int:
        return len(self.ranks)

    @property
    def columns(self) -> list[str]:
        """The names, best first."""
        return [rank.column for rank in self.ranks]

    def head(self, n: int = 10) -> Ranking:
        """The first n ranks."""
        return replace(self, ranks=self.ranks[:n])

    def to_frame(self) -> Any:
        """A data frame, one row per rank."""
        return frame_of(self.to_dict())

    def to_dict(self) -> dict[str, list]:
        """The table as lists by column."""
        names = ["column", "kind", "score", *(["p", "bonferroni", "fdr"] if self._has_p else []), "known", "how"]
        return {name: [getattr(rank, name) for rank in self.ranks] for name in names}

    def plot(self, ax: Any = None) -> Any:
        """A bar for each rank; needs matplotlib."""
        from baytree.show.charts import bars

        return bars(self.columns, [rank.score for rank in self.ranks], f"{self.by} for {self.target}", ax)

    def __str__(self) -> str:
        """The table, names and ways cut as short as eighty columns ask."""
        shown = (self._table(width) for width in (24, 20, 16, 12, 9))
        return next((table for table in shown if max(map(len, table.splitlines())) <= 80), self._table(9))

    def _table(self, width: int) -> str:
        header = ["", "column", "kind", self.by, *(["p", "Bonferroni", "FDR"] if self._has_p else []), "known", "how"]
        return aligned(header, [self._row(place, rank, width) for place, rank in enumerate(self.ranks, 1)])

    @property
    def _has_p(self) -> bool:
        return any(not np.isnan(rank.p) for rank in self.ranks)

    def _row(self, place: int, rank: Rank, width: int) -> list[object]:
        tests = [_p(rank.p), _p(rank.bonferroni), _p(rank.fdr)] if self._has_p else []
        score = "" if np.isnan(rank.score) else f"{rank.score:.4f}" if abs(rank.score) < 1e4 else f"{rank.score:.4g}"
        return [place, _short(rank.column, width), rank.kind, score, *tests, f"{rank.known:.0%}", _short(rank.how, width)]


def rank(table: Table, by: str, cuts: str = "auto", words: bool = False, n_jobs: int | None = None) -> Ranking:
    """The columns of a table by a filter measure: any of `MEASURES` but the embedded ones."""
    if by not in MEASURES:
        raise ValueError(f"by={by!r}: give one of {', '.join(map(repr, MEASURES))}")
    if cuts not in ("auto", *CUTS):
        raise ValueError(f"cuts={cuts!r}: give 'auto', {', '.join(map(repr, CUTS))}")
    if table.n_classes == 0 and by in ("mrmr", "chi2", *IN_BITS):
        raise ValueError(
            f"by={by!r} counts classes, but the target {table.schema.target.name!r} is a number; "
            "give by='correlation', 'anova' or 'importance'"
        )
    if by == "mrmr":
        from baytree.choose.select.redundancy import mrmr

        return Ranking(by, table.schema.target.name, mrmr(table, cuts))
    cut = cuts if cuts != "auto" else "quantiles" if by == "chi2" else "best"
    measure = Measure(table, by, cut, words)
    found = [rank for ranks in threads.in_order(measure.ranks, range(len(table.schema)), n_jobs) for rank in ranks]
    found += [Rank(name, "left out", np.nan, "only identifies rows") for name in table.schema.left_out]
    return ordered(by, table.schema.target.name, found)


def ordered(by: str, target: str, ranks: list[Rank]) -> Ranking:
    """The ranking of these ranks, with adjusted p-values; equals stay in the order of the columns."""
    p = np.array([rank.p for rank in ranks])
    adjusted = zip(ranks, measures.bonferroni(p), measures.false_discovery_rate(p), strict=True)
    ranks = [replace(rank, bonferroni=float(b), fdr=float(f)) for rank, b, f in adjusted]
    return Ranking(by, target, tuple(sorted(ranks, key=lambda rank: rank.order(by))))


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
        codes, n_levels, how = self._coded(column, numbers) if is_cut else (values, len(column.levels), "")
        counts = Counts.of(codes, self.table.label, None, n_levels, self.table.n_classes).known()
        how = how or f"{np.count_nonzero(counts.sum(axis=1))} levels"
        return self._rank_of(column.name, column.kind.value, counts, how, known)

    def _coded(self, column: Column, numbers: np.ndarray) -> tuple[np.ndarray, int, str]:
        points = CUTS[self.cut](numbers, self.table.label, self.table.n_classes)
        codes = discretize.binned(numbers, points) if len(points) else np.where(np.isnan(numbers), -1, 0).astype(np.int32)
        return codes, len(points) + 1, cut_in_words(column, points)

    def _rank_of(self, name: str, kind: str, counts: np.ndarray, how: str, known: float, tried: int = 1) -> Rank:
        if self.by == "chi2":
            test = measures.chi_square(counts)
            return Rank(name, kind, test.statistic, how, known, min(test.p * tried, 1.0))
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


def numbers_of(column: Column, values: np.ndarray) -> np.ndarray:
    """Values as numbers with NaN; codes are their own numbers."""
    if column.kind is Kind.NUMERIC:
        return np.ascontiguousarray(values)
    return np.where(values < 0, np.nan, values.astype(np.float64))


def cut_in_words(column: Column, points: np.ndarray) -> str:
    """The cuts as a reader sees them."""
    if not len(points):
        return "no cut helps"
    if len(points) > 1:
        return f"{len(points) + 1} bins"
    if column.kind is Kind.ORDINAL:
        return f"≤ {column.show(int(np.floor(points[0])))}"
    return f"≤ {column.show(float(points[0]))}"


def _p(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2g}" if value >= 1e-4 or value == 0 else f"{value:.0e}"


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
