"""What a model is, for a person: records of names and numbers. Text, HTML and JSON are printers of them.

Names are as the user wrote them, numbers are not rounded, and a date is a number with its unit.
"""

from __future__ import annotations

import math

import msgspec

MOST_WORDS = 5  # of a text column that are told for each class
STOP, SPREAD = -1, -2  # what a node does with a row whose branch is not known: it rests there, or goes down every branch

# --- naive Bayes: a record per column, with numbers for each class ---------------------------------------------------------


class LevelShares(msgspec.Struct, frozen=True, tag="levels"):
    """How probable each level of a column is."""

    column: str
    levels: tuple[str, ...]
    probability: tuple[tuple[float, ...], ...]  # [n_levels, n_classes]


class IntervalShares(msgspec.Struct, frozen=True, tag="intervals"):
    """How probable the intervals between the cuts of a numeric column are; without a cut there is one interval."""

    column: str
    cuts: tuple[float, ...]
    probability: tuple[tuple[float, ...], ...]  # [n_cuts + 1, n_classes]
    unit: str | None = None


class Normal(msgspec.Struct, frozen=True, tag="normal"):
    """The place and the width of a bell curve."""

    column: str
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    unit: str | None = None


class KernelDensity(msgspec.Struct, frozen=True, tag="kernels"):
    """The mean of a kernel density, the width of its kernels and their number."""

    column: str
    mean: tuple[float, ...]
    width: tuple[float, ...]
    number: tuple[int, ...]
    unit: str | None = None


class Amount(msgspec.Struct, frozen=True, tag="amount"):
    """One number: the probability of yes, a mean count, a share among the columns, or a weight."""

    column: str
    quantity: str
    amount: tuple[float, ...]


class TellingWords(msgspec.Struct, frozen=True, tag="words"):
    """The words of a text column that speak most for each class, the strongest first."""

    column: str
    words: tuple[tuple[str, ...], ...]  # of each class


Likelihood = LevelShares | IntervalShares | Normal | KernelDensity | Amount | TellingWords


class NaiveBayesSummary(msgspec.Struct, frozen=True, tag="naive_bayes"):
    """The prior of each class, and what each column looks like in it."""

    target: str
    classes: tuple[str, ...]
    prior: tuple[float, ...]
    likelihoods: tuple[Likelihood, ...]
    belief: str = ""  # the prior that the distributions were derived with, in words


# --- the joint table -------------------------------------------------------------------------------------------------------


class Combination(msgspec.Struct, frozen=True):
    """A level of each column and a class, and their share of all weight."""

    levels: tuple[str, ...]
    label: str
    share: float


class JointSummary(msgspec.Struct, frozen=True, tag="joint_table"):
    """How many combinations occur of those that could, and the heaviest."""

    target: str
    columns: tuple[str, ...]
    occurring: int
    possible: int
    heaviest: tuple[Combination, ...]


# --- linear models ---------------------------------------------------------------------------------------------------------


class Coefficient(msgspec.Struct, frozen=True):
    """One line: a feature's coefficient for a class (against `base`, where coefficients compare two classes).

    `importance` is the coefficient per standard deviation of the feature. Standard error and what follows from it are None
    where the fit was penalised: they would claim a certainty that shrinkage has taken away.
    """

    label: object  # a class, as the user wrote it
    feature: str
    column: str  # where the feature comes from; empty for the intercept
    estimate: float
    odds_ratio: float
    importance: float
    standard_error: float | None = None
    z: float | None = None
    p: float | None = None
    interval: tuple[float, float] | None = None


class LinearSummary(msgspec.Struct, frozen=True, tag="linear"):
    """The coefficients, the intercept of each class first, and what they compare."""

    title: str
    target: str
    coefficients: tuple[Coefficient, ...]
    base: str | None = None  # the class that all others are compared with, where there is one
    references: tuple[tuple[str, str], ...] = ()  # the level of each nominal column that is the zero of the others
    axes: tuple[float, ...] = ()  # the share of each discriminant axis in what keeps the classes apart


class Slope(msgspec.Struct, frozen=True):
    """One line of a linear regression: what one unit more of a feature changes.

    `importance` is the change per standard deviation of the feature. Standard error and what follows from it are None where
    the fit was penalised, where no degrees of freedom are left, and where a feature is not used.
    """

    feature: str
    column: str  # where the feature comes from; empty for the intercept
    estimate: float
    importance: float
    standard_error: float | None = None
    t: float | None = None
    p: float | None = None
    interval: tuple[float, float] | None = None


