r"""Bag of words: tokenize documents, build a sorted vocabulary, count tokens per row; document frequencies and idf.

A token is a word or an n-gram of `ngrams` words: the words of the lower-cased document (`str.lower`) that match
`(?u)\b\w\w+\b`, without the stop words. These are the tokens of scikit-learn's `CountVectorizer` with the same settings.
Counts of partitions merge into the counts of the whole, so limits on the document frequency (`min_df`, `max_df`) are
applied after counting (`within_limits`), never during it.
"""

from __future__ import annotations

from functools import cache, lru_cache, partial
from numbers import Integral

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.bags import Vocabulary, joined, row_of_entries, union
from baytree.data.encoding.table import Tokens
from baytree.data.encoding.tokenize import Documents, each_block, lookup, reading, texts, total
from baytree.data.schema.column import Text

Counted = tuple[Vocabulary, Tokens]

MAX_BUCKETS = 2**24


def count(documents: Documents, options: Text | None = None, n_threads: int | None = None) -> Counted:
    """Return the sorted vocabulary and the bag of tokens of each row, before any limits.

    A missing document (None, NaN) has no tokens and is marked missing; an empty one only has no tokens. The result does not
    depend on the number of threads. With `hashing=n` the code of a token is its MurmurHash3 modulo n, without signs
    (scikit-learn's `alternate_sign=False`), and the vocabulary names the buckets.

    >>> vocabulary, tokens = count(["the cat", "The cat, the CAT!", None])
    >>> vocabulary, tokens.code.tolist(), tokens.count.tolist(), tokens.missing.tolist()
    (('cat', 'the'), [0, 1, 0, 1], [1.0, 1.0, 2.0, 2.0], [False, False, True])
    """
    options = checked(options or Text())
    if options.hashing is not None:
        return _buckets(options.hashing), encode(documents, options, (), n_threads)
    return total(partial(BlockBags.of, options=options), documents, n_threads).united()


def encode(documents: Documents, options: Text | None, vocabulary: Vocabulary, n_threads: int | None = None) -> Tokens:
    """Return the bag of tokens of each row in the codes of this vocabulary; unknown tokens are dropped.

    >>> encode(["a cat and a dog"], None, ("cat", "cow")).code.tolist()
    [0]
    """
    options = checked(options or Text())
    words = lookup(vocabulary) if options.hashing is None else None
    return joined(each_block(partial(_encode_block, options=options, words=words), documents, n_threads))


class BlockBags(msgspec.Struct, frozen=True):
    """Mergeable bags of blocks of documents, each block with its own codes; `+` appends rows.

    The vocabularies are united once at the end (`united`) instead of at every addition.
    """

    blocks: tuple[tuple[_core.Vocabulary, Tokens], ...]

    @classmethod
    def of(cls, documents: list, first_row: int, options: Text) -> BlockBags:
        """Count the tokens of one block, whose first document has row number `first_row`."""
        block, missing = texts(documents, first_row, options.lowercase)
        vocabulary, arrays = _core.count_tokens(block, _reading(block, options))
        return cls(((vocabulary, _tokens(arrays, missing)),))

    def __add__(self, other: BlockBags) -> BlockBags:
        return BlockBags(self.blocks + other.blocks)

    def united(self) -> Counted:
        """Return the sorted vocabulary of all blocks and the bags of all rows in its codes."""
        vocabulary, mappings = _core.unite([words for words, _ in self.blocks])
        return vocabulary, joined([tokens for _, tokens in self.blocks], mappings)


