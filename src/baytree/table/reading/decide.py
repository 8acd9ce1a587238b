"""From what the strings of a column look like to how they are read, and what is to be told of it."""

from __future__ import annotations

from baytree.table.notes import Note
from baytree.table.reading.decision import FEW, Decision, Habits
from baytree.table.reading.evidence import Evidence
from baytree.table.reading.of_dates import decide_clock, decide_date
from baytree.table.reading.of_numbers import decide_number

MANY_NUMBERS = 10  # different values, from which on a column with a few words is one of numbers


def decide(name: str, seen: Evidence, n_levels: int, habits: Habits) -> Decision:
    """How the column is read; its levels are needed for nothing but their number."""
    known = seen.n_known - seen.n_missing
    total = known - seen.n_no_number
    if total <= 0:
        return Decision(None)
    if seen.styles.get("code") and seen.n_numbers + seen.styles["code"] > (1 - FEW) * total:
        return Decision(None, (_code(name, seen),))
    for n, choose in (
        (seen.n_numbers, decide_number),
        (seen.n_dates, decide_date),
        (seen.other.get("clock", 0), decide_clock),
    ):
        strangers = total - n
        if n and strangers <= FEW * total and (not strangers or n_levels > MANY_NUMBERS):
            return choose(name, seen, habits, strangers)
    return Decision(None, tuple(_half(name, seen, total)))


def _code(name: str, seen: Evidence) -> Note:
    text = seen.first("code")
    done = f"digits that are a code, such as {text!r}, are kept as they are (nominal)"
    return Note(name, done, seen.styles["code"], "numeric")


def _half(name: str, seen: Evidence, total: int) -> list[Note]:
    """A column of words in which some are numbers or dates."""
    for n, what, looks in (
        (seen.n_numbers, "numbers", tuple(seen.styles)),
        (seen.n_dates, "dates", tuple(seen.dates)),
    ):
        if n > FEW * total:
            other = seen.first("word", "text", "email", "clock") or seen.first(*seen.dates) or seen.first(*seen.styles)
            some = f"{n:,} of {total:,} cells are {what}, such as {seen.first(*looks)!r}"
            done = f"{some}, the others not, such as {other!r}: nominal"
            return [Note(name, done, n, "numeric" if what == "numbers" else "date", is_doubtful=True)]
    return []
