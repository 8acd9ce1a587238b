"""An explanation as a table in HTML: a line per column, with a bar to the right for what speaks for the answer."""

from __future__ import annotations

from xml.etree import ElementTree as xml

import numpy as np

from baytree.model import Explanation
from baytree.show.terminal import escaped

_FOR, _AGAINST = "#2f6f4f", "#b5543c"
_CELL = "text-align:left;padding:2px 8px;"
_NUMBER = "text-align:right;padding:2px 8px;font-variant-numeric:tabular-nums;"
_HALF = 70  # pixels of the longest bar on either side of the middle


def to_html(explanation: Explanation) -> str:
    """The ledger as one HTML table; every name and value is escaped, and nothing outside the page is asked for."""
    answer, title, effects, total = explanation.against_runner_up()
    table = xml.Element("table", {"style": "border-collapse:collapse;font-family:sans-serif;font-size:13px"})
    xml.SubElement(table, "caption", {"style": "text-align:left;padding:2px 8px;font-weight:bold"}).text = escaped(answer)
    head = xml.SubElement(xml.SubElement(table, "thead"), "tr")
    for text, style in (("column", _CELL), ("value", _CELL), (title, _NUMBER), ("", _CELL)):
        xml.SubElement(head, "th", {"style": style}).text = escaped(text)
    body = xml.SubElement(table, "tbody")
    names = [("start", ""), *((line.column, line.value) for line in explanation.evidence)]
    largest = max((abs(effect) for effect in effects if np.isfinite(effect)), default=0.0) or 1.0
    for (column, value), effect in zip(names, effects, strict=True):
        _line(body, column, value, effect, largest)
    _line(body, "sum", "", total, 0.0)
    return xml.tostring(table, encoding="unicode", method="html")


def _line(body: xml.Element, column: str, value: str, effect: float, largest: float) -> None:
    row = xml.SubElement(body, "tr", {"style": "border-top:1px solid #ddd"})
    for text, style in ((column, _CELL), (value, _CELL), (f"{effect:+.3f}", _NUMBER)):
        xml.SubElement(row, "td", {"style": style}).text = escaped(text)
    bar = xml.SubElement(row, "td", {"style": _CELL})
    if largest:
        _bar(bar, effect, _HALF if not np.isfinite(effect) else round(_HALF * abs(effect) / largest))


def _bar(cell: xml.Element, effect: float, length: int) -> None:
    side, colour = ("left", _FOR) if effect > 0 else ("right", _AGAINST)
    around = xml.SubElement(cell, "div", {"style": f"position:relative;width:{2 * _HALF}px;height:10px"})
    style = f"position:absolute;{side}:50%;width:{length}px;height:10px;background:{colour}"
    xml.SubElement(around, "div", {"style": style})
