"""The scikit-learn face: the only base classes. An estimator stores its parameters, `fit` learns, `predict` reads.

A subclass gives `_learner(schema)`: its parameters, checked, as a learner. Whatever goes wrong on the way, a fitted
estimator keeps what it had: the result is put in place at the very end.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from functools import cache, partial
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, final

import msgspec
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from baytree import notices, settings
from baytree.engine.elsewhere import Source
from baytree.engine.engines import elsewhere
from baytree.engine.far_frame import far_frame
from baytree.engine.parts import InMemory, Parts
from baytree.estimators import docstrings
from baytree.estimators.method_docstrings import complete_methods
from baytree.given import FrameLike, RejectLike, TargetLike, WeightsLike
from baytree.learner import Learner, Learnt, profiled, profiled_later
from baytree.limits.intervals import holding
from baytree.model import Explanation, Explanations
from baytree.predictor import Predictor, is_without_rows
from baytree.statistics.profile import Profile
from baytree.table import encode, label_reading, labels
from baytree.table.frames import RawFrame
from baytree.table.sample import Columns, ReadLabels, Sample, read_sample, read_truth, schema_of, with_infinite, with_target
from baytree.table.schema import Schema, SchemaLike
from baytree.table.table import Table

if TYPE_CHECKING:
    from baytree.interview.interview import Interview
    from baytree.reports.sections.set_section import Sets

SETTLING = threading.RLock()  # guards the one moment in which several threads may add to the same estimator


class Entered(NamedTuple):
    """Rows that have come in: encoded, and which of the given rows they are (None where they are all)."""

    rows: Parts
    has_text_names: bool
    kept: np.ndarray | None  # bool [n_given]
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
                raise TypeError(f"{cls.__name__}: {notices.unknown('parameter', name, known)}")
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
                raise ValueError(f"{type(self).__name__}: {notices.unknown('parameter', name, known)}")
        return super().set_params(**params)

    def fit(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Self:
        """Learns from a table; `y` is the labels, or the name of the target column in `X`."""
        return self._fit(X, y, sample_weight)

    @final
    def _fit(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike, **of_rows: Any) -> Self:
        """The one way of learning; `of_rows` is what else names rows of the call, such as those to prune on."""
        entered = self._enter(X, y, sample_weight)
        if isinstance(y, str):  # arrays follow scikit-learn, whose classifiers learn to say the one class
            labels.refuse_one_class(entered.rows.schema.target)
        learnt = self._learn(entered, **of_rows)
        with SETTLING:
            self._settle(entered.rows.schema, learnt, entered.has_text_names)
        return self

    def _learn(self, entered: Entered, **of_rows: Any) -> Learnt:
        rows = entered.rows
        learner = self._learner(rows.schema, **self._for_rows(entered, **of_rows))
        profile = profiled_later(rows) if self.profile else lambda: None
        return msgspec.structs.replace(self._learnt(learner, rows), profile=profile())

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
        from baytree.exports import export  # only who leaves needs it

        return export(self, target, path, reject=reject, **options)

    def report(
        self,
        frame: FrameLike = None,
        path: str | os.PathLike = "page.html",
        rows: int | Sequence[int] | None = None,
        sets: Sets | None = None,
    ) -> Path:
        """One self-contained HTML page that shows the model, judged on rows where they are given: see `baytree.report`."""
        from baytree.reports import report  # only who looks needs it

        return report(self, frame, path, rows=rows, sets=sets)

    def _learner(self, schema: Schema) -> Learner:
        """The parameters, checked, as a learner of rows of this schema."""
        raise NotImplementedError(f"{type(self).__name__} must say how it learns")

    def _learnt(self, learner: Learner, rows: Parts) -> Learnt:
        """What a learner makes of rows."""
        return learner.learn(rows)

    def _for_rows(self, entered: Entered) -> dict[str, Any]:
        """Settings of the learner that name rows of this call (given folds, rows to prune on), by their final places."""
        return {}

    def _limits(self, X: FrameLike, level: float) -> np.ndarray:
        """The interval of each answer, which never leaves the answer itself out: [n_rows, n_outputs, 2]."""
        level = settings.inside("level", level)
        if elsewhere(X) is not None:
            raise ValueError("intervals are for rows in memory; give a frame of some of the rows at a time")
        predictor = self._predictor
        if is_without_rows(X):
            return np.empty((0, max(len(self.schema_.classes), 1), 2))
        table = predictor.encoded(X)
        return holding(self._intervals(table, level), self.model_.answers(table))

    def _intervals(self, table: Table, level: float) -> np.ndarray:
        return self.model_.intervals(table, level)

    # --- the way in ---------------------------------------------------------------------------------------------------

    def _enter(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> Entered:
        self._check_common_parameters()
        far = elsewhere(X)
        if far is not None:
            return Entered(self._far_rows(far, y, sample_weight), True, None)
        sample = self._sample(X, y, sample_weight)
        schema = with_target(self._schema_of(sample.frame), sample.label.target, sample.frame.n_rows)
        schema, values = encode.learn(sample.frame, schema, self._accepts_infinite)
        table = Table(schema, values, sample.weight, sample.label.values, sample.is_unweighted)
        table = with_infinite(table) if self._learns_infinite else table
        return Entered(InMemory(table, self.n_jobs), sample.frame.has_text_names, sample.kept, sample.frame)

    def _far_rows(self, source: Source, y: TargetLike, sample_weight: WeightsLike) -> Parts:
        """The rows of an engine, under the schema that all of them together have."""
        frame = far_frame(source, y, sample_weight, self._labels)
        return frame.parts(self._schema_of(frame), self._accepts_infinite, self.n_jobs)

    def _sample(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> Sample:
        return read_sample(X, y, sample_weight, self._labels, type(self).__name__)

    @property
    def _labels(self) -> ReadLabels:
        """How labels are read, with their classes in a declared order: a function that can travel without this estimator."""
        return partial(label_reading.read_in_order, self._read_labels, self.schema)

    def _truth(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> tuple[labels.Labels, np.ndarray]:
        """The labels that answers are held against, and their weights."""
        check_is_fitted(self, "model_")
        return read_truth(X, y, sample_weight, self._read_labels, type(self).__name__)

    def _schema_of(self, frame: Columns) -> Schema:
        return schema_of(frame, self.schema, self._leaves_out_identifiers)

    def _check_common_parameters(self) -> None:
        settings.one_of("unseen", self.unseen, ("missing", "error"))
        settings.kinds_of_columns(self.schema)
        settings.flag("profile", self.profile)

    def _profiled(self, rows: Parts) -> Profile | None:
        return profiled(rows) if self.profile else None

    def _settle(self, schema: Schema, learnt: Learnt, has_text_names: bool) -> None:
        """Puts a finished fit in place, all at once."""
        for name, value in learnt.told.items():
            setattr(self, name, value)
        self._settle_rows(schema, learnt.profile, has_text_names)
        self.model_ = learnt.model

    def _settle_rows(self, schema: Schema, profile: Profile | None, has_text_names: bool) -> None:
        """Puts in place what is known of the rows themselves."""
        self.n_features_in_ = len(schema.inputs)
        if has_text_names:
            self.feature_names_in_ = np.array(schema.inputs, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if schema.target.classes is not None:
            self.classes_ = labels.classes_array(schema.target)
        self.schema_, self.profile_ = schema, profile

    def _restore(self, schema: Schema, learnt: Learnt, has_text_names: bool) -> None:
        """Puts what a model file held in place."""
        self._settle(schema, learnt, has_text_names)

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
        from baytree.reports import notebook_view  # only a notebook asks for it

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


complete_methods(Estimator)


class Classifier(ClassifierMixin, Estimator):
    """An estimator of classes."""

    def predict(self, X: FrameLike, *, reject: RejectLike = None) -> np.ndarray:
        """The most probable class of each row, as the classes came; with `reject`, None where none is worth giving."""
        answers = self._predictor.predict(X)
        if reject is None:
            return answers
        reasons, answers = self._unanswered(X, reject, answers), answers.astype(object)
        answers[[row for row, why in enumerate(reasons) if why]] = None
        return answers

    def explain(self, X: FrameLike, *, reject: RejectLike = None) -> list[Explanation]:
        """Why each row gets its answer: one ledger per row; with `reject`, also why it gets none."""
        found = super().explain(X)
        if reject is None:
            return found
        reasons = self._unanswered(X, reject, self._predictor.predict(X))
        return Explanations(
            [msgspec.structs.replace(each, unanswered=why) for each, why in zip(found, reasons, strict=True)]
        )

    def _unanswered(self, X: FrameLike, reject: RejectLike, answers: np.ndarray) -> list[str]:
        from baytree.estimators.unanswered import unanswered  # only who may say nothing needs it

        if elsewhere(X) is not None:
            raise ValueError("reject is for rows in memory; give a frame of some of the rows at a time")
        return [] if is_without_rows(X) else unanswered(self, X, reject, answers)

    def predict_proba(self, X: FrameLike) -> np.ndarray:
        """The probability of each class for each row, in the order of `classes_`."""
        return self._predictor.predict_proba(X)

    def predict_interval(self, X: FrameLike, level: float = 0.95) -> np.ndarray:
        """Between which bounds the probability of each class lies, given the rows that were learnt from.

        An interval tells how much the answer owes to the rows that happened to be seen, under the model's own assumptions:
        other rows of the same kind would have given another answer. Leaves of trees and the joint table count rows
        (Jeffreys), naive Bayes and discriminants know the posterior of their scores in closed form, logistic regression
        without a penalty the covariance of its coefficients. What has no honest interval refuses.

        Returns
        -------
        ndarray of shape (n_rows, n_classes, 2)
            The lower and the upper bound for each class, in the order of `classes_`. Each holds at the level by itself.
        """
        return self._limits(X, level)

    def interview(self, frame: FrameLike = None, sure: float = 0.99, costs: Mapping[str, float] | None = None) -> Interview:
        """Twenty questions about a row: which column to ask for next, and what is believed after each answer.

        Rows are needed only where the model has kept no profile of its own.

        Parameters
        ----------
        costs : dict, optional
            What it costs to ask for a column, by its name; 1 where nothing is said. The largest gain per cost is asked for.
        """
        from baytree.interview.interview import interview  # only who plays needs it

        return interview(self._predictor, frame, sure, costs)

    def predict_log_proba(self, X: FrameLike) -> np.ndarray:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def score(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> float:
        """The share of rows predicted right; `y` may be the name of the target column in `X`."""
        right, all_rows = self._right(X, y, sample_weight)
        return float(right / all_rows)

    def _right(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> np.ndarray:
        """The weight of the rows predicted right, and of all. [2]"""
        far = elsewhere(X)
        if far is not None:
            return far.total(partial(self._right, y=y, sample_weight=sample_weight))
        truth, weight = self._truth(X, y, sample_weight)
        place = {label: code for code, label in enumerate(self.classes_.tolist())}
        known = np.array([*(place.get(label, -1) for label in truth.target.classes or ()), -1])
        answers = np.array([place[label] for label in self.predict(X).tolist()])
        return np.array([(weight * (known[truth.values] == answers)).sum(), weight.sum()])

    _read_labels = staticmethod(label_reading.read_classes)


class Regressor(RegressorMixin, Estimator):
    """An estimator of numbers."""

    def predict(self, X: FrameLike) -> np.ndarray:
        """The expected number for each row."""
        return self._predictor.predict(X)

    def predict_interval(self, X: FrameLike, level: float = 0.95) -> np.ndarray:
        """Between which bounds the expected number lies, given the rows that were learnt from.

        It is an interval of the mean of all such rows, not of the next row: for that see `baytree.conformal`.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            The lower and the upper bound.
        """
        return self._limits(X, level)[:, 0]

    def score(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> float:
        """R², the share of the variance that is explained; `y` may be the name of the target column in `X`."""
        far = elsewhere(X)
        if far is not None:
            weight, amount = far.total(partial(self._amounts, y=y, sample_weight=sample_weight))
            left, about_mean = far.total(partial(self._squares, y=y, sample_weight=sample_weight, mean=amount / weight))
            return float(1 - left / about_mean)
        truth, weight = self._truth(X, y, sample_weight)
        return super().score(X, truth.values, weight)

    def _amounts(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> np.ndarray:
        """The weight of all rows, and the sum of their numbers. [2]"""
        truth, weight = self._truth(X, y, sample_weight)
        return np.array([weight.sum(), weight @ truth.values])

    def _squares(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike, mean: float) -> np.ndarray:
        """The sums of squares about the answers, and about the mean. [2]"""
        truth, weight = self._truth(X, y, sample_weight)
        return np.array([weight @ (truth.values - self.predict(X)) ** 2, weight @ (truth.values - mean) ** 2])

    _read_labels = staticmethod(label_reading.read_numbers)
