"""Naive Bayes, a record per column with numbers for each class; and the joint table."""

from __future__ import annotations

import msgspec

MOST_WORDS = 5  # of a text column that are told for each class


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
