"""The optimal small tree: no other tree of its depth over the same tests costs less, and the model says so."""

from __future__ import annotations

import numpy as np

from baytree import _warnings
from baytree import param_validation as given
from baytree.base.learner import FitResult, Learner
from baytree.data.schema.schema import Schema
from baytree.display.terminal import plain
from baytree.engine.partitions import Partitions
from baytree.estimators.prediction import Classifier
from baytree.estimators.tree.base import TreeEstimator
from baytree.tree.model.tree import Certificate
from baytree.tree.optimal.learner import OptimalTreeLearner, OptimalTreeSettings, StoppedSearch, certificate_of, unproved

_DEEPEST = 20  # deeper trees are no longer searched by anybody


class OptimalTreeClassifier(TreeEstimator, Classifier):
    """The best tree of a depth: of all trees over the tests that a table offers, none costs less.

    The cost of a tree is the share of the weight that it gets wrong, plus `penalty` for each leaf. All trees are searched,
    by bounds on counts instead of one by one, and `certificate_` tells whether the search came to its end: then the tree is
    optimal, else it is the best that was found, and the gap to what any tree costs is told. Of equal trees that with fewer
    leaves wins, then the one whose root asks the earlier test, and so on downwards.

    The tests are part of the model (``certificate_.offered``). A column of numbers or ranks is cut between neighbours
    where there are at most `max_tests` of such cuts, else at quantiles of weight; levels are parted in every way where there
    are at most `max_tests` of them (six levels at the default), else each of the heaviest is held against the rest, and all
    are cut in two by their share of a class. Where a column lacks values, each of its tests comes with such rows on either
    side, and once they stand alone.

    Parameters
    ----------
    max_depth : int, default=3
        Tests on the way to a leaf; the root has depth 0. Each level more takes as much longer as there are tests.
    penalty : float, default=0.01
        What a leaf costs, as a share of the weight: with 0.01 a leaf more must get 1 % more of the rows right.
    min_leaf : float, default=1
        A leaf holds at least this weight.
    max_tests : int, default=32
        How many cuts, or groups of levels, a column offers at most.
    time_limit : float, optional
        After so many seconds, 60 by default, the best tree so far is taken, with a warning; None searches to the end. A
        search that was stopped depends on the speed of the machine, one that came to its end does not.

    Attributes
    ----------
    certificate_ : Certificate
        The cost of the tree (`objective`), the least cost of any tree (`bound`), their `gap`, `is_optimal`, how many sets of
        rows were `searched`, what `stopped` the search, and the tests that were `offered`.

    Notes
    -----
    The search takes a node's last two levels from counts of pairs of tests, as MurTree does [1]_, and a neighbour's counts
    from the difference of their rows. It leaves out what bounds exclude: similar sets of rows have similar costs [2]_, and
    the same tests in another order lead to the same rows [3]_. STreeD [4]_ is a general account of such searches.

    Ctrl-C ends the search, not the fit: the best tree so far is kept, with a warning, as after `time_limit`.

    Weights that are neither whole nor multiples of the least are read in 2^-52 of their sum. Importances are by gini, as in
    CART: the share of mistakes that a test saves by itself is often 0.

    References
    ----------
    .. [1] Demirović, E. et al. (2022). MurTree: Optimal decision trees via dynamic programming and search. JMLR 23.
    .. [2] Hu, X., Rudin, C. and Seltzer, M. (2019). Optimal sparse decision trees. NeurIPS 32.
    .. [3] Aglin, G., Nijssen, S. and Schaus, P. (2020). Learning optimal decision trees using caching branch-and-bound
       search. AAAI 34.
    .. [4] van der Linden, J. G. M., de Weerdt, M. M. and Demirović, E. (2023). Necessary and sufficient conditions for
       optimal decision trees using dynamic programming. NeurIPS 36.

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
    cost 0.04: none of the trees of 2 tests down to depth 2 costs less
    >>> model.certificate_.is_optimal
    True
    """

    def __init__(
        self,
        *,
        max_depth: int = 3,
        penalty: float = 0.01,
        min_leaf: float = 1,
        max_tests: int = 32,
        time_limit: float | None = 60,
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
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    @property
    def certificate_(self) -> Certificate:
        """What is known of the tree and of better ones."""
        return certificate_of(self.tree_)

    def _tree_learner(self, schema: Schema) -> OptimalTreeLearner:
        task = OptimalTreeSettings(
            max_depth=given.integer("max_depth", self.max_depth, 0, _DEEPEST),
            penalty=given.number("penalty", self.penalty, 0, 1),
            min_leaf=given.number("min_leaf", self.min_leaf, 0),
            max_tests=given.integer("max_tests", self.max_tests, 1, 65_536),
            seconds=np.inf if self.time_limit is None else given.positive("time_limit", self.time_limit),
        )
        return OptimalTreeLearner(task)

    def _run_learner(self, learner: Learner, rows: Partitions) -> FitResult:
        """What was learnt, also where Ctrl-C has ended the search."""
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
        return f"no tree saves penalty={self.penalty:g} of the rows for each leaf more"
