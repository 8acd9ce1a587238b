"""The open trees: every axis of growing is a parameter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from baytree import param_validation as given
from baytree._typing import CostsLike, PriorsLike
from baytree.base.learner import Learner
from baytree.data.schema.schema import Schema
from baytree.estimators.prediction import Classifier, Regressor
from baytree.estimators.tree.base import TreeEstimator, constrained, weighing_of
from baytree.tree.learner import TreeLearner
from baytree.tree.policy.policy import SUITS, Branching, Criterion, MergeSettings, Missing, Policy, Stopping

CLASS_CRITERIA = tuple(criterion.value for criterion, suits in SUITS.items() if suits.binary and not suits.numbers)

MOST_SPLIT_COLUMNS = 3

BRANCHINGS = ("binary", "multiway", "merge")

MISSING = ("learned", "surrogate", "category", "largest")

CLASS_MISSING = ("learned", "surrogate", "fractional", "category", "largest")


class _DecisionTreeBase(TreeEstimator):
    """What the two open trees share: parameters to a policy."""

    branching: str
    missing: str
    max_depth: int | None
    max_leaves: int | None
    min_split: float
    min_leaf: float
    min_impurity: float
    min_gain: float
    monotone: Mapping[str, str] | None
    first_split: str | None

    def _learner(self, schema: Schema, **for_rows: Any) -> Learner:
        has_no_tests = given.whole_or_none("max_depth", self.max_depth, 0) == 0
        if has_no_tests and self.branching == "binary":  # text is read by no test
            return self._tree_learner(schema, **for_rows)
        return super()._learner(schema, **for_rows)

    def _policy(self, schema: Schema, criterion: Criterion, ways: tuple[str, ...], alpha: float | None = None) -> Policy:
        missing = Missing(given.one_of("missing", self.missing, ways))
        branching = Branching(given.one_of("branching", self.branching, BRANCHINGS))
        if branching is Branching.BINARY and missing is Missing.FRACTIONAL:
            branching = Branching.ONE_LEVEL
        stopping = self._stopping(given.whole_or_none("max_leaves", self.max_leaves, 1), alpha)
        merging = MergeSettings() if stopping.alpha is None else MergeSettings(alpha=stopping.alpha)
        policy = Policy(criterion=criterion, branching=branching, missing=missing, stopping=stopping, merging=merging)
        return constrained(policy, self.monotone, self.first_split, schema)

    def _stopping(self, max_leaves: int | None, alpha: float | None) -> Stopping:
        max_depth = given.whole_or_none("max_depth", self.max_depth, 0)
        if max_leaves is not None:  # a deeper tree has more leaves
            max_depth = min(max_leaves - 1, max_leaves if max_depth is None else max_depth)
        return Stopping(
            max_depth=max_depth,
            max_leaves=max_leaves,
            min_split=given.number("min_split", self.min_split, 0),
            min_leaf=given.number("min_leaf", self.min_leaf, 0),
            min_impurity=given.number("min_impurity", self.min_impurity, 0),
            min_gain=given.number("min_gain", self.min_gain, 0),
            alpha=None if alpha is None else given.number("alpha", alpha, 0, 1),
        )


class DecisionTreeClassifier(_DecisionTreeBase, Classifier):
    """A decision tree with every axis open: criterion, branching, missing values, stopping, priors and costs.

    Thresholds are exact, ties go to the earlier column and the lower cut, and the same table gives the same tree.
    With two classes the best two groups of levels are found for gini, entropy and error; with more, all groupings
    are tried up to 12 levels, and above that levels are cut in the order of their first principal component
    (Coppersmith, Hong and Hosking 1999). Sizes are sums of weights, so a row of weight 2 equals two rows.

    Parameters
    ----------
    criterion : {'error', 'entropy', 'gini', 'gain_ratio', 'twoing', 'chi2', 'likelihood_ratio'}, default='gini'
        What a split is to improve. `twoing` and `likelihood_ratio` do not compare the branches of ``'multiway'``.
    branching : {'binary', 'multiway', 'merge'}, default='binary'
        Two groups of levels; a branch for each level; or levels, and tenths of numeric columns, merged while their classes
        do not differ as in CHAID, by the test of `criterion` (chi2, likelihood_ratio) or by Pearson's (the others).
    missing : {'learned', 'surrogate', 'fractional', 'category', 'largest'}, default='learned'
        Where a row without a value goes: to the side where such rows fit best; by the column that imitates the split best;
        down every branch, in the shares of the known rows (a binary test of levels is then one level against the rest);
        to a branch of its own; or to the heaviest branch.
    max_depth : int, optional
        The root has depth 0; no limit by default.
    max_leaves : int, optional
        The splits of largest gain come first, until there are so many leaves.
    min_split : float, default=2
        A node of less weight is not split.
    min_leaf : float, default=1
        A branch holds at least this weight; with several branches at least two of them do.
    min_impurity : float, default=0.0
        A node with no more of the criterion per unit of weight is not split.
    min_gain : float, default=0.0
        The least that a split must gain of the criterion, per unit of the table's weight.
    alpha : float, optional
        The significance, by chi-squared, that a split must reach.
    priors : array or dict by class, optional
        The probability of each class, summing to 1; by default its share of the weight.
    costs : matrix or dict of dicts, optional
        ``costs[i][j]`` is the cost of predicting class j when i is true; by default every mistake costs 1.
    max_split_columns : {1, 2, 3}, default=1
        How many numeric columns a test may read at once, as a sum with weights of few digits: ``width + 1.5 × length ≤ 8``.
        Directions come from the scatter at the node (Loh and Shih 1997; Kim and Loh 2001), their weights are tried up and
        down (Murthy, Kasif and Salzberg 1994), and a sum is taken where it saves more bits than it costs beyond the best
        test of one column. A row that lacks one of the columns goes where missing values go.

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
        alpha: float | None = None,
        priors: PriorsLike = None,
        costs: CostsLike = None,
        monotone: Mapping[str, str] | None = None,
        first_split: str | None = None,
        max_split_columns: int = 1,
        averaging: str | None = None,
        trace: bool = False,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ) -> None:
        self.max_split_columns = max_split_columns
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
        self.alpha = alpha
        self.priors = priors
        self.costs = costs
        self.monotone = monotone
        self.first_split = first_split
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    def _tree_learner(self, schema: Schema) -> TreeLearner:
        criterion = Criterion(given.one_of("criterion", self.criterion, CLASS_CRITERIA))
        policy = self._policy(schema, criterion, CLASS_MISSING, self.alpha)
        weighing = weighing_of(self.priors, self.costs, schema.classes)
        if policy.branching is not Branching.BINARY and not weighing.is_equal:
            raise ValueError(
                "priors and costs go with neither branching='multiway' or 'merge' nor missing='fractional'; "
                "give sample weights instead"
            )
        policy = msgspec.structs.replace(policy, split_columns=self._split_columns(policy))
        return TreeLearner(policy, weighing, given.flag("trace", self.trace), self._averages())

    def _split_columns(self, policy: Policy) -> int:
        """How many columns a test may read, where the other parameters leave that open."""
        most = given.integer("max_split_columns", self.max_split_columns, 1, MOST_SPLIT_COLUMNS)
        if most > 1 and policy.branching is not Branching.BINARY:
            raise ValueError(
                f"max_split_columns={most}: a sum of columns has two sides, so it goes with neither branching='multiway' or "
                "'merge' nor missing='fractional'; leave these as they are"
            )
        if most > 1 and policy.missing is Missing.SURROGATE:
            raise ValueError(f"max_split_columns={most}: nothing imitates a sum of columns; take missing='learned'")
        if most > 1 and policy.monotone:
            raise ValueError(f"max_split_columns={most}: a sum follows no single column, so it does not go with monotone")
        return most


