"""Incremental estimators: `partial_fit`, `merge` and `forget`.

`IncrementalEstimator` encodes further batches under the schema of earlier ones, collects the notes of all batches, and
computes expensive attributes on first access. `MergeableEstimator` is for learners whose model is a function of a mergeable
statistic (`base.learner.MergeableLearner`): adding statistics continues training, subtracting them forgets rows, and the
model equals `fit` on all remaining rows.
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
    """Estimator that can continue training with further batches.

    If deriving the model costs as much as all rows so far, it is derived on first access instead of after every batch.
    """

    _census: TableProfile | None = None  # of all batches of partial_fit; None if some rows came in another way
    _later: Mapping[str, Callable[[], Any]] = {}  # lazy attributes by name, with the function that computes each

    @property
    def statistic_(self) -> Any:
        """The statistic of all training rows, which partial_fit, merge and forget add to and subtract from."""
        return self.seen_

    def merge(self, other: Self) -> Self:
        """Return a new estimator trained on the rows of both."""
        raise NotImplementedError(f"{type(self).__name__} must implement merge")

    def _census_of(self, entered: PreparedRows) -> TableProfile | None:
        """Profile of the raw columns of a batch; None if the estimator has its own rules for kinds of columns."""
        has_own_kinds = type(self)._schema_of is not Estimator._schema_of or not self._leaves_out_identifiers
        return None if entered.frame is None or has_own_kinds else batch_census(entered.frame, self.schema)

    def _told(self, whole: TableProfile | None, batch: TableProfile | None) -> Self:
        """Update the notes of the schema and return the estimator.

        The notes are those of all rows so far, or, if some rows are not in the profile, the old ones and those of the last
        batch.
        """
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
        """Set the attributes that describe the rows, and the functions that compute the other attributes on first access."""
        self._set_schema_state(schema, profile, has_text_names)
        self._census, self._later = None, later
        for name in later:
            self.__dict__.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        """Compute a lazy attribute on first access."""
        if name not in self._later:
            return object.__getattribute__(self, name)  # raises the original error, which may come from a property
        with _STATE_LOCK:
            if name not in vars(self):  # else another thread has computed it
                setattr(self, name, self._later[name]())
            return vars(self)[name]

    def _is_known(self, name: str) -> bool:
        """Whether the attribute exists, computed or lazy."""
        return name in vars(self) or name in self._later

    def __getstate__(self) -> Any:
        for name in self._later:
            getattr(self, name)
        self._later = {}
        return super().__getstate__()

    def _prepare_batch(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike, known: Schema) -> PreparedRows:
        """Encode a further batch under the kinds of earlier batches; levels and classes may be new."""
        sample = self._sample(X, y, sample_weight)
        check_columns(sample.frame, known, type(self).__name__)
        schema, values = encode.extend_encode(sample.frame, known, sample.label.target, self._accepts_infinite)
        label = labels.recode(sample.label, schema.target)
        table = Table(schema, values, sample.weight, label, sample.is_unweighted)
        return PreparedRows(LocalPartitions(table, self.n_jobs), sample.frame.has_text_names, sample.row_mask, sample.frame)


def with_classes(table: Table, classes: ArrayLike | None) -> Table:
    """Table whose target also has these classes."""
    if classes is None:
        return table
    declared = target_reading.read_classes(np.asarray(classes) if not isinstance(classes, np.ndarray) else classes).target
    target = table.schema.target.union(declared)
    label = labels.recode(labels.Labels(table.label, table.schema.target), target)
    schema = msgspec.structs.replace(table.schema, target=target)
    return msgspec.structs.replace(table, schema=schema, label=label)


def check_common_classes(one: Schema, other: Schema) -> None:
    """Raise ValueError if two classifiers have no class in common: they predict different targets."""
    if one.target.classes is None or other.target.classes is None or set(one.classes) & set(other.classes):
        return
    own, others = (listed(schema.classes, 6, noun="classes") for schema in (one, other))
    raise ValueError(
        f"cannot merge: the models have no class in common ({own} and {others}); they must predict the same target"
    )


class MergeableEstimator(IncrementalEstimator):
    """Estimator with a mergeable learner: supports `partial_fit`, `merge` and `forget`."""

    seen_: Any  # the statistic of all rows so far
    _parts: tuple[ObservedStatistic, ...] = ()  # statistics of batches that are not added up yet, larger ones first

    def merge(self, other: Self) -> Self:
        """Return a new estimator trained on the rows of both. Raises ValueError if they have no class in common."""
        from sklearn.base import clone

        check_is_fitted(self, "seen_")
        check_is_fitted(other, "seen_")
        check_common_classes(self.schema_, other.schema_)
        return clone(self)._set_state_from(
            self._observed_so_far + other._observed_so_far, hasattr(self, "feature_names_in_")
        )

    def forget(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Self:
        """Remove training rows exactly: the model equals one that was never trained on them."""
        check_is_fitted(self, "seen_")
        prepared = self._prepare_batch(X, y, sample_weight, self.schema_)
        removed = self._observed(prepared.table)
        with _STATE_LOCK:
            remaining = self._observed_so_far - removed
            # the old schema, since parameters may name levels or classes that are removed now
            model = self._additive(self.schema_).derive(remaining.seen, remaining.schema)
            self._set_fitted_state(
                remaining.schema, FitResult(model, remaining.seen, profile=remaining.profile), prepared.has_text_names
            )
        return self

    def _learn_more(self, X: FrameLike, y: TargetLike, classes: ArrayLike | None, sample_weight: WeightsLike) -> Self:
        """Add a batch: derive(seen + observe(batch)), the same model as `fit` on all rows so far."""
        with _STATE_LOCK:
            if not self._is_known("seen_"):
                prepared = self._prepare_rows(X, y, sample_weight)
                table = with_classes(prepared.table, classes)
                census = self._census_of(prepared)
                return self._set_state_from(self._observed(table), prepared.has_text_names)._told(census, census)
        prepared = self._prepare_batch(X, y, sample_weight, self.schema_)
        observed = self._observed(with_classes(prepared.table, classes))
        census = self._census_of(prepared)
        with _STATE_LOCK:
            merged = merge_profiles(self._census, census)
            return self._add_statistic(observed, prepared.has_text_names)._told(merged, census)

    def _set_fitted_state(self, schema: Schema, learnt: FitResult, has_text_names: bool) -> None:
        super()._set_fitted_state(schema, learnt, has_text_names)
        self._parts = ()
        if learnt.statistic is not None:
            self.seen_ = learnt.statistic

    def _intervals(self, table: Table, level: float) -> np.ndarray:
        """Intervals from the statistic if the learner has a posterior, else from the model."""
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
            raise ValueError(f"{self!r} cannot be trained in batches; use fit, or parameters that allow partial_fit")
        return learner

    def _add_statistic(self, more: ObservedStatistic, has_text_names: bool) -> Self:
        """Update the model with a statistic of new rows; lazily if deriving the model costs as much as all rows."""
        learner = self._additive(more.schema)
        if not learner.n_retained_rows(more.seen):
            return self._set_state_from(self._observed_so_far + more, has_text_names)
        joint = self.schema_.union(more.schema)
        profile = joined_profiles((self.schema_, self.profile_), (more.schema, more.profile), joint)
        previous = (ObservedStatistic(self.schema_, self.seen_),) if "seen_" in vars(self) else self._parts
        learner, parts = self._additive(joint), _merge_tail(learner, (*previous, ObservedStatistic(more.schema, more.seen)))
        self._set_lazy_state(
            joint,
            profile,
            has_text_names,
            {"seen_": partial(_sum_parts, parts, joint), "model_": lambda: learner.derive(self.seen_, joint)},
        )
        self._parts = parts
        return self

    def _set_state_from(self, all_rows: ObservedStatistic, has_text_names: bool) -> Self:
        """Derive the model from a statistic and set all fitted attributes."""
        model = self._additive(all_rows.schema).derive(all_rows.seen, all_rows.schema)
        self._set_fitted_state(all_rows.schema, FitResult(model, all_rows.seen, profile=all_rows.profile), has_text_names)
        return self


def _merge_tail(learner: MergeableLearner, parts: tuple[ObservedStatistic, ...]) -> tuple[ObservedStatistic, ...]:
    """Add up the last parts while the one before is no larger, so each row is added O(log n_batches) times."""
    while len(parts) > 1 and learner.n_retained_rows(parts[-2].seen) <= learner.n_retained_rows(parts[-1].seen):
        parts = (*parts[:-2], parts[-2] + parts[-1])
    return parts


def _sum_parts(parts: tuple[ObservedStatistic, ...], schema: Schema) -> Any:
    """Statistic of all parts, added from the smallest to the largest, under the joint schema."""
    total = reduce(lambda smaller, part: part + smaller, reversed(parts))
    return total.seen.to_schema(total.schema, schema)


class MergeableClassifier(Classifier, MergeableEstimator):
    """Classifier with a mergeable learner."""

    def partial_fit(
        self, X: FrameLike, y: TargetLike = None, classes: ArrayLike | None = None, sample_weight: WeightsLike = None
    ) -> Self:
        """Continue training: the same model as `fit` on all rows so far. Batches may bring new classes and levels."""
        return self._learn_more(X, y, classes, sample_weight)


class MergeableRegressor(Regressor, MergeableEstimator):
    """Regressor with a mergeable learner."""

    def partial_fit(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Self:
        """Continue training: the same model as `fit` on all rows so far. Batches may bring new levels."""
        return self._learn_more(X, y, None, sample_weight)
