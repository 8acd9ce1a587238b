"""In how many documents words occur: which words are kept, and how much each weighs."""

from __future__ import annotations

from numbers import Integral

import msgspec
import numpy as np

from baytree.table.schema import Text
from baytree.table.table import Tokens
from baytree.table.text.bags import Vocabulary, row_of_entries, union


class DocumentFrequency(msgspec.Struct, frozen=True):
    """In how many documents each word occurs, by weight: a statistic, so parts add up and can be taken away.

    A word whose documents were all taken away stays, with 0, until `within_limits` drops it.
    """

    vocabulary: Vocabulary
    documents: np.ndarray  # float64 [n_words]
    total: float  # all documents that are not missing

    @classmethod
    def of(cls, vocabulary: Vocabulary, tokens: Tokens, weight: np.ndarray | None = None) -> DocumentFrequency:
        """The frequencies in these rows.

        >>> from baytree.table.text.count import count
        >>> DocumentFrequency.of(*count(["cat cat", "cat dog", ""]))
        DocumentFrequency(vocabulary=('cat', 'dog'), documents=array([2., 1.]), total=3.0)
        """
        by_entry = None if weight is None else weight[row_of_entries(tokens)]
        documents = np.bincount(tokens.code, by_entry, minlength=len(vocabulary)).astype(np.float64)
        present = ~tokens.missing
        return cls(vocabulary, documents, float(present.sum() if weight is None else weight[present].sum()))

    def __add__(self, other: DocumentFrequency) -> DocumentFrequency:
        return self._combined(other, np.add)

    def __sub__(self, other: DocumentFrequency) -> DocumentFrequency:
        return self._combined(other, np.subtract)

    def _combined(self, other: DocumentFrequency, operation: np.ufunc) -> DocumentFrequency:
        vocabulary, seen = self.vocabulary, (self.documents, other.documents)
        if vocabulary != other.vocabulary:  # parts of one table share their words: nothing to bring together
            vocabulary, (ours, theirs) = union([self.vocabulary, other.vocabulary])
            seen = np.zeros((2, len(vocabulary)))
            seen[0, ours], seen[1, theirs] = self.documents, other.documents
        return DocumentFrequency(vocabulary, operation(*seen), float(operation(self.total, other.total)))


def within_limits(frequency: DocumentFrequency, options: Text) -> np.ndarray:
    """Which words occur in at least `min_df` and at most `max_df` documents (bool [n_words]).

    An int is a number of documents, a float a share of them. A word that occurs in none is never kept; at least one
    document is any document, however little it weighs.
    """
    low, high = (_documents(limit, frequency.total) for limit in (options.min_df, options.max_df))
    seen = frequency.documents
    is_any = isinstance(options.min_df, Integral) and options.min_df <= 1
    return (seen > 0) & (is_any | (seen >= low)) & (seen <= high)


def inverse_frequency(frequency: DocumentFrequency) -> np.ndarray:
    """The weight of each word, log((1 + n) / (1 + df)) + 1: scikit-learn's smoothed idf.

    >>> from baytree.table.text.count import count
    >>> inverse_frequency(DocumentFrequency.of(*count(["cat dog", "cat"]))).round(4).tolist()
    [1.0, 1.4055]
    """
    return np.log((1 + frequency.total) / (1 + frequency.documents)) + 1


def _documents(limit: float, total: float) -> float:
    return limit if isinstance(limit, Integral) else limit * total
