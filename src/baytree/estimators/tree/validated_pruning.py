"""Mixin of trees whose penalty per leaf may be chosen by cross-validation: the parameters `pruning` and `cv`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from baytree import param_validation as given
from baytree.data.schema.schema import Schema
from baytree.estimators.base import PreparedRows
from baytree.estimators.inner_folds import InnerFolds, inner_folds
from baytree.estimators.tree.base import TreeEstimator
from baytree.folds.row_structure import RowStructure
from baytree.folds.splitters import Splitter, names_rows
from baytree.tree.growing.cart import OTHER_ROWS
from baytree.tree.learner import TreeLearner
from baytree.tree.policy.policy import CrossValidated


class ValidatedPruningMixin(InnerFolds, TreeEstimator):
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
        """Number of folds, splitter, or array of folds; only `fit` can resolve folds by row, and passes `folds`."""
        if folds is not None and len(folds):
            return folds
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
        return self._validation("min", inner_folds(self.cv, entered, False, None))

    def _row_dependent_settings(self, entered: PreparedRows, structure: RowStructure | None = None) -> dict[str, Any]:
        """Folds of the training rows, if the tree is pruned and they depend on groups, times or row numbers."""
        if self.pruning is None:
            return {}
        is_classification = bool(entered.rows.schema.classes)
        return {"folds": inner_folds(self.cv, entered, is_classification, structure, self.random_state or 0)}
