"""Levels of new rows beside those of training: the same, the same but for case, blanks or `1.0` for `1`, or new.

What is told of a column of words: levels that look alike, words for no value, levels that hardly ever repeat.
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
    """The code of each level, −1 where it is missing, and what is to be told of those that are not as in training."""

    recode: np.ndarray  # int32 [n_levels + 1], the last for missing values
    alike: tuple[tuple[Any, Any], ...]  # as written, and as in training
    new: tuple[Any, ...]
    n_new: int  # cells
    is_any_known: bool


def matched(codes: Codes, recode: np.ndarray, column: Column) -> LevelMatch:
    """What becomes of levels that are not written as in training; `recode` has the codes of those that are."""
    count = np.bincount(codes.codes[codes.codes >= 0], minlength=len(codes.levels))
    strange = [k for k in np.flatnonzero(recode[:-1] < 0).tolist() if count[k]]
    strange = [k for k in strange if not (isinstance(codes.levels[k], str) and is_missing_token(codes.levels[k]))]
    look = _truth if column.is_boolean else _look
    place = _by_look(column.levels, look) if strange else {}
    found = {k: place[seen] for k in strange if (seen := look(codes.levels[k])) in place}
    recode = recode.copy()
    recode[list(found)] = list(found.values())
    new = [k for k in strange if k not in found]
    alike = tuple((codes.levels[k], column.levels[code]) for k, code in found.items())
    n_new = int(count[new].sum())
    return LevelMatch(recode, alike, tuple(codes.levels[k] for k in new), n_new, bool((recode[:-1] >= 0).any()))


def _by_look(levels: Iterable[Any], look: Callable[[Any], str]) -> dict[str, int]:
    """The code of each level by its look, without looks that several levels have."""
    place: dict[str, int] = {}
    for code, level in enumerate(levels):
        seen = look(level)
        place[seen] = -1 if seen in place else code
    return {seen: code for seen, code in place.items() if code >= 0}


def _truth(level: Any) -> str:
    """`yes` or `no` for any spelling of them, `true`, 1 and False among them; the look of any other level."""
    word = normalize_booleans([str(level)])[0]
    return word if word in ("yes", "no") else _look(level)


def _look(level: Any) -> str:
    """A level without case and blanks; a number as one that is written without a needless fraction."""
    text = plain(str(level))
    try:
        return f"{float(text):.17g}" if "_" not in text else text
    except ValueError:
        return text


def levels_of(codes: Codes, form: StringFormat | None) -> Codes:
    """Codes whose strings are in one spelling where the form asks for it."""
    if form is None or form.kind != "truth":
        return codes
    spelt = [level if not isinstance(level, str) else normalize_booleans([level])[0] for level in codes.levels]
    place = {level: k for k, level in enumerate(dict.fromkeys(spelt))}
    return Codes(np.array([*(place[level] for level in spelt), -1], np.int32)[codes.codes], tuple(place))


MOST_COMPARED = 100_000  # levels that are compared with each other

FEWEST = 20  # cells from which on many levels are worth a word


def level_notes(name: str, seen: StringEvidence, levels: Collection[str], declared: str) -> list[Note]:
    """The notes on the levels of a nominal column."""
    notes = []
    if declared != "keep" and any(seen.missing_tokens):
        listed = ", ".join(repr(word) for word in sorted(seen.missing_tokens) if word)
        cells = sum(n for word, n in seen.missing_tokens.items() if word)
        notes.append(Note(name, f"{listed} stands for a missing value", cells, "keep"))
    if seen.no_number:
        word = min(seen.no_number)
        notes.append(Note(name, f"{word!r} is taken for a level like any other", seen.n_no_number, "missing", word))
    if 2 * seen.other.get("figures", 0) > seen.n_known:
        done = f"{seen.first('figures')!r} and the like are no numbers: they are taken for levels"
        notes.append(Note(name, done, seen.other["figures"], "drop"))
    alike = look_alikes(levels)
    if alike:
        pairs = "; ".join(" and ".join(map(repr, group)) for group in alike[:3])
        done = f"levels that differ only in case or blanks are kept apart: {pairs}"
        notes.append(Note(name, done, 0, "drop", is_doubtful=True))
    return [*notes, *_count(name, seen, levels)]


def look_alikes(levels: Collection[object]) -> list[list[str]]:
    """Groups of strings that differ only in case or blanks.

    >>> look_alikes(["yes", "Yes ", "no"])
    [['Yes ', 'yes']]
    """
    if len(levels) > MOST_COMPARED:
        return []
    groups: dict[str, list[str]] = {}
    for level in levels:
        if isinstance(level, str):
            groups.setdefault(plain(level), []).append(level)
    return sorted(sorted(group) for group in groups.values() if len(group) > 1)


def _count(name: str, seen: StringEvidence, levels: Collection[str]) -> list[Note]:
    n = seen.n_known - seen.n_missing
    if len(levels) == 1 and n > 1:
        return [Note(name, f"every value is {next(iter(levels))!r}: nothing can be learnt from it", n, "drop")]
    if n >= FEWEST and 2 * len(levels) > n:
        return [Note(name, f"{len(levels):,} different words in {n:,} cells are taken for levels", n, "drop")]
    if len(levels) == n >= 5:
        return [Note(name, "all values differ, as if they only identified rows; they are taken for levels", n, "drop")]
    return []
