"""Prepare documents for the tokenizer of the core: split into blocks, encode, tables of words and word characters.

ASCII documents are passed on as they are (the core lower-cases them), others as lower-cased UTF-8. Blocks run in parallel.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import TypeVar

import numpy as np

from baytree import _core
from baytree.data.frames.numbers import SECRET
from baytree.parallel.threads import S, map_ordered, sum_in_order

Part = TypeVar("Part")

Documents = Sequence[str | None] | np.ndarray  # or a string column of any library

_BLOCK = 256, 16384  # min and max rows: enough to share a vocabulary, few enough to react to Ctrl-C

_NO_CHARACTERS = np.zeros(0, np.uint8)


def each_block(work: Callable[[list, int], Part], documents: Documents, n_threads: int | None) -> list[Part]:
    """Return `work(block, first_row)` for blocks of documents, in row order."""
    n_threads = n_threads or os.cpu_count() or 1
    size = int(np.clip(-(-len(documents) // (2 * n_threads)), *_BLOCK))
    first_rows = range(0, max(len(documents), 1), size)

    def on_block(first_row: int) -> Part:
        return work(_listed(documents, slice(first_row, first_row + size)), first_row)

    return map_ordered(on_block, first_rows, n_threads)


def total(observe: Callable[[list, int], S], documents: Documents, n_threads: int | None) -> S:
    """Return the sum of `observe(block, first_row)` over blocks of documents, in row order."""
    return sum_in_order(each_block(observe, documents, n_threads))


def texts(documents: list, first_row: int, lowercase: bool) -> tuple[list[str | bytes | None], np.ndarray]:
    """Return the documents for the core (str, UTF-8 bytes or None) and which are missing: bool [n_documents]."""
    texts = [
        text if type(text) is str and text.isascii() else _encoded(text, row, lowercase)
        for row, text in enumerate(documents, first_row)
    ]
    return texts, np.fromiter((text is None for text in texts), bool, len(texts))


def reading(
    texts: list[str | bytes | None], stop_words: Sequence[str], ngrams: tuple[int, int], lowercase: bool
) -> _core.Reading:
    """Return the tokenizer settings for these texts; the table of word characters is only built for non-ASCII texts."""
    characters = word_characters() if any(type(text) is bytes for text in texts) else _NO_CHARACTERS
    return _core.Reading(characters, lookup(stop_words), *ngrams, lowercase, SECRET)


def lookup(words: Sequence[str]) -> _core.Words:
    """Return the hash table from words to their indices, cached by identity of the tuple."""
    # tuple() returns a tuple unchanged, so it hits the cache; a list is copied, since it may change
    return _lookup(_TupleIdentity(tuple(words)))


def _listed(documents: Documents, rows: slice) -> list:
    block = documents.iloc[rows] if hasattr(documents, "iloc") else documents[rows]
    for method in ("to_list", "tolist", "to_pylist"):
        if hasattr(block, method):
            return getattr(block, method)()
    return list(block)


def _encoded(text: object, row: int, lowercase: bool) -> bytes | None:
    if isinstance(text, str):
        return _utf8(text.lower() if lowercase else text)
    if text is None or type(text).__name__ == "NAType" or text != text:
        return None
    raise ValueError(f"row {row} of a text column is {text!r:.60}, which is not a string; convert the column to strings")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@cache
def word_characters() -> np.ndarray:
    r"""Return one bit per code point: whether this Python's `\w` matches it; uint8 [0x110000 / 8]."""
    everything = np.arange(0x110000, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    is_word = np.zeros(0x110000, bool)
    for run in re.finditer(r"\w+", everything):
        is_word[run.start() : run.end()] = True
    return np.packbits(is_word, bitorder="little")


class _TupleIdentity:
    """Cache key of a tuple by identity, so that a lookup does not hash all of its words."""

    def __init__(self, words: tuple[str, ...]):
        self.words = words

    def __hash__(self) -> int:
        return id(self.words)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _TupleIdentity) and self.words is other.words


@lru_cache(maxsize=16)
def _lookup(vocabulary: _TupleIdentity) -> _core.Words:
    return _core.Words([_utf8(word) for word in vocabulary.words], SECRET)
