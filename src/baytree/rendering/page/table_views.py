"""Page records of the overview, the table's columns, and the interactive sections (what-if, questions, regions, splits)."""

from __future__ import annotations

import msgspec


class Figure(msgspec.Struct, frozen=True):
    """Figure about the model, as a number and as text."""

    name: str
    label: str
    value: float
    text: str


class Overview(msgspec.Struct, frozen=True):
    """Key figures and the confusion matrix."""

    figures: tuple[Figure, ...]
    classes: tuple[str, ...] = ()
    confusion: tuple[tuple[float, ...], ...] = ()  # [n_classes, n_classes], rows: actual, columns: predicted
    remark: str = ""
    id: str = "overview"
    title: str = "Overview"


class CurvePath(msgspec.Struct, frozen=True):
    """Curve of one class against the rest, as a path in a box of 200 by 200."""

    label: str
    code: int  # of the class, which has the colour
    path: str
    score: str


class ConfusionPair(msgspec.Struct, frozen=True):
    """Rows of one class that are predicted as another."""

    actual: str
    predicted: str
    rows: float


class CurvesView(msgspec.Struct, frozen=True):
    """ROC and precision–recall curves, calibration, and the most frequent confusions."""

    roc: tuple[CurvePath, ...]
    precision_recall: tuple[CurvePath, ...]
    bins: tuple[tuple[float, float, float, int], ...]  # of the calibration: x, y, radius, rows
    confusions: tuple[ConfusionPair, ...] = ()
    id: str = "curves"
    title: str = "Curves and calibration"


class ErrorsView(msgspec.Struct, frozen=True):
    """Distribution of errors, and predictions against actual values if rows were at hand."""

    target: str
    bars: tuple[float, ...]  # relative to the highest
    top: float  # absolute error at the right end
    quantiles: tuple[tuple[float, float], ...]  # (proportion of rows, absolute error)
    cells: tuple[tuple[float, float, float], ...] = ()  # x, y and size of the squares of predicted against actual values
    ends: tuple[str, str] = ("", "")  # of both axes
    id: str = "errors"
    title: str = "Errors"


class Bar(msgspec.Struct, frozen=True):
    """Level or range of numbers, and its frequency in each class."""

    label: str
    shares: tuple[float, ...]  # per class, relative to the longest bar


class ColumnView(msgspec.Struct, frozen=True):
    """Column of the table: its values, missing values, and information about the target."""

    name: str
    kind: str
    extent: str  # range of the numbers, or number of levels
    missing: float
    gain: float | None  # bits; None if the target is numeric
    split: str  # the most informative threshold or level
    bars: tuple[Bar, ...]  # of levels
    paths: tuple[str, ...]  # of numbers: stacked histograms of the classes, in a box of 240 by 60
    ends: tuple[str, str]  # of the axis of that box
    cut: int  # number of levels that are not shown


class TableView(msgspec.Struct, frozen=True):
    """Columns, the most informative first."""

    columns: tuple[ColumnView, ...]
    classes: tuple[str, ...]
    notes: tuple[str, ...] = ()
    id: str = "table"
    title: str = "The table"


class RejectionView(msgspec.Struct, frozen=True):
    """Rejection curve: accuracy against the proportion of rows that are predicted."""

    path: str  # in a box of 200 by 200; empty without rows to evaluate
    low: float  # accuracy at the bottom of the box
    tried: str = ""  # rows on which it was measured, as text


class WhatIfView(msgspec.Struct, frozen=True):
    """Form for a row; the page's script computes the prediction."""

    classes: tuple[str, ...]
    target: str
    silence: RejectionView | None = None  # None for a numeric target
    promise: str = ""  # guarantee of prediction sets, as text
    id: str = "what-if"
    title: str = "What if"


class QuestionsView(msgspec.Struct, frozen=True):
    """Twenty questions, asked by the page's script."""

    target: str
    classes: tuple[str, ...]
    unasked: tuple[str, ...] = ()  # text columns
    id: str = "questions"
    title: str = "Twenty questions"


class BoundaryView(msgspec.Struct, frozen=True):
    """Predictions over two columns, drawn by the page's script."""

    columns: tuple[str, ...]
    classes: tuple[str, ...]
    id: str = "boundary"
    title: str = "Two columns"


class SplitView(msgspec.Struct, frozen=True):
    """Candidate split of the whole table: the proportion of the class before and on both sides."""

    label: str
    left: float
    right: float
    weight: float  # of the left side
    gains: tuple[float, ...]  # of each measure
    chord: str  # path between the two sides on the curve of the first measure


class ImpurityView(msgspec.Struct, frozen=True):
    """Impurity measures as curves over the proportion of one class, with the best split of each column."""

    label: str
    parent: float
    measures: tuple[tuple[str, str], ...]  # name and path, in a box of 400 by 200
    splits: tuple[SplitView, ...]
    id: str = "impurity"
    title: str = "Impurity"


class CardPart(msgspec.Struct, frozen=True):
    """Part of a model card: sentences, and a table."""

    title: str
    lines: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


class CardView(msgspec.Struct, frozen=True):
    """Model card: what is known of a model, and what is not recorded."""

    heading: str
    parts: tuple[CardPart, ...]
    id: str = "card"
    title: str = "Model card"


class RowView(msgspec.Struct, frozen=True):
    """Explanation of a requested row."""

    heading: str
    answer: str
    unit: str
    lines: tuple[tuple[str, str, str, float], ...]  # column, value, amount as text, bar from −1 to 1


class RowsView(msgspec.Struct, frozen=True):
    """Explained rows: requested ones, the worst errors, the least certain predictions."""

    rows: tuple[RowView, ...]
    id: str = "rows"
    title: str = "Rows"
