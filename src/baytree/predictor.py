"""Answers from a schema and a model: what the estimators, the command line and a server all call. No scikit-learn here."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from baytree.given import FrameLike
from baytree.model import Explanation, Explanations, choices
from baytree.show.text import text
from baytree.statistics.profile import Profile
from baytree.table import encode, labels
from baytree.table.frames import read
from baytree.table.schema import Schema
from baytree.table.shape import check_columns, check_shape
from baytree.table.table import Table


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
        values = encode.encode(frame, self.schema, unseen=self.unseen, accepts_infinite=self.accepts_infinite)
        return Table(self.schema, values, np.ones(frame.n_rows), None, True)

    def predict(self, X: FrameLike) -> np.ndarray:
        """The most probable class, or the expected number, of each row."""
        table = self.encoded(X)
        if self.schema.target.classes is None:
            return self.model.answers(table)[:, 0]
        return self.classes[choices(self.model, table)]

    def predict_proba(self, X: FrameLike) -> np.ndarray:
        """The probability of each class for each row, in the order of the classes."""
        return self.model.answers(self.encoded(X))

    def explain(self, X: FrameLike) -> list[Explanation]:
        """One ledger per row."""
        return Explanations(self.model.explain(self.encoded(X)))

    def describe(self) -> str:
        """The model in words."""
        return text(self.model.summary(self.schema))
