"""Page records of models: trees, rules, distributions, coefficients, nomograms, splines and boosting trials."""

from __future__ import annotations

import msgspec

from baytree.rendering.page.table_views import Bar


class TreeView(msgspec.Struct, frozen=True):
    """Tree that the page's script draws; its nodes are in the page's payload."""

    n_nodes: int
    n_steps: int  # of the cost-complexity sequence
    is_classes: bool
    id: str = "tree"
    title: str = "The tree"


class DrawingView(msgspec.Struct, frozen=True):
    """Static picture of a tree, for a notebook; an image of its own, so that styles do not mix."""

    source: str  # data URL
    is_cut: bool
    id: str = "drawing"
    title: str = "The tree"


class RuleView(msgspec.Struct, frozen=True):
    """Rule of a leaf: IF conditions THEN prediction."""

    conditions: tuple[str, ...]
    answer: str
    place: int  # code of the class
    confidence: float | None
    rows: float
    share: float


class RulesView(msgspec.Struct, frozen=True):
    """One rule per leaf, the one that covers most first."""

    rules: tuple[RuleView, ...]
    hidden: int
    id: str = "rules"
    title: str = "Rules"


class CurveView(msgspec.Struct, frozen=True):
    """Density of a number in each class, as paths in a box of 300 by 90."""

    name: str
    paths: tuple[str, ...]
    ticks: tuple[tuple[float, str], ...]
    evidence: float  # mean information of the column in bits


class BarsView(msgspec.Struct, frozen=True):
    """Probability of each level, interval or quantity in each class."""

    name: str
    bars: tuple[Bar, ...]
    texts: tuple[tuple[str, ...], ...]  # [n_bars, n_classes], the values of the bars as text
    evidence: float
    cut: int = 0


class WordsView(msgspec.Struct, frozen=True):
    """The most indicative words for each class."""

    name: str
    words: tuple[tuple[str, ...], ...]


class BayesView(msgspec.Struct, frozen=True):
    """Class-conditional distributions of the columns."""

    classes: tuple[str, ...]
    prior: tuple[float, ...]
    columns: tuple[CurveView | BarsView | WordsView, ...]
    id: str = "distributions"
    title: str = "Class-conditional distributions"


class DependenceLine(msgspec.Struct, frozen=True):
    """Two columns that are dependent given the class."""

    columns: tuple[str, str]
    bits: float  # conditional mutual information
    share: float  # of what is unknown about the better known of the two
    p: str


class DependenceView(msgspec.Struct, frozen=True):
    """Pairs of columns that naive Bayes takes to be independent given the class, and are not."""

    lines: tuple[DependenceLine, ...]
    n_dependent: int  # significant pairs
    n_pairs: int
    n_rows: int
    note: str = ""  # columns that are not compared
    id: str = "dependence"
    title: str = "Is it naive?"


class CoefficientView(msgspec.Struct, frozen=True):
    """Coefficient, with positions of its dot and interval from 0 to 100."""

    feature: str
    estimate: str
    ratio: str
    interval: str
    p: str
    dot: float
    low: float
    high: float


class CoefficientGroup(msgspec.Struct, frozen=True):
    """Coefficients of one class."""

    label: str
    place: int
    zero: float  # position of zero, from 0 to 100
    lines: tuple[CoefficientView, ...]
    hidden: int


class CoefficientsView(msgspec.Struct, frozen=True):
    """Coefficients of a linear model."""

    groups: tuple[CoefficientGroup, ...]
    note: str
    has_ratios: bool
    has_intervals: bool
    id: str = "coefficients"
    title: str = "Coefficients"


class NomogramScale(msgspec.Struct, frozen=True):
    """Axis of a nomogram: ticks from 0 to 100 points with their labels, and the row of each label."""

    name: str
    low: float
    high: float
    ticks: tuple[tuple[float, str, int], ...]


class CardBinView(msgspec.Struct, frozen=True):
    """Bin of a scorecard, with the ends of its bar from 0 to 100."""

    name: str
    rows: str
    rate: str
    woe: str
    points: int
    low: float
    high: float


class CardColumnView(msgspec.Struct, frozen=True):
    """Column of a scorecard; `typical` is the bin with most rows."""

    name: str
    bins: tuple[CardBinView, ...]
    typical: int


class ScorecardView(msgspec.Struct, frozen=True):
    """Scorecard as a table with bars, and a calculator that adds the points of chosen bins."""

    good: str
    scale: str
    start: int
    per_point: float  # log-odds of one point
    shift: float  # log-odds of 0 points
    zero: float  # position of 0 points, from 0 to 100
    columns: tuple[CardColumnView, ...]
    note: str = ""
    has_calculator: bool = True
    id: str = "scorecard"
    title: str = "The card"


