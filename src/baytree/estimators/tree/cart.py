"""CART estimators with rpart's parameters: surrogate splits and cost-complexity pruning by cross-validation.

Breiman, Friedman, Olshen and Stone (1984), in the version of R's rpart (Therneau and Atkinson). The classes turn parameters
into a `Policy`; growing and cross-validated pruning are in `tree.growing.cart`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
import numpy as np

from baytree import param_validation as given
from baytree._typing import CostsLike, FrameLike, PriorsLike, TargetLike, WeightsLike
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import LocalPartitions, rescale_weights
from baytree.estimators.base import PreparedRows
from baytree.estimators.inner_folds import InnerFolds, inner_folds
from baytree.estimators.prediction import Classifier, Regressor
from baytree.estimators.tree.base import TreeEstimator, constrained, weighing_of
from baytree.folds.row_structure import RowStructure
from baytree.folds.splitters import Splitter, names_rows
from baytree.tree.growing.cart import OTHER_ROWS, validated_path
from baytree.tree.learner import TreeLearner
from baytree.tree.policy.algorithms import CART
from baytree.tree.policy.class_costs import ClassWeighting
from baytree.tree.policy.policy import Criterion, CrossValidated, Policy, Stopping, SurrogateRules
from baytree.tree.pruning.cost_complexity import PruningPath, path


class _Cart(InnerFolds, TreeEstimator):
    """Base of the two CART estimators: rpart's controls, and the choice of the penalty by cross-validation."""

    cp: float
    min_split: float
    min_leaf: float | None
    max_depth: int | None
    max_surrogates: int
    use_surrogate: int
    surrogate_style: int
    pruning: str | None
    prune_by = "risk"
    cv: int | Splitter | Sequence | np.ndarray
    random_state: int | None
    monotone: Mapping[str, str] | None
    first_split: str | None

    def _tree_learner(self, schema: Schema, folds: np.ndarray | None = None) -> TreeLearner:
        raise NotImplementedError(f"{type(self).__name__} must implement _tree_learner")

    def _learner_of(
        self, schema: Schema, criterion: Criterion, weighing: ClassWeighting, folds: np.ndarray | None
    ) -> TreeLearner:
        policy = msgspec.structs.replace(
            CART,
            criterion=criterion,
            stopping=self._stopping(),
            surrogates=self._surrogates(),
            pruning=self._pruning(folds),
        )
        policy = constrained(policy, self.monotone, self.first_split, schema)
        return TreeLearner(policy, weighing, given.flag("trace", self.trace), self._averages())

    def cost_complexity_path(
        self, X: FrameLike = None, y: TargetLike = None, sample_weight: WeightsLike = None
    ) -> PruningPath:
        """Nested trees of cost-complexity pruning; with rows, of a tree grown from them, cross-validated with `cv`."""
        if X is None:
            return path(self.tree_, given.number("cp", self.cp, 0))
        prepared = self._prepare_rows(X, y, sample_weight)
        folds = inner_folds(self.cv, prepared, False, None)
        learner = self._tree_learner(prepared.table.schema, folds=folds)
        by_impurity = self.prune_by == "impurity"
        step = CrossValidated(rule="min", cv=self._cv(folds), seed=self.random_state or 0, by_impurity=by_impurity)
        return validated_path(
            rescale_weights(LocalPartitions(prepared.table)).gather(), learner.policy, learner.weighing, step, self.n_jobs
        )

    def _checked_policy(self, schema: Schema) -> Policy:
        return self._tree_learner(schema, folds=np.zeros(0, np.int64)).policy

    def _stopping(self) -> Stopping:
        min_split = given.number("min_split", self.min_split, 1)
        is_given = self.min_leaf is not None
        return Stopping(
            cp=given.number("cp", self.cp, 0),
            min_split=min_split,
            min_leaf=given.number("min_leaf", self.min_leaf, 1) if is_given else max(1.0, float(np.round(min_split / 3))),
            max_depth=given.whole_or_none("max_depth", self.max_depth, 0),
            counts_rows=is_given,
        )

    def _surrogates(self) -> SurrogateRules:
        return SurrogateRules(
            most=given.integer("max_surrogates", self.max_surrogates, 0),
            use=given.integer("use_surrogate", self.use_surrogate, 0, 2),
            style=given.integer("surrogate_style", self.surrogate_style, 0, 1),
        )

    def _pruning(self, folds: np.ndarray | None) -> tuple[CrossValidated, ...]:
        rule = given.one_of("pruning", self.pruning, (None, "1se", "min"))
        by = given.one_of("prune_by", self.prune_by, ("risk", "impurity"))
        if rule is None:
            return ()
        seed = self.random_state or 0
        return (CrossValidated(rule=rule, cv=self._cv(folds), seed=seed, by_impurity=by == "impurity"),)

    def _cv(self, folds: np.ndarray | None) -> int | Splitter | np.ndarray:
        """Number of folds, splitter, or fold of each row; only `fit` can resolve folds by row, and passes `folds`."""
        if folds is not None and len(folds):
            return folds
        if hasattr(self.cv, "split"):
            return cast("Splitter", self.cv)
        if not names_rows(self.cv):
            return given.integer("cv", self.cv, 2)
        if folds is None:
            raise ValueError(OTHER_ROWS)
        return folds

    def _row_dependent_settings(self, entered: PreparedRows, structure: RowStructure | None = None) -> dict[str, Any]:
        """Folds of the training rows, if the tree is pruned and they depend on groups, times or row numbers."""
        if self.pruning is None:
            return {}
        is_classification = bool(entered.rows.schema.classes)
        return {"folds": inner_folds(self.cv, entered, is_classification, structure, self.random_state or 0)}


