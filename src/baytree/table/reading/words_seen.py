"""What is told of a column of words: levels that look alike, words for no value, levels that hardly ever repeat."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from baytree.table.notes import Note
from baytree.table.reading.words import plain

if TYPE_CHECKING:
    from baytree.table.reading.evidence import Evidence

MOST_COMPARED = 100_000  # levels that are compared with each other
FEWEST = 20  # cells from which on many levels are worth a word


def level_notes(name: str, seen: Evidence, levels: Collection[str], declared: str) -> list[Note]:
    """The notes on the levels of a nominal column."""
    notes = []
    if declared != "keep" and any(seen.nothing):
        listed = ", ".join(repr(word) for word in sorted(seen.nothing) if word)
        cells = sum(n for word, n in seen.nothing.items() if word)
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


def _count(name: str, seen: Evidence, levels: Collection[str]) -> list[Note]:
    n = seen.n_known - seen.n_missing
    if len(levels) == 1 and n > 1:
        return [Note(name, f"every value is {next(iter(levels))!r}: nothing can be learnt from it", n, "drop")]
    if n >= FEWEST and 2 * len(levels) > n:
        return [Note(name, f"{len(levels):,} different words in {n:,} cells are taken for levels", n, "drop")]
    if len(levels) == n >= 5:
        return [Note(name, "all values differ, as if they only identified rows; they are taken for levels", n, "drop")]
    return []
