"""What all results share: they show themselves as text, and their rows become a data frame of the user's library.

Results as tables in HTML, for notebooks: every name and value is escaped, and nothing outside the page is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal
from xml.etree import ElementTree as xml

import numpy as np

from baytree.display.terminal import escaped, is_number

_LIBRARIES: tuple[Literal["pandas", "polars", "pyarrow"], ...] = ("pandas", "polars", "pyarrow")


class TextResult:
    """A result whose representation is its text."""

    def __repr__(self) -> str:
        return str(self)


def frame_of(columns: Mapping[str, Sequence[object] | np.ndarray]) -> Any:
    """A data frame of the library that is in use, or else of one that is installed; without any, the columns as they are."""
    used = [name for name in _LIBRARIES if name in sys.modules] or [name for name in _LIBRARIES if find_spec(name)]
    if not used:
        return dict(columns)
    import narwhals as nw

    return nw.from_dict({name: _typed(values) for name, values in columns.items()}, backend=used[0]).to_native()


def _typed(values: Sequence[object] | np.ndarray) -> Sequence[object] | np.ndarray:
    """Values of which a library sees the type: an array of objects hides it."""
    return values.tolist() if isinstance(values, np.ndarray) and values.dtype == object else values


TABLE = "border-collapse:collapse;font-family:sans-serif;font-size:13px"

CAPTION = "text-align:left;padding:2px 8px;font-weight:bold"

CELL = "text-align:left;padding:2px 8px;"

NUMBER = "text-align:right;padding:2px 8px;font-variant-numeric:tabular-nums;"

RULE = {"style": "border-top:1px solid #ddd"}


def table(caption: str, header: Sequence[str], rows: Iterable[Sequence[object]], notes: Iterable[str] = ()) -> str:
    """A caption, a row for each of the rows with numbers to the right, and notes below."""
    cells = [[str(cell) for cell in row] for row in rows]
    styles = [NUMBER if cells and all(map(_is_amount, column)) else CELL for column in zip(*cells, strict=True)]
    styles = styles or [CELL] * len(header)
    whole = xml.Element("div")
    page = xml.SubElement(whole, "table", {"style": TABLE})
    xml.SubElement(page, "caption", {"style": CAPTION}).text = escaped(caption)
    _row(xml.SubElement(page, "thead"), "th", header, styles)
    body = xml.SubElement(page, "tbody")
    for row in cells:
        _row(body, "td", row, styles)
    _add_notes(whole, notes)
    return xml.tostring(whole, encoding="unicode", method="html")


def stacked(pages: Iterable[str], notes: Iterable[str] = ()) -> str:
    """Pages one below the other, and notes below them all."""
    whole = xml.Element("div")
    _add_notes(whole, notes)
    return "".join([*pages, xml.tostring(whole, encoding="unicode", method="html")])


def _add_notes(whole: xml.Element, notes: Iterable[str]) -> None:
    for note in notes:
        xml.SubElement(whole, "p", {"style": "font-family:sans-serif;font-size:12px;margin:2px 8px"}).text = escaped(note)


def _row(parent: xml.Element, tag: str, texts: Sequence[str], styles: Sequence[str]) -> None:
    row = xml.SubElement(parent, "tr", RULE)
    for text, style in zip(texts, styles, strict=True):
        xml.SubElement(row, tag, {"style": style}).text = escaped(text)


def _is_amount(text: str) -> bool:
    return not text or is_number(text)
