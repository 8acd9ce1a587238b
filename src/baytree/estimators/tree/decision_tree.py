"""General decision trees: every aspect of growing is a parameter.

The classes turn their parameters into a `Policy` (criterion, branching, missing values, stopping), which
`tree.learner.TreeLearner` carries out. Named algorithms (CART, C4.5, CHAID ...) have estimators of their own with fixed
policies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec
import numpy as np

from baytree import param_validation as given
from baytree._typing import CostsLike, PriorsLike
from baytree.base.learner import Learner
from baytree.data.schema.schema import Schema
from baytree.estimators.prediction import Classifier, Regressor
from baytree.estimators.tree.base import constrained, weighing_of
from baytree.estimators.tree.validated_pruning import ValidatedPruningMixin
from baytree.folds.splitters import Splitter
from baytree.tree.learner import TreeLearner
from baytree.tree.policy.policy import SUITS, Branching, Criterion, MergeSettings, Missing, Policy, Stopping

CLASS_CRITERIA = tuple(criterion.value for criterion, suits in SUITS.items() if suits.binary and not suits.numbers)

MAX_SPLIT_COLUMNS = 3

BRANCHINGS = ("binary", "multiway", "merge")

MISSING = ("learned", "surrogate", "category", "largest")

CLASS_MISSING = ("learned", "surrogate", "fractional", "category", "largest")


class _DecisionTreeBase(ValidatedPruningMixin):
    """Base of the two general trees: turns parameters into a policy."""

    branching: str
    missing: str
    max_depth: int | None
    max_leaves: int | None
    min_split: float
    min_leaf: float
    min_impurity: float
    min_gain: float
    split_without_gain: bool
    monotone: Mapping[str, str] | None
    first_split: str | None

    _own_names: ClassVar[dict[str, str]] = {"takes_no_gain": "split_without_gain"}

    def _learner(self, schema: Schema, **for_rows: Any) -> Learner:
        has_no_tests = given.whole_or_none("max_depth", self.max_depth, 0) == 0
        if has_no_tests and self.branching == "binary":  # without tests, text columns need not be refused
            return self._tree_learner(schema, **for_rows)
        return super()._learner(schema, **for_rows)

    def _policy(
        self,
        schema: Schema,
        criterion: Criterion,
        ways: tuple[str, ...],
        folds: np.ndarray | None,
        alpha: float | None = None,
    ) -> Policy:
        missing = Missing(given.one_of("missing", self.missing, ways))
        branching = Branching(given.one_of("branching", self.branching, BRANCHINGS))
        if branching is Branching.BINARY and missing is Missing.FRACTIONAL:
            branching = Branching.ONE_LEVEL
        stopping = self._stopping(given.whole_or_none("max_leaves", self.max_leaves, 1), alpha)
        if stopping.takes_no_gain and branching is Branching.MERGE:
            raise ValueError(
                "split_without_gain=True: branching='merge' splits only where classes or means differ significantly; "
                "give branching='binary' or 'multiway'"
            )
        merging = MergeSettings() if stopping.alpha is None else MergeSettings(alpha=stopping.alpha)
        policy = Policy(
            criterion=criterion,
            branching=branching,
            missing=missing,
            stopping=stopping,
            merging=merging,
            pruning=self._pruning(folds),
        )
        return constrained(policy, self.monotone, self.first_split, schema)

    def _stopping(self, max_leaves: int | None, alpha: float | None) -> Stopping:
        max_depth = given.whole_or_none("max_depth", self.max_depth, 0)
        if max_leaves is not None:  # a tree with k leaves has depth k - 1 at most
            max_depth = min(max_leaves - 1, max_leaves if max_depth is None else max_depth)
        return Stopping(
            max_depth=max_depth,
            max_leaves=max_leaves,
            min_split=given.number("min_split", self.min_split, 0),
            min_leaf=given.number("min_leaf", self.min_leaf, 0),
            min_impurity=given.number("min_impurity", self.min_impurity, 0),
            min_gain=given.number("min_gain", self.min_gain, 0),
            alpha=None if alpha is None else given.number("alpha", alpha, 0, 1),
            takes_no_gain=given.flag("split_without_gain", self.split_without_gain),
        )


class DecisionTreeClassifier(_DecisionTreeBase, Classifier):
    """Decision tree with free choice of criterion, branching, missing-value rule, stopping, priors and costs.

    Thresholds are exact, ties go to the earlier column and the lower threshold, and the same table always gives the same
    tree. With two classes, the best two groups of levels are found for gini, entropy and error. With more classes, all
    groupings of up to 12 levels are tried; more levels are split in the order of their first principal component
    (Coppersmith, Hong and Hosking 1999). Sizes are sums of weights, so a row of weight 2 equals two rows.

    Parameters
    ----------
    criterion : {'error', 'entropy', 'gini', 'gain_ratio', 'twoing', 'chi2', 'likelihood_ratio'}, default='gini'
        Impurity measure or test statistic that chooses a split. `twoing` and `likelihood_ratio` cannot be used with
        ``branching='multiway'``.
    branching : {'binary', 'multiway', 'merge'}, default='binary'
        ``'binary'``: two groups of levels; ``'multiway'``: a branch for each level; ``'merge'``: levels, and deciles of
        numeric columns, are merged while their class distributions do not differ significantly, as in CHAID, by the test of
        `criterion` (chi2, likelihood_ratio) or by Pearson's test (other criteria).
    missing : {'learned', 'surrogate', 'fractional', 'category', 'largest'}, default='learned'
        Where a row with a missing value goes: to the side where such rows fit best (learned); by the column that best
        predicts the split (surrogate); down every branch, in proportion to the rows with a known value (fractional; a binary
        test of levels is then one level against the rest); to a branch of its own (category); or to the heaviest branch
        (largest).
    max_depth : int, optional
        Maximum depth of the tree, where the root has depth 0; no limit by default.
    max_leaves : int, optional
        Maximum number of leaves; the tree then grows best-first, by gain. No limit by default.
    min_split : float, default=2
        Minimum weight of a node that may be split.
    min_leaf : float, default=1
        Minimum weight of a branch; of a split into more than two branches, at least two must reach it.
    min_impurity : float, default=0.0
        A node is split only if its impurity per unit of weight is larger than this.
    min_gain : float, default=0.0
        Minimum gain of a split (decrease of the criterion), per unit of the total weight.
    split_without_gain : bool, default=False
        Whether to split an impure node even if no split has a gain, as exclusive-or needs. The first column that separates
        rows is then tested: a numeric one at its lowest threshold, a nominal one by its first level (by all levels with
        ``branching='multiway'``), as far as `min_leaf` allows. Other stopping rules hold: with a positive `min_gain`
        or with `alpha` there are no such splits. A column of `monotone` is tested only for a gain.
    alpha : float, optional
        Significance level that a split must reach in a chi-squared test.
    priors : array or dict by class, optional
        Prior probability of each class, summing to 1; by default its proportion of the weight.
    costs : matrix or dict of dicts, optional
        ``costs[i][j]`` is the cost of predicting class j when i is true; by default every mistake costs 1. Splits and
        pruning minimize the costs; with ``branching='multiway'`` or ``'merge'``, or ``missing='fractional'``, only `predict`
        uses them.
    pruning : {None, '1se', 'min'}, default=None
        None keeps the whole tree. Otherwise the penalty per leaf is chosen by cross-validation, with one tree per fold:
        ``'min'`` takes the penalty with the smallest error, ``'1se'`` the largest penalty within one standard error of it.
    cv : int, splitter, array of folds or pairs of rows, default=10
        Cross-validation folds of `pruning` and of `cost_complexity_path`: a number of folds, assigned by the contents of the
        rows; a scikit-learn splitter; the fold of each row; or pairs of row indices (train, test).
    max_split_columns : {1, 2, 3}, default=1
        Maximum number of numeric columns in a test, an oblique split with short weights: ``width + 1.5 × length ≤ 8``.
        Directions come from the scatter matrices of the node (Loh and Shih 1997; Kim and Loh 2001) and their weights are
        refined by coordinate search (Murthy, Kasif and Salzberg 1994). An oblique split is used if it saves more bits than
        it costs beyond the best test of one column. A row that lacks one of the columns is treated as missing.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.DecisionTreeClassifier().fit({"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "a", "b", "b"]}, "y"))
    4 rows: a (a 2, b 2)
    ├─ x ≤ 2.5 or missing: a (a 2)
    └─ x > 2.5: b (b 2)
    """

    def __init__(
        self,
        *,
        criterion: str = "gini",
        branching: str = "binary",
        missing: str = "learned",
        max_depth: int | None = None,
        max_leaves: int | None = None,
        min_split: float = 2,
        min_leaf: float = 1,
        min_impurity: float = 0.0,
        min_gain: float = 0.0,
        split_without_gain: bool = False,
        alpha: float | None = None,
        priors: PriorsLike = None,
        costs: CostsLike = None,
        monotone: Mapping[str, str] | None = None,
        first_split: str | None = None,
        pruning: str | None = None,
        cv: int | Splitter | Sequence | np.ndarray = 10,
        max_split_columns: int = 1,
        averaging: str | None = None,
        trace: bool = False,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ) -> None:
        self.max_split_columns = max_split_columns
        self.pruning = pruning
        self.cv = cv
        self.averaging = averaging
        self.trace = trace
        self.criterion = criterion
        self.branching = branching
        self.missing = missing
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_split = min_split
        self.min_leaf = min_leaf
        self.min_impurity = min_impurity
        self.min_gain = min_gain
        self.split_without_gain = split_without_gain
        self.alpha = alpha
        self.priors = priors
        self.costs = costs
        self.monotone = monotone
        self.first_split = first_split
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    @property
    def _learns_costs(self) -> bool:
        return self.branching == "binary" and self.missing != "fractional"

    def _tree_learner(self, schema: Schema, folds: np.ndarray | None = None) -> TreeLearner:
        criterion = Criterion(given.one_of("criterion", self.criterion, CLASS_CRITERIA))
        policy = self._policy(schema, criterion, CLASS_MISSING, folds, self.alpha)
        weighing = weighing_of(self.priors, self.costs if self._learns_costs else None, schema.classes)
        if policy.branching is not Branching.BINARY and not weighing.is_equal:
            raise ValueError(
                "priors are not available with branching='multiway' or 'merge', or missing='fractional'; "
                "use sample weights instead"
            )
        policy = msgspec.structs.replace(policy, split_columns=self._split_columns(policy))
        return TreeLearner(policy, weighing, given.flag("trace", self.trace), self._averages())

    def _split_columns(self, policy: Policy) -> int:
        """Maximum number of columns in a test; raises ValueError if other parameters do not allow oblique splits."""
        max_columns = given.integer("max_split_columns", self.max_split_columns, 1, MAX_SPLIT_COLUMNS)
        if max_columns > 1 and policy.branching is not Branching.BINARY:
            raise ValueError(
                f"max_split_columns={max_columns}: oblique splits are binary, so they are not available with "
                "branching='multiway' or 'merge', or missing='fractional'; keep the defaults of these"
            )
        if max_columns > 1 and policy.missing is Missing.SURROGATE:
            raise ValueError(f"max_split_columns={max_columns}: oblique splits have no surrogates; use missing='learned'")
        if max_columns > 1 and policy.monotone:
            raise ValueError(
                f"max_split_columns={max_columns}: oblique splits are not available with monotone; use max_split_columns=1"
            )
        return max_columns


class DecisionTreeRegressor(_DecisionTreeBase, Regressor):
    """Regression tree by least squares, with free choice of branching, missing-value rule and stopping.

    Parameters
    ----------
    criterion : {'sse'}, default='sse'
        Sum of squares about the mean.
    branching : {'binary', 'multiway', 'merge'}, default='binary'
        ``'binary'``: two groups of levels; ``'multiway'``: a branch for each level that occurs; ``'merge'``: levels, and
        deciles of numeric columns, are merged while the F test of their means is not significant (p above 0.05), and the
        split has the smallest adjusted p-value.
    missing : {'learned', 'surrogate', 'category', 'largest'}, default='learned'
        Where a row with a missing value goes: to the side where such rows fit best (learned); by the column that best
        predicts the split (surrogate); to a branch of its own (category); or to the heaviest branch (largest).
    max_depth : int, optional
        Maximum depth of the tree, where the root has depth 0; no limit by default.
    max_leaves : int, optional
        Maximum number of leaves; the tree then grows best-first, by gain. No limit by default.
    min_split : float, default=2
        Minimum weight of a node that may be split.
    min_leaf : float, default=1
        Minimum weight of a branch; of a split into more than two branches, at least two must reach it.
    min_impurity : float, default=0.0
        A node is split only if its impurity per unit of weight is larger than this.
    min_gain : float, default=0.0
        Minimum gain of a split (decrease of the criterion), per unit of the total weight.
    split_without_gain : bool, default=False
        Whether to split an impure node even if no split has a gain, as exclusive-or needs. The first column that separates
        rows is then tested: a numeric one at its lowest threshold, a nominal one by its first level (by all levels with
        ``branching='multiway'``), as far as `min_leaf` allows. Other stopping rules hold: with a positive `min_gain`
        there are no such splits. A column of `monotone` is tested only for a gain.
    pruning : {None, '1se', 'min'}, default=None
        None keeps the whole tree. Otherwise the penalty per leaf is chosen by cross-validation, with one tree per fold:
        ``'min'`` takes the penalty with the smallest error, ``'1se'`` the largest penalty within one standard error of it.
    cv : int, splitter, array of folds or pairs of rows, default=10
        Cross-validation folds of `pruning` and of `cost_complexity_path`: a number of folds, assigned by the contents of the
        rows; a scikit-learn splitter; the fold of each row; or pairs of row indices (train, test).

    Examples
    --------
    >>> import baytree as bt
    >>> model = bt.DecisionTreeRegressor(max_depth=1).fit([[1.0], [2.0], [3.0]], [1e12, 1e12, 1e12 + 1])
    >>> [f"{number:.0f}" for number in model.predict([[2.0], [3.0]])]
    ['1000000000000', '1000000000001']
    """

    def __init__(
        self,
        *,
        criterion: str = "sse",
        branching: str = "binary",
        missing: str = "learned",
        max_depth: int | None = None,
        max_leaves: int | None = None,
        min_split: float = 2,
        min_leaf: float = 1,
        min_impurity: float = 0.0,
        min_gain: float = 0.0,
        split_without_gain: bool = False,
        monotone: Mapping[str, str] | None = None,
        first_split: str | None = None,
        pruning: str | None = None,
        cv: int | Splitter | Sequence | np.ndarray = 10,
        averaging: str | None = None,
        trace: bool = False,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ) -> None:
        self.pruning = pruning
        self.cv = cv
        self.averaging = averaging
        self.trace = trace
        self.criterion = criterion
        self.branching = branching
        self.missing = missing
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_split = min_split
        self.min_leaf = min_leaf
        self.min_impurity = min_impurity
        self.min_gain = min_gain
        self.split_without_gain = split_without_gain
        self.monotone = monotone
        self.first_split = first_split
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    def _tree_learner(self, schema: Schema, folds: np.ndarray | None = None) -> TreeLearner:
        policy = self._policy(schema, Criterion(given.one_of("criterion", self.criterion, ("sse",))), MISSING, folds)
        return TreeLearner(policy, traces=given.flag("trace", self.trace), averages=self._averages())
