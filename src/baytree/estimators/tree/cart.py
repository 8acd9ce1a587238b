"""CART's estimators: rpart's controls, and a penalty by cross-validation."""

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
from baytree.estimators.prediction import Classifier, Regressor
from baytree.estimators.tree.base import TreeEstimator, constrained, weighing_of
from baytree.folds.splitters import Splitter, names_rows, read_cv
from baytree.tree.growing.cart import OTHER_ROWS, validated_path
from baytree.tree.learner import TreeLearner
from baytree.tree.policy.algorithms import CART
from baytree.tree.policy.class_costs import ClassWeighting
from baytree.tree.policy.policy import Criterion, CrossValidated, Policy, Stopping, SurrogateRules
from baytree.tree.pruning.cost_complexity import PruningPath, path


class _Cart(TreeEstimator):
    """What the two CART estimators share: rpart's controls, and a penalty by cross-validation."""

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
        raise NotImplementedError(f"{type(self).__name__} must say what a split is to improve")

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
        """The nested trees of cost-complexity pruning; with rows, of the tree that they grow, cross-validated by `cv`."""
        if X is None:
            return path(self.tree_, given.number("cp", self.cp, 0))
        entered = self._prepare_rows(X, y, sample_weight)
        folds = self._named_folds(entered) if names_rows(self.cv) else None
        learner = self._tree_learner(entered.table.schema, folds=folds)
        by_impurity = self.prune_by == "impurity"
        step = CrossValidated(rule="min", cv=self._cv(folds), seed=self.random_state or 0, by_impurity=by_impurity)
        return validated_path(
            rescale_weights(LocalPartitions(entered.table)).gather(), learner.policy, learner.weighing, step, self.n_jobs
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
        """What deals the folds; those that name rows come by `folds`, because only `fit` knows which rows are meant."""
        if hasattr(self.cv, "split"):
            return cast("Splitter", self.cv)
        if not names_rows(self.cv):
            return given.integer("cv", self.cv, 2)
        if folds is None:
            raise ValueError(OTHER_ROWS)
        return folds

    def _row_dependent_settings(self, entered: PreparedRows) -> dict[str, Any]:
        is_asked = self.pruning is not None and names_rows(self.cv)
        return {"folds": self._named_folds(entered)} if is_asked else {}

    def _named_folds(self, entered: PreparedRows) -> np.ndarray:
        """The fold of each row that counts."""
        kept = np.ones(len(entered.table), bool) if entered.row_mask is None else entered.row_mask
        given_folds = read_cv(self.cv, len(kept), np.zeros(len(kept), int), is_classification=False)
        return given_folds.of_rows(len(kept))[kept]


class CARTClassifier(_Cart, Classifier):
    """A classification tree by CART, as rpart grows it: surrogate splits, altered priors, cost-complexity pruning.

    Trees equal rpart's node by node up to ties (Breiman, Friedman, Olshen and Stone 1984). With three and more classes all
    groupings of up to 25 levels are tried; above, levels are cut along their first principal component.

    Parameters
    ----------
    criterion : {'gini', 'entropy'}, default='gini'
        What a split is to improve.
    cp : float, default=0.01
        The least that a split must save, in units of the root's risk.
    min_split : float, default=20
        A node of less is not split.
    min_leaf : float, optional
        A branch holds at least this much. If given, it and `min_split` count rows, as rpart does; if None it is a third of
        `min_split` and both count weight, so that a row of weight 2 equals two rows.
    max_depth : int or None, default=30
        The root has depth 0; None for no limit.
    max_surrogates : int, default=5
        How many surrogate splits a node keeps for rows without a value.
    use_surrogate : {0, 1, 2}, default=2
        0 stops rows without a value at the node, 1 sends them by surrogates, 2 does so and then follows the majority.
    surrogate_style : {0, 1}, default=0
        0 judges a surrogate on all rows of the node, 1 on those that it knows.
    priors : array or dict by class, optional
        The probability of each class, summing to 1; by default its share of the weight.
    costs : matrix or dict of dicts, optional
        ``costs[i][j]`` is the cost of predicting class j when i is true; by default every mistake costs 1.
    pruning : {None, '1se', 'min'}, default=None
        None is rpart's tree at `cp`. Otherwise the penalty is chosen by cross-validation, with one tree per fold: that of
        the least error, or the largest one within a standard error of it.
    prune_by : {'risk', 'impurity'}, default='risk'
        What `pruning` weighs: the expected loss, judged between two penalties of the path, as rpart does; or the criterion,
        judged at the path's own penalties, of equals the larger tree, as is usual with scikit-learn.
    cv : int, splitter, array of folds or pairs of rows, default=10
        How `pruning` deals the rows to folds: a number of folds, dealt by what is in the rows; a splitter of scikit-learn;
        the fold of each row; or pairs of rows (inside, outside).
    random_state : int, optional
        Another deal of the `cv` folds.

    Examples
    --------
    >>> import baytree as bt
    >>> model = bt.CARTClassifier().fit({"x": range(30), "y": ["a"] * 15 + ["b"] * 15}, "y")
    >>> print(model)
    30 rows: a (a 15, b 15)
    ├─ x < 14.5: a (a 15)
    └─ x ≥ 14.5: b (b 15)
    a row without a value goes no further
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
    """A regression tree by CART, as rpart grows it (method anova): least squares, surrogate splits, cost-complexity pruning.

    Parameters
    ----------
    cp : float, default=0.01
        The least that a split must save, in units of the root's risk.
    min_split : float, default=20
        A node of less is not split.
    min_leaf : float, optional
        A branch holds at least this much. If given, it and `min_split` count rows, as rpart does; if None it is a third of
        `min_split` and both count weight, so that a row of weight 2 equals two rows.
    max_depth : int or None, default=30
        The root has depth 0; None for no limit.
    max_surrogates : int, default=5
        How many surrogate splits a node keeps for rows without a value.
    use_surrogate : {0, 1, 2}, default=2
        0 stops rows without a value at the node, 1 sends them by surrogates, 2 does so and then follows the majority.
    surrogate_style : {0, 1}, default=0
        0 judges a surrogate on all rows of the node, 1 on those that it knows.
    pruning : {None, '1se', 'min'}, default=None
        None is rpart's tree at `cp`. Otherwise the penalty is chosen by cross-validation, with one tree per fold: that of
        the least error, or the largest one within a standard error of it.
    cv : int, splitter, array of folds or pairs of rows, default=10
        How `pruning` deals the rows to folds: a number of folds, dealt by what is in the rows; a splitter of scikit-learn;
        the fold of each row; or pairs of rows (inside, outside).
    random_state : int, optional
        Another deal of the `cv` folds.

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
