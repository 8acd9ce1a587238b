"""Quinlan's ID3 and C4.5: multiway trees whose rows with missing values follow several branches.

ID3 (Quinlan 1986): information gain, a branch for each level, no pruning. C4.5 (Quinlan 1993, 1996): gain ratio among tests
of at least average gain, fractional rows, error-based pruning; C4.5 release 8 and Weka's J48 are reproduced. The growing and
pruning algorithms are in `tree.search.fractional`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from baytree import param_validation as given
from baytree._typing import CostsLike, FrameLike, TargetLike, WeightsLike
from baytree.data.schema.schema import Schema
from baytree.estimators.base import PreparedRows
from baytree.estimators.prediction import Classifier
from baytree.estimators.tree.base import TreeEstimator, written_call
from baytree.tree.learner import TreeLearner
from baytree.tree.policy.algorithms import C45, ID3, J48
from baytree.tree.policy.policy import (
    Branching,
    Collapse,
    Criterion,
    ErrorBased,
    Policy,
    Pruner,
    ReducedError,
    ThresholdSettings,
)
from baytree.tree.pruning.cost_complexity import with_complexity
from baytree.tree.search.fractional import PROGRAMS, FractionalNodes, prune_by_estimate, prune_on_held_out, regrown, rows_of
from baytree.tree.search.fractional_tree import tree_of


class QuinlanClassifier(TreeEstimator, Classifier):
    """Base of ID3 and C4.5: a multiway tree with fractional rows."""


class ID3Classifier(QuinlanClassifier):
    """Decision tree by ID3: information gain, a branch for each level, grown until no test gains information.

    On nominal tables without missing values the tree equals that of Weka's Id3, including its tie-breaking. For other tables
    the published algorithm has no rule and Weka's program refuses; here:

    - a level without training rows in a node leads to a leaf with the class distribution of the node;
    - a numeric column is split in two at the threshold with the largest gain, and may be split again below
      (`C45Classifier` corrects for the choice among many thresholds and prunes; prefer it for numeric columns);
    - a row with a missing value follows every branch, weighted by the branch's proportion of the rows with a known value,
      and the gain of a test is multiplied by the known proportion, as in C4.5.

    Parameters
    ----------
    split_without_gain : bool, default=False
        Whether to split a node of several classes even if no test has a gain, by the first column that separates its rows.
        The published algorithm [1]_ [2]_ splits as long as classes are mixed and attributes remain; Weka's Id3 stops
        without a gain.

    References
    ----------
    .. [1] Quinlan, J. R. (1986). Induction of decision trees. Machine Learning 1.
    .. [2] Mitchell, T. M. (1997). Machine Learning, table 3.1.

    Examples
    --------
    >>> import baytree as bt
    >>> days = {"wind": ["weak", "strong", "weak", "strong"], "play": ["yes", "no", "yes", "no"]}
    >>> print(bt.ID3Classifier().fit(days, "play"))
    4 rows: no (no 2, yes 2)
    ├─ wind = strong: no (no 2)
    └─ wind = weak: yes (yes 2)
    """

    def __init__(
        self,
        *,
        split_without_gain: bool = False,
        averaging: str | None = None,
        trace: bool = False,
        costs: CostsLike = None,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ) -> None:
        self.split_without_gain = split_without_gain
        self.averaging = averaging
        self.trace = trace
        self.costs = costs
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    _own_names: ClassVar[dict[str, str]] = {"takes_no_gain": "split_without_gain"}

    def _tree_learner(self, schema: Schema) -> TreeLearner:
        takes_no_gain = given.flag("split_without_gain", self.split_without_gain)
        stopping = msgspec.structs.replace(ID3.stopping, takes_no_gain=takes_no_gain)
        policy = msgspec.structs.replace(ID3, stopping=stopping)
        return TreeLearner(policy, traces=given.flag("trace", self.trace), averages=self._averages())


CONVENTIONS = {"c4.5": C45, "j48": J48}

MAX_CONFIDENT = {"c4.5": 1.0, "j48": 0.5}


class C45Classifier(QuinlanClassifier):
    """Decision tree by C4.5: multiway splits, fractional rows for missing values, error-based pruning.

    Parameters
    ----------
    conventions : {'c4.5', 'j48'}, default='c4.5'
        Program whose trees are reproduced where programs differ: C4.5 release 8 or Weka's J48. Release 8 computes in
        float32; so does baytree for whole weights that sum to at most 2^24, and for columns whose values float32 can
        distinguish.
    criterion : {'gain_ratio', 'gain'}, default='gain_ratio'
        How the test of a node is chosen; the gain ratio is compared only among tests of at least average gain.
    min_objects : float, default=2
        Minimum weight that at least two branches of a test must have.
    confidence : float, default=0.25
        Confidence level of the error estimate; smaller values prune more.
    pruning : {'error_based', 'reduced_error', None}, default='error_based'
        Error-based (pessimistic estimate), reduced-error, or no pruning. Reduced-error pruning uses held-out rows: those of
        ``fit(..., prune_on=rows)``, else a third of the rows, drawn by their contents.
    binary : bool, default=False
        Whether nominal tests compare one level with the rest instead of having a branch for each level.
    subset : bool, default=False
        Whether nominal tests merge levels into groups while the gain ratio does not decrease. The rule is baytree's own; it
        finds the groups of release 8 on 20 of 22 tables.
    raising : bool, default=True
        Whether pruning may replace a node by its heaviest branch (subtree raising).
    collapse : bool, default=True
        Whether to replace a subtree by a leaf if it makes no fewer errors on its training rows.
    mdl : bool, default=True
        Whether to subtract the cost of choosing among thresholds from the gain of numeric tests (Quinlan 1996).
    midpoint : bool, default=False
        Whether thresholds lie half-way between two values instead of at a value of the training rows.
    laplace : bool, default=False
        Whether to add 1 to every class count of a leaf when computing probabilities.

    Notes
    -----
    Adjacent values must differ by at least 1e-5 for a threshold between them, as in both programs; a column whose values all
    lie within 0.001 is exempt from this rule. Sample weights multiply rows: `min_objects` and the error estimates count
    weight. If all weights are below 2^-40 or some are above 2^40, they are scaled to a largest weight near 1.

    Examples
    --------
    >>> import baytree as bt
    >>> days = {"wind": ["weak", "strong", "weak", "strong"] * 2, "play": ["yes", "no", "yes", "no"] * 2}
    >>> print(bt.C45Classifier().fit(days, "play"))
    8 rows: no (no 4, yes 4)
    ├─ wind = strong: no (no 4)
    └─ wind = weak: yes (yes 4)
    """

    def __init__(
        self,
        *,
        conventions: str = "c4.5",
        criterion: str = "gain_ratio",
        min_objects: float = 2,
        confidence: float = 0.25,
        pruning: str | None = "error_based",
        binary: bool = False,
        subset: bool = False,
        raising: bool = True,
        collapse: bool = True,
        mdl: bool = True,
        midpoint: bool = False,
        laplace: bool = False,
        averaging: str | None = None,
        trace: bool = False,
        costs: CostsLike = None,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ):
        self.conventions = conventions
        self.criterion = criterion
        self.min_objects = min_objects
        self.confidence = confidence
        self.pruning = pruning
        self.binary = binary
        self.subset = subset
        self.raising = raising
        self.collapse = collapse
        self.mdl = mdl
        self.midpoint = midpoint
        self.laplace = laplace
        self.averaging = averaging
        self.trace = trace
        self.costs = costs
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    def fit(
        self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None, prune_on: ArrayLike | None = None
    ) -> Self:
        """Fit the tree to a table.

        Parameters
        ----------
        prune_on : array-like, optional
            Rows to hold out for reduced-error pruning, as indices or as a boolean mask; by default a third of the rows.
        """
        return self._fit(X, y, sample_weight, prune_on=prune_on)

    def prune(self, how: str = "error_based", X: FrameLike = None, y: TargetLike = None, **options: Any) -> Self:
        """Return a new estimator with the fitted tree pruned further, without growing it again.

        Parameters
        ----------
        how : {'error_based', 'reduced_error', 'cost_complexity', ...}, default='error_based'
            Pruning method: error-based, reduced-error, or one of all trees: ``'cost_complexity'`` (with `cp` or `alpha`),
            ``'1se'`` and ``'min'`` (the penalty by cross-validation on `X` and `y`), ``'bayes'``, ``'collapse'``,
            ``'max_leaves'`` and ``'snip'``; see `DecisionTreeClassifier.prune`.
        X : data frame, optional
            For "error_based", the training rows, which allow subtree raising; for "reduced_error", the held-out rows.
        options : keyword arguments
            Parameters of the new estimator, such as ``confidence=0.1``; for other methods, their arguments.
        """
        if how in ("error_based", "reduced_error") and {"cp", "alpha"} & set(options):
            raise ValueError(f"prune({how!r}) has no penalty: give prune('cost_complexity', cp=...) or (..., alpha=...)")
        if how not in ("error_based", "reduced_error"):
            rows = () if X is None else (X,) if y is None else (X, y)
            return super().prune(how, *rows, **options)
        pruned = self._with_tree(self.tree_, written_call("prune", how, **options), **options)
        policy = pruned._policy(None)
        rows = None if X is None else rows_of(self._labelled(X, y), policy.arithmetic)
        growth = FractionalNodes(regrown(self.tree_), [], PROGRAMS[policy.arithmetic].single)
        if how == "reduced_error":
            if rows is None:
                raise ValueError("prune('reduced_error') needs held-out rows: give X and y")
            prune_on_held_out(growth, rows)
        else:
            prune_by_estimate(growth, policy.arithmetic, pruned._error_based(), rows)
        pruned.model_ = with_complexity(tree_of(growth, policy))
        return pruned

    _own_names: ClassVar[dict[str, str]] = {"min_leaf": "min_objects"}

    def _tree_learner(self, schema: Schema, held_out: np.ndarray | None = None) -> TreeLearner:
        return TreeLearner(self._policy(held_out), traces=given.flag("trace", self.trace), averages=self._averages())

    def _policy(self, held_out: np.ndarray | None) -> Policy:
        program = CONVENTIONS[given.one_of("conventions", self.conventions, CONVENTIONS)]
        is_ratio = given.one_of("criterion", self.criterion, ("gain_ratio", "gain")) == "gain_ratio"
        min_leaf = given.number("min_objects", self.min_objects, 1e-6)
        return msgspec.structs.replace(
            program,
            criterion=Criterion.GAIN_RATIO if is_ratio else Criterion.ENTROPY,
            branching=self._branching(),
            cuts=ThresholdSettings(is_midpoint=given.flag("midpoint", self.midpoint), mdl=given.flag("mdl", self.mdl)),
            stopping=msgspec.structs.replace(program.stopping, min_leaf=min_leaf),
            pruning=self._pruning(held_out),
            laplace=given.flag("laplace", self.laplace),
        )

    def _branching(self) -> Branching:
        is_binary, is_grouped = given.flag("binary", self.binary), given.flag("subset", self.subset)
        if is_binary and is_grouped:
            raise ValueError("binary=True and subset=True contradict each other; choose one")
        if is_binary:
            return Branching.ONE_LEVEL
        return Branching.GROUPED if is_grouped else Branching.MULTIWAY

    def _pruning(self, held_out: np.ndarray | None) -> tuple[Pruner, ...]:
        how, by_error = given.one_of("pruning", self.pruning, ("error_based", "reduced_error", None)), self._error_based()
        if how == "reduced_error":
            return (ReducedError(held_out=held_out),)
        first = (Collapse(),) if given.flag("collapse", self.collapse) else ()
        return first if how is None else (*first, by_error)

    def _error_based(self) -> ErrorBased:
        confidence = given.number("confidence", self.confidence, 1e-6, MAX_CONFIDENT[self.conventions])
        return ErrorBased(confidence=confidence, raising=given.flag("raising", self.raising))

    def _row_dependent_settings(self, entered: PreparedRows, prune_on: ArrayLike | None = None) -> dict[str, Any]:
        """Weight of each row in the pruning set (0 or 1), if `prune_on` names rows."""
        if prune_on is None:
            return {}
        if self.pruning != "reduced_error":
            raise ValueError("prune_on requires pruning='reduced_error'; set it, or omit prune_on")
        mask = np.ones(len(entered.table), bool) if entered.row_mask is None else entered.row_mask
        held_out = _as_mask(prune_on, len(mask))[mask]
        if held_out.all():
            raise ValueError("prune_on contains all rows; leave some to grow the tree")
        return {"held_out": held_out.astype(np.float64)}


def _as_mask(rows: ArrayLike, n_rows: int) -> np.ndarray:
    named = np.asarray(rows)
    if named.dtype == bool:
        if named.shape != (n_rows,):
            raise ValueError(f"prune_on is a mask with {named.size} entries, but the table has {n_rows} rows")
        return named
    positions = named.astype(np.int64) if named.size else np.zeros(0, np.int64)
    if positions.size and not (np.array_equal(positions, named) and -n_rows <= positions.min() and positions.max() < n_rows):
        raise ValueError(f"prune_on has indices out of range; rows are numbered from 0 to {n_rows - 1}")
    mask = np.zeros(n_rows, bool)
    mask[positions] = True
    return mask
