"""CHAID estimators: multiway trees whose splits are chosen by the significance of merged groups of levels.

Kass (1980); exhaustive search by Biggs, de Ville and Suen (1991). The merging itself is in `tree.search.counted`.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from baytree import param_validation as given
from baytree._typing import CostsLike
from baytree.base.learner import FitResult
from baytree.data.schema.schema import Schema
from baytree.estimators.prediction import Classifier, Regressor
from baytree.estimators.tree.base import TreeEstimator
from baytree.tree.inspection.node_records import splits
from baytree.tree.learner import TreeLearner
from baytree.tree.policy.algorithms import CHAID as CHAID_POLICY
from baytree.tree.policy.policy import Criterion, MergeSettings

TESTS = {
    "pearson": Criterion.CHI2,
    "likelihood_ratio": Criterion.LIKELIHOOD_RATIO,
    "row_effects": Criterion.ROW_EFFECTS,
}


class CHAID(TreeEstimator):
    """Base of the two CHAID estimators: merging and stopping rules."""

    alpha_merge: float
    alpha_split: float
    alpha_resplit: float | None
    exhaustive: bool | str
    min_split: float
    min_leaf: float
    min_prob: float
    max_depth: int | None
    bins: int
    _own_names: ClassVar[dict[str, str]] = {"alpha": "alpha_split"}

    def _chaid(self, criterion: Criterion) -> TreeLearner:
        stopping = msgspec.structs.replace(
            CHAID_POLICY.stopping,
            max_depth=given.whole_or_none("max_depth", self.max_depth, 0),
            min_split=given.number("min_split", self.min_split, 0),
            min_leaf=given.number("min_leaf", self.min_leaf, 0),
            alpha=given.number("alpha_split", self.alpha_split, 0, 1),
        )
        merging = MergeSettings(
            alpha=given.number("alpha_merge", self.alpha_merge, 0, 1),
            alpha_resplit=self._alpha_resplit(),
            exhaustive=given.one_of("exhaustive", self.exhaustive, (False, True, "biggs", "ibm")),
            min_prob=given.number("min_prob", self.min_prob, 0, 1),
            bins=given.integer("bins", self.bins, 2),
        )
        policy = msgspec.structs.replace(CHAID_POLICY, criterion=criterion, stopping=stopping, merging=merging)
        return TreeLearner(policy, traces=given.flag("trace", self.trace), averages=self._averages())

    def _restore(self, schema: Schema, learnt: FitResult, has_text_names: bool) -> None:
        super()._restore(schema, learnt, has_text_names)
        self.trace_ = splits(self.tree_, schema)

    def _alpha_resplit(self) -> float | None:
        if self.alpha_resplit is None:
            return None
        alpha = given.number("alpha_resplit", self.alpha_resplit, 0, 1)
        if not 0 < alpha < self.alpha_merge:
            raise ValueError(
                f"alpha_resplit={self.alpha_resplit!r}: give a number above 0 and below alpha_merge={self.alpha_merge!r}, "
                "otherwise groups would be divided and merged endlessly"
            )
        return alpha


class CHAIDClassifier(CHAID, Classifier):
    """Classification tree by chi-squared automatic interaction detection (Kass 1980).

    At each node, levels of each column are merged while their class distributions do not differ significantly. The node is
    then split into the groups of the column with the smallest p-value, adjusted for the number of ways to merge its levels.

    Parameters
    ----------
    alpha_merge : float, default=0.05
        Significance level of merging: two groups of levels merge if their p-value is larger.
    alpha_split : float, default=0.05
        Significance level of splitting: a node is split if the adjusted p-value is not larger.
    alpha_resplit : float, optional
        Significance level of resplitting: a merged group of three or more levels is divided again if two parts of it
        differ with a p-value not larger than this; by default never.
    exhaustive : bool or {'biggs', 'ibm'}, default=False
        Whether to merge groups down to two and use the step with the smallest p-value (Biggs, de Ville and Suen 1991).
        The Bonferroni factor is I(I²−1)/6, the number of merges examined, with True or ``'biggs'``, and I(I²−1)/2 with
        ``'ibm'``.
    min_split : float, default=20
        Minimum weight of a node that may be split.
    min_leaf : float, default=7
        Minimum weight of a group: in a node of weight n, a group below min(⌈`min_prob` · n⌉, `min_leaf`) must merge.
    min_prob : float, default=0.01
        Minimum weight of a group relative to its node: see `min_leaf`.
    max_depth : int, optional
        Maximum depth of the tree, where the root has depth 0; no limit by default.
    bins : int, default=10
        Number of quantile bins of a numeric column; only neighbouring bins merge.
    test : {'pearson', 'likelihood_ratio', 'row_effects'}, default='pearson'
        Test that compares two groups of levels; ``'row_effects'`` is for ordered classes.

    Notes
    -----
    In a nominal column, missing values are a level of their own. In an ordinal or numeric column they are a floating
    category, which at the end joins the most similar group or stays alone, whichever gives the smaller p-value. If a node
    has no missing values in training, they follow the branch with the most weight.

    Examples
    --------
    >>> import baytree as bt
    >>> frame = {"sky": list("sscr") * 20, "play": ["yes", "yes", "yes", "no"] * 20}
    >>> print(bt.CHAIDClassifier().fit(frame, "play").export_text())
    80 rows: yes (no 20, yes 60)
    ├─ sky = c, s or missing: yes (yes 60)
    └─ sky = r: no (no 20)
    """

    def __init__(
        self,
        *,
        alpha_merge: float = 0.05,
        alpha_split: float = 0.05,
        alpha_resplit: float | None = None,
        exhaustive: bool | str = False,
        min_split: float = 20,
        min_leaf: float = 7,
        min_prob: float = 0.01,
        max_depth: int | None = None,
        bins: int = 10,
        test: str = "pearson",
        averaging: str | None = None,
        trace: bool = False,
        costs: CostsLike = None,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ) -> None:
        self.alpha_merge = alpha_merge
        self.alpha_split = alpha_split
        self.alpha_resplit = alpha_resplit
        self.exhaustive = exhaustive
        self.min_split = min_split
        self.min_leaf = min_leaf
        self.min_prob = min_prob
        self.max_depth = max_depth
        self.bins = bins
        self.test = test
        self.averaging = averaging
        self.trace = trace
        self.costs = costs
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    def _tree_learner(self, schema: Schema) -> TreeLearner:
        return self._chaid(TESTS[given.one_of("test", self.test, TESTS)])


class CHAIDRegressor(CHAID, Regressor):
    """Regression tree by CHAID: groups are compared by the F test of their means.

    Parameters
    ----------
    alpha_merge : float, default=0.05
        Significance level of merging: two groups of levels merge if their p-value is larger.
    alpha_split : float, default=0.05
        Significance level of splitting: a node is split if the adjusted p-value is not larger.
    alpha_resplit : float, optional
        Significance level of resplitting: a merged group of three or more levels is divided again if two parts of it
        differ with a p-value not larger than this; by default never.
    exhaustive : bool or {'biggs', 'ibm'}, default=False
        Whether to merge groups down to two and use the step with the smallest p-value (Biggs, de Ville and Suen 1991).
        The Bonferroni factor is I(I²−1)/6, the number of merges examined, with True or ``'biggs'``, and I(I²−1)/2 with
        ``'ibm'``.
    min_split : float, default=20
        Minimum weight of a node that may be split.
    min_leaf : float, default=7
        Minimum weight of a group: in a node of weight n, a group below min(⌈`min_prob` · n⌉, `min_leaf`) must merge.
    min_prob : float, default=0.01
        Minimum weight of a group relative to its node: see `min_leaf`.
    max_depth : int, optional
        Maximum depth of the tree, where the root has depth 0; no limit by default.
    bins : int, default=10
        Number of quantile bins of a numeric column; only neighbouring bins merge.

    Examples
    --------
    >>> import baytree as bt, numpy as np
    >>> x = np.arange(100.0).reshape(-1, 1)
    >>> model = bt.CHAIDRegressor(max_depth=1).fit(x, np.where(x.ravel() < 50, 1.0, 3.0) + x.ravel() % 2)
    >>> model.predict([[10.0], [90.0]])
    array([1.5, 3.5])
    """

    def __init__(
        self,
        *,
        alpha_merge: float = 0.05,
        alpha_split: float = 0.05,
        alpha_resplit: float | None = None,
        exhaustive: bool | str = False,
        min_split: float = 20,
        min_leaf: float = 7,
        min_prob: float = 0.01,
        max_depth: int | None = None,
        bins: int = 10,
        averaging: str | None = None,
        trace: bool = False,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ) -> None:
        self.alpha_merge = alpha_merge
        self.alpha_split = alpha_split
        self.alpha_resplit = alpha_resplit
        self.exhaustive = exhaustive
        self.min_split = min_split
        self.min_leaf = min_leaf
        self.min_prob = min_prob
        self.max_depth = max_depth
        self.bins = bins
        self.averaging = averaging
        self.trace = trace
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    def _tree_learner(self, schema: Schema) -> TreeLearner:
        return self._chaid(Criterion.SSE)
