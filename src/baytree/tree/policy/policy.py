"""`Policy`: the settings in which tree algorithms differ, each an enumeration or a record.

Criterion, branching, missing-value rule, split selection, arithmetic, stopping, surrogates, merging and pruning are
independent axes; the classic algorithms are values in `algorithms`.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec
import numpy as np

from baytree import _core
from baytree.folds.splitters import Splitter


class Criterion(StrEnum):
    """Impurity measure that a split reduces: the classes of core/tree/criteria.hpp. Only those that policies use are
    declared.
    """

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
    """How the values of a column become branches."""

    BINARY = "binary"  # a threshold, or two groups of levels
    ONE_LEVEL = "one_level"  # a threshold, or one level against the rest
    MULTIWAY = "multiway"  # one branch per level
    GROUPED = "grouped"  # levels grouped while the gain ratio does not fall
    MERGE = "merge"  # levels merged while their class distributions do not differ


class Missing(StrEnum):
    """Where a row with a missing value goes."""

    LEARNED = "learned"  # the branch in which the training rows with a missing value gain most
    SURROGATE = "surrogate"  # the branch of the best surrogate split
    FRACTIONAL = "fractional"  # every branch, with the proportions of the non-missing rows
    CATEGORY = "category"  # missing is one more level
    LARGEST = "largest"  # the branch of largest weight


class SplitSelection(StrEnum):
    """How the best column of a node is selected."""

    BEST = "best"
    AVERAGE_GAIN = "average_gain"  # C4.5: the best gain ratio among columns of at least average gain
    ADJUSTED_P = "adjusted_p"  # CHAID: the smallest p-value, adjusted for the number of ways to merge levels


class ReferenceProgram(StrEnum):
    """Reference program whose order of operations, tolerances and ties are followed."""

    OWN = "own"
    RPART = "rpart"
    C45 = "c4.5"
    J48 = "j48"
    ID3 = "id3"
    C50 = "c5.0"


class Stopping(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Stopping rules: when a node is not split further."""

    max_depth: int | None = None
    max_leaves: int | None = None
    min_split: float = 2
    min_leaf: float = 1
    min_impurity: float = 0.0
    min_gain: float = 0.0
    alpha: float | None = None  # significance level that a split must reach
    cp: float = 0.0  # minimum decrease of risk by a split, relative to the root's risk
    counts_rows: bool = False  # sizes count rows, whatever their weights
    takes_no_gain: bool = False  # an impure node that no split improves is split by the first column that separates its rows


class ThresholdSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How thresholds are chosen in a tree with fractional rows."""

    is_midpoint: bool = True  # midpoint between two values instead of a value of the training rows
    mdl: bool = False  # a threshold is charged for the number of candidates it was chosen from (Quinlan 1996)


class SurrogateRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Surrogate settings, numbered as in rpart."""

    most: int = 5
    use: int = 2  # 0: stop rows with a missing value; 1: use surrogates; 2: then follow the majority
    style: int = 0  # 1: evaluate surrogates only on rows in which they are not missing


class MergeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """When levels are merged into groups, and when groups are split again (CHAID)."""

    alpha: float = 0.05  # groups merge while their p-value is above it
    alpha_resplit: float | None = None
    exhaustive: bool | str = False
    min_prob: float = 1.0  # a group with less than min(⌈min_prob · n⌉, min_leaf) of a node's n must be merged
    bins: int = 10  # quantile bins of a numeric column


class CrossValidated(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Cost-complexity pruning with the penalty chosen by cross-validation, one tree per fold."""

    rule: str  # "1se" or "min"
    cv: int | Splitter | np.ndarray = 10  # number of folds, a splitter, or an array of folds
    seed: int = 0
    by_impurity: bool = False  # prune by the decrease of the criterion (scikit-learn), not of the risk


class Collapse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Replace a subtree by a leaf if it is no better on its own training rows."""


class ErrorBased(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Pruning by a pessimistic error estimate (Quinlan 1993)."""

    confidence: float = 0.25
    raising: bool = True  # subtree raising: the heaviest branch may replace its parent


class ReducedError(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Reduced-error pruning on held-out rows."""

    held_out: np.ndarray | None = None  # float64 [n_rows], proportion per row; None: a third, by content hash


class OneStandardError(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Prune the subtrees of least cost per leaf while the total errors rise by at most one standard error (C5.0)."""


Pruner = CrossValidated | Collapse | ErrorBased | ReducedError | OneStandardError


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Settings in which the classic tree algorithms differ."""

    criterion: Criterion = Criterion.GINI
    branching: Branching = Branching.BINARY
    missing: Missing = Missing.LEARNED
    choose: SplitSelection = SplitSelection.BEST
    arithmetic: ReferenceProgram = ReferenceProgram.OWN
    stopping: Stopping = Stopping()
    cuts: ThresholdSettings = ThresholdSettings()
    surrogates: SurrogateRules = SurrogateRules()
    merging: MergeSettings = MergeSettings()
    pruning: tuple[Pruner, ...] = ()  # applied in order
    laplace: bool = False  # leaves predict with one row added to each class
    columns_per_node: int | None = None  # number of columns drawn at each node, among those that could split it; None: all
    seed: int = 0  # of that draw
    first_split: str | None = None  # column that the root must test; None: any
    split_columns: int = 1  # maximum number of columns in a test, as a weighted sum
    monotone: tuple[tuple[str, int], ...] = ()  # columns in which the prediction must not decrease (1) or not increase (−1)

    @property
    def is_constrained(self) -> bool:
        """Whether some splits are forbidden, or oblique splits are allowed."""
        return self.first_split is not None or bool(self.monotone) or self.split_columns > 1

    @property
    def cross_validated(self) -> CrossValidated | None:
        """Pruning step that chooses a penalty by cross-validation, or None."""
        return next((step for step in self.pruning if isinstance(step, CrossValidated)), None)
