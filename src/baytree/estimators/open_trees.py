"""The open trees: every axis of growing is a parameter."""

from __future__ import annotations

from typing import Any

from baytree import settings as given
from baytree.estimators.base import Classifier, Regressor
from baytree.estimators.tree_face import TreeFace, weighing_of
from baytree.table.schema import Schema
from baytree.tree.grow.policy import Branching, Criterion, Merging, Missing, Policy, Stopping
from baytree.tree.learner import TreeLearner

CLASS_CRITERIA = ("error", "entropy", "gini", "gain_ratio", "twoing", "chi2", "likelihood_ratio")
BRANCHINGS = ("binary", "multiway", "merge")
MISSING = ("learned", "surrogate", "category", "largest")
CLASS_MISSING = ("learned", "surrogate", "fractional", "category", "largest")


class _OpenTree(TreeFace):
    """What the two open trees share: parameters to a policy, a policy to a tree."""

    def _policy(self, criterion: Criterion, ways: tuple[str, ...]) -> Policy:
        missing = Missing(given.one_of("missing", self.missing, ways))
        branching = Branching(given.one_of("branching", self.branching, BRANCHINGS))
        if branching is Branching.BINARY and missing is Missing.FRACTIONAL:
            branching = Branching.ONE_LEVEL
        stopping = self._stopping(given.whole_or_none("max_leaves", self.max_leaves, 1))
        merging = Merging() if stopping.alpha is None else Merging(alpha=stopping.alpha)
        return Policy(criterion=criterion, branching=branching, missing=missing, stopping=stopping, merging=merging)

    def _stopping(self, max_leaves: int | None) -> Stopping:
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
            alpha=None if getattr(self, "alpha", None) is None else given.number("alpha", self.alpha, 0, 1),
        )


class DecisionTreeClassifier(_OpenTree, Classifier):
    """A decision tree with every axis open: criterion, branching, missing values, stopping, priors and costs.

    Thresholds are exact, ties go to the earlier column and the lower cut, and the same table gives the same tree.
    With two classes the best two groups of levels are found for gini, entropy and error; with more, all groupings
    are tried up to 12 levels, and above that levels are cut in the order of their first principal component
    (Coppersmith, Hong & Hosking 1999). Sizes are sums of weights, so a row of weight 2 equals two rows.

    `branching="multiway"` gives every level a branch (criteria error, entropy, gini, gain_ratio and chi2);
    `branching="merge"` merges levels, and tenths of numeric columns, while their classes do not differ as in CHAID, by the
    test of `criterion` (chi2, likelihood_ratio) or by Pearson's (error, entropy, gini, gain_ratio).
    `missing="fractional"` sends a row without a value down every branch, in the shares of the known rows, and a binary
    test of levels is then one level against the rest.

    Parameters: `criterion` error, entropy, gini, gain_ratio, twoing, chi2 or likelihood_ratio; `missing` learned (the
    side where rows without a value fit best), surrogate, category (a branch of their own) or largest; `max_depth`,
    `max_leaves` (best first), `min_split`, `min_leaf`, `min_impurity` (per unit of weight), `min_gain` (per unit
    of the table's weight) and `alpha` (chi-squared significance) say when to stop; `priors` and `costs` weigh classes.
    `trace=True` keeps in `trace_` what every column could have done at every node.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "a", "b", "b"]})
    >>> print(DecisionTreeClassifier().fit(table, "y"))
    a (4 rows, 0.500)
    |  x <= 2.5: a (2 rows, 1.000)
    |  x > 2.5: b (2 rows, 1.000)
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
        priors: Any = None,
        costs: Any = None,
        trace: bool = False,
        schema: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
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
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs

    def _algorithm(self, schema: Schema) -> TreeLearner:
        criterion = Criterion(given.one_of("criterion", self.criterion, CLASS_CRITERIA))
        policy = self._policy(criterion, CLASS_MISSING)
        weighing = weighing_of(self.priors, self.costs, schema.classes)
        if policy.branching is not Branching.BINARY and not weighing.is_equal:
            raise ValueError(
                "priors and costs go with neither branching='multiway' or 'merge' nor missing='fractional'; "
                "give sample weights instead"
            )
        return TreeLearner(policy, weighing, bool(self.trace))


class DecisionTreeRegressor(_OpenTree, Regressor):
    """A regression tree by least squares; parameters as in `DecisionTreeClassifier`.

    `branching="multiway"` gives every level that occurs a branch; `branching="merge"` merges levels, and tenths of numeric
    columns, while the F test of their means does not part them (p above 0.05), and splits by the least adjusted p.

    >>> DecisionTreeRegressor(max_depth=1).fit([[1.0], [2.0], [3.0]], [1e12, 1e12, 1e12 + 1]).predict([[2.0], [3.0]])
    array([1.e+12, 1.e+12])
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
        trace: bool = False,
        schema: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
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
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs

    def _algorithm(self, schema: Schema) -> TreeLearner:
        policy = self._policy(Criterion(given.one_of("criterion", self.criterion, ("sse",))), MISSING)
        return TreeLearner(policy, traces=bool(self.trace))
