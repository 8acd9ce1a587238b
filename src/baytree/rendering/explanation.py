"""Explanation of a prediction as text or HTML: a line per column with its contribution and a bar."""

from __future__ import annotations

from math import isfinite
from xml.etree import ElementTree as xml

import msgspec

from baytree.display.results import CAPTION, CELL, NUMBER, RULE, TABLE
from baytree.display.terminal import escaped, listed

_BAR = 20  # characters of the longest bar

_MAX_CLASSES = 6  # classes that are listed


class ExcludedClasses(msgspec.Struct, frozen=True):
    """Classes that are excluded: by the start and each line, by all of them together, and whether none is left."""

    by_line: tuple[tuple[object, ...], ...] = ()
    together: tuple[object, ...] = ()
    is_every: bool = False


class ExplanationTable(msgspec.Struct, frozen=True):
    """A prediction, and the contributions that sum to it."""

    answer: str
    title: str  # what is summed
    names: tuple[str, ...]  # of the lines: a column and its value or test
    start: float
    amounts: tuple[float, ...]  # of the lines
    total: float
    is_number: bool  # the sum is the prediction itself
    excluded: ExcludedClasses = ExcludedClasses()


def to_text(ledger: ExplanationTable) -> str:
    """Prediction, and a line per contribution below it."""
    names = ["start", *ledger.names, "sum"]
    width = max(map(len, names))
    amounts = _numbers(ledger) if ledger.is_number else _effects(ledger)
    head = [] if ledger.is_number else [f"{'':<{width}}  {ledger.title}"]
    lines = [f"{name:<{width}}  {amount}".rstrip() for name, amount in zip(names, amounts, strict=True)]
    return "\n".join([ledger.answer, "", *head, *lines, *notes(ledger)])


def format_amounts(ledger: ExplanationTable) -> list[str]:
    """Amount of the start, of each line and of the sum as text; if an amount is infinite, the classes that it excludes."""
    by_line = ledger.excluded.by_line or ((),) * (len(ledger.amounts) + 1)
    lines = zip((ledger.start, *ledger.amounts), by_line, strict=True)
    every = [_amount(amount, _excludes(classes)) for amount, classes in lines]
    left = "no class is left" if ledger.excluded.is_every else f"without {listed(ledger.excluded.together, _MAX_CLASSES)}"
    return [*every, f"{ledger.total:+9.3f}" if isfinite(ledger.total) else left]


def notes(ledger: ExplanationTable) -> list[str]:
    """Notes for the case that every class is excluded."""
    if not ledger.excluded.is_every:
        return []
    return [
        "every class is excluded by a value that never occurs in it, so the prediction is the prior alone;",
        "with estimate='bayes' and alpha=1 each level has a pseudo-count of 1, and none is impossible",
    ]


def lengths(amounts: tuple[float, ...], longest: int) -> list[int]:
    """Length of each amount's bar; infinite amounts have none."""
    largest = max((abs(amount) for amount in amounts if isfinite(amount)), default=0.0) or 1.0
    return [round(longest * abs(amount) / largest) if isfinite(amount) else 0 for amount in amounts]


def _numbers(ledger: ExplanationTable) -> list[str]:
    """Lines for a numeric target: start and sum are in its units, and bars compare the contributions only."""
    bars = zip(ledger.amounts, lengths(ledger.amounts, _BAR), strict=True)
    lines = [f"{amount:+12.6g}  {_text_bar(amount, length)}" for amount, length in bars]
    return [f"{ledger.start:12.6g}", *lines, f"{ledger.total:12.6g}"]


def _effects(ledger: ExplanationTable) -> list[str]:
    amounts = (ledger.start, *ledger.amounts)
    *words, total = format_amounts(ledger)
    bars = zip(words, amounts, lengths(amounts, _BAR), strict=True)
    return [*(f"{word}  {_text_bar(amount, length)}" if length else word for word, amount, length in bars), total]


def _amount(amount: float, excludes: str) -> str:
    number = f"{amount:+9.3f}" if isfinite(amount) else ""
    return f"{number}  {excludes}" if number and excludes else number or excludes


def _excludes(classes: tuple[object, ...]) -> str:
    return f"excludes {listed(classes, _MAX_CLASSES)}" if classes else ""


def _text_bar(amount: float, length: int) -> str:
    return ("+" if amount > 0 else "−") * length


_FOR, _AGAINST = "#2f6f4f", "#b5543c"

_HALF = 70  # pixels of the longest bar on either side of the middle


def to_html(ledger: ExplanationTable) -> str:
    """Explanation as an HTML table; names and values are escaped, and nothing external is loaded."""
    table = xml.Element("table", {"style": TABLE})
    xml.SubElement(table, "caption", {"style": CAPTION}).text = escaped(" ".join([ledger.answer, *notes(ledger)]))
    head = xml.SubElement(xml.SubElement(table, "thead"), "tr")
    for text, style in (("value", CELL), (ledger.title, NUMBER), ("", CELL)):
        xml.SubElement(head, "th", {"style": style}).text = escaped(text)
    body = xml.SubElement(table, "tbody")
    names, amounts, (*words, total) = ("start", *ledger.names), (ledger.start, *ledger.amounts), format_amounts(ledger)
    for name, word, amount, length in zip(names, words, amounts, lengths(amounts, _HALF), strict=True):
        _html_bar(_line(body, name, word.strip()), amount, length)
    _line(body, "sum", total.strip())
    return xml.tostring(table, encoding="unicode", method="html")


def _line(body: xml.Element, name: str, amount: str) -> xml.Element:
    """Append a row to the table; return its last cell."""
    row = xml.SubElement(body, "tr", RULE)
    for text, style in ((name, CELL), (amount, NUMBER)):
        xml.SubElement(row, "td", {"style": style}).text = escaped(text)
    return xml.SubElement(row, "td", {"style": CELL})


def _html_bar(cell: xml.Element, amount: float, length: int) -> None:
    side, colour = ("left", _FOR) if amount > 0 else ("right", _AGAINST)
    track = xml.SubElement(cell, "div", {"style": f"position:relative;width:{2 * _HALF}px;height:10px"})
    style = f"position:absolute;{side}:50%;width:{length}px;height:10px;background:{colour}"
    xml.SubElement(track, "div", {"style": style})
