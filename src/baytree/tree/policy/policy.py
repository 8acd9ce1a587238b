"""What sets one tree algorithm apart from another, as a value: each axis here, the classic algorithms in `policies`."""

from __future__ import annotations

from enum import StrEnum

import msgspec
import numpy as np

from baytree import _core
from baytree.folds.splitters import Splitter


class Criterion(StrEnum):
    """What a split is to improve: each class of core/tree/criteria.hpp. Named here are those that policies name."""

    locals().update({name.upper(): name for name, _ in _core.criteria()})
    CHI2: Criterion
    ENTROPY: Criterion
    ERROR: Criterion
    GAIN_RATIO: Criterion
    GINI: Criterion
    LIKELIHOOD_RATIO: Criterion
    ROW_EFFECTS: Criterion
    SSE: Criterion


SUITS: dict[Criterion, _core.Suits] = {Criterion(name): suits for name, suits in _core.criteria()}


class Branching(StrEnum):
    """How a column's values become branches."""

    BINARY = "binary"  # a cut, or two groups of levels
    ONE_LEVEL = "one_level"  # a cut, or one level against the rest
    MULTIWAY = "multiway"  # one branch per level
    GROUPED = "grouped"  # levels united while the gain ratio does not fall
    MERGE = "merge"  # levels merged while their classes do not differ


class Missing(StrEnum):
    """Where a row without a value goes."""

    LEARNED = "learned"  # the side on which the training rows without a value fit best
    SURROGATE = "surrogate"  # by the column that imitates the split best
    FRACTIONAL = "fractional"  # down every branch, in the shares of the known rows
    CATEGORY = "category"  # missing is one more level
    LARGEST = "largest"  # the branch with the most weight


class SplitSelection(StrEnum):
    """How the winner among the columns of a node is found."""

    BEST = "best"
    AVERAGE_GAIN = "average_gain"  # C4.5: the best ratio among those of at least average gain
    ADJUSTED_P = "adjusted_p"  # CHAID: the least p-value, adjusted for the number of ways to merge


class ReferenceProgram(StrEnum):
    """The program whose order of operations, thresholds and ties are followed."""

    OWN = "own"
    RPART = "rpart"
    C45 = "c4.5"
    J48 = "j48"
    ID3 = "id3"
    C50 = "c5.0"


class Stopping(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """When a node is not split any further."""

    max_depth: int | None = None
    max_leaves: int | None = None
    min_split: float = 2
    min_leaf: float = 1
    min_impurity: float = 0.0
    min_gain: float = 0.0
    alpha: float | None = None  # significance that a split must reach
    cp: float = 0.0  # what a split must save of the root's risk
    counts_rows: bool = False  # sizes are rows, whatever their weights
    takes_no_gain: bool = False  # where no split of numbers improves a node that is not pure, the first one is taken


class ThresholdSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How numbers are cut in a fractional tree."""

    is_midpoint: bool = True  # half-way between two values, not at a value of the training rows
    mdl: bool = False  # a cut is charged for the number of cuts that it was chosen from (Quinlan 1996)


class SurrogateRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which columns stand in for a missing one, as rpart numbers it."""

    most: int = 5
    use: int = 2  # 0 stops rows without a value, 1 uses surrogates, 2 then follows the majority
    style: int = 0  # 1 judges surrogates on the rows that they know


class MergeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """When levels merge into groups, and when groups part again."""

    alpha: float = 0.05  # groups merge while their p-value is above it
    alpha_resplit: float | None = None
    exhaustive: bool | str = False
    min_prob: float = 1.0  # a group with less than min(⌈min_prob · n⌉, min_leaf) of a node's n must merge
    bins: int = 10  # ranks of similar weight that a numeric column becomes


class CrossValidated(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Cost-complexity pruning at the penalty that cross-validation chooses, with one tree per fold."""

    rule: str  # "1se" or "min"
    cv: int | Splitter | np.ndarray = 10  # a number of folds, a splitter, or the fold of each row: int64 [n_rows]
    seed: int = 0
    by_impurity: bool = False  # a split is worth what it takes of the criterion, as in scikit-learn, not of the risk


class Collapse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A subtree that is no better than a leaf on its own training rows becomes one."""


class ErrorBased(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Pruning by a pessimistic estimate of the error (Quinlan 1993)."""

    confidence: float = 0.25
    raising: bool = True  # a node's heaviest branch may take its place


class ReducedError(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Pruning on rows that were held out."""

    held_out: np.ndarray | None = None  # float64 [n_rows], the share of each row; None draws a third by what rows hold


class OneStandardError(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Subtrees that cost least per leaf go first, while all errors rise by no more than one standard error (C5.0)."""


Pruner = CrossValidated | Collapse | ErrorBased | ReducedError | OneStandardError


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The axes on which the classic algorithms differ."""

    criterion: Criterion = Criterion.GINI
    branching: Branching = Branching.BINARY
    missing: Missing = Missing.LEARNED
    choose: SplitSelection = SplitSelection.BEST
    arithmetic: ReferenceProgram = ReferenceProgram.OWN
    stopping: Stopping = Stopping()
    cuts: ThresholdSettings = ThresholdSettings()
    surrogates: SurrogateRules = SurrogateRules()
    merging: MergeSettings = MergeSettings()
    pruning: tuple[Pruner, ...] = ()  # one after the other
    laplace: bool = False  # leaves answer with 1 added to every class
    columns_per_node: int | None = None  # of the columns that could split a node, so many are drawn; None: all
    seed: int = 0  # of that draw
    first_split: str | None = None  # the column that the root asks for; None: any
    split_columns: int = 1  # that a test may read, as a weighted sum
    monotone: tuple[tuple[str, int], ...] = ()  # columns with which the target may not fall (1), or not rise (−1)

    @property
    def is_constrained(self) -> bool:
        """Whether not every split may be taken, or splits of several columns may be."""
        return self.first_split is not None or bool(self.monotone) or self.split_columns > 1

    @property
    def cross_validated(self) -> CrossValidated | None:
        """The step that chooses a penalty by cross-validation."""
        return next((step for step in self.pruning if isinstance(step, CrossValidated)), None)
