"""What stands on a page: a record for each section, of names and numbers only. `page.SECTIONS` has the template of each."""

from __future__ import annotations

from typing import Any

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


class TreeView(msgspec.Struct, frozen=True):
    """A tree to be drawn by the page; its nodes are in the page's payload."""

    n_nodes: int
    n_steps: int  # of the cost-complexity sequence
    is_classes: bool
    id: str = "tree"
    title: str = "The tree"


class RuleView(msgspec.Struct, frozen=True):
    """IF conditions THEN answer."""

    conditions: tuple[str, ...]
    answer: str
    place: int  # of the class
    confidence: float | None
    rows: float
    share: float


class RulesView(msgspec.Struct, frozen=True):
    """One rule for each leaf, the widest first."""

    rules: tuple[RuleView, ...]
    hidden: int
    id: str = "rules"
    title: str = "Rules"


class CurveView(msgspec.Struct, frozen=True):
    """The density of a number in each class, as paths in a box of 300 by 90."""

    name: str
    paths: tuple[str, ...]
    ticks: tuple[tuple[float, str], ...]
    evidence: float  # bits that the column tells on average


class BarsView(msgspec.Struct, frozen=True):
    """The probability of each level, interval or quantity in each class."""

    name: str
    bars: tuple[Bar, ...]
    texts: tuple[tuple[str, ...], ...]  # [n_bars, n_classes], what the bars say in numbers
    evidence: float
    cut: int = 0


class WordsView(msgspec.Struct, frozen=True):
    """The words that speak most for each class."""

    name: str
    words: tuple[tuple[str, ...], ...]


class BayesView(msgspec.Struct, frozen=True):
    """What each column looks like in each class."""

    classes: tuple[str, ...]
    prior: tuple[float, ...]
    columns: tuple[CurveView | BarsView | WordsView, ...]
    id: str = "distributions"
    title: str = "What each column says"


class CoefficientView(msgspec.Struct, frozen=True):
    """A coefficient: where its dot and its interval stand, from 0 to 100."""

    feature: str
    estimate: str
    ratio: str
    interval: str
    p: str
    dot: float
    low: float
    high: float


class CoefficientGroup(msgspec.Struct, frozen=True):
    """The coefficients of one class."""

    label: str
    place: int
    zero: float  # where 0 stands, from 0 to 100
    lines: tuple[CoefficientView, ...]
    hidden: int


class CoefficientsView(msgspec.Struct, frozen=True):
    """The coefficients of a linear model."""

    groups: tuple[CoefficientGroup, ...]
    note: str
    has_ratios: bool
    has_intervals: bool
    id: str = "coefficients"
    title: str = "Coefficients"


class Scale(msgspec.Struct, frozen=True):
    """A line of a nomogram: ticks from 0 to 100 points with their texts, and the row in which each text stands."""

    name: str
    low: float
    high: float
    ticks: tuple[tuple[float, str, int], ...]


class NomogramView(msgspec.Struct, frozen=True):
    """Lines to be read with a ruler: points for each column, their sum, and what follows."""

    label: str
    points: tuple[tuple[float, str, int], ...]
    scales: tuple[Scale, ...]
    total: tuple[tuple[float, str, int], ...]
    answer: tuple[tuple[float, str, int], ...]
    id: str = "nomogram"
    title: str = "Nomogram"


class WhatIfView(msgspec.Struct, frozen=True):
    """A form for a row, filled by the page."""

    classes: tuple[str, ...]
    target: str
    id: str = "what-if"
    title: str = "What if"


class AskView(msgspec.Struct, frozen=True):
    """Twenty questions, asked by the page."""

    target: str
    classes: tuple[str, ...]
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


class ProseView(msgspec.Struct, frozen=True):
    """The model in words, as it is printed."""

    text: str
    id: str = "words"
    title: str = "In words"


class Contestant(msgspec.Struct, frozen=True):
    """A line of the leaderboard, and what opens below it."""

    name: str
    short: str
    score: float
    text: str
    low: float  # of the interval, from 0 to 100
    high: float
    dot: float
    folds: tuple[float, ...]  # of each fold, from 0 to 100
    beside: tuple[str, ...]
    size: str
    seconds: str
    is_as_good: bool
    is_chosen: bool
    reason: str
    classes: tuple[str, ...]
    confusion: tuple[tuple[float, ...], ...]
    roc: tuple[tuple[str, str, str], ...]  # class, path and area, in a box of 200 by 200
    calibration: str
    bins: tuple[tuple[float, float, float], ...]  # place, place and radius
    words: str


class LeaderboardView(msgspec.Struct, frozen=True):
    """Models on the same folds, the best first."""

    metric: str
    head: str
    advice: str
    rule: str
    notes: tuple[str, ...]
    beside: tuple[str, ...]
    ends: tuple[str, str]
    models: tuple[Contestant, ...]
    id: str = "leaderboard"
    title: str = "Leaderboard"


class Page(msgspec.Struct, frozen=True):
    """A whole page: its title, its sections in order, what its scripts read, and the model as a script."""

    title: str
    lead: str
    sections: tuple[Any, ...]
    payload: dict[str, Any]
    program: str = ""  # the model's own formula as JavaScript
