"""The scikit-learn face: the only base classes. An estimator stores its parameters, `fit` learns, `predict` reads.

A subclass gives `_learner(schema)`: its parameters, checked, as a learner. Whatever goes wrong on the way, a fitted
estimator keeps what it had: the result is put in place at the very end.
"""

from __future__ import annotations

import os
import threading
from typing import Any, NamedTuple, Self, TypeVar, final

import msgspec
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from baytree import notices, settings
from baytree.engine.parts import InMemory
from baytree.estimators import docstrings
from baytree.given import FrameLike, TargetLike, WeightsLike
from baytree.learner import Additive, Learner, Learnt
from baytree.model import Explanation, Model
from baytree.predictor import Predictor, check_columns, check_shape
from baytree.statistics.exact import is_of_rows
from baytree.table import encode, labels
from baytree.table.frames import RawFrame, read
from baytree.table.infer import Census, warn_of
from baytree.table.schema import Column, Kind, Schema, SchemaLike
from baytree.table.table import Table
from baytree.table.weights import weight_column

E = TypeVar("E", bound="Estimator")
_swap = threading.Lock()  # guards the one moment in which several threads may add to the same estimator


class Estimator(BaseEstimator):
    """What classifiers and regressors share: the way from a frame to a table and from a model to answers."""

    _accepts_infinite = False
    schema: SchemaLike
    unseen: str
    n_jobs: int | None
    model_: Any  # what the learner gave, a frozen record
    schema_: Schema

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in cls.__dict__:  # the public estimators; what families share has no parameters of its own
            cls.__doc__ = docstrings.completed(cls)

    def fit(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Self:
        """Learns from a table; `y` is the labels, or the name of the target column in `X`."""
        return self._fit(X, y, sample_weight)

    @final
    def _fit(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike, **of_rows: Any) -> Self:
        """The one way of learning; `of_rows` is what else names rows of the call, such as those to prune on."""
        entered = self._enter(X, y, sample_weight)
        if isinstance(y, str):
            labels.refuse_one_class(entered.table.schema.target)
        learner = self._learner(entered.table.schema, **self._for_rows(entered, **of_rows))
        learnt = learner.learn(InMemory(entered.table, self.n_jobs))
        with _swap:
            self._settle(entered.table.schema, learnt, entered.has_text_names)
        return self

    def explain(self, X: FrameLike) -> list[Explanation]:
        """Why each row gets its answer: one ledger per row."""
        return self._predictor.explain(X)

    def export(self, target: str, path: str | os.PathLike | None = None, **options: object) -> str | bytes:
        """The model as a program that answers without this library: see `baytree.export`."""
        from baytree.exports import export  # only who leaves needs it

        return export(self, target, path, **options)

    def _learner(self, schema: Schema) -> Learner:
        """The parameters, checked, as a learner of rows of this schema."""
        raise NotImplementedError(f"{type(self).__name__} must say how it learns")

    def _for_rows(self, entered: Entered) -> dict[str, Any]:
        """Settings of the learner that name rows of this call (given folds, rows to prune on), by their final places."""
        return {}

    def _read_labels(self, y: TargetLike, name: str) -> labels.Labels:
        raise NotImplementedError(f"{type(self).__name__} must say what its labels are")

    # --- the way in ---------------------------------------------------------------------------------------------------

    def _enter(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> Entered:
        self._check_common_parameters()
        frame, label, weight, is_unweighted, kept = self._counted(X, y, sample_weight)
        schema = self._schema_of(frame)
        told = labels.notes(label.target)
        warn_of(told)
        schema = msgspec.structs.replace(schema, target=label.target, notes=(*schema.notes, *told))
        schema, values = encode.learn(frame, schema, self._accepts_infinite)
        table = Table(schema, values, weight, label.values, is_unweighted)
        return Entered(table, frame.has_text_names, kept)

    def _counted(
        self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike
    ) -> tuple[RawFrame, labels.Labels, np.ndarray, bool, np.ndarray | None]:
        """The columns, labels and weights of the rows that count, whether all weights are 1, and which rows these are."""
        frame, label = self._split(X, y)
        frame, sample_weight = _weight_by_name(frame, sample_weight)
        weight, is_unweighted = encode.weights(sample_weight, frame.n_rows)
        frame, label, weight, kept = _counted_rows(frame, label, weight, is_unweighted)
        return frame, label, weight, is_unweighted, kept

    def _split(self, X: FrameLike, y: TargetLike) -> tuple[RawFrame, labels.Labels]:
        """The columns and the labels, whether they come together or apart."""
        frame = read(X)
        if isinstance(y, str):
            frame, label = self._labels_by_name(X, frame, y)
        else:
            name = labels.name_apart(y, frame.columns)
            frame, label = msgspec.structs.replace(frame, target=name), self._labels(y, name)
            if label.has_missing:
                row = int(np.argmax(label.missing))
                raise ValueError(f"Input y contains NaN: the label of row {row} is missing; leave such rows out")
        check_shape(frame, len(label.values), type(self).__name__)
        return frame, label

    def _labels_by_name(self, X: FrameLike, frame: RawFrame, name: str) -> tuple[RawFrame, labels.Labels]:
        if not frame.is_named or name not in frame.columns:
            raise ValueError(f"no target column {name!r}; the columns are {', '.join(map(repr, frame.columns))}")
        label = labels.without_words_for_none(self._labels(_original(X, frame, name), name))
        columns = {other: raw for other, raw in frame.columns.items() if other != name}
        return msgspec.structs.replace(frame, columns=columns, matrix=None, target=name), label

    def _labels(self, y: TargetLike, name: str) -> labels.Labels:
        """The labels, their classes in the order that `schema` declares for the target."""
        label, order = self._read_labels(y, name), labels.declared_order(self.schema, name)
        return label if order is None else labels.declared(label, order)

    def _truth(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> tuple[labels.Labels, np.ndarray]:
        """The labels that answers are held against, and their weights."""
        check_is_fitted(self, "model_")
        frame = read(X)
        label = self._labels_by_name(X, frame, y)[1] if isinstance(y, str) else self._read_labels(y, "y")
        check_shape(frame, len(label.values), type(self).__name__)
        return label, encode.weights(_weight_by_name(frame, sample_weight)[1], frame.n_rows)[0]

    def _schema_of(self, frame: RawFrame) -> Schema:
        if isinstance(self.schema, Schema):
            return self.schema
        if frame.matrix is not None and not isinstance(frame.matrix, np.ndarray):
            names = tuple(f"x{j}" for j in range(frame.matrix.shape[1]))
            return Schema(tuple(Column(name, Kind.NUMERIC) for name in names), inputs=names, is_named=False)
        return Census.of(frame, self.schema).schema(frame.is_named)

    def _check_common_parameters(self) -> None:
        settings.one_of("unseen", self.unseen, ("missing", "error"))
        settings.kinds_of_columns(self.schema)

    def _settle(self, schema: Schema, learnt: Learnt, has_text_names: bool) -> None:
        """Puts a finished fit in place, all at once."""
        self.n_features_in_ = len(schema.inputs)
        if has_text_names:
            self.feature_names_in_ = np.array(schema.inputs, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if schema.target.classes is not None:
            self.classes_ = labels.classes_array(schema.target)
        for name, value in learnt.told.items():
            setattr(self, name, value)
        if learnt.seen is not None:
            self.seen_ = learnt.seen
        self.schema_, self.model_ = schema, learnt.model

    def _restore(self, schema: Schema, model: Model, seen: Any, has_text_names: bool) -> None:
        """Puts what a model file held in place."""
        self._settle(schema, Learnt(model, seen), has_text_names)

    @property
    def _predictor(self) -> Predictor:
        check_is_fitted(self, "model_")
        return Predictor(self.schema_, self.model_, type(self).__name__, self.unseen, self._accepts_infinite)

    def _encoded(self, X: FrameLike) -> Table:
        """Rows to be predicted, encoded by the schema of the fit."""
        return self._predictor.encoded(X)

    # --- appearance ---------------------------------------------------------------------------------------------------

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


class Classifier(ClassifierMixin, Estimator):
    """An estimator of classes."""

    def predict(self, X: FrameLike) -> np.ndarray:
        """The most probable class of each row, as the classes came."""
        return self._predictor.predict(X)

    def predict_proba(self, X: FrameLike) -> np.ndarray:
        """The probability of each class for each row, in the order of `classes_`."""
        return self._predictor.predict_proba(X)

    def predict_log_proba(self, X: FrameLike) -> np.ndarray:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def score(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> float:
        """The share of rows predicted right; `y` may be the name of the target column in `X`."""
        truth, weight = self._truth(X, y, sample_weight)
        place = {label: code for code, label in enumerate(self.classes_.tolist())}
        known = np.array([*(place.get(label, -1) for label in truth.target.classes or ()), -1])
        answers = np.array([place[label] for label in self.predict(X).tolist()])
        return float(np.average(known[truth.values] == answers, weights=weight))

    def _read_labels(self, y: TargetLike, name: str) -> labels.Labels:
        return labels.read_classes(y, name)


class Regressor(RegressorMixin, Estimator):
    """An estimator of numbers."""

    def predict(self, X: FrameLike) -> np.ndarray:
        """The expected number for each row."""
        return self._predictor.predict(X)

    def score(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> float:
        """R², the share of the variance that is explained; `y` may be the name of the target column in `X`."""
        truth, weight = self._truth(X, y, sample_weight)
        return super().score(X, truth.values, weight)

    def _read_labels(self, y: TargetLike, name: str) -> labels.Labels:
        return labels.read_numbers(y, name)


class AdditiveEstimator(Estimator):
    """An estimator whose learner is additive: it can go on learning, merge, and forget."""

    seen_: Any  # the statistic of all rows so far

    def _learn_more(self, X: FrameLike, y: TargetLike, classes: ArrayLike | None, sample_weight: WeightsLike) -> Self:
        """derive(seen + of(batch)): the same model as `fit` on all rows so far."""
        if not hasattr(self, "seen_"):
            with _swap:
                is_first = not hasattr(self, "seen_")
                if is_first:
                    self._begin(X, y, classes, sample_weight)
            if is_first:
                return self
        entered = self._enter_more(X, y, classes, sample_weight)
        seen = self._observed(entered.table)
        with _swap:
            joint = self.schema_.union(entered.table.schema)
            total = self.seen_.grown(self.schema_, joint) + seen.grown(entered.table.schema, joint)
            self._derive_from(total, joint, entered.has_text_names)
        return self

    def merge(self, other: Self) -> Self:
        """A new estimator that has seen what both have seen."""
        from sklearn.base import clone

        check_is_fitted(self, "seen_")
        check_is_fitted(other, "seen_")
        merged = clone(self)
        schema = self.schema_.union(other.schema_)
        seen = self.seen_.grown(self.schema_, schema) + other.seen_.grown(other.schema_, schema)
        merged._derive_from(seen, schema, hasattr(self, "feature_names_in_"))
        return merged

    def forget(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Self:
        """Removes rows that were learnt, exactly: the model is as if they had never been seen."""
        check_is_fitted(self, "seen_")
        entered = self._enter_more(X, y, None, sample_weight)
        gone = self._observed(entered.table)
        with _swap:
            _refuse_unknown(entered.table.schema, self.schema_)
            seen = self.seen_ - gone.grown(entered.table.schema, self.schema_)
            if not is_of_rows(seen):
                raise ValueError("these rows were not all learnt, or with other weights; only learnt rows can be forgotten")
            schema, seen = seen.shrunk(self.schema_)
            model = self._additive(self.schema_).derive(seen, schema)  # its parameters may name what is forgotten now
            self._settle(schema, Learnt(model, seen), entered.has_text_names)
        return self

    def _begin(self, X: FrameLike, y: TargetLike, classes: ArrayLike | None, sample_weight: WeightsLike) -> None:
        entered = self._enter(X, y, sample_weight)
        table = _with_classes(entered.table, classes)
        self._derive_from(self._observed(table), table.schema, entered.has_text_names)

    def _enter_more(self, X: FrameLike, y: TargetLike, classes: ArrayLike | None, sample_weight: WeightsLike) -> Entered:
        """A further batch under the kinds of the first one; its levels and classes may be new."""
        frame, label, weight, is_unweighted, kept = self._counted(X, y, sample_weight)
        check_columns(frame, self.schema_, type(self).__name__)
        schema, values = encode.more(frame, self.schema_, label.target, self._accepts_infinite)
        table = Table(schema, values, weight, labels.recode(label, schema.target), is_unweighted)
        return Entered(_with_classes(table, classes), frame.has_text_names, kept)

    def _additive(self, schema: Schema) -> Additive:
        learner = self._learner(schema)
        if not isinstance(learner, Additive):
            raise ValueError(f"{self!r} needs all rows at once; use fit, or parameters whose model adds up")
        return learner

    def _observed(self, table: Table) -> Any:
        return self._additive(table.schema).total(InMemory(table, self.n_jobs))

    def _derive_from(self, seen: Any, schema: Schema, has_text_names: bool) -> None:
        self._settle(schema, Learnt(self._additive(schema).derive(seen, schema), seen), has_text_names)


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


# --- for those who learn many times from rows that are encoded once -------------------------------------------------------


def learner_of(estimator: Estimator, schema: Schema, rows: Table | None = None) -> Learner:
    """The estimator's parameters, checked, as a learner of rows of this schema.

    `rows` are those to be learnt from where they are only some of the table's, such as those of a fold: they may know fewer
    classes and levels than the schema by which parameters are read.
    """
    estimator._check_common_parameters()
    for_rows = {} if rows is None else estimator._for_rows(Entered(rows, False, None))
    return estimator._learner(schema, **for_rows)


def schema_of(estimator: Estimator, frame: RawFrame) -> Schema:
    """The kinds and levels that the estimator would see in the columns of a frame."""
    return estimator._schema_of(frame)


def has_own_kinds(estimator: Estimator) -> bool:
    """Whether the estimator decides by rules of its own what kinds of columns there are."""
    return type(estimator)._schema_of is not Estimator._schema_of


def adds_up(estimator: Estimator, X: FrameLike, y: TargetLike) -> bool:
    """Whether what the estimator learns from such rows adds up, so that it can learn in batches."""
    with notices.keeping():  # what is to be told of these rows is told when they are learnt from
        schema = estimator._enter(X, y, None).table.schema
    return isinstance(estimator, AdditiveEstimator) and isinstance(estimator._learner(schema), Additive)


def settled(estimator: E, table: Table, has_text_names: bool) -> E:
    """The estimator, learnt from rows that are encoded already."""
    learnt = learner_of(estimator, table.schema, table).learn(InMemory(table, estimator.n_jobs))
    estimator._settle(table.schema, learnt, has_text_names)
    return estimator


class Entered(NamedTuple):
    """Rows that have come in: encoded, and which of the given rows they are (None where they are all)."""

    table: Table
    has_text_names: bool
    kept: np.ndarray | None  # bool [n_given]


def _with_classes(table: Table, classes: ArrayLike | None) -> Table:
    """The table under a target that also knows these classes."""
    if classes is None:
        return table
    declared = labels.read_classes(np.asarray(classes) if not isinstance(classes, np.ndarray) else classes).target
    target = table.schema.target.union(declared)
    label = labels.recode(labels.Labels(table.label, table.schema.target), target)
    schema = msgspec.structs.replace(table.schema, target=target)
    return msgspec.structs.replace(table, schema=schema, label=label)


def _counted_rows(
    frame: RawFrame, label: labels.Labels, weight: np.ndarray, is_unweighted: bool
) -> tuple[RawFrame, labels.Labels, np.ndarray, np.ndarray | None]:
    """Only the rows that count, with a label and with a weight that is not zero; and which these are, if not all."""
    if is_unweighted and not label.has_missing:
        return frame, label, weight, None
    keep = (weight > 0) & ~label.missing
    if keep.all():
        return frame, label, weight, None
    if label.has_missing:
        n_missing = int(label.missing.sum())
        notices.warn(f"{n_missing} rows have no value in the target column {label.target.name!r} and are left out")
    if not keep.any():
        raise ValueError(f"no row has a label in the target column {label.target.name!r}")
    return encode.take(frame, keep), labels.take(label, keep), weight[keep], keep


def _weight_by_name(frame: RawFrame, sample_weight: WeightsLike) -> tuple[RawFrame, Any]:
    """The weights, also where they are the name of a column, which then is none to learn from."""
    if not isinstance(sample_weight, str):
        return frame, sample_weight
    weights = weight_column(frame, sample_weight)
    columns = {name: other for name, other in frame.columns.items() if name != sample_weight}
    return msgspec.structs.replace(frame, columns=columns, matrix=None), weights


def _original(X: FrameLike, frame: RawFrame, name: str) -> Any:
    """The target column as its library holds it, so that classes go back in the type in which they came."""
    is_frame = hasattr(X, "columns") and hasattr(X, "__getitem__")
    names = getattr(X, "column_names", X.columns) if is_frame else X if isinstance(X, dict) else ()
    original = next((other for other in names if str(other) == name), None)
    column = frame.columns[name] if original is None else X[original]
    return column if hasattr(column, "__len__") and not isinstance(column, str) else frame.columns[name]


def _refuse_unknown(rows: Schema, learnt: Schema) -> None:
    if learnt.union(rows) != learnt:
        raise ValueError("these rows hold classes or levels that were never learnt; only learnt rows can be forgotten")
