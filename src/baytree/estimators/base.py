"""`Estimator`: fit, schema, state"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import cache, partial
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, final

import msgspec
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from baytree import _warnings, param_validation
from baytree._typing import FrameLike, TargetLike, WeightsLike
from baytree.base.learner import FitResult, Learner, observe_profile, submit_profile
from baytree.base.model import Explanation
from baytree.base.predictor import Predictor, is_without_rows
from baytree.data.encoding import encode, labels
from baytree.data.encoding import read_target as target_reading
from baytree.data.encoding.sample import (
    Columns,
    ReadLabels,
    TrainingSample,
    read_sample,
    read_truth,
    schema_of,
    with_infinite,
    with_target,
)
from baytree.data.encoding.table import Table
from baytree.data.frames.raw import RawFrame
from baytree.data.schema.schema import Schema, SchemaLike
from baytree.engine.dispatch import remote_source
from baytree.engine.partitions import LocalPartitions, Partitions
from baytree.engine.remote import RemoteSource
from baytree.engine.remote_frame import open_remote_frame
from baytree.estimators import docstrings
from baytree.estimators.docstrings import complete_methods
from baytree.statistics.profile import Profile
from baytree.uncertainty.intervals import widen_to_include

if TYPE_CHECKING:
    from baytree.reporting.rejection import PredictionSetsLike

_STATE_LOCK = threading.RLock()  # guards the one moment in which several threads may add to the same estimator


class PreparedRows(NamedTuple):
    """Rows that have come in: encoded, and which of the given rows they are (None where they are all)."""

    rows: Partitions
    has_text_names: bool
    row_mask: np.ndarray | None  # bool [n_given]
    frame: RawFrame | None = None  # as they came

    @property
    def table(self) -> Table:
        """All rows in memory."""
        return self.rows.gather()


class Estimator(BaseEstimator):
    """What classifiers and regressors share: the way from a frame to a table and from a model to answers."""

    _accepts_infinite = False
    _learns_infinite = False
    _leaves_out_identifiers = True  # numeric columns that only number the rows
    schema: SchemaLike
    unseen: str
    n_jobs: int | None
    profile: bool
    _read_labels: ReadLabels
    model_: Any  # what the learner gave, a frozen record
    schema_: Schema
    profile_: Profile | None = None  # of the rows so far

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in cls.__dict__ or "Parameters\n" in (cls.__doc__ or ""):  # the public estimators
            cls.__doc__ = docstrings.completed(cls)
        complete_methods(cls)

    @classmethod
    @cache  # each construction asks, and each time the signature would be read anew
    def parameter_names(cls) -> list[str]:
        """The names of the parameters, in alphabetical order."""
        variadic = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        parameters = signature(cls.__init__).parameters.values()
        return sorted(each.name for each in parameters if each.name != "self" and each.kind not in variadic)

    def __new__(cls, *_: Any, **parameters: Any) -> Self:
        for name in parameters:
            if name not in (known := cls.parameter_names()):
                raise TypeError(f"{cls.__name__}: {_warnings.did_you_mean('parameter', name, known)}")
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        """Sets parameters by name; a wrong name is refused with the one that was probably meant.

        Parameters
        ----------
        params : keyword arguments
            The parameters.
        """
        for name in params:
            if name.partition("__")[0] not in (known := self.parameter_names()):
                raise ValueError(f"{type(self).__name__}: {_warnings.did_you_mean('parameter', name, known)}")
        return super().set_params(**params)

    def fit(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Self:
        """Learns from a table; `y` is the labels, or the name of the target column in `X`."""
        return self._fit(X, y, sample_weight)

    @final
    def _fit(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike, **of_rows: Any) -> Self:
        """The one way of learning; `of_rows` is what else names rows of the call, such as those to prune on."""
        entered = self._prepare_rows(X, y, sample_weight)
        if isinstance(y, str):  # arrays follow scikit-learn, whose classifiers learn to say the one class
            labels.refuse_one_class(entered.rows.schema.target)
        learnt = self._learn(entered, **of_rows)
        with _STATE_LOCK:
            self._set_fitted_state(entered.rows.schema, learnt, entered.has_text_names)
        return self

    def _learn(self, entered: PreparedRows, **of_rows: Any) -> FitResult:
        rows = entered.rows
        learner = self._learner(rows.schema, **self._row_dependent_settings(entered, **of_rows))
        profile = submit_profile(rows) if self.profile else lambda: None
        return msgspec.structs.replace(self._run_learner(learner, rows), profile=profile())

    def explain(self, X: FrameLike) -> list[Explanation]:
        """Why each row gets its answer: one ledger per row."""
        return self._predictor.explain(X)

    def export(
        self,
        target: str,
        path: str | os.PathLike | None = None,
        *,
        reject: float | None = None,
        **options: object,
    ) -> str | bytes:
        """The model as a program that answers without this library: see `baytree.export`."""
        from baytree.exporters import export  # only who leaves needs it

        return export(self, target, path, reject=reject, **options)

    def report(
        self,
        frame: FrameLike = None,
        path: str | os.PathLike = "page.html",
        rows: int | Sequence[int] | None = None,
        sets: PredictionSetsLike | None = None,
    ) -> Path:
        """One self-contained HTML page that shows the model, judged on rows where they are given: see `baytree.report`."""
        from baytree.reporting import report  # only who looks needs it

        return report(self, frame, path, rows=rows, sets=sets)

    def _learner(self, schema: Schema) -> Learner:
        """The parameters, checked, as a learner of rows of this schema."""
        raise NotImplementedError(f"{type(self).__name__} must say how it learns")

    def _run_learner(self, learner: Learner, rows: Partitions) -> FitResult:
        """What a learner makes of rows."""
        return learner.learn(rows)

    def _row_dependent_settings(self, entered: PreparedRows) -> dict[str, Any]:
        """Settings of the learner that name rows of this call (given folds, rows to prune on), by their final places."""
        return {}

    def _interval_bounds(self, X: FrameLike, level: float) -> np.ndarray:
        """The interval of each answer, which never leaves the answer itself out: [n_rows, n_outputs, 2]."""
        level = param_validation.open_interval("level", level)
        if remote_source(X) is not None:
            raise ValueError("intervals are for rows in memory; give a frame of some of the rows at a time")
        predictor = self._predictor
        if is_without_rows(X):
            return np.empty((0, max(len(self.schema_.classes), 1), 2))
        table = predictor.encoded(X)
        return widen_to_include(self._intervals(table, level), self.model_.predict(table))

    def _intervals(self, table: Table, level: float) -> np.ndarray:
        return self.model_.intervals(table, level)

    # --- the way in ---------------------------------------------------------------------------------------------------

    def _prepare_rows(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> PreparedRows:
        self._check_common_parameters()
        far = remote_source(X)
        if far is not None:
            return PreparedRows(self._remote_partitions(far, y, sample_weight), True, None)
        sample = self._sample(X, y, sample_weight)
        schema = with_target(self._schema_of(sample.frame), sample.label.target, sample.frame.n_rows)
        schema, values = encode.fit_encode(sample.frame, schema, self._accepts_infinite)
        table = Table(schema, values, sample.weight, sample.label.values, sample.is_unweighted)
        table = with_infinite(table) if self._learns_infinite else table
        return PreparedRows(LocalPartitions(table, self.n_jobs), sample.frame.has_text_names, sample.row_mask, sample.frame)

    def _remote_partitions(self, source: RemoteSource, y: TargetLike, sample_weight: WeightsLike) -> Partitions:
        """The rows of an engine, under the schema that all of them together have."""
        frame = open_remote_frame(source, y, sample_weight, self._labels)
        return frame.parts(self._schema_of(frame), self._accepts_infinite, self.n_jobs)

    def _sample(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> TrainingSample:
        return read_sample(X, y, sample_weight, self._labels, type(self).__name__)

    @property
    def _labels(self) -> ReadLabels:
        """How labels are read, with their classes in a declared order: a function that can travel without this estimator."""
        return partial(target_reading.read_in_order, self._read_labels, self.schema)

    def _read_true_labels(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> tuple[labels.Labels, np.ndarray]:
        """The labels that answers are held against, and their weights."""
        check_is_fitted(self, "model_")
        return read_truth(X, y, sample_weight, self._read_labels, type(self).__name__)

    def _schema_of(self, frame: Columns) -> Schema:
        return schema_of(frame, self.schema, self._leaves_out_identifiers)

    def _check_common_parameters(self) -> None:
        param_validation.one_of("unseen", self.unseen, ("missing", "error"))
        param_validation.check_schema_parameter(self.schema)
        param_validation.flag("profile", self.profile)

    def _profiled(self, rows: Partitions) -> Profile | None:
        return observe_profile(rows) if self.profile else None

    def _set_fitted_state(self, schema: Schema, learnt: FitResult, has_text_names: bool) -> None:
        """Puts a finished fit in place, all at once."""
        for name, value in learnt.fitted_attributes.items():
            setattr(self, name, value)
        self._set_schema_state(schema, learnt.profile, has_text_names)
        self.model_ = learnt.model

    def _set_schema_state(self, schema: Schema, profile: Profile | None, has_text_names: bool) -> None:
        """Puts in place what is known of the rows themselves."""
        self.n_features_in_ = len(schema.inputs)
        if has_text_names:
            self.feature_names_in_ = np.array(schema.inputs, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if schema.target.classes is not None:
            self.classes_ = labels.classes_array(schema.target)
        self.schema_, self.profile_ = schema, profile

    def _restore(self, schema: Schema, learnt: FitResult, has_text_names: bool) -> None:
        """Puts what a model file held in place."""
        self._set_fitted_state(schema, learnt, has_text_names)

    @property
    def _predictor(self) -> Predictor:
        if not hasattr(self, "model_"):  # scikit-learn's own check asks for tags, which takes longer than to answer a row
            check_is_fitted(self, "model_")
        name = type(self).__name__
        return Predictor(self.schema_, self.model_, name, self.unseen, self._accepts_infinite, self.profile_)

    def _encoded(self, X: FrameLike) -> Table:
        """Rows to be predicted, encoded by the schema of the fit."""
        return self._predictor.encoded(X)

    # --- appearance ---------------------------------------------------------------------------------------------------

    def _html_repr(self) -> str:
        """What a notebook shows: the parameters before fit, the model after it."""
        from baytree.reporting import notebook_view  # only a notebook asks for it

        view = notebook_view(self) if hasattr(self, "model_") else None
        return super()._html_repr() if view is None else view

    def __str__(self) -> str:
        if not hasattr(self, "model_"):
            return repr(self)
        return self._predictor.describe()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
