"""Answers from a schema and a model: what the estimators, the command line and a server all call. No scikit-learn here."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec
import numpy as np

from baytree._typing import FrameLike
from baytree.base.model import Explanation, ExplanationList, predict_codes
from baytree.data.encoding import encode, labels
from baytree.data.encoding.table import Table, check_columns, check_shape
from baytree.data.frames import read
from baytree.data.frames.numbers import Numbers
from baytree.data.frames.raw import RawFrame
from baytree.data.schema.schema import Schema
from baytree.engine.dispatch import remote_source
from baytree.statistics.profile import Profile


class Predictor(msgspec.Struct, frozen=True):
    """A model and the schema of the rows it answers for."""

    schema: Schema
    model: Any
    name: str = "the model"
    unseen: str = "missing"
    accepts_infinite: bool = False
    profile: Profile | None = None  # of the rows that were learnt from, where it is kept

    @property
    def classes(self) -> np.ndarray:
        """The classes as they came."""
        return labels.classes_array(self.schema.target)

    def encoded(self, X: FrameLike) -> Table:
        """Rows to be predicted, encoded by the schema."""
        frame = read(X)
        check_shape(frame, frame.n_rows, self.name)
        check_columns(frame, self.schema, self.name)
        frame = self._with_unused(frame)
        values = encode.encode(frame, self.schema, unseen=self.unseen, accepts_infinite=self.accepts_infinite)
        return Table(self.schema, values, np.ones(frame.n_rows), None, True)

    def required_columns(self, given: Collection[str]) -> tuple[str, ...]:
        """The columns that rows must have; of those that are not given, the ones that decide no answer may be absent."""
        sources = tuple(dict.fromkeys(column.source for column in self.schema.columns))
        if all(name in given for name in sources):
            return sources
        from baytree.formula.transforms import columns_used  # only of rows that lack columns

        used = columns_used(self.model.formula(self.schema))
        return tuple(dict.fromkeys(self.schema.columns[j].source for j in sorted(used)))

    def _with_unused(self, frame: RawFrame) -> RawFrame:
        """The rows with columns that decide no answer, where these are absent, as missing ones."""
        if not (self.schema.is_named and frame.is_named):
            return frame
        absent = [name for name in self.schema.sources if name not in frame.columns]
        if not absent or set(absent) & set(self.required_columns(frame.columns)):
            return frame
        empty = Numbers.of(np.full(frame.n_rows, np.nan))
        return msgspec.structs.replace(frame, columns={**frame.columns, **dict.fromkeys(absent, empty)}, matrix=None)

    def predict(self, X: FrameLike) -> np.ndarray:
        """The most probable class, or the expected number, of each row."""
        far = remote_source(X)
        if far is not None:
            return far.map_rows(self.predict, ("prediction",), self._no_answer())
        if is_without_rows(X):
            return self._no_answer()
        table = self.encoded(X)
        if self.schema.target.classes is None:
            return self.model.predict(table)[:, 0]
        return self.classes[predict_codes(self.model, table)]

    def predict_proba(self, X: FrameLike) -> np.ndarray:
        """The probability of each class for each row, in the order of the classes."""
        none = np.empty((0, len(self.schema.classes)))
        far = remote_source(X)
        if far is not None:
            return far.map_rows(self.predict_proba, tuple(f"P({label})" for label in self.schema.classes), none)
        if is_without_rows(X):
            return none
        return self.model.predict(self.encoded(X))

    def _no_answer(self) -> np.ndarray:
        return self.classes[:0] if self.schema.target.classes is not None else np.empty(0)

    def explain(self, X: FrameLike) -> list[Explanation]:
        """One ledger per row."""
        return ExplanationList([] if is_without_rows(X) else self.model.explain(self.encoded(X)))

    def describe(self) -> str:
        """The model in words."""
        from baytree.rendering.model_text import text  # only a person asks for it

        return text(self.model.summary(self.schema))


def is_without_rows(X: FrameLike) -> bool:
    """Whether a table that has columns, or a list of rows, holds no row at all: zero rows have zero answers."""
    shape = getattr(X, "shape", None)
    if shape is not None:  # before dicts: a sparse matrix may be one
        return len(shape) == 2 and shape[0] == 0 and shape[1] > 0
    if isinstance(X, (list, tuple)):
        return not len(X)
    return isinstance(X, dict) and bool(X) and all(_is_empty(values) for values in X.values())


def _is_empty(values: Any) -> bool:
    return hasattr(values, "__len__") and not isinstance(values, str) and not len(values)
