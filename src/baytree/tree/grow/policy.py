"""What sets one tree algorithm apart from another, as a value: ID3, C4.5, CART and CHAID are policies."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Criterion(StrEnum):
    """What a split is to improve."""

    ERROR = "error"
    ENTROPY = "entropy"
    GINI = "gini"
    GAIN_RATIO = "gain_ratio"
    TWOING = "twoing"
    CHI2 = "chi2"
    LIKELIHOOD_RATIO = "likelihood_ratio"
    SSE = "sse"


class Branching(StrEnum):
    """How a column's values become branches."""

    BINARY = "binary"  # a cut, or two groups of levels
    MULTIWAY = "multiway"  # one branch per level
    MERGE = "merge"  # levels merged into groups while they do not differ


class Missing(StrEnum):
    """Where a row without a value goes."""

    LEARNED = "learned"  # the side on which the training rows without a value fit best
    SURROGATE = "surrogate"  # by the column that imitates the split best
    FRACTIONAL = "fractional"  # down every branch, in the shares of the known rows
    CATEGORY = "category"  # missing is one more level
    LARGEST = "largest"  # the branch with the most weight


class Choose(StrEnum):
    """How the winner among the columns of a node is found."""

    BEST = "best"
    AVERAGE_GAIN = "average_gain"  # C4.5: the best ratio among those of at least average gain
    ADJUSTED_P = "adjusted_p"  # CHAID: the least p-value, adjusted for the number of ways to merge


class Stopping(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """When a node is not split any further."""

    max_depth: int | None = None
    max_leaves: int | None = None
    min_split: float = 2
    min_leaf: float = 1
    min_impurity: float = 0.0
    min_gain: float = 0.0
    alpha: float | None = None  # significance that a split must reach


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The axes on which the classic algorithms differ."""

    criterion: Criterion = Criterion.GINI
    branching: Branching = Branching.BINARY
    missing: Missing = Missing.LEARNED
    choose: Choose = Choose.BEST
    stopping: Stopping = Stopping()