@cache
def english() -> Vocabulary:
    """Return scikit-learn's English stop words, sorted."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return tuple(sorted(ENGLISH_STOP_WORDS))


def checked(options: Text) -> Text:
    """Return the options; raise a ValueError that names the first invalid one."""
    shortest, longest = options.ngrams
    if not 1 <= shortest <= longest:
        raise ValueError(f"ngrams={options.ngrams!r} must be (shortest, longest), 1 <= shortest <= longest")
    _check_limits(options.min_df, options.max_df)
    if options.norm not in ("l2", None):
        raise ValueError(f"norm={options.norm!r} must be 'l2' or None")
    if options.hashing is not None and not 1 <= options.hashing <= MAX_BUCKETS:
        raise ValueError(f"hashing={options.hashing!r} must be a number of buckets from 1 to {MAX_BUCKETS}")
    if isinstance(options.stop_words, str) and options.stop_words != "english":
        raise ValueError(f"stop_words={options.stop_words!r} must be a tuple of words, 'english' or None")
    return options


def _check_limits(low: float, high: float) -> None:
    for name, value in (("min_df", low), ("max_df", high)):
        if not (value >= 0 if isinstance(value, Integral) else 0 <= value <= 1):
            raise ValueError(f"{name}={value!r} must be a number of documents or a proportion (float) from 0 to 1")
    if isinstance(low, Integral) == isinstance(high, Integral) and high < low:
        raise ValueError(f"max_df={high!r} is below min_df={low!r}, so no word can be kept; swap them")


def _encode_block(documents: list, first_row: int, options: Text, words: _core.Words | None) -> Tokens:
    block, missing = texts(documents, first_row, options.lowercase)
    if words is None:
        return _tokens(_core.hash_tokens(block, _reading(block, options), options.hashing or 1), missing)
    return _tokens(_core.encode_tokens(block, _reading(block, options), words), missing)


def _tokens(arrays: tuple[np.ndarray, np.ndarray, np.ndarray], missing: np.ndarray) -> Tokens:
    return Tokens(*arrays, missing)


def _reading(block: list[str | bytes | None], options: Text) -> _core.Reading:
    stop_words = english() if options.stop_words == "english" else options.stop_words or ()
    return reading(block, stop_words, options.ngrams, options.lowercase)


@lru_cache(maxsize=4)
def _buckets(n_buckets: int) -> Vocabulary:
    return tuple(f"#{bucket}" for bucket in range(n_buckets))


class DocumentFrequency(msgspec.Struct, frozen=True):
    """Weighted number of documents in which each word occurs; a statistic that supports addition and subtraction.

    A word whose documents were all subtracted stays with frequency 0 until `within_limits` drops it.
    """

    vocabulary: Vocabulary
    documents: np.ndarray  # float64 [n_words]
    total: float  # weight of all documents that are not missing

    @classmethod
    def of(cls, vocabulary: Vocabulary, tokens: Tokens, weight: np.ndarray | None = None) -> DocumentFrequency:
        """Return the document frequencies of these rows, weighted if `weight` is given.

        >>> from baytree.data.encoding.bag_of_words import count
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
        vocabulary, frequencies = self.vocabulary, (self.documents, other.documents)
        if vocabulary != other.vocabulary:  # partitions of one table share their vocabulary
            vocabulary, (ours, theirs) = union([self.vocabulary, other.vocabulary])
            frequencies = np.zeros((2, len(vocabulary)))
            frequencies[0, ours], frequencies[1, theirs] = self.documents, other.documents
        return DocumentFrequency(vocabulary, operation(*frequencies), float(operation(self.total, other.total)))


def within_limits(frequency: DocumentFrequency, options: Text) -> np.ndarray:
    """Return which words occur in at least `min_df` and at most `max_df` documents: bool [n_words].

    An int is a number of documents, a float a proportion of them. Words that occur in no document are dropped; `min_df` <= 1
    (int) keeps every other word however small the weight of its documents.
    """
    low, high = (_documents(limit, frequency.total) for limit in (options.min_df, options.max_df))
    frequencies = frequency.documents
    is_any = isinstance(options.min_df, Integral) and options.min_df <= 1
    return (frequencies > 0) & (is_any | (frequencies >= low)) & (frequencies <= high)


def inverse_frequency(frequency: DocumentFrequency) -> np.ndarray:
    """Return the smoothed inverse document frequency of scikit-learn, log((1 + n) / (1 + df)) + 1: float64 [n_words].

    >>> from baytree.data.encoding.bag_of_words import count
    >>> inverse_frequency(DocumentFrequency.of(*count(["cat dog", "cat"]))).round(4).tolist()
    [1.0, 1.4055]
    """
    return np.log((1 + frequency.total) / (1 + frequency.documents)) + 1


def _documents(limit: float, total: float) -> float:
    return limit if isinstance(limit, Integral) else limit * total
