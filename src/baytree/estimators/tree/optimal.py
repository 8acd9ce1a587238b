"""Optimal decision trees of a given depth, with a certificate of optimality.

The branch-and-bound search is in `tree.optimal` and the C++ core; this module holds the estimator.
"""

from __future__ import annotations

import numpy as np

from baytree import _warnings
from baytree import param_validation as given
from baytree._typing import CostsLike
from baytree.base.learner import FitResult, Learner
from baytree.data.schema.schema import Schema
from baytree.display.terminal import plain
from baytree.engine.partitions import Partitions
from baytree.estimators.prediction import Classifier
from baytree.estimators.tree.base import TreeEstimator
from baytree.tree.model.tree import Certificate
from baytree.tree.optimal.learner import OptimalTreeLearner, OptimalTreeSettings, StoppedSearch, certificate_of, unproved

_DEEPEST = 20  # the search is infeasible long before this depth


class OptimalTreeClassifier(TreeEstimator, Classifier):
    """Optimal decision tree: no tree of the given depth over the same candidate tests has a lower cost.

    The cost of a tree is the misclassified proportion of the weight, plus `penalty` for each leaf; with `costs`, the mean
    cost of the leaves' decisions, in the unit of these costs, plus `penalty` for each leaf. The search covers all
    trees, by bounds on counts instead of enumeration, and `certificate_` says whether it was completed: then the tree is
    optimal; otherwise it is the best tree found, with the gap to a lower bound on the cost of any tree. Among trees of equal
    cost, the one with fewer leaves is preferred. Which of the others is taken does not depend on the order of the rows or
    on the number of threads.

    The candidate tests are part of the model (``certificate_.offered``). A numeric or ordinal column has a threshold between
    all adjacent values, so that the certificate holds for every threshold; or `max_tests` of them, at weighted quantiles.
    The levels of a nominal column are grouped in every way if there are at most `max_tests` groupings (32, or six levels, at
    the default); else each of the heaviest levels is compared with the rest, and the levels, ordered by their proportion of
    a class, are split in two. If a column has missing values, each of its tests exists with such rows on either side, and
    one test separates them from the others.

    Parameters
    ----------
    max_depth : int, default=3
        Maximum depth of the tree, where the root has depth 0. Each further level multiplies the time by up to the number of
        tests.
    penalty : float, default=0.01
        Cost of a leaf, as a proportion of the weight: with 0.01, a further leaf must classify 1 % more of the rows
        correctly.
    min_leaf : float, default=1
        Minimum weight of a leaf.
    max_tests : int, optional
        Maximum number of thresholds, or groups of levels, per column; None for all thresholds and 32 groups. Large tables
        are searched sooner with fewer tests, and the certificate then holds for these.
    costs : matrix or dict of dicts, optional
        ``costs[i][j]`` is the cost of predicting class j when i is true; by default every mistake costs 1. The tree is
        searched for these costs, and each leaf predicts the class of least cost.
    time_limit : float, optional
        Time limit of the search in seconds, after which the best tree so far is returned with a warning; None for no limit.
        The result of a search that was stopped depends on the speed of the machine; that of a completed one does not.

    Attributes
    ----------
    certificate_ : Certificate
        Cost of the tree (`objective`), lower bound on the cost of any tree (`bound`), their difference (`gap`),
        `is_optimal`, the number of row sets `searched`, what `stopped` the search, the candidate tests (`offered`), and
        the `costs` of misclassifications if they were given.

    Notes
    -----
    Few tests are searched by counts of their pairs: the last two levels below a node are solved from these, as in MurTree
    [1]_, and the counts of a similar node are updated from the difference of their rows. Bounds prune the search: similar
    sets of rows have similar costs [2]_, and the same tests in another order lead to the same rows [3]_. STreeD [4]_ gives a
    general account of such searches. Many thresholds are searched by bounds between neighbouring ones: a threshold that
    sends k rows to the other side changes the cost by k errors at most, as in ConTree [5]_; here bounds are kept for each
    column of the next test, so that few columns are read again.

    Ctrl-C ends the search, not the fit: the best tree so far is kept, with a warning, as after `time_limit`.

    Weights that are neither whole numbers nor multiples of the smallest one are rounded to 2^-52 of their sum. Importances
    are computed with gini, as in CART, because a test by itself often does not reduce the number of errors.

    References
    ----------
    .. [1] Demirović, E. et al. (2022). MurTree: Optimal decision trees via dynamic programming and search. JMLR 23.
    .. [2] Hu, X., Rudin, C. and Seltzer, M. (2019). Optimal sparse decision trees. NeurIPS 32.
    .. [3] Aglin, G., Nijssen, S. and Schaus, P. (2020). Learning optimal decision trees using caching branch-and-bound
       search. AAAI 34.
    .. [4] van der Linden, J. G. M., de Weerdt, M. M. and Demirović, E. (2023). Necessary and sufficient conditions for
       optimal decision trees using dynamic programming. NeurIPS 36.
    .. [5] Briţa, C. E., van der Linden, J. G. M. and Demirović, E. (2025). Optimal classification trees for continuous
       feature data using dynamic programming with branch-and-bound. AAAI 39.

    Examples
    --------
    >>> import baytree as bt
    >>> xor = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "odd": ["no", "yes", "yes", "no"] * 5}
    >>> model = bt.OptimalTreeClassifier(max_depth=2).fit(xor, "odd")
    >>> print(model)
    20 rows: no (no 10, yes 10)
    ├─ a ≤ 0.5 or missing: no (no 5, yes 5)
    │  ├─ b ≤ 0.5 or missing: no (no 5)
    │  └─ b > 0.5: yes (yes 5)
    └─ a > 0.5: no (no 5, yes 5)
       ├─ b ≤ 0.5 or missing: yes (yes 5)
       └─ b > 0.5: no (no 5)
    cost 0.04: optimal among trees of 2 tests up to depth 2
    >>> model.certificate_.is_optimal
    True
    """

    def __init__(
        self,
        *,
        max_depth: int = 3,
        penalty: float = 0.01,
        min_leaf: float = 1,
        max_tests: int | None = None,
        time_limit: float | None = 60,
        costs: CostsLike = None,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ) -> None:
        self.max_depth = max_depth
        self.penalty = penalty
        self.min_leaf = min_leaf
        self.max_tests = max_tests
        self.time_limit = time_limit
        self.costs = costs
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    @property
    def certificate_(self) -> Certificate:
        """Certificate of the tree: its cost, a lower bound for all trees, and how far the search got."""
        return certificate_of(self.tree_)

    @property
    def _learns_costs(self) -> bool:
        return True

    def _tree_learner(self, schema: Schema) -> OptimalTreeLearner:
        task = OptimalTreeSettings(
            max_depth=given.integer("max_depth", self.max_depth, 0, _DEEPEST),
            penalty=given.number("penalty", self.penalty, 0, 1),
            min_leaf=given.number("min_leaf", self.min_leaf, 0),
            max_tests=None if self.max_tests is None else given.integer("max_tests", self.max_tests, 1, 65_536),
            seconds=np.inf if self.time_limit is None else given.positive("time_limit", self.time_limit),
            costs=given.costs(self.costs, schema.classes),
        )
        return OptimalTreeLearner(task)

    def _run_learner(self, learner: Learner, rows: Partitions) -> FitResult:
        """Run the learner; if Ctrl-C ends the search, warn and return the best tree so far."""
        try:
            return super()._run_learner(learner, rows)
        except StoppedSearch as stopped:
            _warnings.warn(unproved(stopped.tree, "by Ctrl-C"))
            return FitResult(stopped.tree)

    def _why_one_leaf(self) -> str:
        tree = self.tree_
        if self._before is not None:
            return "it was pruned to the root"
        if tree.risk[0] <= 0:
            return f"all rows are {plain(self.schema_.classes[tree.prediction[0]])}"
        if self.max_depth == 0:
            return "max_depth=0"
        return f"no tree reduces the error by penalty={self.penalty:g} for each additional leaf"