class RegressionSummary(msgspec.Struct, frozen=True, tag="linear_regression"):
    """The coefficients, the intercept first, and how well they fit the rows; numbers are None where they say nothing."""

    target: str
    slopes: tuple[Slope, ...]
    references: tuple[tuple[str, str], ...]  # the level of each nominal column that is the zero of the others
    collinear: tuple[str, ...]  # features that follow from earlier ones, and are not used
    weight: float  # of all rows
    r2: float
    level: float = 0.95  # of the intervals
    adjusted_r2: float | None = None
    residual_error: float | None = None
    degrees: float | None = None
    f: float | None = None
    f_p: float | None = None
    log_likelihood: float | None = None
    aic: float | None = None
    bic: float | None = None
    is_perfect: bool = False  # nothing but rounding is left of the residuals
    penalty: str | None = None  # in words


class SplineTerm(msgspec.Struct, frozen=True):
    """A product of hinges, in words, and its coefficient for each score; the constant has no hinges."""

    hinges: tuple[str, ...]  # as a person reads them: max(0, temp − 58), colour=red
    coefficient: tuple[float, ...]  # of the features as they came


class SplineSummary(msgspec.Struct, frozen=True, tag="splines"):
    """The terms, the constant first, and how well they fit; of classes RSS and GCV are those of their indicators."""

    target: str
    scores: tuple[str, ...]  # what the coefficients add up to: the target, or log-odds of classes
    terms: tuple[SplineTerm, ...]
    columns: tuple[str, ...]  # that terms read
    unused: tuple[str, ...]
    references: tuple[tuple[str, str], ...]  # the level of each nominal column that is the zero of the others
    rows: int
    rss: float
    gcv: float
    r2: float
    relative_gcv: float


class QuadraticSummary(msgspec.Struct, frozen=True, tag="quadratic_discriminant"):
    """The prior and the means of each class."""

    target: str
    classes: tuple[str, ...]
    prior: tuple[float, ...]
    features: tuple[str, ...]
    mean: tuple[tuple[float, ...], ...]  # [n_features, n_classes]


# --- trees: nodes in the order of the text, so that a chain of a million tests is a list like any other -------------------


class NamedCondition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a branch asks of its column: low < x ≤ high, or one of the levels."""

    column: str
    low: float | None = None
    high: float | None = None
    from_low: bool = False  # low ≤ x
    below_high: bool = False  # x < high
    levels: tuple[str, ...] | None = None  # None where numbers are asked for; none at all where only missing values pass
    missing: bool = False  # a row without a value passes too
    unit: str | None = None


class Node(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A node: how a row gets there, what is predicted, and what is asked next."""

    id: int
    depth: int
    condition: NamedCondition | None  # None at the root
    rows: int
    weight: float
    prediction: int  # a class by its place; 0 where the target is a number
    value: float  # the probability of that class, or the mean
    counts: tuple[tuple[int, float], ...] = ()  # classes that occur, and their weight
    column: str = ""  # asked next; empty at a leaf
    branches: int = 0  # 0 at a leaf, and where nothing below is told
    missing: int = STOP  # the branch of rows without a value, or STOP or SPREAD
    has_surrogates: bool = False  # other columns are asked before that
    log_p: float | None = None  # of the split, adjusted for the number of ways to merge


class TreeSummary(msgspec.Struct, frozen=True, tag="tree"):
    """The nodes depth first."""

    target: str
    classes: tuple[str, ...]  # none where the target is a number
    nodes: tuple[Node, ...]
    is_merged: bool = False  # levels were merged as long as they do not differ


# --- rules that vote, and trials -------------------------------------------------------------------------------------------


class VotingRuleSummary(msgspec.Struct, frozen=True):
    """IF all conditions hold THEN the class: what it covers, how much of that is right, and how sure it is."""

    conditions: tuple[NamedCondition, ...]
    label: str
    cover: float
    right: float
    lift: float
    confidence: float


class RuleSetSummary(msgspec.Struct, frozen=True, tag="rule_set"):
    """The rules, each of which votes where it holds, and the class where none does."""

    target: str
    classes: tuple[str, ...]
    rules: tuple[VotingRuleSummary, ...]
    default: str


class TrialsSummary(msgspec.Struct, frozen=True, tag="trials"):
    """The trees, or the rule sets, that vote, one for each trial."""

    target: str
    trials: tuple[TreeSummary | RuleSetSummary, ...]


Summary = (
    NaiveBayesSummary | JointSummary | LinearSummary | RegressionSummary | SplineSummary | QuadraticSummary | TreeSummary
    | RuleSetSummary | TrialsSummary
)  # fmt: skip


def to_json(summary: Summary) -> bytes:
    """The record as JSON, which has no word for numbers that are not finite: they are the texts "inf", "-inf", "nan"."""
    return msgspec.json.encode(_finite(msgspec.to_builtins(summary)))


def from_json(text: bytes | str) -> Summary:
    """The record that `to_json` has written."""
    return msgspec.json.decode(text, type=Summary, strict=False)


def _finite(value: object) -> object:
    if type(value) is float:
        return value if math.isfinite(value) else str(value)
    if type(value) is list or type(value) is tuple:
        return [_finite(each) for each in value]
    return {name: _finite(each) for name, each in value.items()} if type(value) is dict else value