class CARTClassifier(_Cart, Classifier):
    """Classification tree by CART with rpart's parameters: surrogate splits, altered priors, cost-complexity pruning.

    Trees equal those of rpart node by node, up to ties (Breiman, Friedman, Olshen and Stone 1984). With three or more
    classes, all groupings of up to 25 levels are tried; more levels are split along their first principal component.

    Parameters
    ----------
    criterion : {'gini', 'entropy'}, default='gini'
        Impurity measure that a split must reduce.
    cp : float, default=0.01
        Complexity parameter: minimum decrease of the risk by a split, relative to the risk of the root.
    min_split : float, default=20
        Minimum size of a node that may be split; see `min_leaf` for the unit.
    min_leaf : float, optional
        Minimum size of a branch. If given, `min_leaf` and `min_split` count rows, as in rpart. If None, it is a third of
        `min_split` and both count weight, so that a row of weight 2 equals two rows.
    max_depth : int or None, default=30
        Maximum depth of the tree, where the root has depth 0; None for no limit.
    max_surrogates : int, default=5
        Maximum number of surrogate splits of a node, which route rows with a missing value.
    use_surrogate : {0, 1, 2}, default=2
        How to route rows with a missing value: 0 stops them at the node; 1 uses surrogates; 2 uses surrogates, then the
        majority branch.
    surrogate_style : {0, 1}, default=0
        How to rank surrogates: 0 by agreement over all rows of the node, 1 over the rows in which their column is known.
    priors : array or dict by class, optional
        Prior probability of each class, summing to 1; by default its proportion of the weight.
    costs : matrix or dict of dicts, optional
        ``costs[i][j]`` is the cost of predicting class j when i is true; by default every mistake costs 1.
    pruning : {None, '1se', 'min'}, default=None
        None keeps the tree grown with `cp`, as rpart does. Otherwise the penalty is chosen by cross-validation, with one
        tree per fold: ``'min'`` takes the penalty with the smallest error, ``'1se'`` the largest penalty within one
        standard error of it.
    prune_by : {'risk', 'impurity'}, default='risk'
        What `pruning` minimises: the expected loss, evaluated between adjacent penalties of the path, as in rpart; or the
        criterion, evaluated at the penalties of the path, ties going to the larger tree, as is usual with scikit-learn.
    cv : int, splitter, array of folds or pairs of rows, default=10
        Cross-validation folds of `pruning`: a number of folds, assigned by the contents of the rows; a scikit-learn
        splitter; the fold of each row; or pairs of row indices (train, test).
    random_state : int, optional
        Seed of the assignment of rows to `cv` folds.

    Examples
    --------
    >>> import baytree as bt
    >>> model = bt.CARTClassifier().fit({"x": range(30), "y": ["a"] * 15 + ["b"] * 15}, "y")
    >>> print(model)
    30 rows: a (a 15, b 15)
    ├─ x < 14.5: a (a 15)
    └─ x ≥ 14.5: b (b 15)
    rows with a missing value stop at the node
    >>> model.set_params(pruning="1se", cv=5).fit({"x": range(30), "y": ["a"] * 15 + ["b"] * 15}, "y").n_leaves_
    2
    """

    def __init__(
        self,
        *,
        criterion: str = "gini",
        cp: float = 0.01,
        min_split: float = 20,
        min_leaf: float | None = None,
        max_depth: int | None = 30,
        max_surrogates: int = 5,
        use_surrogate: int = 2,
        surrogate_style: int = 0,
        priors: PriorsLike = None,
        costs: CostsLike = None,
        pruning: str | None = None,
        prune_by: str = "risk",
        cv: int | Splitter | Sequence | np.ndarray = 10,
        random_state: int | None = None,
        monotone: Mapping[str, str] | None = None,
        first_split: str | None = None,
        averaging: str | None = None,
        trace: bool = False,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ) -> None:
        self.criterion = criterion
        self.cp = cp
        self.min_split = min_split
        self.min_leaf = min_leaf
        self.max_depth = max_depth
        self.max_surrogates = max_surrogates
        self.use_surrogate = use_surrogate
        self.surrogate_style = surrogate_style
        self.priors = priors
        self.costs = costs
        self.pruning = pruning
        self.prune_by = prune_by
        self.cv = cv
        self.random_state = random_state
        self.averaging = averaging
        self.trace = trace
        self.monotone = monotone
        self.first_split = first_split
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    def _tree_learner(self, schema: Schema, folds: np.ndarray | None = None) -> TreeLearner:
        criterion = Criterion(given.one_of("criterion", self.criterion, ("gini", "entropy")))
        return self._learner_of(schema, criterion, weighing_of(self.priors, self.costs, schema.classes), folds)


