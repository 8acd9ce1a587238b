"""Note: record of one decision or observation when a table was read, shown to the user."""

from __future__ import annotations

import re

import msgspec

# declarations in `schema=`, each also a command-line option
_SCHEMA_OPTIONS = ("nominal", "numeric", "date", "text", "keep", "drop")


class Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One decision or observation when a table was read: where, what, how many cells, and how to change it.

    Parameters
    ----------
    column : str
        Name of the column; empty for a note on the whole table.
    done : str
        What was done or observed.
    cells : int, default=0
        Number of cells concerned.
    option : str, default=''
        How to change it: the name of a command-line option that is also a declaration in `schema=` or a parameter of
        `bt.read`.
    value : str, default=''
        Value for the option, if that is not the column.
    is_doubtful : bool, default=False
        Whether a user might decide otherwise; the note is then also issued as a warning.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"size": ["1,5", "2,5", "3,25"], "y": ["a", "b", "a"]}
    >>> print(bt.CARTClassifier().fit(rows, "y").schema_.notes[0])
    column 'size': a number with a decimal comma, such as '1,5' (3 cells); to change it, declare schema={'size': 'nominal'}
    """

    column: str
    done: str
    cells: int = 0
    option: str = ""
    value: str = ""
    is_doubtful: bool = False

    def __str__(self) -> str:
        position = f"column {self.column!r}{' ' if self.done.startswith('is ') else ': '}" if self.column else ""
        return f"{position}{self.done}{self._counted()}{self._remedy()}"

    def _counted(self) -> str:
        return f" ({self.cells:,} {'cell' if self.cells == 1 else 'cells'})" if self.cells else ""

    def _remedy(self) -> str:
        if not self.option:
            return ""
        if self.option in _SCHEMA_OPTIONS:
            return f"; to change it, declare schema={{{self.column!r}: {(self.value or self.option)!r}}}"
        value = self.value if self.option == "header" else repr(self.value)
        return f"; to change it, {'give' if self.option == 'task' else 'read with'} {self.option}={value}"


DECLARED_LEFT_OUT = "is left out, as declared"

_IDENTIFIER = ", so it only identifies rows"


def left_out(reason: str, is_identifier: bool = False) -> str:
    """Return the text of a note on a column that is left out; `left_out_reason` is its inverse."""
    return f"is left out: {reason}{_IDENTIFIER if is_identifier else ''}"


def left_out_reason(note: Note) -> str:
    """Return the reason, without examples, why a column is left out; "" if the note is on something else.

    Model files store notes as text only, so that the reason is parsed.

    >>> left_out_reason(Note("id", left_out("all its strings differ, such as 'a1'", is_identifier=True)))
    'all its strings differ'
    """
    found = re.match("is left out[:,] (.*)", note.done, re.DOTALL)
    return re.sub(", such as .*", "", found[1].removesuffix(_IDENTIFIER)) if found else ""