class DecisionTreeRegressor(_DecisionTreeBase, Regressor):
    """A regression tree by least squares with every axis open: branching, missing values and stopping.

    Parameters
    ----------
    criterion : {'sse'}, default='sse'
        The sum of squares about the mean.
    branching : {'binary', 'multiway', 'merge'}, default='binary'
        Two groups of levels; a branch for each level that occurs; or levels, and tenths of numeric columns, merged while
        the F test of their means does not part them (p above 0.05), and split by the least adjusted p.
    missing : {'learned', 'surrogate', 'category', 'largest'}, default='learned'
        Where a row without a value goes: to the side where such rows fit best; by the column that imitates the split best;
        to a branch of its own; or to the heaviest branch.
    max_depth : int, optional
        The root has depth 0; no limit by default.
    max_leaves : int, optional
        The splits of largest gain come first, until there are so many leaves.
    min_split : float, default=2
        A node of less weight is not split.
    min_leaf : float, default=1
        A branch holds at least this weight; with several branches at least two of them do.
    min_impurity : float, default=0.0
        A node with no more of the criterion per unit of weight is not split.
    min_gain : float, default=0.0
        The least that a split must gain of the criterion, per unit of the table's weight.

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
        monotone: Mapping[str, str] | None = None,
        first_split: str | None = None,
        averaging: str | None = None,
        trace: bool = False,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ) -> None:
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
        self.monotone = monotone
        self.first_split = first_split
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    def _tree_learner(self, schema: Schema) -> TreeLearner:
        policy = self._policy(schema, Criterion(given.one_of("criterion", self.criterion, ("sse",))), MISSING)
        return TreeLearner(policy, traces=given.flag("trace", self.trace), averages=self._averages())
