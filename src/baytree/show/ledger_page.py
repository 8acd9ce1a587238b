"""An explanation as a table in HTML: a line per column, with a bar to the right for what speaks for the answer."""

from __future__ import annotations

from xml.etree import ElementTree as xml

from baytree.show.ledger import Ledger, lengths
from baytree.show.terminal import escaped

_FOR, _AGAINST = "#2f6f4f", "#b5543c"
_CELL = "text-align:left;padding:2px 8px;"
_NUMBER = "text-align:right;padding:2px 8px;font-variant-numeric:tabular-nums;"
_HALF = 70  # pixels of the longest bar on either side of the middle


def to_html(ledger: Ledger) -> str:
    """The ledger as one HTML table; every name and value is escaped, and nothing outside the page is asked for."""
    table = xml.Element("table", {"style": "border-collapse:collapse;font-family:sans-serif;font-size:13px"})
    caption = xml.SubElement(table, "caption", {"style": "text-align:left;padding:2px 8px;font-weight:bold"})
    caption.text = escaped(ledger.answer)
    head = xml.SubElement(xml.SubElement(table, "thead"), "tr")
    for text, style in (("column", _CELL), ("value", _CELL), (ledger.title, _NUMBER), ("", _CELL)):
        xml.SubElement(head, "th", {"style": style}).text = escaped(text)
    body = xml.SubElement(table, "tbody")
    names, amounts = (("start", ""), *ledger.names), (ledger.start, *ledger.amounts)
    for name, amount, length in zip(names, amounts, lengths(amounts, _HALF), strict=True):
        _bar(_line(body, *name, amount), amount, length)
    _line(body, "sum", "", ledger.total)
    return xml.tostring(table, encoding="unicode", method="html")


def _line(body: xml.Element, column: str, value: str, amount: float) -> xml.Element:
    """A row of the table; gives the cell at its end."""
    row = xml.SubElement(body, "tr", {"style": "border-top:1px solid #ddd"})
    for text, style in ((column, _CELL), (value, _CELL), (f"{amount:+.3f}", _NUMBER)):
        xml.SubElement(row, "td", {"style": style}).text = escaped(text)
    return xml.SubElement(row, "td", {"style": _CELL})


def _bar(cell: xml.Element, amount: float, length: int) -> None:
    side, colour = ("left", _FOR) if amount > 0 else ("right", _AGAINST)
    around = xml.SubElement(cell, "div", {"style": f"position:relative;width:{2 * _HALF}px;height:10px"})
    style = f"position:absolute;{side}:50%;width:{length}px;height:10px;background:{colour}"
    xml.SubElement(around, "div", {"style": style})
