"""An explanation to be read: lines of evidence with their amounts, and bars that compare them."""

from __future__ import annotations

from math import isfinite

import msgspec

from baytree.show.names import listed

_BAR = 20  # characters of the longest bar
_MOST = 6  # classes that are named


class Excluded(msgspec.Struct, frozen=True):
    """The classes that cannot be: by the start and by each line, by all of them together, and whether none is left."""

    by_line: tuple[tuple[object, ...], ...] = ()
    together: tuple[object, ...] = ()
    is_every: bool = False


class Ledger(msgspec.Struct, frozen=True):
    """An answer, and what adds up to it."""

    answer: str
    title: str  # what is added up
    names: tuple[str, ...]  # of the lines: a column and its value, or what was asked of it
    start: float
    amounts: tuple[float, ...]  # of the lines
    total: float
    is_number: bool  # the amounts add up to the answer itself
    excluded: Excluded = Excluded()


def to_text(ledger: Ledger) -> str:
    """The answer and, below it, a line for each amount."""
    names = ["start", *ledger.names, "sum"]
    width = max(map(len, names))
    amounts = _numbers(ledger) if ledger.is_number else _effects(ledger)
    head = [] if ledger.is_number else [f"{'':<{width}}  {ledger.title}"]
    lines = [f"{name:<{width}}  {amount}".rstrip() for name, amount in zip(names, amounts, strict=True)]
    return "\n".join([ledger.answer, "", *head, *lines, *notes(ledger)])


def told(ledger: Ledger) -> list[str]:
    """The amount of the start, of each line and of the sum; where it is no number, the classes that are excluded."""
    by_line = ledger.excluded.by_line or ((),) * (len(ledger.amounts) + 1)
    lines = zip((ledger.start, *ledger.amounts), by_line, strict=True)
    every = [_amount(amount, _excludes(classes)) for amount, classes in lines]
    left = "no class is left" if ledger.excluded.is_every else f"without {listed(ledger.excluded.together, _MOST)}"
    return [*every, f"{ledger.total:+9.3f}" if isfinite(ledger.total) else left]


def notes(ledger: Ledger) -> list[str]:
    """What follows where every class is excluded."""
    if not ledger.excluded.is_every:
        return []
    return [
        "every class is excluded by some value that it never had, so the answer is the shares of the classes alone;",
        "with estimate='bayes' and alpha=1 each level counts once more than it occurs, and none is impossible",
    ]


def lengths(amounts: tuple[float, ...], longest: int) -> list[int]:
    """The length of each amount's bar; what is no number has none."""
    largest = max((abs(amount) for amount in amounts if isfinite(amount)), default=0.0) or 1.0
    return [round(longest * abs(amount) / largest) if isfinite(amount) else 0 for amount in amounts]


def _numbers(ledger: Ledger) -> list[str]:
    """The start and the sum are numbers of the target's own kind; bars compare what lies between."""
    bars = zip(ledger.amounts, lengths(ledger.amounts, _BAR), strict=True)
    lines = [f"{amount:+12.6g}  {_bar(amount, length)}" for amount, length in bars]
    return [f"{ledger.start:12.6g}", *lines, f"{ledger.total:12.6g}"]


def _effects(ledger: Ledger) -> list[str]:
    amounts = (ledger.start, *ledger.amounts)
    *words, total = told(ledger)
    bars = zip(words, amounts, lengths(amounts, _BAR), strict=True)
    return [*(f"{word}  {_bar(amount, length)}" if length else word for word, amount, length in bars), total]


def _amount(amount: float, excludes: str) -> str:
    number = f"{amount:+9.3f}" if isfinite(amount) else ""
    return f"{number}  {excludes}" if number and excludes else number or excludes


def _excludes(classes: tuple[object, ...]) -> str:
    return f"excludes {listed(classes, _MOST)}" if classes else ""


def _bar(amount: float, length: int) -> str:
    return ("+" if amount > 0 else "−") * length
