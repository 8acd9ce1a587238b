"""Summaries of naive Bayes models (one record per column, with numbers per class) and of joint tables."""

from __future__ import annotations

import msgspec

MAX_WORDS_PER_CLASS = 5  # words of a text column that are listed per class, the most telling ones


class LevelShares(msgspec.Struct, frozen=True, tag="levels"):
    """Probability of each level of a column."""

    column: str
    levels: tuple[str, ...]
    probability: tuple[tuple[float, ...], ...]  # [n_levels, n_classes]


class IntervalShares(msgspec.Struct, frozen=True, tag="intervals"):
    """Probability of each interval between the cut points of a numeric column; without cut points there is one interval."""

    column: str
    cuts: tuple[float, ...]
    probability: tuple[tuple[float, ...], ...]  # [n_cuts + 1, n_classes]
    unit: str | None = None


class Normal(msgspec.Struct, frozen=True, tag="normal"):
    """Mean and scale of a normal distribution."""

    column: str
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    unit: str | None = None


class KernelDensity(msgspec.Struct, frozen=True, tag="kernels"):
    """Mean of a kernel density, width of its kernels and their number."""

    column: str
    mean: tuple[float, ...]
    width: tuple[float, ...]
    number: tuple[int, ...]
    unit: str | None = None


class Amount(msgspec.Struct, frozen=True, tag="amount"):
    """One number: the probability of yes, a mean count, a proportion among the columns, or a weight."""

    column: str
    quantity: str
    amount: tuple[float, ...]


class TellingWords(msgspec.Struct, frozen=True, tag="words"):
    """The most indicative words of a text column for each class, the strongest first."""

    column: str
    words: tuple[tuple[str, ...], ...]  # per class


Likelihood = LevelShares | IntervalShares | Normal | KernelDensity | Amount | TellingWords


class NaiveBayesSummary(msgspec.Struct, frozen=True, tag="naive_bayes"):
    """Prior and class-conditional distributions of each column."""

    target: str
    classes: tuple[str, ...]
    prior: tuple[float, ...]
    likelihoods: tuple[Likelihood, ...]
    belief: str = ""  # description of the prior on the distributions' parameters


class Combination(msgspec.Struct, frozen=True):
    """A level of each column and a class, and their proportion of the total weight."""

    levels: tuple[str, ...]
    label: str
    share: float


class JointSummary(msgspec.Struct, frozen=True, tag="joint_table"):
    """Number of occurring and of possible combinations, and the heaviest ones."""

    target: str
    columns: tuple[str, ...]
    occurring: int
    possible: int
    heaviest: tuple[Combination, ...]
