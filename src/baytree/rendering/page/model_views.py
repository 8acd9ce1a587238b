"""What a page shows of a model: its tree, rules, distributions or coefficients, in words and as a nomogram.

Records of models that are one distribution of all columns together: Gaussian classes, and the joint table.

Records of the section about trees whose leaves are naive Bayes models.

Records of the section about splines: a drawing for each column, and one for each pair that acts together.

Records of the sections about C5.0's rules and trials: what votes, and how surely.
"""

from __future__ import annotations

import msgspec

from baytree.rendering.page.table_views import Bar


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


class TextView(msgspec.Struct, frozen=True):
    """The model in words, as it is printed."""

    text: str
    id: str = "words"
    title: str = "In words"


class EllipseView(msgspec.Struct, frozen=True):
    """A class over two features: its middle, and the outlines of one and two standard deviations, in a box of 300 by 200."""

    place: int  # of the class
    x: float
    y: float
    inner: str
    outer: str


class PairView(msgspec.Struct, frozen=True):
    """Two features, what their axes begin and end with, and the classes over them."""

    across: str
    upwards: str
    ends: tuple[str, str, str, str]  # left, right, bottom, top
    ellipses: tuple[EllipseView, ...]


class EllipsesView(msgspec.Struct, frozen=True):
    """Gaussian classes with a covariance each, over the features that keep them apart most."""

    classes: tuple[str, ...]
    prior: tuple[float, ...]
    pairs: tuple[PairView, ...]
    hidden: int  # features that are not drawn
    id: str = "ellipses"
    title: str = "How the classes lie"


class CombinationView(msgspec.Struct, frozen=True):
    """A combination of levels: its share of all rows, and how that is made up of classes, as parts of the longest bar."""

    tests: tuple[str, ...]
    share: float
    parts: tuple[tuple[int, float, float], ...]  # class, where its part of the bar begins, and how long it is, up to 100


class JointView(msgspec.Struct, frozen=True):
    """The heaviest combinations of a joint table."""

    classes: tuple[str, ...]
    combinations: tuple[CombinationView, ...]
    occurring: int
    possible: str
    id: str = "combinations"
    title: str = "The heaviest combinations"


class BayesLeafView(msgspec.Struct, frozen=True):
    """The naive Bayes model of a node: how rows get there, and what it counts for."""

    conditions: tuple[str, ...]
    share: float
    bayes: BayesView


class BayesLeavesView(msgspec.Struct, frozen=True):
    """The models that count for most first."""

    leaves: tuple[BayesLeafView, ...]
    hidden: int
    id: str = "leaves"
    title: str = "Naive Bayes in the tree"


class FunctionView(msgspec.Struct, frozen=True):
    """What a column adds to each score, as lines in a box of 300 by 90 whose middle is 0."""

    name: str
    paths: tuple[str, ...]
    ticks: tuple[tuple[float, str], ...]
    largest: str  # what the upper edge of the box stands for


class SurfaceView(msgspec.Struct, frozen=True):
    """What a pair of columns adds to one score: squares of a raster, row by row from the top, from −1 to 1."""

    across: str
    upwards: str
    score: str
    ends: tuple[str, str, str, str]  # left, right, bottom, top
    shape: tuple[int, int]  # squares across and upwards
    squares: tuple[float, ...]
    largest: str


class FunctionsView(msgspec.Struct, frozen=True):
    """The functions that a sum of splines is made of."""

    unit: str
    scores: tuple[str, ...]
    columns: tuple[FunctionView, ...]
    pairs: tuple[SurfaceView, ...]
    hidden: int  # pairs that are not drawn
    id: str = "functions"
    title: str = "What each column adds"


class VotingRuleView(msgspec.Struct, frozen=True):
    """IF conditions THEN the class: what it covers, how much of that is right, and how sure it is."""

    conditions: tuple[str, ...]
    answer: str
    place: int  # of the class
    confidence: float
    cover: float
    right: float
    lift: float


class VotingRulesView(msgspec.Struct, frozen=True):
    """Rules that vote, by class and by how sure they are, and the class where none holds."""

    rules: tuple[VotingRuleView, ...]
    hidden: int
    default: str
    id: str = "rules"
    title: str = "Rules that vote"


class TrialView(msgspec.Struct, frozen=True):
    """A tree or rule set among several: its size and its rules."""

    name: str
    size: str
    rules: RulesView | VotingRulesView

    @property
    def votes(self) -> bool:
        """Whether its rules vote among themselves."""
        return isinstance(self.rules, VotingRulesView)


class TrialsView(msgspec.Struct, frozen=True):
    """The trials in their order; each votes for its class."""

    trials: tuple[TrialView, ...]
    hidden: int
    id: str = "trials"
    title: str = "Trials that vote"
