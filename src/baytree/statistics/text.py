"""What naive Bayes keeps of a text column: word totals and document frequencies per class, which add up.

What naive Bayes keeps of a text column whose documents are brought to length 1: their bags of words.

The length of a document depends on the idf of its words, and so on all documents: no sum over words could be corrected
when another document is learnt or forgotten. Bags can, for each is kept once with its weight in each class.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Self

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.bag_of_words import DocumentFrequency, inverse_frequency, within_limits
from baytree.data.encoding.bags import joined, recode, row_of_entries, weighed
from baytree.data.encoding.table import Table, Tokens
from baytree.data.schema.column import Text
from baytree.statistics.counts import Counts
from baytree.statistics.exact_sum import ExactSum
from baytree.statistics.totals import class_weights, entry_totals


class WordCounts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="words"):
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


class DocumentBags(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="corpus"):
    """The distinct documents of a column in an order of their own, each with its exact weight in each class."""

    words: WordCounts
    documents: Tokens  # none of them missing
    weight: ExactSum  # [n_documents, n_classes]

    @classmethod
    def of(cls, table: Table, column: int) -> Self:
        """The documents of a text column."""
        tokens: Tokens = table.values[column]
        rows = np.flatnonzero(~tokens.missing & (table.weight > 0))
        documents = tokens if len(rows) == len(tokens) else tokens.take(rows)
        place, first = _distinct(documents)
        weight = None if table.is_unweighted else table.weight[rows]
        cells = Counts.of(place, table.label[rows], weight, len(first), table.n_classes).cells
        return cls(WordCounts.of(table, column), documents.take(first), cells.take(np.arange(1, len(first) + 1)))

    def __add__(self, other: Self) -> Self:
        return self._combined(other, self.words + other.words, ExactSum.__add__)

    def __sub__(self, other: Self) -> Self:
        return self._combined(other, self.words - other.words, ExactSum.__sub__)

    def recoded(self, levels: list[np.ndarray], classes: np.ndarray) -> Self:
        """The same documents under other codes: entry k tells which old word (or class) the new k was, −1 for none."""
        mapping = np.full(len(self.words.total.limbs), -1, np.int32)
        mapping[levels[0][levels[0] >= 0]] = np.flatnonzero(levels[0] >= 0)
        documents = recode(self.documents, mapping)
        _, order = _distinct(documents)
        weight = self.weight.take(order).take(classes, 1)
        return type(self)(self.words.recoded(levels, classes), documents.take(order), weight)

    def level_weights(self) -> np.ndarray | None:
        """The weight of each word over all classes: [n_words]."""
        return self.known().sum(axis=1)

    def check(self, n_words: int, n_classes: int) -> None:
        """Raises an error unless the documents are bags of these words and have a weight in each class."""
        self.words.check(n_words, n_classes)
        documents = self.documents
        start, code, count = documents.start, documents.code, documents.count
        if (start.dtype, code.dtype, count.dtype, documents.missing.dtype) != (np.int64, np.int32, np.float64, np.bool_):
            raise ValueError("documents are kept in other types")
        if not len(start) or start[0] != 0 or (np.diff(start) < 0).any() or {len(code), len(count)} != {int(start[-1])}:
            raise ValueError("the words of documents do not fit")
        if documents.missing.shape != (len(documents),) or documents.missing.any():
            raise ValueError("documents that are kept are not missing")
        if (code < 0).any() or (code >= n_words).any() or not (np.isfinite(count) & (count > 0)).all():
            raise ValueError("documents hold words of the vocabulary, each once or more")
        is_first = np.zeros(len(code) + 1, bool)
        is_first[start[:-1]] = True
        if (np.diff(code) <= 0)[~is_first[1:-1]].any():
            raise ValueError("the words of a document ascend")
        self.weight.check((len(documents), n_classes))

    def known(self) -> np.ndarray:
        """The weight of each word in each class: float64 [n_words, n_classes]."""
        return self.words.known()

    def totals(self, scale: np.ndarray) -> np.ndarray:
        """The sums of count · scale over documents that were brought to length 1: float64 [n_words, n_classes]."""
        value = weighed(self.documents, scale, is_unit=True)
        weight, row = self.weight.rounded(), row_of_entries(self.documents)
        sums = [np.bincount(self.documents.code, value * w[row], minlength=len(scale)) for w in weight.T]
        return np.column_stack(sums).astype(np.float64)

    def _combined(self, other: Self, words: WordCounts, operation: Callable[[ExactSum, ExactSum], ExactSum]) -> Self:
        documents = joined([self.documents, other.documents])
        place, first = _distinct(documents)
        n_ours, n_theirs = len(self.documents), len(other.documents)
        ours, theirs = np.full((2, len(first)), -1, np.int64)
        ours[place[:n_ours]], theirs[place[n_ours:]] = np.arange(n_ours), np.arange(n_theirs)
        weight = operation(self.weight.take(ours), other.weight.take(theirs))
        kept = np.flatnonzero(weight.limbs.any(axis=(1, 2)))
        return type(self)(words, documents.take(first[kept]), weight.take(kept))


def _distinct(tokens: Tokens) -> tuple[np.ndarray, np.ndarray]:
    """Which distinct document each row is (int32), and the first row of each, in an order that only they decide."""
    ends = tokens.start.tolist()
    code, count = tokens.code.tobytes(), tokens.count.tobytes()
    keys = [code[4 * i : 4 * j] + count[8 * i : 8 * j] for i, j in pairwise(ends)]
    first = {key: row for row, key in reversed(list(enumerate(keys)))}
    order = {key: k for k, key in enumerate(sorted(first))}
    place = np.fromiter((order[key] for key in keys), np.int32, len(keys))
    return place, np.fromiter((first[key] for key in order), np.int64, len(order))
