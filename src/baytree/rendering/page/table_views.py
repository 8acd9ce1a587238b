"""What a page begins with: figures, and the columns of the table.

What a reader of a page can try: rows of one's own, questions, two columns, splits, and rows of the table.
"""

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


class RejectionView(msgspec.Struct, frozen=True):
    """What asking for a least probability brings: accuracy against the share of rows that are answered."""

    path: str  # in a box of 200 by 200; empty where no rows with their answers are at hand
    low: float  # the accuracy at the bottom of the box
    tried: str = ""  # on which rows


class WhatIfView(msgspec.Struct, frozen=True):
    """A form for a row, filled by the page."""

    classes: tuple[str, ...]
    target: str
    silence: RejectionView | None = None  # of classes
    promise: str = ""  # of prediction sets, in words
    id: str = "what-if"
    title: str = "What if"


class QuestionsView(msgspec.Struct, frozen=True):
    """Twenty questions, asked by the page."""

    target: str
    classes: tuple[str, ...]
    unasked: tuple[str, ...] = ()  # columns of text
    id: str = "questions"
    title: str = "Twenty questions"


class BoundaryView(msgspec.Struct, frozen=True):
    """The answers over two columns, drawn by the page."""

    columns: tuple[str, ...]
    classes: tuple[str, ...]
    id: str = "boundary"
    title: str = "Two columns"


class SplitView(msgspec.Struct, frozen=True):
    """A candidate split of the whole table: the share of the class before and on both sides."""

    label: str
    left: float
    right: float
    weight: float  # of the left side
    gains: tuple[float, ...]  # of each measure
    chord: str  # the path between its sides on the curve of the first measure


class ImpurityView(msgspec.Struct, frozen=True):
    """Impurity measures as curves over the share of one class, with the best split of each column."""

    label: str
    parent: float
    measures: tuple[tuple[str, str], ...]  # name and path, in a box of 400 by 200
    splits: tuple[SplitView, ...]
    id: str = "impurity"
    title: str = "Impurity"


class RowView(msgspec.Struct, frozen=True):
    """The ledger of a row that was asked for."""

    heading: str
    answer: str
    unit: str
    lines: tuple[tuple[str, str, str, float], ...]  # column, value, amount in words, bar from −1 to 1


class RowsView(msgspec.Struct, frozen=True):
    """Rows: chosen ones, the worst mistakes, the most doubtful."""

    rows: tuple[RowView, ...]
    id: str = "rows"
    title: str = "Rows"
