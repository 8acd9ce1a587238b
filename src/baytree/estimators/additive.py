"""Estimators whose learner is additive: they go on learning, merge and forget, by adding and subtracting what was seen."""

from __future__ import annotations

from functools import partial, reduce
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from baytree.engine.parts import InMemory
from baytree.estimators.base import SETTLING, Classifier, Regressor
from baytree.estimators.continuing import ContinuingEstimator, refuse_strangers, with_classes
from baytree.given import FrameLike, TargetLike, WeightsLike
from baytree.learner import Additive, Learnt, Observed, joined_profiles
from baytree.table.infer import together
from baytree.table.schema import Schema
from baytree.table.table import Table


class AdditiveEstimator(ContinuingEstimator):
    """An estimator whose learner is additive: it can go on learning, merge, and forget."""

    seen_: Any  # the statistic of all rows so far
    _parts: tuple[Observed, ...] = ()  # of batches, the larger ones first, where they are not added up yet

    def merge(self, other: Self) -> Self:
        """A new estimator that has seen what both have seen; models with no class in common are refused."""
        from sklearn.base import clone

        check_is_fitted(self, "seen_")
        check_is_fitted(other, "seen_")
        refuse_strangers(self.schema_, other.schema_)
        return clone(self)._settle_on(self._so_far + other._so_far, hasattr(self, "feature_names_in_"))

    def forget(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Self:
        """Removes rows that were learnt, exactly: the model is as if they had never been seen."""
        check_is_fitted(self, "seen_")
        entered = self._enter_more(X, y, sample_weight, self.schema_)
        gone = self._observed(entered.table)
        with SETTLING:
            left = self._so_far - gone
            model = self._additive(self.schema_).derive(left.seen, left.schema)  # parameters may name what is forgotten now
            self._settle(left.schema, Learnt(model, left.seen, profile=left.profile), entered.has_text_names)
        return self

    def _learn_more(self, X: FrameLike, y: TargetLike, classes: ArrayLike | None, sample_weight: WeightsLike) -> Self:
        """derive(seen + of(batch)): the same model as `fit` on all rows so far."""
        with SETTLING:
            if not self._is_known("seen_"):
                entered = self._enter(X, y, sample_weight)
                table = with_classes(entered.table, classes)
                census = self._census_of(entered)
                return self._settle_on(self._observed(table), entered.has_text_names)._told(census, census)
        entered = self._enter_more(X, y, sample_weight, self.schema_)
        more = self._observed(with_classes(entered.table, classes))
        census = self._census_of(entered)
        with SETTLING:
            whole = together(self._census, census)
            return self._settle_with(more, entered.has_text_names)._told(whole, census)

    def _settle(self, schema: Schema, learnt: Learnt, has_text_names: bool) -> None:
        super()._settle(schema, learnt, has_text_names)
        self._parts = ()
        if learnt.seen is not None:
            self.seen_ = learnt.seen

    def _intervals(self, table: Table, level: float) -> np.ndarray:
        """By what was seen where the learner knows its posterior, else by the model."""
        learner = self._learner(self.schema_)
        if not hasattr(learner, "intervals"):
            return super()._intervals(table, level)
        return learner.intervals(self.seen_, table, level)

    @property
    def _so_far(self) -> Observed:
        check_is_fitted(self, "seen_")
        return Observed(self.schema_, self.seen_, self.profile_)

    def _observed(self, table: Table) -> Observed:
        rows = InMemory(table, self.n_jobs)
        return Observed(table.schema, self._additive(table.schema).total(rows), self._profiled(rows))

    def _additive(self, schema: Schema) -> Additive:
        learner = self._learner(schema)
        if not isinstance(learner, Additive):
            raise ValueError(f"{self!r} needs all rows at once; use fit, or parameters whose model adds up")
        return learner

    def _settle_with(self, more: Observed, has_text_names: bool) -> Self:
        """Puts the model in place that follows from all rows so far and these; for later where that costs all rows."""
        learner = self._additive(more.schema)
        if not learner.n_kept(more.seen):
            return self._settle_on(self._so_far + more, has_text_names)
        joint = self.schema_.union(more.schema)
        profile = joined_profiles((self.schema_, self.profile_), (more.schema, more.profile), joint)
        before = (Observed(self.schema_, self.seen_),) if "seen_" in vars(self) else self._parts
        learner, parts = self._additive(joint), _carried(learner, (*before, Observed(more.schema, more.seen)))
        self._settle_later(
            joint,
            profile,
            has_text_names,
            {"seen_": partial(_seen, parts, joint), "model_": lambda: learner.derive(self.seen_, joint)},
        )
        self._parts = parts
        return self

    def _settle_on(self, all_rows: Observed, has_text_names: bool) -> Self:
        """Puts the model in place that follows from all that was seen."""
        model = self._additive(all_rows.schema).derive(all_rows.seen, all_rows.schema)
        self._settle(all_rows.schema, Learnt(model, all_rows.seen, profile=all_rows.profile), has_text_names)
        return self


def _carried(learner: Additive, parts: tuple[Observed, ...]) -> tuple[Observed, ...]:
    """The last parts added up while the one before is no larger: rows are added up few times, however many batches come."""
    while len(parts) > 1 and learner.n_kept(parts[-2].seen) <= learner.n_kept(parts[-1].seen):
        parts = (*parts[:-2], parts[-2] + parts[-1])
    return parts


def _seen(parts: tuple[Observed, ...], schema: Schema) -> Any:
    """The statistic of all parts, the smallest added first."""
    whole = reduce(lambda behind, part: part + behind, reversed(parts))
    return whole.seen.grown(whole.schema, schema)


class AdditiveClassifier(Classifier, AdditiveEstimator):
    """A classifier whose learner is additive."""

    def partial_fit(
        self, X: FrameLike, y: TargetLike = None, classes: ArrayLike | None = None, sample_weight: WeightsLike = None
    ) -> Self:
        """Goes on learning: the same model as `fit` on all rows so far. New classes and levels may come at any time."""
        return self._learn_more(X, y, classes, sample_weight)


class AdditiveRegressor(Regressor, AdditiveEstimator):
    """A regressor whose learner is additive."""

    def partial_fit(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Self:
        """Goes on learning: the same model as `fit` on all rows so far. New levels may come at any time."""
        return self._learn_more(X, y, None, sample_weight)
