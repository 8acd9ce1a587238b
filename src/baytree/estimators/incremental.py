"""Estimators whose learner is additive: they go on learning, merge and forget, by adding and subtracting what was seen.

Estimators that go on learning: how a further batch comes in, and what is told of all batches together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import Any, Self

import msgspec
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from baytree._typing import FrameLike, TargetLike, WeightsLike
from baytree.base.learner import FitResult, MergeableLearner, ObservedStatistic, joined_profiles
from baytree.data.encoding import encode, labels
from baytree.data.encoding import read_target as target_reading
from baytree.data.encoding.sample import batch_census, with_notes
from baytree.data.encoding.table import Table, check_columns
from baytree.data.inference.infer import TableProfile, merge_profiles
from baytree.data.schema.schema import Schema
from baytree.display.terminal import listed
from baytree.engine.partitions import LocalPartitions
from baytree.estimators.base import _STATE_LOCK, Estimator, PreparedRows
from baytree.estimators.prediction import Classifier, Regressor
from baytree.statistics.profile import Profile


class IncrementalEstimator(Estimator):
    """An estimator that can go on learning.

    Where a model costs as much as all rows so far, it is made when somebody asks for it, not after every batch.
    """

    _census: TableProfile | None = None  # of all batches of partial_fit so far; None where some came in another way
    _later: Mapping[str, Callable[[], Any]] = {}  # attributes that nobody has asked for yet, and how they are made

    def merge(self, other: Self) -> Self:
        """A new estimator that knows what both have learnt."""
        raise NotImplementedError(f"{type(self).__name__} must say how it merges")

    def _census_of(self, entered: PreparedRows) -> TableProfile | None:
        """What the columns of a batch hold, beside what they are taken for."""
        has_own_kinds = type(self)._schema_of is not Estimator._schema_of or not self._leaves_out_identifiers
        return None if entered.frame is None or has_own_kinds else batch_census(entered.frame, self.schema)

    def _told(self, whole: TableProfile | None, batch: TableProfile | None) -> Self:
        """The estimator, its notes those of all rows so far, or where these were not all counted also of the last batch."""
        self._census = whole
        if whole is not None:
            self.schema_ = with_notes(self.schema_, whole.notes())
        elif batch is not None:
            self.schema_ = with_notes(self.schema_, (*self.schema_.notes, *batch.notes()))
        return self

    def _set_fitted_state(self, schema: Schema, learnt: FitResult, has_text_names: bool) -> None:
        super()._set_fitted_state(schema, learnt, has_text_names)
        self._census, self._later = None, {}

    def _set_lazy_state(
        self, schema: Schema, profile: Profile | None, has_text_names: bool, later: Mapping[str, Callable[[], Any]]
    ) -> None:
        """Puts in place what is known of the rows, and how attributes are made of them once they are asked for."""
        self._set_schema_state(schema, profile, has_text_names)
        self._census, self._later = None, later
        for name in later:
            self.__dict__.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        """Called for what is not there: makes what was left for later."""
        if name not in self._later:
            return object.__getattribute__(self, name)  # raises once more: a property may have said why
        with _STATE_LOCK:
            if name not in vars(self):  # else another thread was faster
                setattr(self, name, self._later[name]())
            return vars(self)[name]

    def _is_known(self, name: str) -> bool:
        """Whether there is such an attribute, made or left for later."""
        return name in vars(self) or name in self._later

    def __getstate__(self) -> Any:
        for name in self._later:
            getattr(self, name)
        self._later = {}
        return super().__getstate__()

    def _prepare_batch(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike, known: Schema) -> PreparedRows:
        """A further batch under the kinds of those before it; its levels and classes may be new."""
        sample = self._sample(X, y, sample_weight)
        check_columns(sample.frame, known, type(self).__name__)
        schema, values = encode.extend_encode(sample.frame, known, sample.label.target, self._accepts_infinite)
        label = labels.recode(sample.label, schema.target)
        table = Table(schema, values, sample.weight, label, sample.is_unweighted)
        return PreparedRows(LocalPartitions(table, self.n_jobs), sample.frame.has_text_names, sample.row_mask, sample.frame)


def with_classes(table: Table, classes: ArrayLike | None) -> Table:
    """The table under a target that also knows these classes."""
    if classes is None:
        return table
    declared = target_reading.read_classes(np.asarray(classes) if not isinstance(classes, np.ndarray) else classes).target
    target = table.schema.target.union(declared)
    label = labels.recode(labels.Labels(table.label, table.schema.target), target)
    schema = msgspec.structs.replace(table.schema, target=target)
    return msgspec.structs.replace(table, schema=schema, label=label)


def check_common_classes(one: Schema, other: Schema) -> None:
    """Raises an error where two models of classes know none in common: they answer different questions."""
    if one.target.classes is None or other.target.classes is None or set(one.classes) & set(other.classes):
        return
    raise ValueError(
        f"these models have no class in common: one knows {listed(one.classes, 6)}, the other {listed(other.classes, 6)}; "
        "only models of one target can be merged"
    )


class AdditiveEstimator(IncrementalEstimator):
    """An estimator whose learner is additive: it can go on learning, merge, and forget."""

    seen_: Any  # the statistic of all rows so far
    _parts: tuple[ObservedStatistic, ...] = ()  # of batches, the larger ones first, where they are not added up yet

    def merge(self, other: Self) -> Self:
        """A new estimator that has seen what both have seen; models with no class in common are refused."""
        from sklearn.base import clone

        check_is_fitted(self, "seen_")
        check_is_fitted(other, "seen_")
        check_common_classes(self.schema_, other.schema_)
        return clone(self)._set_state_from(
            self._observed_so_far + other._observed_so_far, hasattr(self, "feature_names_in_")
        )

    def forget(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Self:
        """Removes rows that were learnt, exactly: the model is as if they had never been seen."""
        check_is_fitted(self, "seen_")
        entered = self._prepare_batch(X, y, sample_weight, self.schema_)
        gone = self._observed(entered.table)
        with _STATE_LOCK:
            left = self._observed_so_far - gone
            model = self._additive(self.schema_).derive(left.seen, left.schema)  # parameters may name what is forgotten now
            self._set_fitted_state(left.schema, FitResult(model, left.seen, profile=left.profile), entered.has_text_names)
        return self

    def _learn_more(self, X: FrameLike, y: TargetLike, classes: ArrayLike | None, sample_weight: WeightsLike) -> Self:
        """derive(seen + of(batch)): the same model as `fit` on all rows so far."""
        with _STATE_LOCK:
            if not self._is_known("seen_"):
                entered = self._prepare_rows(X, y, sample_weight)
                table = with_classes(entered.table, classes)
                census = self._census_of(entered)
                return self._set_state_from(self._observed(table), entered.has_text_names)._told(census, census)
        entered = self._prepare_batch(X, y, sample_weight, self.schema_)
        more = self._observed(with_classes(entered.table, classes))
        census = self._census_of(entered)
        with _STATE_LOCK:
            whole = merge_profiles(self._census, census)
            return self._add_statistic(more, entered.has_text_names)._told(whole, census)

    def _set_fitted_state(self, schema: Schema, learnt: FitResult, has_text_names: bool) -> None:
        super()._set_fitted_state(schema, learnt, has_text_names)
        self._parts = ()
        if learnt.statistic is not None:
            self.seen_ = learnt.statistic

    def _intervals(self, table: Table, level: float) -> np.ndarray:
        """By what was seen where the learner knows its posterior, else by the model."""
        learner = self._learner(self.schema_)
        if not hasattr(learner, "intervals"):
            return super()._intervals(table, level)
        return learner.intervals(self.seen_, table, level)

    @property
    def _observed_so_far(self) -> ObservedStatistic:
        check_is_fitted(self, "seen_")
        return ObservedStatistic(self.schema_, self.seen_, self.profile_)

    def _observed(self, table: Table) -> ObservedStatistic:
        rows = LocalPartitions(table, self.n_jobs)
        return ObservedStatistic(table.schema, self._additive(table.schema).observe_all(rows), self._profiled(rows))

    def _additive(self, schema: Schema) -> MergeableLearner:
        learner = self._learner(schema)
        if not isinstance(learner, MergeableLearner):
            raise ValueError(f"{self!r} needs all rows at once; use fit, or parameters whose model adds up")
        return learner

    def _add_statistic(self, more: ObservedStatistic, has_text_names: bool) -> Self:
        """Puts the model in place that follows from all rows so far and these; for later where that costs all rows."""
        learner = self._additive(more.schema)
        if not learner.n_retained_rows(more.seen):
            return self._set_state_from(self._observed_so_far + more, has_text_names)
        joint = self.schema_.union(more.schema)
        profile = joined_profiles((self.schema_, self.profile_), (more.schema, more.profile), joint)
        before = (ObservedStatistic(self.schema_, self.seen_),) if "seen_" in vars(self) else self._parts
        learner, parts = self._additive(joint), _carried(learner, (*before, ObservedStatistic(more.schema, more.seen)))
        self._set_lazy_state(
            joint,
            profile,
            has_text_names,
            {"seen_": partial(_seen, parts, joint), "model_": lambda: learner.derive(self.seen_, joint)},
        )
        self._parts = parts
        return self

    def _set_state_from(self, all_rows: ObservedStatistic, has_text_names: bool) -> Self:
        """Puts the model in place that follows from all that was seen."""
        model = self._additive(all_rows.schema).derive(all_rows.seen, all_rows.schema)
        self._set_fitted_state(all_rows.schema, FitResult(model, all_rows.seen, profile=all_rows.profile), has_text_names)
        return self


def _carried(learner: MergeableLearner, parts: tuple[ObservedStatistic, ...]) -> tuple[ObservedStatistic, ...]:
    """The last parts added up while the one before is no larger: rows are added up few times, however many batches come."""
    while len(parts) > 1 and learner.n_retained_rows(parts[-2].seen) <= learner.n_retained_rows(parts[-1].seen):
        parts = (*parts[:-2], parts[-2] + parts[-1])
    return parts


def _seen(parts: tuple[ObservedStatistic, ...], schema: Schema) -> Any:
    """The statistic of all parts, the smallest added first."""
    whole = reduce(lambda behind, part: part + behind, reversed(parts))
    return whole.seen.to_schema(whole.schema, schema)


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