class NomogramView(msgspec.Struct, frozen=True):
    """Nomogram: an axis of points per column, their total, and the resulting prediction."""

    label: str
    points: tuple[tuple[float, str, int], ...]
    scales: tuple[NomogramScale, ...]
    total: tuple[tuple[float, str, int], ...]
    answer: tuple[tuple[float, str, int], ...]
    id: str = "nomogram"
    title: str = "Nomogram"


class TextView(msgspec.Struct, frozen=True):
    """Model as text, as it is printed."""

    text: str
    id: str = "words"
    title: str = "As text"


class EllipseView(msgspec.Struct, frozen=True):
    """Class over two features: its mean, and outlines of one and two standard deviations, in a box of 300 by 200."""

    place: int  # code of the class
    x: float
    y: float
    inner: str
    outer: str


class PairView(msgspec.Struct, frozen=True):
    """Two features, the ends of their axes, and the classes over them."""

    across: str
    upwards: str
    ends: tuple[str, str, str, str]  # left, right, bottom, top
    ellipses: tuple[EllipseView, ...]


class EllipsesView(msgspec.Struct, frozen=True):
    """Gaussian classes with their covariances, over the features that separate them best."""

    classes: tuple[str, ...]
    prior: tuple[float, ...]
    pairs: tuple[PairView, ...]
    hidden: int  # features that are not drawn
    id: str = "ellipses"
    title: str = "Gaussian classes"


class CombinationView(msgspec.Struct, frozen=True):
    """Combination of levels: its proportion of the rows, by class as parts of a stacked bar."""

    tests: tuple[str, ...]
    share: float
    parts: tuple[tuple[int, float, float], ...]  # class, start and length of its part of the bar, up to 100


class JointView(msgspec.Struct, frozen=True):
    """The heaviest combinations of a joint table."""

    classes: tuple[str, ...]
    combinations: tuple[CombinationView, ...]
    occurring: int
    possible: str
    id: str = "combinations"
    title: str = "The heaviest combinations"


class BayesLeafView(msgspec.Struct, frozen=True):
    """Naive Bayes model of a node: the path to the node, and its weight in predictions."""

    conditions: tuple[str, ...]
    share: float
    bayes: BayesView


class BayesLeavesView(msgspec.Struct, frozen=True):
    """Naive Bayes models of nodes, the largest weight first."""

    leaves: tuple[BayesLeafView, ...]
    hidden: int
    id: str = "leaves"
    title: str = "Naive Bayes in the tree"


class FunctionView(msgspec.Struct, frozen=True):
    """Contribution of a column to each score, as lines in a box of 300 by 90 whose middle is 0."""

    name: str
    paths: tuple[str, ...]
    ticks: tuple[tuple[float, str], ...]
    largest: str  # value at the upper edge of the box
    bands: tuple[str, ...] = ()  # areas of two standard errors around the lines
    rows: str = ""  # area: where the training rows lie


class SurfaceView(msgspec.Struct, frozen=True):
    """Contribution of a pair of columns to one score: raster cells, row by row from the top, from −1 to 1."""

    across: str
    upwards: str
    score: str
    ends: tuple[str, str, str, str]  # left, right, bottom, top
    shape: tuple[int, int]  # columns and rows of the raster
    squares: tuple[float, ...]
    largest: str


class FunctionsView(msgspec.Struct, frozen=True):
    """Functions of a spline model."""

    unit: str
    scores: tuple[str, ...]
    columns: tuple[FunctionView, ...]
    pairs: tuple[SurfaceView, ...]
    hidden: int  # pairs that are not drawn
    has_bands: bool = False
    id: str = "functions"
    title: str = "Contribution of each column"


class VotingRuleView(msgspec.Struct, frozen=True):
    """IF conditions THEN the class: covered weight, correct weight, lift and confidence."""

    conditions: tuple[str, ...]
    answer: str
    place: int  # code of the class
    confidence: float
    cover: float
    right: float
    lift: float


class VotingRulesView(msgspec.Struct, frozen=True):
    """Voting rules, by class and confidence, and the default class."""

    rules: tuple[VotingRuleView, ...]
    hidden: int
    default: str
    id: str = "rules"
    title: str = "Voting rules"


class TrialView(msgspec.Struct, frozen=True):
    """Tree or rule set of a boosting trial: its size and its rules."""

    name: str
    size: str
    rules: RulesView | VotingRulesView

    @property
    def votes(self) -> bool:
        """Whether the trial is a rule set, whose rules vote."""
        return isinstance(self.rules, VotingRulesView)


class TrialsView(msgspec.Struct, frozen=True):
    """Boosting trials in order; each votes for a class."""

    trials: tuple[TrialView, ...]
    hidden: int
    id: str = "trials"
    title: str = "Boosting trials"
