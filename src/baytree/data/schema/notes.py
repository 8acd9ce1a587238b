"""What a person should be told about how a table was read: one record for each thing that was done."""

from __future__ import annotations

import msgspec

_OF_COLUMNS = ("nominal", "numeric", "date", "text", "keep", "drop")  # what `schema=` and an option of the same name declare


class Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that was done with a table, or seen in it: where, what, how often, and what changes it.

    Parameters
    ----------
    column : str
        The column; empty where it is about the whole table.
    done : str
        What was done or seen.
    cells : int, default=0
        How many cells it concerns.
    option : str, default=''
        What changes it: the name of an option of the command line, and of a declaration in `schema=` or a parameter of
        `bt.read`.
    value : str, default=''
        What to give the option where that is not the column.
    is_doubtful : bool, default=False
        Whether a person might have decided otherwise; then it is also a warning.

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
        place = f"column {self.column!r}{' ' if self.done.startswith('is ') else ': '}" if self.column else ""
        return f"{place}{self.done}{self._counted()}{self._remedy()}"

    def _counted(self) -> str:
        return f" ({self.cells:,} {'cell' if self.cells == 1 else 'cells'})" if self.cells else ""

    def _remedy(self) -> str:
        if not self.option:
            return ""
        if self.option in _OF_COLUMNS:
            return f"; to change it, declare schema={{{self.column!r}: {(self.value or self.option)!r}}}"
        value = self.value if self.option == "header" else repr(self.value)
        return f"; to change it, {'give' if self.option == 'task' else 'read with'} {self.option}={value}"
