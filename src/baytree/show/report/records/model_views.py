"""What a page shows of a model: its tree, rules, distributions or coefficients, in words and as a nomogram."""

from __future__ import annotations

import msgspec

from baytree.show.report.records.table_views import Bar


class TreeView(msgspec.Struct, frozen=True):
    """A tree to be drawn by the page; its nodes are in the page's payload."""

    n_nodes: int
    n_steps: int  # of the cost-complexity sequence
    is_classes: bool
    id: str = "tree"
    title: str = "The tree"


class DrawingView(msgspec.Struct, frozen=True):
    """A tree that stands still, for a notebook: a picture of its own, so that its style stays its own."""

    source: str  # as a data URL
    is_cut: bool
    id: str = "drawing"
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


class ProseView(msgspec.Struct, frozen=True):
    """The model in words, as it is printed."""

    text: str
    id: str = "words"
    title: str = "In words"