class CARTRegressor(_Cart, Regressor):
    """Regression tree by CART with rpart's parameters (method anova): least squares, surrogates, cost-complexity pruning.

    Parameters
    ----------
    cp : float, default=0.01
        Complexity parameter: minimum decrease of the risk by a split, relative to the risk of the root.
    min_split : float, default=20
        Minimum size of a node that may be split; see `min_leaf` for the unit.
    min_leaf : float, optional
        Minimum size of a branch. If given, `min_leaf` and `min_split` count rows, as in rpart. If None, it is a third of
        `min_split` and both count weight, so that a row of weight 2 equals two rows.
    max_depth : int or None, default=30
        Maximum depth of the tree, where the root has depth 0; None for no limit.
    max_surrogates : int, default=5
        Maximum number of surrogate splits of a node, which route rows with a missing value.
    use_surrogate : {0, 1, 2}, default=2
        How to route rows with a missing value: 0 stops them at the node; 1 uses surrogates; 2 uses surrogates, then the
        majority branch.
    surrogate_style : {0, 1}, default=0
        How to rank surrogates: 0 by agreement over all rows of the node, 1 over the rows in which their column is known.
    pruning : {None, '1se', 'min'}, default=None
        None keeps the tree grown with `cp`, as rpart does. Otherwise the penalty is chosen by cross-validation, with one
        tree per fold: ``'min'`` takes the penalty with the smallest error, ``'1se'`` the largest penalty within one
        standard error of it.
    cv : int, splitter, array of folds or pairs of rows, default=10
        Cross-validation folds of `pruning`: a number of folds, assigned by the contents of the rows; a scikit-learn
        splitter; the fold of each row; or pairs of row indices (train, test).
    random_state : int, optional
        Seed of the assignment of rows to `cv` folds.

    Examples
    --------
    >>> import baytree as bt
    >>> model = bt.CARTRegressor().fit([[float(i)] for i in range(30)], [0.0] * 15 + [1.0] * 15)
    >>> model.predict([[3.0], [20.0]])
    array([0., 1.])
    """

    def __init__(
        self,
        *,
        cp: float = 0.01,
        min_split: float = 20,
        min_leaf: float | None = None,
        max_depth: int | None = 30,
        max_surrogates: int = 5,
        use_surrogate: int = 2,
        surrogate_style: int = 0,
        pruning: str | None = None,
        cv: int | Splitter | Sequence | np.ndarray = 10,
        random_state: int | None = None,
        monotone: Mapping[str, str] | None = None,
        first_split: str | None = None,
        averaging: str | None = None,
        trace: bool = False,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ) -> None:
        self.cp = cp
        self.min_split = min_split
        self.min_leaf = min_leaf
        self.max_depth = max_depth
        self.max_surrogates = max_surrogates
        self.use_surrogate = use_surrogate
        self.surrogate_style = surrogate_style
        self.pruning = pruning
        self.cv = cv
        self.random_state = random_state
        self.averaging = averaging
        self.trace = trace
        self.monotone = monotone
        self.first_split = first_split
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    def _tree_learner(self, schema: Schema, folds: np.ndarray | None = None) -> TreeLearner:
        return self._learner_of(schema, Criterion.SSE, ClassWeighting(), folds)
