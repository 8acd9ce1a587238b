"""Operations on bags of words (`Tokens`): concatenate rows, recode, merge vocabularies, weight entries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from baytree import _core
from baytree.data.encoding.table import Tokens

Vocabulary = tuple[str, ...]  # tokens in code order, sorted by code point


def joined(parts: Sequence[Tokens], mappings: Sequence[np.ndarray] | None = None) -> Tokens:
    """Concatenate the rows of all parts in shared codes.

    mappings[p], ascending int32, gives the shared codes of part p; without mappings the codes are already shared.
    """
    if len(parts) == 1 and mappings is None:
        return parts[0]
    ends = np.cumsum([0, *(len(tokens.code) for tokens in parts)])
    start = [tokens.start[1:] + end for tokens, end in zip(parts, ends[:-1], strict=True)]
    code = np.empty(ends[-1], np.int32)
    for p, tokens in enumerate(parts):
        part = code[ends[p] : ends[p + 1]]
        if mappings is None:
            part[:] = tokens.code
        else:
            _core.recode(tokens.code, mappings[p], part)
    return Tokens(
        np.concatenate([np.zeros(1, np.int64), *start]),
        code,
        np.concatenate([np.zeros(0), *(tokens.count for tokens in parts)]),
        np.concatenate([np.zeros(0, bool), *(tokens.missing for tokens in parts)]),
    )


def union(vocabularies: Sequence[Vocabulary]) -> tuple[Vocabulary, list[np.ndarray]]:
    """Return the sorted union of the vocabularies and, for each of them, the new codes of its words (int32).

    >>> union([("b",), ("a", "b")])
    (('a', 'b'), [array([1], dtype=int32), array([0, 1], dtype=int32)])
    """
    vocabulary = tuple(sorted(set().union(*vocabularies)))
    code = {word: i for i, word in enumerate(vocabulary)}
    return vocabulary, [np.fromiter(map(code.get, words), np.int32, len(words)) for words in vocabularies]


def recode(tokens: Tokens, mapping: np.ndarray) -> Tokens:
    """Replace code k by mapping[k]; drop entries where that is -1 and add up entries of a row that get the same code.

    >>> codes = np.array([0, 1], np.int32)
    >>> one_row = Tokens(np.array([0, 2]), codes, np.array([3.0, 4.0]), np.array([False]))
    >>> recode(one_row, np.array([-1, 5])).code.tolist(), recode(one_row, np.array([0, 0])).count.tolist()
    ([5], [7.0])
    """
    code = np.empty(len(tokens.code), np.int32)
    _core.recode(tokens.code, np.ascontiguousarray(mapping, np.int32), code)
    recoded = _select_entries(Tokens(tokens.start, code, tokens.count, tokens.missing), code >= 0)
    return recoded if _is_ascending(mapping) else _merge_duplicates(recoded)


def weighed(tokens: Tokens, scale: np.ndarray, is_unit: bool) -> np.ndarray:
    """Return count · scale of each entry, each row scaled to Euclidean length 1 if `is_unit`: float64 [n_entries].

    >>> one_row = Tokens(np.array([0, 2]), np.array([0, 1], np.int32), np.array([3.0, 2.0]), np.array([False]))
    >>> weighed(one_row, np.array([1.0, 2.0]), True).tolist()
    [0.6, 0.8]
    """
    if not is_unit and (scale == 1).all():
        return tokens.count
    weight = tokens.count * scale[tokens.code]
    if not is_unit:
        return weight
    row = row_of_entries(tokens)
    length = np.sqrt(np.bincount(row, weight * weight, minlength=len(tokens)))
    return weight / np.where(length > 0, length, 1.0)[row]


def row_of_entries(tokens: Tokens) -> np.ndarray:
    """Return the row of each entry: int64 [n_entries]."""
    return np.repeat(np.arange(len(tokens)), np.diff(tokens.start))


def _is_ascending(mapping: np.ndarray) -> bool:
    codes = mapping[mapping >= 0]
    return bool((codes[1:] > codes[:-1]).all())


def _select_entries(tokens: Tokens, mask: np.ndarray) -> Tokens:
    if mask.all():
        return tokens
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(mask, dtype=np.int64)])[tokens.start]
    return Tokens(start, tokens.code[mask], tokens.count[mask], tokens.missing)


def _merge_duplicates(tokens: Tokens) -> Tokens:
    """Sort the codes within each row and add up the counts of equal codes."""
    row = row_of_entries(tokens)
    order = np.lexsort((tokens.code, row))
    row, code = row[order], tokens.code[order]
    first = np.flatnonzero((np.diff(row, prepend=-1) != 0) | (np.diff(code, prepend=-1) != 0))
    count = np.add.reduceat(tokens.count[order], first) if len(first) else tokens.count
    start = np.searchsorted(row[first], np.arange(len(tokens) + 1))
    return Tokens(start, code[first], count, tokens.missing)
