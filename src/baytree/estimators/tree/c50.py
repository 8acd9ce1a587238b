"""C5.0 (Quinlan): C4.5's successor, with grouped levels, rule sets, boosting, winnowing, costs and soft thresholds.

The algorithm is in `tree.boosting`; this module turns parameters into a `C50Learner` and reads the fitted trials.
"""

from __future__ import annotations

import copy
from typing import Self

import msgspec
import numpy as np
from sklearn.utils.validation import check_is_fitted

from baytree import param_validation as given
from baytree._typing import CostsLike
from baytree.base.learner import FitResult
from baytree.data.schema.schema import Schema
from baytree.estimators.prediction import Classifier
from baytree.estimators.tree.base import TreeAttributes, TreeEstimator
from baytree.tree.boosting.learner import C50Learner
from baytree.tree.boosting.rule_extraction import UsageTable, rules_of_leaves, usage_table
from baytree.tree.boosting.rule_votes import RuleTrials, VotingRules
from baytree.tree.model.tree import Tree
from baytree.tree.policy.algorithms import C50
from baytree.tree.policy.class_costs import ClassWeighting
from baytree.tree.policy.policy import Branching, ErrorBased, OneStandardError, Policy, Pruner


class C50Classifier(TreeAttributes, Classifier):
    """Trees or rule sets by C5.0: grouped levels, two pruning steps, optional boosting.

    Parameters
    ----------
    trials : int, default=1
        Number of boosted trees or rule sets; each gives more weight to rows that earlier ones misclassify, and all of them
        vote.
    rules : bool, default=False
        Whether to convert trees to rule sets, in which every rule that matches a row votes for its class.
    subset : bool, default=True
        Whether nominal tests merge levels into groups instead of having a branch for each level.
    global_pruning : bool, default=True
        Whether to prune the whole tree a second time, as long as its errors rise by no more than one standard error.
    confidence : float, default=0.25
        Confidence level of the error estimate for pruning branches; smaller values prune more.
    min_cases : float, default=2
        Minimum weight that at least two branches of a test must have.
    winnow : bool, default=False
        Whether to drop columns first that are not useful on a half of the rows.
    fuzzy : bool, default=False
        Whether thresholds are soft: rows near a threshold follow both branches. Rule sets have no soft thresholds.
    costs : array-like or dict of dict, optional
        ``costs[i][j]`` is the cost of predicting class j when i is true, in the order of `classes_` or by label; costs below
        1 count as 1. A tree with costs predicts the class with the smallest expected cost and is not pruned a second time.
    early_stopping : bool, default=True
        Whether to stop boosting when a trial makes hardly any errors, or too many. If two trials or fewer remain, only the
        first is kept.

    Attributes
    ----------
    trees_ : tuple of Tree
        Tree of each trial; empty with ``rules=True``.
    rules_ : tuple of VotingRules
        Rule set of each trial; empty with ``rules=False``.
    weights_ : ndarray of shape (n_trials, n_rows)
        Weight of each training row in each trial.
    winnowed_ : tuple of str
        Columns dropped by winnowing; empty without it.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Attribute usage of C5.0: proportion of the training rows for which the column's value is tested on the path to their
        class.

    Notes
    -----
    The models equal those of C5.0 release 2.07 as run by R's package: computations use float32 where it affects the result,
    with weights divided by their mean. A value that float32 cannot distinguish from another one is kept in double precision.
    Rows and classes of weight 0 are left out. Winnowing counts every row once, where the program divides by a mean that it
    has not computed yet.

    Examples
    --------
    >>> import baytree as bt
    >>> days = {"wind": ["weak", "strong", "weak", "strong"] * 3, "play": ["yes", "no", "yes", "no"] * 3}
    >>> print(bt.C50Classifier().fit(days, "play"))
    12 rows: no (no 6, yes 6)
    ├─ wind = strong: no (no 6)
    └─ wind = weak: yes (yes 6)
    >>> print(bt.C50Classifier(rules=True).fit(days, "play"))
    rule 0: IF wind = strong THEN no (6 rows; confidence 0.875, lift 1.8)
    rule 1: IF wind = weak THEN yes (6 rows; confidence 0.875, lift 1.8)
    default: no
    """

    def __init__(
        self,
        *,
        trials: int = 1,
        rules: bool = False,
        subset: bool = True,
        global_pruning: bool = True,
        confidence: float = 0.25,
        min_cases: float = 2,
        winnow: bool = False,
        fuzzy: bool = False,
        costs: CostsLike = None,
        early_stopping: bool = True,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ):
        self.trials = trials
        self.rules = rules
        self.subset = subset
        self.global_pruning = global_pruning
        self.confidence = confidence
        self.min_cases = min_cases
        self.winnow = winnow
        self.fuzzy = fuzzy
        self.costs = costs
        self.early_stopping = early_stopping
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    @property
    def trees_(self) -> tuple[Tree, ...]:
        """Tree of each trial; empty if the trials are rule sets."""
        check_is_fitted(self, "model_")
        return getattr(self.model_, "trees", ())

    @property
    def rules_(self) -> tuple[VotingRules, ...]:
        """Rule set of each trial; empty if the trials are trees."""
        check_is_fitted(self, "model_")
        return getattr(self.model_, "sets", ())

    @property
    def tree_(self) -> Tree:
        """Tree of the first trial."""
        if not self.trees_:
            raise AttributeError("with rules=True there is no tree; the rule sets are in rules_")
        return self.trees_[0]

    @property
    def feature_importances_(self) -> np.ndarray:
        """Proportion of the training rows for which each column's value is tested. float64 [n_features_in_]"""
        check_is_fitted(self, "model_")
        return self.schema_.per_input(self.model_.usage, np.maximum)

    def importances(self) -> UsageTable:
        """Table of attribute usage: proportion of rows for which each column is tested, most used column first."""
        check_is_fitted(self, "model_")
        return usage_table(self.model_.usage, self.schema_)

    def without(self, rule: int, trial: int = 0) -> Self:
        """Return a new estimator without one rule of a rule set.

        Parameters
        ----------
        rule : int
            Index of the rule in its set.
        trial : int, default=0
            Index of the set in `rules_`.
        """
        if not self.rules_:
            raise ValueError("without() removes a rule from a rule set; fit with rules=True")
        sets = [rules.without(rule) if k == trial else rules for k, rules in enumerate(self.rules_)]
        other = copy.copy(self)
        other.model_ = msgspec.structs.replace(self.model_, sets=tuple(sets))
        return other

    @classmethod
    def from_tree(cls, estimator: TreeEstimator) -> Self:
        """Convert the leaves of a fitted classification tree to a fitted rule set, which votes, is saved and exported.

        Rows that a tree sends down several branches, or by a surrogate, do not match the conditions on their missing column.

        Parameters
        ----------
        estimator : tree classifier
            Fitted classification tree.
        """
        if not estimator.tree_.n_classes:
            raise ValueError("from_tree needs a classification tree; use rules() of a regression tree instead")
        if estimator.tree_.sums:
            raise ValueError("voting rules test one column at a time; fit with max_split_columns=1, or use rules()")
        rules, other = rules_of_leaves(estimator.tree_, estimator.schema_), cls(rules=True, unseen=estimator.unseen)
        tested = {each.column for rule in rules for each in rule.asked}
        usage = np.array([float(j in tested) for j in range(len(estimator.schema_))])
        result = FitResult(RuleTrials((rules,), usage), profile=estimator.profile_)
        other._set_fitted_state(estimator.schema_, result, hasattr(estimator, "feature_names_in_"))
        return other

    @property
    def _learns_costs(self) -> bool:
        return True

    def _tree_learner(self, schema: Schema) -> C50Learner:
        return C50Learner(
            policy=self._policy(),
            weighing=ClassWeighting(None, given.costs(self.costs, schema.classes)),
            trials=given.integer("trials", self.trials, 1, 1000),
            rules=given.flag("rules", self.rules),
            winnow=given.flag("winnow", self.winnow),
            fuzzy=given.flag("fuzzy", self.fuzzy),
            early_stopping=given.flag("early_stopping", self.early_stopping),
        )

    def _policy(self) -> Policy:
        by_error = ErrorBased(confidence=given.number("confidence", self.confidence, 1e-6, 1.0))
        pruning: tuple[Pruner, ...] = (by_error,)
        if given.flag("global_pruning", self.global_pruning):
            pruning = (by_error, OneStandardError())
        min_leaf = given.number("min_cases", self.min_cases, 1e-6)
        return msgspec.structs.replace(
            C50,
            branching=Branching.GROUPED if given.flag("subset", self.subset) else Branching.MULTIWAY,
            stopping=msgspec.structs.replace(C50.stopping, min_leaf=min_leaf),
            pruning=pruning,
        )
