"""CART estimators with rpart's parameters: surrogate splits and cost-complexity pruning by cross-validation.

Breiman, Friedman, Olshen and Stone (1984), in the version of R's rpart (Therneau and Atkinson). The classes turn parameters
into a `Policy`; growing and cross-validated pruning are in `tree.growing.cart`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from baytree import param_validation as given
from baytree._typing import CostsLike, PriorsLike
from baytree.data.schema.schema import Schema
from baytree.estimators.prediction import Classifier, Regressor
from baytree.estimators.tree.base import constrained, weighing_of
from baytree.estimators.tree.validated_pruning import ValidatedPruningMixin
from baytree.folds.splitters import Splitter
from baytree.tree.learner import TreeLearner
from baytree.tree.policy.algorithms import CART
from baytree.tree.policy.class_costs import ClassWeighting
from baytree.tree.policy.policy import Criterion, Stopping, SurrogateRules
from baytree.tree.pruning.cost_complexity import PruningPath, path


class _Cart(ValidatedPruningMixin):
    """Base of the two CART estimators: rpart's controls."""

    cp: float
    min_split: float
    min_leaf: float | None
    max_depth: int | None
    max_surrogates: int
    use_surrogate: int
    surrogate_style: int
    monotone: Mapping[str, str] | None
    first_split: str | None

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

    def _path(self) -> PruningPath:
        return path(self.tree_, given.number("cp", self.cp, 0))

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


class CARTClassifier(_Cart, Classifier):
    """Classification tree by CART with rpart's parameters: surrogate splits, altered priors, cost-complexity pruning.

    Trees equal those of rpart node by node, up to ties (Breiman, Friedman, Olshen and Stone 1984). With three or more
    classes, the best two groups of up to 25 levels are found; more levels are split along their first principal component.
    CART never splits without a gain, whatever `cp`: for exclusive-or see `split_without_gain` of `DecisionTreeClassifier`.

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

    @property
    def _learns_costs(self) -> bool:
        return True

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
