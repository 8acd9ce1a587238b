"""CART's estimators: rpart's controls, and a penalty by cross-validation."""

from __future__ import annotations

from typing import Any, Self

import msgspec
import numpy as np

from baytree import settings as given
from baytree.engine import threads
from baytree.estimators.base import Classifier, Regressor
from baytree.estimators.tree_face import TreeFace
from baytree.table import encode
from baytree.table.table import Table
from baytree.tree.grow.grow import Costs, equal_costs
from baytree.tree.grow.policy import Criterion
from baytree.tree.grow.units import from_zero, in_range, in_unit, near_one, near_zero
from baytree.tree.model.structure import Tree
from baytree.tree.prune import cart
from baytree.tree.prune.holding import folds, folds_of, unfolded


class _Cart(TreeFace):
    """What the two CART estimators share: rpart's controls, and a penalty by cross-validation."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learns from a table; `y` is the labels, or the name of the target column in `X`."""
        table, frame = self._enter(X, y, sample_weight)
        fold = None if self._is_number_of_folds() else self._given_folds(X, y, sample_weight)
        self._settle(table.schema, self._learn_with(table, fold), frame)
        return self

    def _learn(self, table: Table) -> Tree:
        return self._learn_with(table, None)

    def _learn_with(self, table: Table, fold: np.ndarray | None) -> Tree:
        return self._grow(near_one(table), fold)

    def _grow(self, table: Table, fold: np.ndarray | None) -> Tree:
        rule = self.get_params(deep=False)["prune"]
        if rule is not None:
            given.one_of("prune", rule, ("1se", "min"))
        controls, n_threads = self._controls(), threads.count(self.n_jobs)
        is_fitted = cart.fitted_rows(table, controls.counts_rows)
        table = table if is_fitted.all() else table.take(is_fitted)
        costs = self._costs(table)
        if rule is None:
            return cart.cart(table, msgspec.structs.replace(controls, prunes_impurity=False), costs, n_threads)
        if fold is not None:
            return cart.pruned_by_validation(table, table, controls, costs, rule, fold[is_fitted], n_threads)[0]
        judged = table if controls.counts_rows else unfolded(table)
        fold = folds(judged, min(given.whole("cv", self.cv, 2), len(judged)), self.random_state or 0)
        return cart.pruned_by_validation(table, judged, controls, costs, rule, fold, n_threads)[0]

    def _costs(self, table: Table) -> Costs:
        return equal_costs(0)

    def _controls(self) -> cart.Controls:
        min_split = given.number("min_split", self.min_split, 1)
        is_given = self.min_leaf is not None
        return cart.Controls(
            criterion=Criterion(given.one_of("criterion", getattr(self, "criterion", "gini"), ("gini", "entropy"))),
            cp=given.number("cp", self.cp, 0),
            min_split=min_split,
            min_leaf=given.number("min_leaf", self.min_leaf, 1) if is_given else max(1.0, float(np.round(min_split / 3))),
            max_depth=given.whole_or_none("max_depth", self.max_depth, 0),
            max_surrogates=given.whole("max_surrogates", self.max_surrogates, 0),
            use_surrogate=int(given.number("use_surrogate", self.use_surrogate, 0, 2)),
            surrogate_style=int(given.number("surrogate_style", self.surrogate_style, 0, 1)),
            counts_rows=is_given,
            prunes_impurity=given.one_of("prune_by", getattr(self, "prune_by", "risk"), ("risk", "impurity")) == "impurity",
        )

    def _is_number_of_folds(self) -> bool:
        return not hasattr(self.cv, "__iter__") and not hasattr(self.cv, "split")

    def _given_folds(self, X: Any, y: Any, sample_weight: Any) -> np.ndarray:
        """int64: the fold of each row that counts, from a vector of folds, pairs of (inside, outside), or a splitter."""
        frame, label = self._split(X, y)
        fold = folds_of(self.cv, label.values, frame.n_rows)
        return fold[(encode.weights(sample_weight, frame.n_rows)[0] > 0) & ~label.missing]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters as they were given."""
        return super().get_params(deep) | {"prune": vars(self)["prune"]}

    @property
    def prune(self) -> Any:
        """A new estimator with a smaller tree. The name is also a parameter: that one is in `get_params()`."""
        return super().prune

    @prune.setter
    def prune(self, rule: str | None) -> None:
        vars(self)["prune"] = rule


class CARTClassifier(_Cart, Classifier):
    """CART as rpart grows it (Breiman et al. 1984): surrogate splits, altered priors, cost-complexity pruning.

    Trees equal rpart's node by node up to ties. Parameters carry rpart's meaning: `cp` is the least gain of a split in
    units of the root's risk; `use_surrogate` 0 stops rows without a value, 1 uses surrogates, 2 then follows
    the majority; `surrogate_style` 1 judges surrogates on the rows that they know. A given `min_leaf` counts rows,
    as rpart does; with None it is a third of `min_split`, and both count weight, so a row of weight 2 equals two rows.
    `prune` "1se" or "min" chooses the penalty by `cv`-fold cross-validation, with one tree per fold; `cv` may also be the
    fold of each row, pairs of rows (inside, outside), or a splitter of scikit-learn. `prune_by="impurity"` follows
    scikit-learn: a split is worth what it takes of the criterion, and the path's own penalties are judged, of equals the
    larger tree; "risk" weighs the expected loss and judges between two penalties, as rpart does. With three and
    more classes all groupings of up to 25 levels are tried; above, levels are cut along their first principal component.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"x": range(30), "y": ["a"] * 15 + ["b"] * 15})
    >>> CARTClassifier().fit(table, "y").n_leaves_
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
        priors: Any = None,
        costs: Any = None,
        prune: str | None = None,
        prune_by: str = "risk",
        cv: Any = 10,
        random_state: int | None = None,
        schema: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
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
        self.prune = prune
        self.prune_by = prune_by
        self.cv = cv
        self.random_state = random_state
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs

    def _costs(self, table: Table) -> Costs:
        target = table.schema.target
        return cart.cart_costs(table, given.priors_of(self.priors, target), given.costs_of(self.costs, target))


class CARTRegressor(_Cart, Regressor):
    """CART for numbers as rpart grows it (method anova); parameters as in `CARTClassifier`.

    >>> CARTRegressor().fit([[float(i)] for i in range(30)], [0.0] * 15 + [1.0] * 15).predict([[3.0], [20.0]])
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
        prune: str | None = None,
        cv: Any = 10,
        random_state: int | None = None,
        schema: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        self.cp = cp
        self.min_split = min_split
        self.min_leaf = min_leaf
        self.max_depth = max_depth
        self.max_surrogates = max_surrogates
        self.use_surrogate = use_surrogate
        self.surrogate_style = surrogate_style
        self.prune = prune
        self.cv = cv
        self.random_state = random_state
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs

    def _learn_with(self, table: Table, fold: np.ndarray | None) -> Tree:
        table, unit = in_range(near_one(table))
        table, origin = near_zero(table)
        return in_unit(from_zero(self._grow(table, fold), origin), unit)
