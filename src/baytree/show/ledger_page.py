"""An explanation as a table in HTML: a line per column, with a bar to the right for what speaks for the answer."""

from __future__ import annotations

from xml.etree import ElementTree as xml

from baytree.show.ledger import Ledger, lengths, notes, told
from baytree.show.notebook import CAPTION, CELL, NUMBER, RULE, TABLE
from baytree.show.terminal import escaped

_FOR, _AGAINST = "#2f6f4f", "#b5543c"
_HALF = 70  # pixels of the longest bar on either side of the middle


def to_html(ledger: Ledger) -> str:
    """The ledger as one HTML table; every name and value is escaped, and nothing outside the page is asked for."""
    table = xml.Element("table", {"style": TABLE})
    xml.SubElement(table, "caption", {"style": CAPTION}).text = escaped(" ".join([ledger.answer, *notes(ledger)]))
    head = xml.SubElement(xml.SubElement(table, "thead"), "tr")
    for text, style in (("value", CELL), (ledger.title, NUMBER), ("", CELL)):
        xml.SubElement(head, "th", {"style": style}).text = escaped(text)
    body = xml.SubElement(table, "tbody")
    names, amounts, (*words, total) = ("start", *ledger.names), (ledger.start, *ledger.amounts), told(ledger)
    for name, word, amount, length in zip(names, words, amounts, lengths(amounts, _HALF), strict=True):
        _bar(_line(body, name, word.strip()), amount, length)
    _line(body, "sum", total.strip())
    return xml.tostring(table, encoding="unicode", method="html")


def _line(body: xml.Element, name: str, amount: str) -> xml.Element:
    """A row of the table; gives the cell at its end."""
    row = xml.SubElement(body, "tr", RULE)
    for text, style in ((name, CELL), (amount, NUMBER)):
        xml.SubElement(row, "td", {"style": style}).text = escaped(text)
    return xml.SubElement(row, "td", {"style": CELL})


def _bar(cell: xml.Element, amount: float, length: int) -> None:
    side, colour = ("left", _FOR) if amount > 0 else ("right", _AGAINST)
    around = xml.SubElement(cell, "div", {"style": f"position:relative;width:{2 * _HALF}px;height:10px"})
    style = f"position:absolute;{side}:50%;width:{length}px;height:10px;background:{colour}"
    xml.SubElement(around, "div", {"style": style})
