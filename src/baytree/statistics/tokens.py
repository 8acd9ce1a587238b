"""What naive Bayes keeps of a text column: word totals and document frequencies per class, which add up."""

from __future__ import annotations

from typing import Any, Self

import msgspec
import numpy as np

from baytree import _core
from baytree.statistics.counts import Counts
from baytree.statistics.exact import ExactSum
from baytree.statistics.totals import class_weights, entry_totals
from baytree.table.schema import Text
from baytree.table.table import Table, Tokens
from baytree.table.text.count import DocumentFrequency, inverse_frequency, within_limits


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="words"):
    """How often each word occurs in each class, in how many documents, and how many documents there are; by weight."""

    total: ExactSum  # [n_words, n_classes]
    documents: ExactSum  # [n_words, n_classes]
    weight: ExactSum  # [1, n_classes]: documents that are not missing

    @classmethod
    def of(cls, table: Table, column: int) -> Self:
        """The words of a text column."""
        tokens: Any = table.values[column]
        n_words = len(table.schema.columns[column].levels)
        known = ~tokens.missing
        weight = class_weights(table, None if known.all() else np.flatnonzero(known))
        tallied = None
        if table.is_unweighted:  # the common case has a faster way to the same sums
            label = np.ascontiguousarray(table.label)
            tallied = _core.tally_words(tokens.start, tokens.code, tokens.count, label, n_words, table.n_classes)
        if tallied is not None:
            return cls(ExactSum.of(tallied[0]), ExactSum.of(tallied[1]), weight)
        return cls(entry_totals(tokens, tokens.count, table, n_words), _documents(tokens, table, n_words), weight)

    def __add__(self, other: Self) -> Self:
        return type(self)(self.total + other.total, self.documents + other.documents, self.weight + other.weight)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.total - other.total, self.documents - other.documents, self.weight - other.weight)

    def recoded(self, levels: np.ndarray, classes: np.ndarray) -> Self:
        """The same words under other codes: entry k tells which old word (or class) the new k was, −1 for none."""
        by_word = (cells.take(levels).take(classes, 1) for cells in (self.total, self.documents))
        return type(self)(*by_word, self.weight.take(classes, 1))

    def check(self, n_words: int, n_classes: int) -> None:
        """Raises an error unless there is a cell for each word and class."""
        self.total.check((n_words, n_classes))
        self.documents.check((n_words, n_classes))
        self.weight.check((1, n_classes))

    def known(self) -> np.ndarray:
        """The weight of each word in each class: float64 [n_words, n_classes]."""
        return self.total.rounded()

    def scale(self, vocabulary: tuple, options: Text) -> np.ndarray:
        """By what each word's count is multiplied: 0 outside the limits on documents, else 1, or its idf: [n_words]."""
        frequency = DocumentFrequency(vocabulary, self.documents.rounded().sum(axis=1), float(self.weight.rounded().sum()))
        kept = within_limits(frequency, options)
        return kept * inverse_frequency(frequency) if options.tfidf else kept.astype(np.float64)


def _documents(tokens: Tokens, table: Table, n_words: int) -> ExactSum:
    length = np.diff(tokens.start)
    weight = None if table.is_unweighted else np.repeat(table.weight, length)
    cells = Counts.of(tokens.code, np.repeat(table.label, length), weight, n_words, table.n_classes).cells
    return cells.take(np.arange(1, n_words + 1))
