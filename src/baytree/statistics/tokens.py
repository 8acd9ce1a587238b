"""What naive Bayes keeps of a text column: word totals and document frequencies per class, which add up."""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np

from baytree import _core
from baytree.statistics.counts import Counts
from baytree.statistics.exact import ExactSum
from baytree.statistics.totals import class_weights, entry_totals
from baytree.table.schema import Text
from baytree.table.table import Table, Tokens
from baytree.table.text.frequency import DocumentFrequency, inverse_frequency, within_limits


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="words"):
    """How often each word occurs in each class, in how many documents, and how many documents there are; by weight."""

    total: ExactSum  # [n_words, n_classes]
    documents: ExactSum  # [n_words, n_classes]
    weight: ExactSum  # [1, n_classes]: documents that are not missing

    @classmethod
    def of(cls, table: Table, column: int) -> Self:
        """The words of a text column."""
        tokens: Tokens = table.values[column]
        n_words = len(table.schema.columns[column].levels)
        known = ~tokens.missing
        weight = class_weights(table, None if known.all() else np.flatnonzero(known))
        tallied = _tallied(tokens, table, n_words) if table.is_unweighted else None
        if tallied is not None:
            return cls(*tallied, weight)
        return cls(entry_totals(tokens, tokens.count, table, n_words), _documents(tokens, table, n_words), weight)

    def __add__(self, other: Self) -> Self:
        return type(self)(self.total + other.total, self.documents + other.documents, self.weight + other.weight)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.total - other.total, self.documents - other.documents, self.weight - other.weight)

    def recoded(self, levels: list[np.ndarray], classes: np.ndarray) -> Self:
        """The same words under other codes: entry k tells which old word (or class) the new k was, −1 for none."""
        total, documents = (cells.take(levels[0]).take(classes, 1) for cells in (self.total, self.documents))
        return type(self)(total, documents, self.weight.take(classes, 1))

    def level_weights(self) -> np.ndarray | None:
        """The weight of each word over all classes: [n_words]."""
        return self.known().sum(axis=1)

    def check(self, n_words: int, n_classes: int) -> None:
        """Raises an error unless there is a cell for each word and class."""
        self.total.check((n_words, n_classes))
        self.documents.check((n_words, n_classes))
        self.weight.check((1, n_classes))

    @property
    def words(self) -> Self:
        """These words: of a corpus they are one field of several."""
        return self

    def totals(self, scale: np.ndarray) -> np.ndarray:
        """The sums of count · scale: float64 [n_words, n_classes]."""
        return self.total.rounded() * scale[:, None]

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


def _tallied(tokens: Tokens, table: Table, n_words: int) -> tuple[ExactSum, ExactSum] | None:
    """Totals and documents of rows that weigh 1, by a faster way to the same sums; None where it cannot be taken."""
    label = np.ascontiguousarray(table.label)
    tallied = _core.tally_words(tokens.start, tokens.code, tokens.count, label, n_words, table.n_classes)
    if not isinstance(tallied, tuple):
        return None
    return ExactSum.of(tallied[0]), ExactSum.of(tallied[1])
