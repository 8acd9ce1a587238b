"""Statistics of text columns: word counts per class, or the documents themselves.

`WordCounts` has word totals and document frequencies. `DocumentBags` stores distinct documents, for columns whose documents
are scaled to unit length: that length depends on the idf of the words, and so on all documents, and no sum over words
could be corrected when a document is added or removed.
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
    """Weighted number of occurrences of each word, of documents that contain it, and of documents, in each class."""

    total: ExactSum  # [n_words, n_classes]
    documents: ExactSum  # [n_words, n_classes]
    weight: ExactSum  # documents that are not missing

    @classmethod
    def of(cls, table: Table, column: int) -> Self:
        """Word counts of a text column."""
        tokens: Tokens = table.values[column]
        n_words = len(table.schema.columns[column].levels)
        known = ~tokens.missing
        weight = class_weights(table, None if known.all() else np.flatnonzero(known))
        counted = _count_unweighted(tokens, table, n_words) if table.is_unweighted else None
        if counted is not None:
            return cls(*counted, weight)
        return cls(entry_totals(tokens, tokens.count, table, n_words), _documents(tokens, table, n_words), weight)

    def __add__(self, other: Self) -> Self:
        return type(self)(self.total + other.total, self.documents + other.documents, self.weight + other.weight)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.total - other.total, self.documents - other.documents, self.weight - other.weight)

    def recoded(self, levels: list[np.ndarray], classes: np.ndarray) -> Self:
        """Recoded counts: entry k of a mapping is the old code of the new word (or class) k, −1 if it is new."""
        total, documents = (cells.take(levels[0]).take(classes, 1) for cells in (self.total, self.documents))
        return type(self)(total, documents, self.weight.take(classes, 1))

    def level_weights(self) -> np.ndarray | None:
        """Weight of each word over all classes: [n_words]."""
        return self.known().sum(axis=1)

    def check(self, n_words: int, n_classes: int) -> None:
        """Raise ValueError unless there is a cell for each word and class."""
        self.total.check((n_words, n_classes))
        self.documents.check((n_words, n_classes))
        self.weight.check((1, n_classes))

    @property
    def words(self) -> Self:
        """Self; `DocumentBags` has the same property."""
        return self

    def totals(self, scale: np.ndarray) -> np.ndarray:
        """Sums of count · scale: float64 [n_words, n_classes]."""
        return self.total.rounded() * scale[:, None]

    def known(self) -> np.ndarray:
        """Weight of each word in each class: float64 [n_words, n_classes]."""
        return self.total.rounded()

    def scale(self, vocabulary: tuple, options: Text) -> np.ndarray:
        """Factor of each word's count [n_words]: 0 outside the document-frequency limits, otherwise 1 or the idf."""
        frequency = DocumentFrequency(vocabulary, self.documents.rounded().sum(axis=1), float(self.weight.rounded().sum()))
        in_use = within_limits(frequency, options)
        return in_use * inverse_frequency(frequency) if options.tfidf else in_use.astype(np.float64)


def _documents(tokens: Tokens, table: Table, n_words: int) -> ExactSum:
    length = np.diff(tokens.start)
    weight = None if table.is_unweighted else np.repeat(table.weight, length)
    cells = Counts.of(tokens.code, np.repeat(table.label, length), weight, n_words, table.n_classes).cells
    return cells.take(np.arange(1, n_words + 1))


def _count_unweighted(tokens: Tokens, table: Table, n_words: int) -> tuple[ExactSum, ExactSum] | None:
    """Totals and document counts of rows of weight 1, by a faster kernel; None if it is not applicable."""
    label = np.ascontiguousarray(table.label)
    counted = _core.tally_words(tokens.start, tokens.code, tokens.count, label, n_words, table.n_classes)
    if not isinstance(counted, tuple):
        return None
    return ExactSum.of(counted[0]), ExactSum.of(counted[1])


