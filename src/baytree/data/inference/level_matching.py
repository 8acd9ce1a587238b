"""Match levels of new rows to those of training, and describe the levels of a nominal column in notes.

A level matches exactly, or up to case, blanks and number format (`1.0` for `1`); otherwise it is new.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from baytree.data.frames.numbers import Codes
from baytree.data.parsing.string_format import StringFormat, is_missing_token, normalize_booleans
from baytree.data.parsing.vocabulary import plain
from baytree.data.schema.column import Column
from baytree.data.schema.notes import Note

if TYPE_CHECKING:
    from baytree.data.inference.evidence import StringEvidence


class LevelMatch(NamedTuple):
    """Code of each level (−1 for missing), with the levels that are not written as in training."""

    recode: np.ndarray  # int32 [n_levels + 1]; the last is for missing values
    respelled: tuple[tuple[Any, Any], ...]  # (as written, as in training)
    new: tuple[Any, ...]
    n_new: int  # number of cells
    is_any_known: bool


def matched(codes: Codes, recode: np.ndarray, column: Column) -> LevelMatch:
    """Match the levels that are not written as in training; `recode` holds the codes of those that are."""
    count = np.bincount(codes.codes[codes.codes >= 0], minlength=len(codes.levels))
    unmatched = [k for k in np.flatnonzero(recode[:-1] < 0).tolist() if count[k]]
    unmatched = [k for k in unmatched if not (isinstance(codes.levels[k], str) and is_missing_token(codes.levels[k]))]
    normalize = _normalized_boolean if column.is_boolean else _normalized
    code_of = _codes_by_normalized(column.levels, normalize) if unmatched else {}
    code_of_unmatched = {k: code_of[normalized] for k in unmatched if (normalized := normalize(codes.levels[k])) in code_of}
    recode = recode.copy()
    recode[list(code_of_unmatched)] = list(code_of_unmatched.values())
    new = [k for k in unmatched if k not in code_of_unmatched]
    respelled = tuple((codes.levels[k], column.levels[code]) for k, code in code_of_unmatched.items())
    n_new = int(count[new].sum())
    return LevelMatch(recode, respelled, tuple(codes.levels[k] for k in new), n_new, bool((recode[:-1] >= 0).any()))


def _codes_by_normalized(levels: Iterable[Any], normalize: Callable[[Any], str]) -> dict[str, int]:
    """Return the code of each level by its normalized form, without forms shared by several levels."""
    code_of: dict[str, int] = {}
    for code, level in enumerate(levels):
        normalized = normalize(level)
        code_of[normalized] = -1 if normalized in code_of else code
    return {normalized: code for normalized, code in code_of.items() if code >= 0}


def _normalized_boolean(level: Any) -> str:
    """Return "yes" or "no" for any spelling of them (including true, 1 and False), else the normalized level."""
    word = normalize_booleans([str(level)])[0]
    return word if word in ("yes", "no") else _normalized(level)


def _normalized(level: Any) -> str:
    """Return a level without case and blanks, and a number without a superfluous fraction."""
    text = plain(str(level))
    try:
        return f"{float(text):.17g}" if "_" not in text else text
    except ValueError:
        return text


def levels_of(codes: Codes, form: StringFormat | None) -> Codes:
    """Return codes with booleans in one spelling if the format requires it; else unchanged."""
    if form is None or form.kind != "truth":
        return codes
    spellings = [level if not isinstance(level, str) else normalize_booleans([level])[0] for level in codes.levels]
    code_of = {level: k for k, level in enumerate(dict.fromkeys(spellings))}
    return Codes(np.array([*(code_of[level] for level in spellings), -1], np.int32)[codes.codes], tuple(code_of))


_MAX_COMPARED_LEVELS = 100_000  # more levels are not compared with each other, which bounds the time

# cells from which many distinct levels get a note, and levels that all differ; with fewer cells this is usual
_MIN_CELLS, _MIN_ALL_DISTINCT = 20, 5


def level_notes(
    name: str, evidence: StringEvidence, levels: Collection[str], keeps_tokens: bool, is_for_training: bool
) -> list[Note]:
    """Return the notes on the levels of a nominal column; those on what a model learns only if it is for training."""
    notes = []
    if not keeps_tokens and any(evidence.missing_tokens):
        listed = ", ".join(repr(word) for word in sorted(evidence.missing_tokens) if word)
        cells = sum(n for word, n in evidence.missing_tokens.items() if word)
        notes.append(Note(name, f"{listed} stands for a missing value", cells, "keep"))
    if evidence.no_number:
        word = min(evidence.no_number)
        notes.append(Note(name, f"{word!r} is treated as an ordinary level", evidence.n_no_number, "missing", word))
    if is_for_training and 2 * evidence.other.get("figures", 0) > evidence.n_known:
        message = f"{evidence.first('figures')!r} and similar strings are not numbers: they are treated as levels"
        notes.append(Note(name, message, evidence.other["figures"], "drop"))
    groups = similar_levels(levels)
    if groups:
        pairs = "; ".join(" and ".join(map(repr, group)) for group in groups[:3])
        message = f"levels that differ only in case or blanks are treated as different: {pairs}"
        notes.append(Note(name, message, 0, "drop", is_doubtful=True))
    return [*notes, *_count_notes(name, evidence, levels, is_for_training)]


def similar_levels(levels: Collection[object]) -> list[list[str]]:
    """Return groups of strings that differ only in case or blanks.

    >>> similar_levels(["yes", "Yes ", "no"])
    [['Yes ', 'yes']]
    """
    if len(levels) > _MAX_COMPARED_LEVELS:
        return []
    groups: dict[str, list[str]] = {}
    for level in levels:
        if isinstance(level, str):
            groups.setdefault(plain(level), []).append(level)
    return sorted(sorted(group) for group in groups.values() if len(group) > 1)


def _count_notes(name: str, evidence: StringEvidence, levels: Collection[str], is_for_training: bool) -> list[Note]:
    n = evidence.n_known - evidence.n_missing
    if len(levels) == 1 and n > 1:
        return [Note(name, f"every value is {next(iter(levels))!r}: nothing can be learnt from it", n, "drop")]
    if not is_for_training:
        return []
    if n >= _MIN_CELLS and 2 * len(levels) > n:
        return [Note(name, f"{len(levels):,} different words in {n:,} cells are treated as levels", n, "drop")]
    if len(levels) == n >= _MIN_ALL_DISTINCT:
        return [Note(name, "all values differ, as if they only identified rows; they are treated as levels", n, "drop")]
    return []
