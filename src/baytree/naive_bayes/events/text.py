"""Events of text columns: a document is a sequence of words (multinomial, complement) or a set of words (Bernoulli).

The statistics are in `statistics.text`, the likelihoods in `text_likelihoods`.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec
import numpy as np

from baytree._typing import PriorsLike
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Column, Kind, Text
from baytree.data.schema.schema import Schema
from baytree.naive_bayes.events.base import EventModel, Likelihood
from baytree.naive_bayes.events.count_likelihoods import fill_empty_classes
from baytree.naive_bayes.events.estimation import (
    ColumnGroup,
    Estimation,
    complement_weights,
    log_proportions,
    pseudo_counts,
    read_pseudo_counts,
)
from baytree.naive_bayes.events.text_likelihoods import DirichletMultinomialText, DocumentLikelihood
from baytree.statistics.text import DocumentBags, WordCounts


class TextEvent(EventModel[WordCounts | DocumentBags]):
    """Base class of the events of text columns."""

    kinds = (Kind.TEXT,)
    can_subtract = False
    statistics = (WordCounts, DocumentBags)
    likelihoods = (DocumentLikelihood,)
    weighs_words: ClassVar[bool] = True  # whether tf-idf weights apply

    def read_prior(self, given: PriorsLike, column: Column) -> PriorsLike:
        """Pseudo-counts of the words."""
        return read_pseudo_counts(given, column.name)

    def observe(self, table: Table, group: ColumnGroup) -> WordCounts | DocumentBags:
        """Word and document counts of each class, or the documents themselves if they are scaled to length 1."""
        (column,) = group.columns
        return (DocumentBags if self._keeps_documents(table.schema.columns[column]) else WordCounts).of(table, column)

    def check_shape(self, statistic: WordCounts | DocumentBags, group: ColumnGroup, schema: Schema) -> None:
        """Check that there is a cell for each word and class."""
        statistic.check(len(schema.columns[group.columns[0]].levels), len(schema.classes))

    def _kept(self, columns: list[Column]) -> tuple[type, ...]:
        return (DocumentBags if self._keeps_documents(columns[0]) else WordCounts,)

    def _keeps_documents(self, column: Column) -> bool:
        return self.weighs_words and _is_unit(column)


class DocumentMultinomial(TextEvent):
    """Documents as sequences of words, with estimated probabilities (N_w + α) / (N + αV)."""

    name = "text plugin multinomial"

    def estimate(
        self, statistic: WordCounts | DocumentBags, group: ColumnGroup, schema: Schema, estimation: Estimation
    ) -> Likelihood:
        """Log-probability of each word within the frequency limits."""
        words = _weighted_words(statistic, group, schema, estimation)
        present = np.zeros_like(words.total)
        in_use = words.scale > 0
        present[in_use] = log_proportions(words.total[in_use], words.alpha[in_use])
        return _likelihood(group, "count", words, present)


class DirichletMultinomialDocuments(DocumentMultinomial):
    """Documents as sequences of words; for 'bayes' the exact Dirichlet–multinomial predictive."""

    name = "text multinomial"
    likelihoods = (DocumentLikelihood, DirichletMultinomialText)

    def estimate(
        self, statistic: WordCounts | DocumentBags, group: ColumnGroup, schema: Schema, estimation: Estimation
    ) -> Likelihood:
        """Concentrations of each class, or estimated probabilities for 'mle' and 'map'."""
        if estimation.estimate != "bayes":
            return super().estimate(statistic, group, schema, estimation)
        words = _weighted_words(statistic, group, schema, estimation)
        concentration = np.where(words.scale[:, None] > 0, words.total + words.alpha[:, None], 0.0)
        if not len(concentration):
            return super().estimate(statistic, group, schema, estimation)
        return DirichletMultinomialText(
            group.columns[0], words.scale, fill_empty_classes(concentration), words.length, words.is_unit
        )


class DocumentComplement(TextEvent):
    """Complement naive Bayes: words weighted by how rare they are in all other classes."""

    name = "text complement"

    def estimate(
        self, statistic: WordCounts | DocumentBags, group: ColumnGroup, schema: Schema, estimation: Estimation
    ) -> DocumentLikelihood:
        """Weight of each word within the frequency limits."""
        words = _weighted_words(statistic, group, schema, estimation)
        present = np.zeros_like(words.total)
        in_use = words.scale > 0
        present[in_use] = complement_weights(words.total[in_use], words.alpha[in_use], estimation.is_normalised)
        return _likelihood(group, "amount", words, present)


class DocumentBernoulli(TextEvent):
    """Documents as sets of words, in which absent words count too: (documents + α) / (n + 2α)."""

    name = "text bernoulli"
    weighs_words = False

    def estimate(
        self, statistic: WordCounts | DocumentBags, group: ColumnGroup, schema: Schema, estimation: Estimation
    ) -> DocumentLikelihood:
        """Log-probability that each word is present, and that it is absent."""
        column = schema.columns[group.columns[0]]
        words = statistic.words
        scale = words.scale(column.levels, column.text or Text()) > 0
        added = pseudo_counts(estimation, column.name, column.levels)[:, None]
        containing, n_documents = words.documents.rounded(), words.weight.rounded()
        total = n_documents + 2 * added
        with np.errstate(divide="ignore", invalid="ignore"):
            present = np.log(np.where(total > 0, (containing + added) / total, 0.5))
            absent = np.log(np.where(total > 0, (n_documents - containing + added) / total, 0.5))
        in_use = scale[:, None]
        tables = np.where(in_use, absent, 0.0), np.where(in_use, present, 0.0)
        return DocumentLikelihood(group.columns[0], "binary", scale.astype(np.float64), *tables, _lengths(words))


def _likelihood(
    group: ColumnGroup, rule: Literal["count", "amount"], words: _WeightedWords, present: np.ndarray
) -> DocumentLikelihood:
    return DocumentLikelihood(
        group.columns[0], rule, words.scale, np.zeros_like(present), present, words.length, words.is_unit
    )


def _is_unit(column: Column) -> bool:
    """Whether the documents of a column are scaled to length 1."""
    options = column.text or Text()
    return options.tfidf and options.norm is not None


class _WeightedWords(msgspec.Struct, frozen=True):
    """Words of a column with the weights that its options specify."""

    scale: np.ndarray  # [n_words]
    total: np.ndarray  # [n_words, n_classes], scaled
    alpha: np.ndarray  # [n_words]: pseudo-counts
    length: np.ndarray  # [n_classes]: mean number of words per document
    is_unit: bool


def _weighted_words(
    statistic: WordCounts | DocumentBags, group: ColumnGroup, schema: Schema, estimation: Estimation
) -> _WeightedWords:
    column = schema.columns[group.columns[0]]
    scale = statistic.words.scale(column.levels, column.text or Text())
    alpha = pseudo_counts(estimation, column.name, column.levels)
    return _WeightedWords(scale, statistic.totals(scale), alpha, _lengths(statistic.words), _is_unit(column))


def _lengths(statistic: WordCounts) -> np.ndarray:
    return statistic.total.rounded().sum(axis=0) / np.maximum(statistic.weight.rounded()[0], 1e-300)
