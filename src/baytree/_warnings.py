"""Warnings and error hints: `BaytreeWarning`, `warn`, capture and replay of warnings across threads, "did you mean".

Warnings are attributed to the line of user code that called the library. Workers `capture` their warnings; the calling
thread issues them again with `emit`.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

_PACKAGE_FOLDER = os.path.dirname(__file__)  # os.path, because importing pathlib is slow (as ten of our modules)

MAX_LISTED_NAMES = 12  # known names that a message lists: about two lines of a terminal

_captured: ContextVar[list[tuple[str, type[Warning]]] | None] = ContextVar("kept", default=None)


class BaytreeWarning(UserWarning):
    """Warning about the table or the fit that the user should check.

    Examples
    --------
    >>> import warnings
    >>> import baytree as bt
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", bt.BaytreeWarning)  # a pipeline that wants to stop there
    ...     bt.JointDistribution().fit({"a": ["x", None], "y": [0, 1]}, "y")
    Traceback (most recent call last):
    baytree._warnings.BaytreeWarning: 1 row has a missing value and is left out of the joint table
    """


def did_you_mean(what: str, word: str, known: Iterable[str], *, is_shortened: bool = True) -> str:
    """Return the message for an unknown name, with the closest known name or a list of the known ones, shortened or whole.

    >>> did_you_mean("column", "agee", ["age", "sex"])
    "there is no column 'agee'; did you mean 'age'?"
    """
    import difflib  # only needed for errors; keeps imports at start fast

    known = list(known)
    close_matches = difflib.get_close_matches(word, known, 1) or [name for name in known if name.lower() == word.lower()]
    is_cut = is_shortened and len(known) > MAX_LISTED_NAMES
    listed = ", ".join([*known[:MAX_LISTED_NAMES], "..."] if is_cut else known)
    hint = f"did you mean {close_matches[0]!r}?" if close_matches else f"there is {listed or 'none'}"
    return f"there is no {what} {word!r}; {hint}"


def warn(message: str, category: type[Warning] = BaytreeWarning) -> None:
    """Issue a warning at the line that called into this library, or append it to the list of the active `capture`."""
    captured = _captured.get()
    if captured is not None:
        captured.append((message, category))
        return
    frame = _caller()
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, registry=registry)


@contextmanager
def capture() -> Iterator[list[tuple[str, type[Warning]]]]:
    """Collect warnings of this context in the yielded list instead of showing them.

    `warnings.catch_warnings` is not thread-safe; this uses a context variable.
    """
    captured: list[tuple[str, type[Warning]]] = []
    token = _captured.set(captured)
    try:
        yield captured
    finally:
        _captured.reset(token)


def emit(captured: list[tuple[str, type[Warning]]]) -> None:
    """Issue captured warnings, each distinct one once."""
    for message, category in dict.fromkeys(captured):
        warn(message, category)


def renamed(old: str, new: str) -> Any:
    """A deprecated attribute `old` that returns attribute `new` and warns."""

    def read(self: object) -> object:
        warn(f"{type(self).__name__}.{old} is called {new} now", DeprecationWarning)
        return getattr(self, new)

    read.__doc__ = f"Deprecated name of `{new}`."
    return property(read)


def _caller() -> FrameType:
    """Return the innermost frame outside this library, or the outermost frame."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE_FOLDER):
        frame = frame.f_back
    return frame
