"""The characters of words in C: which ones these are and what they are in lower case, as this Python has them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from baytree.table.text.documents import word_characters

_EVERYTHING = range(0x110000)


@cache
def tables() -> str:
    """Constant arrays: letters, what comes before a final sigma, and runs of capital letters."""
    ranges = {"letters": _letters(), "cased": _found(" {}\u03a3") - _ignored(), "ignored": _ignored()}
    lines = [_array(f"uint32_t model_{name}", "", map(str, _ends(codes))) for name, codes in ranges.items()]
    runs = ("{" + ", ".join(map(str, run)) + "}" for run in _runs())
    return "\n".join([*lines, _array("int32_t model_lowered", "[4]", runs)])


def _array(name: str, inner: str, values: Iterator[str]) -> str:
    return f"static const {name}[]{inner} = {{{', '.join(values)}}};"


def _letters() -> set[int]:
    return set(np.flatnonzero(np.unpackbits(word_characters(), bitorder="little")).tolist())


@cache
def _ignored() -> set[int]:
    """Characters that a capital sigma does not see: one before them decides whether it is final."""
    return _found("a{}\u03a3") - _found(" {}\u03a3")


@cache
def _found(text: str) -> set[int]:
    """The characters after which, in a text, Python writes a final sigma."""
    before, after = text.split("{}")
    return {c for c in _EVERYTHING if (before + chr(c) + after).lower().endswith("\u03c2")}


def _ends(codes: set[int]) -> list[int]:
    """The code points at which ranges begin and end, in turn."""
    return sorted(codes ^ {c + 1 for c in codes})


def _runs() -> Iterator[tuple[int, int, int, int]]:
    """Capital letters in runs: the first, the last, the step from one to the next, and how far away their lower case is."""
    lowered = [(c, chr(c).lower()) for c in _EVERYTHING]
    moved = [(c, ord(small) - c) for c, small in lowered if len(small) == 1 and ord(small) != c]
    first, last, step, change = moved[0][0], moved[0][0], 1, moved[0][1]
    for c, by in moved[1:]:
        gap = c - last
        if by == change and gap in ((1, 2) if first == last else (step,)):
            last, step = c, gap
            continue
        yield first, last, step, change
        first, last, step, change = c, c, 1, by
    yield first, last, step, change
