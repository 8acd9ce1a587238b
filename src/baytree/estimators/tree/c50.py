"""C5.0: C4.5's successor, with groups of levels, rule sets, boosting, winnowing, costs and soft thresholds (Quinlan)."""

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
    """Trees or rule sets by C5.0: levels in groups, pruned twice, and boosted where several trials are asked for.

    Parameters
    ----------
    trials : int, default=1
        How many trees or rule sets are boosted; each turns to the rows that those before it got wrong, and all vote.
    rules : bool, default=False
        Whether trees become rule sets, in which every rule that holds votes for its class.
    subset : bool, default=True
        Whether nominal tests unite levels into groups instead of having a branch for each level.
    global_pruning : bool, default=True
        Whether the whole tree is pruned once more, as long as its errors rise by no more than one standard error.
    confidence : float, default=0.25
        Of the error estimate that branches are pruned by; smaller prunes more.
    min_cases : float, default=2
        At least two branches of a test must hold this weight.
    winnow : bool, default=False
        Whether columns that do no good on half of the rows are left out first.
    fuzzy : bool, default=False
        Whether rows near a threshold follow both branches. Rule sets have no such thresholds.
    costs : array-like or dict of dict, optional
        ``costs[i][j]``: what predicting class j costs when i is true, in the order of `classes_` or by label; costs below 1
        count as 1. A tree with costs gives the class of least expected cost and is not pruned a second time.
    early_stopping : bool, default=True
        Whether boosting ends when a trial makes hardly any mistakes, or too many; of two trials or fewer, the first is kept.

    Attributes
    ----------
    trees_ : tuple of Tree
        The tree of each trial; none with ``rules=True``.
    rules_ : tuple of VotingRules
        The rule set of each trial; none with ``rules=False``.
    weights_ : ndarray of shape (n_trials, n_rows)
        What each training row weighed in each trial.
    winnowed_ : tuple of str
        The columns that winnowing left out; none without it.
    feature_importances_ : ndarray of shape (n_features_in_,)
        C5.0's usage: the share of the training rows for which a column's value is read on the way to their class.

    Notes
    -----
    The models are those of C5.0 release 2.07 as R's package runs it: float32 where that decides, with each weight over their
    mean. A value that float32 cannot tell from another is kept as it is. Rows and classes of weight 0 are left out, and
    winnowing counts every row once, where the program divides by a mean that it has not computed yet.

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
        """The tree of each trial; none where these are rule sets."""
        check_is_fitted(self, "model_")
        return getattr(self.model_, "trees", ())

    @property
    def rules_(self) -> tuple[VotingRules, ...]:
        """The rule set of each trial; none where these are trees."""
        check_is_fitted(self, "model_")
        return getattr(self.model_, "sets", ())

    @property
    def tree_(self) -> Tree:
        """The tree of the first trial."""
        if not self.trees_:
            raise AttributeError("with rules=True there is no tree; the rule sets are in rules_")
        return self.trees_[0]

    @property
    def feature_importances_(self) -> np.ndarray:
        """C5.0's usage: the proportion of the training rows for which each input's value is read: [n_features_in_]."""
        check_is_fitted(self, "model_")
        return self.schema_.per_input(self.model_.usage, np.maximum)

    def importances(self) -> UsageTable:
        """How much of the rows each column decides, as a table, the most used column first."""
        check_is_fitted(self, "model_")
        return usage_table(self.model_.usage, self.schema_)

    def without(self, rule: int, trial: int = 0) -> Self:
        """A new estimator whose rule set lacks the rule at this place.

        Parameters
        ----------
        rule : int
            The place of the rule in its set, from 0 on.
        trial : int, default=0
            The place of the set in `rules_`.
        """
        if not self.rules_:
            raise ValueError("only a rule set can do without a rule; fit with rules=True")
        sets = [rules.without(rule) if k == trial else rules for k, rules in enumerate(self.rules_)]
        other = copy.copy(self)
        other.model_ = msgspec.structs.replace(self.model_, sets=tuple(sets))
        return other

    @classmethod
    def from_tree(cls, estimator: TreeEstimator) -> Self:
        """The leaves of any fitted tree of classes as a rule set, fitted: it votes, and is saved and exported as such.

        Rows that a tree sends down several branches, or by a surrogate, fail the conditions of their missing column.

        Parameters
        ----------
        estimator : tree classifier
            Any fitted tree of classes.
        """
        if not estimator.tree_.n_classes:
            raise ValueError("a tree of numbers has no classes that rules could vote for; its rules() give numbers")
        if estimator.tree_.sums:
            raise ValueError("rules that vote ask for one column at a time; fit with max_split_columns=1, or take rules()")
        rules, other = rules_of_leaves(estimator.tree_, estimator.schema_), cls(rules=True, unseen=estimator.unseen)
        asked = {each.column for rule in rules for each in rule.asked}
        usage = np.array([float(j in asked) for j in range(len(estimator.schema_))])
        learnt = FitResult(RuleTrials((rules,), usage), profile=estimator.profile_)
        other._set_fitted_state(estimator.schema_, learnt, hasattr(estimator, "feature_names_in_"))
        return other

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
        least = given.number("min_cases", self.min_cases, 1e-6)
        return msgspec.structs.replace(
            C50,
            branching=Branching.GROUPED if given.flag("subset", self.subset) else Branching.MULTIWAY,
            stopping=msgspec.structs.replace(C50.stopping, min_leaf=least),
            pruning=pruning,
        )
