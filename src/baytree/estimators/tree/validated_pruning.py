"""Mixin of trees whose penalty per leaf may be chosen by cross-validation: the parameters `pruning` and `cv`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from baytree import param_validation as given
from baytree.data.schema.schema import Schema
from baytree.estimators.base import PreparedRows
from baytree.estimators.tree.base import TreeEstimator
from baytree.folds.splitters import Splitter, names_rows, read_cv
from baytree.tree.growing.cart import OTHER_ROWS
from baytree.tree.learner import TreeLearner
from baytree.tree.policy.policy import CrossValidated


class ValidatedPruningMixin(TreeEstimator):
    """Choice of the penalty per leaf by cross-validation."""

    pruning: str | None
    cv: int | Splitter | Sequence | np.ndarray
    prune_by = "risk"
    random_state: int | None = None

    def _pruning(self, folds: np.ndarray | None) -> tuple[CrossValidated, ...]:
        rule = given.one_of("pruning", self.pruning, (None, "1se", "min"))
        given.one_of("prune_by", self.prune_by, ("risk", "impurity"))
        return () if rule is None else (self._validation(rule, folds),)

    def _validation(self, rule: str, folds: np.ndarray | None) -> CrossValidated:
        by_impurity = self.prune_by == "impurity"
        return CrossValidated(rule=rule, cv=self._cv(folds), seed=self.random_state or 0, by_impurity=by_impurity)

    def _cv(self, folds: np.ndarray | None) -> int | Splitter | np.ndarray:
        """Number of folds, splitter, or fold of each row; only `fit` can resolve folds by row, and passes `folds`."""
        if hasattr(self.cv, "split"):
            return cast("Splitter", self.cv)
        if not names_rows(self.cv):
            return given.integer("cv", self.cv, 2)
        if folds is None:
            raise ValueError(OTHER_ROWS)
        return folds

    def _learner_of_settings(self, schema: Schema) -> TreeLearner:
        return self._tree_learner(schema, folds=np.zeros(0, np.int64))

    def _tree_learner(self, schema: Schema, folds: np.ndarray | None = None) -> TreeLearner:
        raise NotImplementedError(f"{type(self).__name__} must implement _tree_learner")

    def _path_validation(self, entered: PreparedRows) -> CrossValidated:
        return self._validation("min", self._named_folds(entered) if names_rows(self.cv) else None)

    def _row_dependent_settings(self, entered: PreparedRows) -> dict[str, Any]:
        has_row_folds = self.pruning is not None and names_rows(self.cv)
        return {"folds": self._named_folds(entered)} if has_row_folds else {}

    def _named_folds(self, entered: PreparedRows) -> np.ndarray:
        """Fold of each training row."""
        mask = np.ones(len(entered.table), bool) if entered.row_mask is None else entered.row_mask
        given_folds = read_cv(self.cv, len(mask), np.zeros(len(mask), int), is_classification=False)
        return given_folds.of_rows(len(mask))[mask]
