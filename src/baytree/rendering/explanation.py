"""Explanation of a prediction as text or HTML: a line per column with its contribution and a bar."""

from __future__ import annotations

from math import isfinite
from xml.etree import ElementTree as xml

import msgspec

from baytree.display.notebook import notebook_view
from baytree.display.terminal import escaped, listed

_MAX_BAR_CHARACTERS = 20  # length of the longest bar: a quarter of a terminal

_MAX_CLASSES = 6  # classes of an explanation that are listed, those of highest probability


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


def to_text(explanation_table: ExplanationTable) -> str:
    """Prediction, and a line per contribution below it."""
    names = ["start", *explanation_table.names, "sum"]
    width = max(map(len, names))
    amounts = _numbers(explanation_table) if explanation_table.is_number else _effects(explanation_table)
    head = [] if explanation_table.is_number else [f"{'':<{width}}  {explanation_table.title}"]
    lines = [f"{name:<{width}}  {amount}".rstrip() for name, amount in zip(names, amounts, strict=True)]
    return "\n".join([explanation_table.answer, "", *head, *lines, *notes(explanation_table)])


def format_amounts(explanation_table: ExplanationTable) -> list[str]:
    """Amount of the start, of each line and of the sum as text; if an amount is infinite, the classes that it excludes."""
    by_line = explanation_table.excluded.by_line or ((),) * (len(explanation_table.amounts) + 1)
    lines = zip((explanation_table.start, *explanation_table.amounts), by_line, strict=True)
    every = [_amount(amount, _excludes(classes)) for amount, classes in lines]
    left = (
        "no class is left"
        if explanation_table.excluded.is_every
        else f"without {listed(explanation_table.excluded.together, _MAX_CLASSES, noun='classes')}"
    )
    return [*every, f"{explanation_table.total:+9.3f}" if isfinite(explanation_table.total) else left]


def notes(explanation_table: ExplanationTable) -> list[str]:
    """Notes for the case that every class is excluded."""
    if not explanation_table.excluded.is_every:
        return []
    return [
        "every class is excluded by a value that never occurs in it, so the prediction is the prior alone;",
        "with estimate='bayes' and alpha=1 each level has a pseudo-count of 1, and none is impossible",
    ]


def lengths(amounts: tuple[float, ...], longest: int) -> list[int]:
    """Length of each amount's bar; infinite amounts have none."""
    largest = max((abs(amount) for amount in amounts if isfinite(amount)), default=0.0) or 1.0
    return [round(longest * abs(amount) / largest) if isfinite(amount) else 0 for amount in amounts]


def _numbers(explanation_table: ExplanationTable) -> list[str]:
    """Lines for a numeric target: start and sum are in its units, and bars compare the contributions only."""
    bars = zip(explanation_table.amounts, lengths(explanation_table.amounts, _MAX_BAR_CHARACTERS), strict=True)
    lines = [f"{amount:+12.6g}  {_text_bar(amount, length)}" for amount, length in bars]
    return [f"{explanation_table.start:12.6g}", *lines, f"{explanation_table.total:12.6g}"]


def _effects(explanation_table: ExplanationTable) -> list[str]:
    amounts = (explanation_table.start, *explanation_table.amounts)
    *words, total = format_amounts(explanation_table)
    bars = zip(words, amounts, lengths(amounts, _MAX_BAR_CHARACTERS), strict=True)
    return [*(f"{word}  {_text_bar(amount, length)}" if length else word for word, amount, length in bars), total]


def _amount(amount: float, excludes: str) -> str:
    number = f"{amount:+9.3f}" if isfinite(amount) else ""
    return f"{number}  {excludes}" if number and excludes else number or excludes


def _excludes(classes: tuple[object, ...]) -> str:
    return f"excludes {listed(classes, _MAX_CLASSES, noun='classes')}" if classes else ""


def _text_bar(amount: float, length: int) -> str:
    return ("+" if amount > 0 else "−") * length


_MAX_BAR_PIXELS = 70  # length of the longest bar on either side of the middle


def to_html(explanation_table: ExplanationTable) -> str:
    """Explanation as a table for notebooks; names and values are escaped, and nothing external is loaded."""
    table = xml.Element("table")
    xml.SubElement(table, "caption").text = escaped(" ".join([explanation_table.answer, *notes(explanation_table)]))
    head = xml.SubElement(xml.SubElement(table, "thead"), "tr")
    for text, kind in (("value", ""), (explanation_table.title, "number"), ("", "")):
        xml.SubElement(head, "th", {"class": kind} if kind else {}).text = escaped(text)
    body = xml.SubElement(table, "tbody")
    names, amounts, (*words, total) = (
        ("start", *explanation_table.names),
        (explanation_table.start, *explanation_table.amounts),
        format_amounts(explanation_table),
    )
    for name, word, amount, length in zip(names, words, amounts, lengths(amounts, _MAX_BAR_PIXELS), strict=True):
        track = xml.SubElement(_line(body, name, word.strip()), "div", {"class": "track"})
        xml.SubElement(track, "span", {"class": "for" if amount > 0 else "against", "style": f"width:{length}px"})
    _line(body, "sum", total.strip())
    return notebook_view(xml.tostring(table, encoding="unicode", method="html"))


def _line(body: xml.Element, name: str, amount: str) -> xml.Element:
    """Append a row to the table; return its last cell."""
    row = xml.SubElement(body, "tr")
    xml.SubElement(row, "td").text = escaped(name)
    xml.SubElement(row, "td", {"class": "number"}).text = escaped(amount)
    return xml.SubElement(row, "td")
