"""Base class of all estimators: `fit`, schema, fitted state.

An estimator stores its parameters in the constructor, like scikit-learn's. `fit` encodes the rows (`_prepare_rows`), builds
a learner from the validated parameters (`_learner(schema)`, which subclasses implement), runs it, and sets all fitted
attributes at the end, so that a failed fit leaves a fitted estimator as it was. Predictions go through
`base.predictor.Predictor`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import cache, partial
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, final, overload

import msgspec
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from baytree import param_validation
from baytree._typing import FrameLike, TargetLike, TextTarget, WeightsLike
from baytree.base.learner import FitResult, Learner, observe_profile, submit_profile
from baytree.base.model import Explanation
from baytree.base.predictor import Predictor, is_without_rows
from baytree.base.provenance import AuditLike, Provenance, ValidationLike
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
from baytree.engine.dispatch import remote_source, snapshot
from baytree.engine.partitions import LocalPartitions, Partitions
from baytree.engine.remote import RemoteSource
from baytree.engine.remote_frame import open_remote_frame
from baytree.estimators import docstrings
from baytree.estimators.docstrings import complete_methods
from baytree.param_synonyms import unknown_parameter
from baytree.param_validation import ClassAmounts
from baytree.statistics.profile import Profile
from baytree.uncertainty.decision import CostMatrix
from baytree.uncertainty.intervals import widen_to_include

if TYPE_CHECKING:
    from baytree.reporting.rejection import PredictionSetsLike

_STATE_LOCK = threading.RLock()  # guards updates of the fitted state by several threads


class PreparedRows(NamedTuple):
    """Encoded training rows, with the mask of the given rows that they are (None if all rows are used)."""

    rows: Partitions
    has_text_names: bool
    row_mask: np.ndarray | None  # bool [n_given]
    frame: RawFrame | None = None  # before encoding

    @property
    def table(self) -> Table:
        """All rows, gathered in memory."""
        return self.rows.gather()


class Estimator(BaseEstimator):
    """Base class of classifiers and regressors: encodes frames, runs the learner, stores the fitted state."""

    _accepts_infinite = False
    _learns_infinite = False
    _leaves_out_identifiers = True  # drop numeric columns that only number the rows
    schema: SchemaLike
    unseen: str
    n_jobs: int | None
    profile: bool
    _read_labels: ReadLabels
    model_: Any  # a frozen record, the result of the learner
    schema_: Schema
    profile_: Profile | None = None  # of all rows so far
    _costs: CostMatrix | None = None  # by which the fitted model chooses a class
    _validated: tuple[Any, Provenance] | None = None  # a model, and how it was validated

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in cls.__dict__ or "Parameters\n" in (cls.__doc__ or ""):  # public estimators
            cls.__doc__ = docstrings.completed(cls)
        complete_methods(cls)

    @classmethod
    @cache  # needed at every construction, and reading a signature is slow
    def parameter_names(cls) -> list[str]:
        """Names of the parameters, sorted."""
        variadic = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        parameters = signature(cls.__init__).parameters.values()
        return sorted(each.name for each in parameters if each.name != "self" and each.kind not in variadic)

    def __new__(cls, *_: Any, **parameters: Any) -> Self:
        for name in parameters:
            if name not in (known := cls.parameter_names()):
                raise TypeError(f"{cls.__name__}: {unknown_parameter(name, known)}")
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; an unknown name raises an error that suggests the closest one.

        Parameters
        ----------
        params : keyword arguments
            Parameters and their new values.
        """
        for name in params:
            if name.partition("__")[0] not in (known := self.parameter_names()):
                raise ValueError(f"{type(self).__name__}: {unknown_parameter(name, known)}")
        return super().set_params(**params)

    def fit(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Self:
        """Fit the model to a table."""
        return self._fit(X, y, sample_weight)

    @final
    def _fit(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike, **of_rows: Any) -> Self:
        """Common implementation of `fit`; `of_rows` are further arguments that refer to rows, such as rows to prune on."""
        source = remote_source(X)
        is_database = hasattr(source, "snapshot")
        rows: Any = source if is_database else X  # a database reads all of a fit in one snapshot
        with snapshot(rows):
            prepared = self._prepare_rows(rows, y, sample_weight)
            if isinstance(y, str):  # with arrays a single class is accepted, as in scikit-learn
                labels.refuse_one_class(prepared.rows.schema.target)
            result = self._learn(prepared, **of_rows)
        with _STATE_LOCK:
            self._set_fitted_state(prepared.rows.schema, result, prepared.has_text_names)
            self.__dict__.pop("queries_", None)
            if is_database:
                self.queries_ = list(rows.queries)  # not stored in model files
        return self

    def _learn(self, entered: PreparedRows, **of_rows: Any) -> FitResult:
        rows = entered.rows
        self._class_costs(rows.schema.classes)  # refused before anything is learnt
        learner = self._learner(rows.schema, **self._row_dependent_settings(entered, **of_rows))
        profile = submit_profile(rows) if self.profile else lambda: None
        return msgspec.structs.replace(self._run_learner(learner, rows), profile=profile())

    def explain(self, X: FrameLike) -> list[Explanation]:
        """Explain the prediction of each row; returns one `Explanation` per row."""
        return self._predictor.explain(X)

    @overload
    def export(
        self,
        target: TextTarget,
        path: str | os.PathLike | None = None,
        *,
        reject: float | None = None,
        **options: object,
    ) -> str: ...
    @overload
    def export(
        self,
        target: Literal["onnx"],
        path: str | os.PathLike | None = None,
        *,
        reject: float | None = None,
        **options: object,
    ) -> bytes: ...
    @overload
    def export(
        self,
        target: str,
        path: str | os.PathLike | None = None,
        *,
        reject: float | None = None,
        **options: object,
    ) -> str | bytes: ...
    def export(
        self,
        target: str,
        path: str | os.PathLike | None = None,
        *,
        reject: float | None = None,
        **options: object,
    ) -> str | bytes:
        """Export the model as a program or document that predicts without this library: see `baytree.export`."""
        from baytree.exporters import export  # slow import, only needed here

        return export(self, target, path, reject=reject, **options)

    def report(
        self,
        frame: FrameLike = None,
        path: str | os.PathLike = "page.html",
        rows: int | Sequence[int] | None = None,
        sets: PredictionSetsLike | None = None,
    ) -> Path:
        """Write a self-contained HTML page about the model, evaluated on `frame` if it is given: see `baytree.report`."""
        from baytree.reporting import report  # slow import, only needed here

        return report(self, frame, path, rows=rows, sets=sets)

    def card(self, *, validation: ValidationLike | None = None, audit: AuditLike | None = None) -> str:
        """Return the model card in Markdown: data, schema, validation, audit, drift reference and limits.

        Parameters
        ----------
        validation : CrossValidation, optional
            Result of `cross_validate`; by default what `compare` recorded with the model.
        audit : Audit, optional
            Result of `audit` on the training table; by default what `compare` recorded with the model.
        """
        from baytree.reporting.model_card import markdown  # slow import, only needed here

        return markdown(self._predictor, self.get_params(deep=False), Provenance.of(validation, audit))

    def _record_provenance(self, provenance: Provenance) -> None:
        """Record how the model was validated; it holds for this model, so pruning or editing it removes the record."""
        self._validated = (self.model_, provenance)

    @property
    def _provenance(self) -> Provenance | None:
        """How the model was validated; None if that is not known."""
        return self._validated[1] if self._validated is not None and self._validated[0] is self.model_ else None

    def _learner(self, schema: Schema) -> Learner:
        """Build the learner for rows of this schema from the validated parameters."""
        raise NotImplementedError(f"{type(self).__name__} must implement _learner")

    @property
    def _learns_costs(self) -> bool:
        """Whether learning uses the parameter `costs`, so that the model itself predicts by them."""
        return False

    def _class_costs(self, classes: Sequence[Any]) -> ClassAmounts | None:
        """Validated parameter `costs`; None if the estimator has none."""
        return param_validation.costs(getattr(self, "costs", None), classes)

    def _cost_matrix(self, schema: Schema) -> CostMatrix | None:
        """Costs by which a model of this schema chooses a class."""
        return CostMatrix.of(self._class_costs(schema.classes), schema.classes, self._learns_costs)

    def _run_learner(self, learner: Learner, rows: Partitions) -> FitResult:
        """Run a learner on rows."""
        return learner.learn(rows)

    def _row_dependent_settings(self, entered: PreparedRows) -> dict[str, Any]:
        """Learner settings that refer to rows of this call (given folds, rows to prune on), by index of encoded rows."""
        return {}

    def _interval_bounds(self, X: FrameLike, level: float) -> np.ndarray:
        """Interval of each prediction, widened to include the prediction itself. float64 [n_rows, n_outputs, 2]"""
        level = param_validation.open_interval("level", level)
        if remote_source(X) is not None:
            raise ValueError("predict_interval needs rows in memory; pass a local frame, such as one partition at a time")
        predictor = self._predictor
        if is_without_rows(X):
            return np.empty((0, max(len(self.schema_.classes), 1), 2))
        table = predictor.encoded(X)
        return widen_to_include(self._intervals(table, level), self.model_.predict(table))

    def _intervals(self, table: Table, level: float) -> np.ndarray:
        return self.model_.intervals(table, level)

    # --- preparing rows -----------------------------------------------------------------------------------------------

    def _prepare_rows(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> PreparedRows:
        self._check_common_parameters()
        source = remote_source(X)
        if source is not None:
            return PreparedRows(self._remote_partitions(source, y, sample_weight), True, None)
        sample = self._sample(X, y, sample_weight)
        schema = with_target(self._schema_of(sample.frame), sample.label.target, sample.frame.n_rows)
        schema, values = encode.fit_encode(sample.frame, schema, self._accepts_infinite)
        table = Table(schema, values, sample.weight, sample.label.values, sample.is_unweighted)
        table = with_infinite(table) if self._learns_infinite else table
        return PreparedRows(LocalPartitions(table, self.n_jobs), sample.frame.has_text_names, sample.row_mask, sample.frame)

    def _remote_partitions(self, source: RemoteSource, y: TargetLike, sample_weight: WeightsLike) -> Partitions:
        """Rows of a remote engine, encoded under the schema inferred from all of them."""
        frame = open_remote_frame(source, y, sample_weight, self._labels, type(self).__name__)
        return frame.parts(self._schema_of(frame), self._accepts_infinite, self.n_jobs)

    def _sample(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> TrainingSample:
        return read_sample(X, y, sample_weight, self._labels, type(self).__name__)

    @property
    def _labels(self) -> ReadLabels:
        """Function that reads labels with their classes in the declared order; pickles without the estimator."""
        return partial(target_reading.read_in_order, self._read_labels, self.schema)

    def _read_true_labels(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> tuple[labels.Labels, np.ndarray]:
        """True labels to compare predictions with, and the weights of their rows."""
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
        """Set all fitted attributes after the fit has succeeded."""
        self._set_schema_state(schema, learnt.profile, has_text_names)
        for name, value in learnt.fitted_attributes.items():
            setattr(self, name, value)
        self.model_ = learnt.model

    def _set_schema_state(self, schema: Schema, profile: Profile | None, has_text_names: bool) -> None:
        """Set the attributes that describe the training rows (schema, profile, classes, column names), and the costs."""
        self._costs = self._cost_matrix(schema)  # first: it refuses costs that lack a class
        self.n_features_in_ = len(schema.inputs)
        if has_text_names:
            self.feature_names_in_ = np.array(schema.inputs, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if schema.target.classes is not None:
            self.classes_ = labels.classes_array(schema.target)
        self.schema_, self.profile_ = schema, profile

    def _restore(self, schema: Schema, learnt: FitResult, has_text_names: bool) -> None:
        """Set the fitted attributes from the contents of a model file."""
        self._set_fitted_state(schema, learnt, has_text_names)

    @property
    def _predictor(self) -> Predictor:
        if not hasattr(self, "model_"):  # check_is_fitted reads tags, which takes longer than predicting a row
            check_is_fitted(self, "model_")
        name = type(self).__name__
        read = (self.unseen, self._accepts_infinite)
        return Predictor(self.schema_, self.model_, name, *read, self.profile_, self._costs, self._provenance)

    def _encoded(self, X: FrameLike) -> Table:
        """Encode rows for prediction with the schema of the fit."""
        return self._predictor.encoded(X)

    # --- display ------------------------------------------------------------------------------------------------------

    def _html_repr(self) -> str:
        """HTML for notebooks: the parameters before `fit`, the model after it."""
        from baytree.reporting import notebook_view  # slow import, only needed in notebooks

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
