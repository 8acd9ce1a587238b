"""Levels of new rows beside those of training: the same, the same but for case, blanks or `1.0` for `1`, or new."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from baytree.table.frames import Codes
from baytree.table.reading.forms import Form, is_nothing, truths
from baytree.table.reading.words import plain
from baytree.table.schema import Column


class Matched(NamedTuple):
    """The code of each level, −1 where it is missing, and what is to be told of those that are not as in training."""

    recode: np.ndarray  # int32 [n_levels + 1], the last for missing values
    alike: tuple[tuple[Any, Any], ...]  # as written, and as in training
    new: tuple[Any, ...]
    n_new: int  # cells
    is_any_known: bool


def matched(codes: Codes, recode: np.ndarray, column: Column) -> Matched:
    """What becomes of levels that are not written as in training; `recode` has the codes of those that are."""
    count = np.bincount(codes.codes[codes.codes >= 0], minlength=len(codes.levels))
    strange = [k for k in np.flatnonzero(recode[:-1] < 0).tolist() if count[k]]
    strange = [k for k in strange if not (isinstance(codes.levels[k], str) and is_nothing(codes.levels[k]))]
    look = _truth if column.is_boolean else _look
    place = _by_look(column.levels, look) if strange else {}
    found = {k: place[seen] for k in strange if (seen := look(codes.levels[k])) in place}
    recode = recode.copy()
    recode[list(found)] = list(found.values())
    new = [k for k in strange if k not in found]
    alike = tuple((codes.levels[k], column.levels[code]) for k, code in found.items())
    n_new = int(count[new].sum())
    return Matched(recode, alike, tuple(codes.levels[k] for k in new), n_new, bool((recode[:-1] >= 0).any()))


def _by_look(levels: Iterable[Any], look: Callable[[Any], str]) -> dict[str, int]:
    """The code of each level by its look, without looks that several levels have."""
    place: dict[str, int] = {}
    for code, level in enumerate(levels):
        seen = look(level)
        place[seen] = -1 if seen in place else code
    return {seen: code for seen, code in place.items() if code >= 0}


def _truth(level: Any) -> str:
    """`yes` or `no` for any spelling of them, `true`, 1 and False among them; the look of any other level."""
    word = truths([str(level)])[0]
    return word if word in ("yes", "no") else _look(level)


def _look(level: Any) -> str:
    """A level without case and blanks; a number as one that is written without a needless fraction."""
    text = plain(str(level))
    try:
        return f"{float(text):.17g}" if "_" not in text else text
    except ValueError:
        return text


def levels_of(codes: Codes, form: Form | None) -> Codes:
    """Codes whose strings are in one spelling where the form asks for it."""
    if form is None or form.kind != "truth":
        return codes
    spelt = [level if not isinstance(level, str) else truths([level])[0] for level in codes.levels]
    place = {level: k for k, level in enumerate(dict.fromkeys(spelt))}
    return Codes(np.array([*(place[level] for level in spelt), -1], np.int32)[codes.codes], tuple(place))
