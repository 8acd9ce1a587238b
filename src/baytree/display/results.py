"""Base of results: text representation, conversion to a data frame, and HTML tables for notebooks.

All names and values are escaped, and the HTML refers to no external resource.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal
from xml.etree import ElementTree as xml

import numpy as np

from baytree.display.notebook import notebook_view
from baytree.display.terminal import escaped, is_number

_LIBRARIES: tuple[Literal["pandas", "polars", "pyarrow"], ...] = ("pandas", "polars", "pyarrow")


class TextResult:
    """Result whose representation is its text, also in notebooks."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str | None:
        """The text, for notebooks; results with a table override it."""
        root = xml.Element("pre")
        root.text = str(self)
        return notebook_view(xml.tostring(root, encoding="unicode", method="html"))


def frame_of(columns: Mapping[str, Sequence[object] | np.ndarray], like: object = None, *, is_sparse: bool = False) -> Any:
    """Return a data frame of the library of `like`, else of the imported, else of an installed one, or a dict of columns.

    A pandas frame has the index of `like`, and sparse columns on request; the other libraries have none.
    """
    own = type(like).__module__.split(".")[0]
    used = [name for name in _LIBRARIES if name in sys.modules] or [name for name in _LIBRARIES if find_spec(name)]
    used = [own] if own in _LIBRARIES else used
    if used and used[0] == "pandas" and (is_sparse or own == "pandas"):
        import pandas as pd

        stored = {
            name: pd.arrays.SparseArray(np.asarray(values), fill_value=0) if is_sparse else values
            for name, values in columns.items()
        }
        return pd.DataFrame(stored, index=getattr(like, "index", None) if own == "pandas" else None)
    if not used:
        return dict(columns)
    import narwhals as nw

    return nw.from_dict({name: _typed(values) for name, values in columns.items()}, backend=used[0]).to_native()


def _typed(values: Sequence[object] | np.ndarray) -> Sequence[object] | np.ndarray:
    """Return a list for an object array, from which a library can infer the type."""
    return values.tolist() if isinstance(values, np.ndarray) and values.dtype == object else values


def table(caption: str, header: Sequence[str], rows: Iterable[Sequence[object]], notes: Iterable[str] = ()) -> str:
    """Return a notebook view of a table with caption, rows (numbers right-aligned) and notes below."""
    cells = [[str(cell) for cell in row] for row in rows]
    are_numbers = [bool(cells) and all(map(_is_amount, column)) for column in zip(*cells, strict=True)]
    are_numbers = are_numbers or [False] * len(header)
    root = xml.Element("div")
    table_element = xml.SubElement(root, "table")
    xml.SubElement(table_element, "caption").text = escaped(caption)
    _row(xml.SubElement(table_element, "thead"), "th", header, are_numbers)
    body = xml.SubElement(table_element, "tbody")
    for row in cells:
        _row(body, "td", row, are_numbers)
    _add_notes(root, notes)
    return notebook_view(xml.tostring(root, encoding="unicode", method="html"))


def stacked(views: Iterable[str], notes: Iterable[str] = ()) -> str:
    """Return notebook views stacked vertically, with notes below all of them."""
    root = xml.Element("div")
    _add_notes(root, notes)
    return "".join([*views, notebook_view(xml.tostring(root, encoding="unicode", method="html")) if len(root) else ""])


def _add_notes(parent: xml.Element, notes: Iterable[str]) -> None:
    for note in notes:
        xml.SubElement(parent, "p").text = escaped(note)


def _row(parent: xml.Element, tag: str, texts: Sequence[str], are_numbers: Sequence[bool]) -> None:
    row = xml.SubElement(parent, "tr")
    for text, of_numbers in zip(texts, are_numbers, strict=True):
        xml.SubElement(row, tag, {"class": "number"} if of_numbers else {}).text = escaped(text)


def _is_amount(text: str) -> bool:
    return not text or is_number(text)
