"""What is decided of a column of strings, and by which habits of its table."""

from __future__ import annotations

from typing import NamedTuple

from baytree.table.notes import Note
from baytree.table.reading.evidence import Evidence
from baytree.table.reading.forms import Form
from baytree.table.reading.numerals import BY_COMMA, BY_DOT

FEW = 0.1  # of the cells: as many may be no number in a column of numbers


class Decision(NamedTuple):
    """How a column of strings is read: as a number, a date, a time, or (None) as words; and what is told."""

    form: Form | None
    notes: tuple[Note, ...] = ()


class Habits(NamedTuple):
    """What the columns of a table say together, or its reader declares: the decimal mark, and the order of dates."""

    decimal: str = ""  # "." or ","; empty where nothing tells
    order: str = ""
    is_declared: bool = False
    why: str = "as in other columns of this table"

    @classmethod
    def of(cls, columns: list[Evidence], declared: str = "") -> Habits:
        """What the columns of a table have in common."""
        commas = sum(column.styles.get(style, 0) for column in columns for style in BY_COMMA)
        dots = sum(column.styles.get(style, 0) for column in columns for style in BY_DOT)
        days, months = (sum(column.orders.get(order, 0) for column in columns) for order in ("dmy", "mdy"))
        decimal = declared or ("," if commas > dots else "." if dots else "")
        order = "dmy" if days > months else "mdy" if months > days else ""
        return cls(decimal, order or ("dmy" if commas > dots or declared == "," else ""), bool(declared))


def words_of_nothing(name: str, seen: Evidence, strangers: int) -> list[Note]:
    notes = []
    words = {**seen.nothing, **seen.no_number}
    if any(words):
        listed = ", ".join(repr(word) for word in sorted(words) if word)
        notes.append(Note(name, f"{listed} stands for a missing value", sum(n for w, n in words.items() if w), "nominal"))
    if strangers:
        text = seen.first("word", "text", "clock", "code", *seen.dates, *seen.styles)
        done = f"{text!r} and the like cannot be read here and are missing"
        notes.append(Note(name, done, strangers, "nominal", is_doubtful=True))
    return notes
