"""The scikit-learn face: the only base classes. An estimator stores its parameters, `fit` learns, `predict` reads.

A subclass gives `_learn(table) -> model` (or, for an additive model, `_observe` and `_derive`). Whatever goes wrong on the
way, a fitted estimator keeps what it had: the result is put in place at the very end.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from typing import Any, Self

import msgspec
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from baytree.model import Explanation, Model
from baytree.predictor import Predictor, check_columns, check_shape
from baytree.statistics.exact import is_of_rows
from baytree.table import encode as door
from baytree.table import labels
from baytree.table.frames import RawFrame, read
from baytree.table.infer import Census
from baytree.table.schema import Column, Kind, Schema
from baytree.table.table import Table

_swap = threading.Lock()  # guards the one moment in which several threads may add to the same estimator


class Estimator(BaseEstimator):
    """What classifiers and regressors share: the way from a frame to a table and from a model to answers."""

    _accepts_infinite = False
    schema: Any
    unseen: str
    n_jobs: int | None
    model_: Any  # what `_learn` gave, a frozen record
    schema_: Schema

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learns from a table; `y` is the labels, or the name of the target column in `X`."""
        table, frame = self._enter(X, y, sample_weight)
        self._settle(table.schema, self._learn(table), frame)
        return self

    def explain(self, X: Any) -> list[Explanation]:
        """Why each row gets its answer: one ledger per row."""
        return self._predictor.explain(X)

    def _learn(self, table: Table) -> Model:
        raise NotImplementedError(f"{type(self).__name__} must say how it learns")

    def _read_labels(self, y: Any, name: str) -> labels.Labels:
        raise NotImplementedError(f"{type(self).__name__} must say what its labels are")

    # --- the way in ---------------------------------------------------------------------------------------------------

    def _enter(self, X: Any, y: Any, sample_weight: Any) -> tuple[Table, RawFrame]:
        self._check_common_parameters()
        if isinstance(X, Table):  # rows of a table that has come through the door already
            return X, RawFrame({}, len(X), X.schema.is_named, X.schema.is_named)
        frame, label = self._split(X, y)
        weight, is_unweighted = door.weights(sample_weight, frame.n_rows)
        if not is_unweighted or label.has_missing:
            frame, label, weight = _counted_rows(frame, label, weight)
        schema = msgspec.structs.replace(self._schema_of(frame), target=label.target)
        schema, values = door.learn(frame, schema, self._accepts_infinite)
        return Table(schema, values, weight, label.values, is_unweighted), frame

    def _split(self, X: Any, y: Any) -> tuple[RawFrame, labels.Labels]:
        """The columns and the labels, whether they come together or apart."""
        frame = read(X)
        if isinstance(y, str):
            frame, label = self._labels_by_name(X, frame, y)
        else:
            label = self._read_labels(y, getattr(y, "name", None) or "y")
            if label.has_missing:
                row = int(np.argmax(label.missing))
                raise ValueError(f"Input y contains NaN: the label of row {row} is missing; leave such rows out")
        check_shape(frame, len(label.values), type(self).__name__)
        return frame, label

    def _labels_by_name(self, X: Any, frame: RawFrame, name: str) -> tuple[RawFrame, labels.Labels]:
        if not frame.is_named or name not in frame.columns:
            raise ValueError(f"no target column {name!r}; the columns are {', '.join(map(repr, frame.columns))}")
        label = self._read_labels(X[name] if name in X else X[_original_name(X, name)], name)
        columns = {other: raw for other, raw in frame.columns.items() if other != name}
        return msgspec.structs.replace(frame, columns=columns, matrix=None), label

    def _truth(self, X: Any, y: Any, sample_weight: Any) -> tuple[labels.Labels, np.ndarray]:
        """The labels that answers are held against, and their weights."""
        check_is_fitted(self, "model_")
        frame = read(X)
        label = self._labels_by_name(X, frame, y)[1] if isinstance(y, str) else self._read_labels(y, "y")
        check_shape(frame, len(label.values), type(self).__name__)
        return label, door.weights(sample_weight, frame.n_rows)[0]

    def _schema_of(self, frame: RawFrame) -> Schema:
        if isinstance(self.schema, Schema):
            return self.schema
        if frame.matrix is not None and not isinstance(frame.matrix, np.ndarray):
            names = tuple(f"x{j}" for j in range(frame.matrix.shape[1]))
            return Schema(tuple(Column(name, Kind.NUMERIC) for name in names), inputs=names, is_named=False)
        return Census.of(frame, self.schema).schema(frame.is_named)

    def _check_common_parameters(self) -> None:
        if self.unseen not in ("missing", "error"):
            raise ValueError(f"unseen={self.unseen!r}: give 'missing' or 'error'")

    def _settle(self, schema: Schema, model: Model, frame: RawFrame) -> None:
        """Puts a finished fit in place, all at once."""
        self.n_features_in_ = len(schema.inputs)
        if frame.has_text_names:
            self.feature_names_in_ = np.array(schema.inputs, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if schema.target.classes is not None:
            self.classes_ = labels.classes_array(schema.target)
        self.schema_, self.model_ = schema, model

    def _restore(self, schema: Schema, model: Model, seen: Any, has_text_names: bool) -> None:
        """Puts what a model file held in place."""
        self._settle(schema, model, RawFrame({}, 0, schema.is_named, has_text_names))
        if seen is not None:
            self.seen_ = seen

    @property
    def _predictor(self) -> Predictor:
        check_is_fitted(self, "model_")
        return Predictor(self.schema_, self.model_, type(self).__name__, self.unseen, self._accepts_infinite)

    def _encoded(self, X: Any) -> Table:
        """Rows to be predicted, encoded by the schema of the fit."""
        return self._predictor.encoded(X)

    # --- appearance ---------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        if not hasattr(self, "model_"):
            return repr(self)
        return self.model_.describe(self.schema_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class Classifier(ClassifierMixin, Estimator):
    """An estimator of classes."""

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row, as the classes came."""
        return self._predictor.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class for each row, in the order of `classes_`."""
        return self._predictor.predict_proba(X)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows predicted right; `y` may be the name of the target column in `X`."""
        truth, weight = self._truth(X, y, sample_weight)
        place = {label: code for code, label in enumerate(self.classes_.tolist())}
        known = np.array([*(place.get(label, -1) for label in truth.target.classes or ()), -1])
        answers = np.array([place[label] for label in self.predict(X).tolist()])
        return float(np.average(known[truth.values] == answers, weights=weight))

    def _read_labels(self, y: Any, name: str) -> labels.Labels:
        return labels.read_classes(y, name)


class Regressor(RegressorMixin, Estimator):
    """An estimator of numbers."""

    def predict(self, X: Any) -> np.ndarray:
        """The expected number for each row."""
        return self._predictor.predict(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R², the share of the variance that is explained; `y` may be the name of the target column in `X`."""
        truth, weight = self._truth(X, y, sample_weight)
        return super().score(X, truth.values, weight)

    def _read_labels(self, y: Any, name: str) -> labels.Labels:
        return labels.read_numbers(y, name)


class AdditiveClassifier(Classifier):
    """A classifier whose model is a pure function of statistics: it can go on learning, merge, and forget.

    A subclass gives `_observe(table) -> statistics`, `_derive(seen, schema) -> model`, and statistics that know `+`, `−`
    and `grown(old, new)`, the same statistics under a schema with more levels or classes.
    """

    def _observe(self, table: Table) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must say what it counts")

    def _derive(self, seen: Any, schema: Schema) -> Model:
        raise NotImplementedError(f"{type(self).__name__} must say what follows from its counts")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learns from a table; `y` is the labels, or the name of the target column in `X`."""
        table, frame = self._enter(X, y, sample_weight)
        seen = self._observe(table)
        model = self._derive(seen, table.schema)
        with _swap:
            self._settle(table.schema, model, frame)
            self.seen_ = seen
        return self

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Goes on learning: the same model as `fit` on all rows so far. New classes and levels may come at any time."""
        if not hasattr(self, "seen_"):
            with _swap:
                is_first = not hasattr(self, "seen_")
                if is_first:
                    self._begin(X, y, classes, sample_weight)
            if is_first:
                return self
        table, frame = self._enter_more(X, y, classes, sample_weight)
        seen = self._observe(table)
        with _swap:
            self._join(seen, table.schema, frame)
        return self

    def merge(self, other: Self) -> Self:
        """A new estimator that has seen what both have seen."""
        from sklearn.base import clone

        check_is_fitted(self, "seen_")
        check_is_fitted(other, "seen_")
        merged = clone(self)
        schema = self.schema_.union(other.schema_)
        seen = self.seen_.grown(self.schema_, schema) + other.seen_.grown(other.schema_, schema)
        merged._settle(schema, merged._derive(seen, schema), _named_like(self))
        merged.seen_ = seen
        return merged

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Removes rows that were learnt, exactly: the model is as if they had never been seen."""
        check_is_fitted(self, "seen_")
        table, frame = self._enter_more(X, y, None, sample_weight)
        gone = self._observe(table)
        with _swap:
            _refuse_unknown(table.schema, self.schema_)
            seen = self.seen_ - gone.grown(table.schema, self.schema_)
            if not is_of_rows(seen):
                raise ValueError("these rows were not all learnt, or with other weights; only learnt rows can be forgotten")
            schema, seen = seen.shrunk(self.schema_)
            self._settle(schema, self._derive(seen, schema), frame)
            self.seen_ = seen
        return self

    def _begin(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        table, frame = self._enter(X, y, sample_weight)
        table = _with_classes(table, classes)
        seen = self._observe(table)
        self._settle(table.schema, self._derive(seen, table.schema), frame)
        self.seen_ = seen

    def _enter_more(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> tuple[Table, RawFrame]:
        """A further batch under the kinds of the first one; its levels and classes may be new."""
        frame, label = self._split(X, y)
        check_columns(frame, self.schema_, type(self).__name__)
        weight, is_unweighted = door.weights(sample_weight, frame.n_rows)
        if not is_unweighted or label.has_missing:
            frame, label, weight = _counted_rows(frame, label, weight)
        schema, values = door.more(frame, self.schema_, label.target, self._accepts_infinite)
        table = Table(schema, values, weight, labels.recode(label, schema.target), is_unweighted)
        return _with_classes(table, classes), frame

    def _join(self, seen: Any, schema: Schema, frame: RawFrame) -> None:
        joint = self.schema_.union(schema)
        total = self.seen_.grown(self.schema_, joint) + seen.grown(schema, joint)
        self._settle(joint, self._derive(total, joint), frame)
        self.seen_ = total


def _with_classes(table: Table, classes: Sequence | None) -> Table:
    """The table under a target that also knows these classes."""
    if classes is None:
        return table
    declared = labels.read_classes(np.asarray(classes) if not isinstance(classes, np.ndarray) else classes).target
    target = table.schema.target.union(declared)
    label = labels.recode(labels.Labels(table.label, table.schema.target), target)
    schema = msgspec.structs.replace(table.schema, target=target)
    return msgspec.structs.replace(table, schema=schema, label=label)


def _counted_rows(frame: RawFrame, label: labels.Labels, weight: np.ndarray) -> tuple[RawFrame, labels.Labels, np.ndarray]:
    """Only the rows that count: with a label, and with a weight that is not zero."""
    keep = (weight > 0) & ~label.missing
    if keep.all():
        return frame, label, weight
    if label.has_missing:
        warnings.warn(
            f"{int(label.missing.sum())} rows have no value in the target column {label.target.name!r} and are left out",
            UserWarning,
            stacklevel=4,
        )
    if not keep.any():
        raise ValueError(f"no row has a label in the target column {label.target.name!r}")
    return door.take(frame, keep), labels.take(label, keep), weight[keep]


def _original_name(X: Any, name: str) -> Any:
    return next(other for other in X if str(other) == name)


def _refuse_unknown(rows: Schema, learnt: Schema) -> None:
    if learnt.union(rows) != learnt:
        raise ValueError("these rows hold classes or levels that were never learnt; only learnt rows can be forgotten")


def _named_like(estimator: Estimator) -> RawFrame:
    return RawFrame({}, 0, True, hasattr(estimator, "feature_names_in_"))
