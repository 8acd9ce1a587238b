"""An explanation to be read: lines of evidence with their amounts, and bars that compare them."""

from __future__ import annotations

from math import isfinite

import msgspec

_BAR = 20  # characters of the longest bar


class Ledger(msgspec.Struct, frozen=True):
    """An answer, and what adds up to it."""

    answer: str
    title: str  # what is added up
    names: tuple[tuple[str, str], ...]  # column and value of each line
    start: float
    amounts: tuple[float, ...]  # of the lines
    total: float
    is_number: bool  # the amounts add up to the answer itself


def to_text(ledger: Ledger) -> str:
    """The answer and, below it, a line for each amount."""
    names = ["start", *(f"{column} = {value}" for column, value in ledger.names), "sum"]
    width = max(map(len, names))
    amounts = _numbers(ledger) if ledger.is_number else _effects(ledger)
    head = [] if ledger.is_number else [f"{'':<{width}}  {ledger.title}"]
    lines = [f"{name:<{width}}  {amount}".rstrip() for name, amount in zip(names, amounts, strict=True)]
    return "\n".join([ledger.answer, "", *head, *lines])


def lengths(amounts: tuple[float, ...], longest: int) -> list[int]:
    """The length of each amount's bar; what is not finite is as long as the longest."""
    largest = max((abs(amount) for amount in amounts if isfinite(amount)), default=0.0) or 1.0
    return [round(longest * abs(amount) / largest) if isfinite(amount) else longest for amount in amounts]


def _numbers(ledger: Ledger) -> list[str]:
    """The start and the sum are numbers of the target's own kind; bars compare what lies between."""
    bars = zip(ledger.amounts, lengths(ledger.amounts, _BAR), strict=True)
    lines = [f"{amount:+12.6g}  {_bar(amount, length)}" for amount, length in bars]
    return [f"{ledger.start:12.6g}", *lines, f"{ledger.total:12.6g}"]


def _effects(ledger: Ledger) -> list[str]:
    amounts = (ledger.start, *ledger.amounts)
    bars = zip(amounts, lengths(amounts, _BAR), strict=True)
    return [*(f"{amount:+9.3f}  {_bar(amount, length)}" for amount, length in bars), f"{ledger.total:+9.3f}"]


def _bar(amount: float, length: int) -> str:
    return ("+" if amount > 0 else "−") * length