class DocumentBags(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="corpus"):
    """Distinct documents of a column in canonical order, each with its exact weight in each class."""

    words: WordCounts
    documents: Tokens  # without missing ones
    weight: ExactSum  # [n_documents, n_classes]

    @classmethod
    def of(cls, table: Table, column: int) -> Self:
        """Documents of a text column."""
        tokens: Tokens = table.values[column]
        rows = np.flatnonzero(~tokens.missing & (table.weight > 0))
        documents = tokens if len(rows) == len(tokens) else tokens.take(rows)
        index, first = _distinct(documents)
        weight = None if table.is_unweighted else table.weight[rows]
        cells = Counts.of(index, table.label[rows], weight, len(first), table.n_classes).cells
        return cls(WordCounts.of(table, column), documents.take(first), cells.take(np.arange(1, len(first) + 1)))

    def __add__(self, other: Self) -> Self:
        return self._combined(other, self.words + other.words, ExactSum.__add__)

    def __sub__(self, other: Self) -> Self:
        return self._combined(other, self.words - other.words, ExactSum.__sub__)

    def recoded(self, levels: list[np.ndarray], classes: np.ndarray) -> Self:
        """Recoded documents: entry k of a mapping is the old code of the new word (or class) k, −1 if it is new."""
        mapping = np.full(len(self.words.total.limbs), -1, np.int32)
        mapping[levels[0][levels[0] >= 0]] = np.flatnonzero(levels[0] >= 0)
        documents = recode(self.documents, mapping)
        _, order = _distinct(documents)
        weight = self.weight.take(order).take(classes, 1)
        return type(self)(self.words.recoded(levels, classes), documents.take(order), weight)

    def level_weights(self) -> np.ndarray | None:
        """Weight of each word over all classes: [n_words]."""
        return self.known().sum(axis=1)

    def check(self, n_words: int, n_classes: int) -> None:
        """Raise ValueError unless the documents are bags of these words and have a weight in each class."""
        self.words.check(n_words, n_classes)
        documents = self.documents
        start, code, count = documents.start, documents.code, documents.count
        if (start.dtype, code.dtype, count.dtype, documents.missing.dtype) != (np.int64, np.int32, np.float64, np.bool_):
            raise ValueError("documents have wrong dtypes")
        if not len(start) or start[0] != 0 or (np.diff(start) < 0).any() or {len(code), len(count)} != {int(start[-1])}:
            raise ValueError("the words of documents do not fit")
        if documents.missing.shape != (len(documents),) or documents.missing.any():
            raise ValueError("stored documents must not be missing")
        if (code < 0).any() or (code >= n_words).any() or not (np.isfinite(count) & (count > 0)).all():
            raise ValueError("documents must contain words of the vocabulary, with positive counts")
        is_first = np.zeros(len(code) + 1, bool)
        is_first[start[:-1]] = True
        if (np.diff(code) <= 0)[~is_first[1:-1]].any():
            raise ValueError("the words of a document must be ascending")
        self.weight.check((len(documents), n_classes))

    def known(self) -> np.ndarray:
        """Weight of each word in each class: float64 [n_words, n_classes]."""
        return self.words.known()

    def totals(self, scale: np.ndarray) -> np.ndarray:
        """Sums of count · scale over documents scaled to unit length: float64 [n_words, n_classes]."""
        value = weighed(self.documents, scale, is_unit=True)
        weight, row = self.weight.rounded(), row_of_entries(self.documents)
        sums = [np.bincount(self.documents.code, value * w[row], minlength=len(scale)) for w in weight.T]
        return np.column_stack(sums).astype(np.float64)

    def _combined(self, other: Self, words: WordCounts, operation: Callable[[ExactSum, ExactSum], ExactSum]) -> Self:
        documents = joined([self.documents, other.documents])
        index, first = _distinct(documents)
        n_ours, n_theirs = len(self.documents), len(other.documents)
        ours, theirs = np.full((2, len(first)), -1, np.int64)
        ours[index[:n_ours]], theirs[index[n_ours:]] = np.arange(n_ours), np.arange(n_theirs)
        weight = operation(self.weight.take(ours), other.weight.take(theirs))
        nonzero = np.flatnonzero(weight.limbs.any(axis=(1, 2)))
        return type(self)(words, documents.take(first[nonzero]), weight.take(nonzero))


def _distinct(tokens: Tokens) -> tuple[np.ndarray, np.ndarray]:
    """Index of the distinct document of each row (int32), and the first row of each, in an order given by content only."""
    ends = tokens.start.tolist()
    code, count = tokens.code.tobytes(), tokens.count.tobytes()
    keys = [code[4 * i : 4 * j] + count[8 * i : 8 * j] for i, j in pairwise(ends)]
    first = {key: row for row, key in reversed(list(enumerate(keys)))}
    order = {key: k for k, key in enumerate(sorted(first))}
    index = np.fromiter((order[key] for key in keys), np.int32, len(keys))
    return index, np.fromiter((first[key] for key in order), np.int64, len(order))
