"""What a page begins with: figures, and the columns of the table."""

from __future__ import annotations

import msgspec


class Figure(msgspec.Struct, frozen=True):
    """A number about the model, in full and in words."""

    name: str
    label: str
    value: float
    text: str


class Overview(msgspec.Struct, frozen=True):
    """What the page is about: figures, and which classes are taken for which."""

    figures: tuple[Figure, ...]
    classes: tuple[str, ...] = ()
    confusion: tuple[tuple[float, ...], ...] = ()  # [n_classes, n_classes], by truth and answer
    remark: str = ""
    id: str = "overview"
    title: str = "Overview"


class Bar(msgspec.Struct, frozen=True):
    """A level or a range of numbers, and its share in each class."""

    label: str
    shares: tuple[float, ...]  # of each class, as parts of the longest bar


class ColumnView(msgspec.Struct, frozen=True):
    """A column: what it holds, what is missing, and what it tells about the target."""

    name: str
    kind: str
    extent: str  # the range of its numbers, or how many levels there are
    missing: float
    gain: float | None  # bits; None where the target is a number
    split: str  # the one cut, or level, that tells most
    bars: tuple[Bar, ...]  # of levels
    paths: tuple[str, ...]  # of numbers: a histogram for each class upon the others, in a box of 240 by 60
    ends: tuple[str, str]  # of that box
    cut: int  # levels that are not shown


class TableView(msgspec.Struct, frozen=True):
    """The columns, those that tell most first."""

    columns: tuple[ColumnView, ...]
    classes: tuple[str, ...]
    notes: tuple[str, ...] = ()
    id: str = "table"
    title: str = "The table"
