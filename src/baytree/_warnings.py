"""What a user is told while work goes on: warnings of one class, at the user's own line, also from threads."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

_HERE = os.path.dirname(__file__)  # pathlib takes as long to import as ten files of ours

MOST_LISTED = 12  # names in a sentence

_kept: ContextVar[list[tuple[str, type[Warning]]] | None] = ContextVar("kept", default=None)


class BaytreeWarning(UserWarning):
    """What baytree warns of: something about the table or the fit that a person should know.

    Examples
    --------
    >>> import warnings
    >>> import baytree as bt
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", bt.BaytreeWarning)  # a pipeline that wants to stop there
    ...     bt.JointDistribution().fit({"a": ["x", None], "y": [0, 1]}, "y")
    Traceback (most recent call last):
    baytree._warnings.BaytreeWarning: 1 row misses a value and is left out of the joint table
    """


def did_you_mean(what: str, word: str, known: Iterable[str]) -> str:
    """The sentence about a word that is not known, with the one that was probably meant.

    >>> did_you_mean("column", "agee", ["age", "sex"])
    "there is no column 'agee'; did you mean 'age'?"
    """
    import difflib  # a wrong word is rare, and a start is not

    known = list(known)
    near = difflib.get_close_matches(word, known, 1) or [name for name in known if name.lower() == word.lower()]
    listed = ", ".join([*known[:MOST_LISTED], *(["..."] if len(known) > MOST_LISTED else [])])
    hint = f"did you mean {near[0]!r}?" if near else f"there is {listed or 'none'}"
    return f"there is no {what} {word!r}; {hint}"


def warn(message: str, category: type[Warning] = BaytreeWarning) -> None:
    """Warns at the line that called into this library, or keeps the message where somebody keeps them."""
    kept = _kept.get()
    if kept is not None:
        kept.append((message, category))
        return
    frame = _caller()
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, registry=registry)


@contextmanager
def capture() -> Iterator[list[tuple[str, type[Warning]]]]:
    """While it lasts, messages are kept in this list instead of being shown: `catch_warnings` is not for threads."""
    kept: list[tuple[str, type[Warning]]] = []
    before = _kept.set(kept)
    try:
        yield kept
    finally:
        _kept.reset(before)


def emit(kept: list[tuple[str, type[Warning]]]) -> None:
    """Warns of what was kept, each message once."""
    for message, category in dict.fromkeys(kept):
        warn(message, category)


def _caller() -> FrameType:
    """The innermost frame outside this library, or the outermost one."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return frame
