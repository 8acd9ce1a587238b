"""`Predictor`: predictions from a schema and a model, shared by estimators, command line and server.

It does not depend on scikit-learn. Frames of remote engines are predicted partition by partition.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Protocol, Self

import msgspec
import numpy as np

from baytree._typing import FrameLike
from baytree.base.model import Explanation, ExplanationList, predict_codes, predict_with_codes
from baytree.base.provenance import Provenance
from baytree.base.unknown_values import name_unknown_values
from baytree.data.encoding import encode, labels
from baytree.data.encoding.table import Table, check_columns, check_shape
from baytree.data.frames import read
from baytree.data.frames.numbers import Numbers
from baytree.data.frames.raw import RawFrame
from baytree.data.schema.schema import NO_TARGET, Schema
from baytree.engine.dispatch import remote_source
from baytree.param_validation import ClassAmounts
from baytree.statistics.profile import Profile
from baytree.uncertainty.decision import CostMatrix, is_equal

if TYPE_CHECKING:
    from baytree.formula import Formula
    from baytree.summary import Summary


class Predictor(msgspec.Struct, frozen=True):
    """A model, the schema of the rows that it predicts, and the costs by which it chooses a class."""

    schema: Schema
    model: Any
    name: str = "the model"
    unseen: str = "missing"
    accepts_infinite: bool = False
    profile: Profile | None = None  # of the training rows, if stored
    costs: CostMatrix | None = None  # None if all misclassifications cost the same
    provenance: Provenance | None = None  # how the model was validated, if known

    def with_costs(self, costs: ClassAmounts) -> Self:
        """Predictor that chooses classes by these costs instead of its own."""
        amounts = costs.of(self.schema.classes)
        has_learnt = self.costs is not None and self.costs.by_model and self.has_costs  # decides by the costs that it learnt
        return msgspec.structs.replace(self, costs=CostMatrix(amounts, is_equal(amounts) and not has_learnt))

    @property
    def has_costs(self) -> bool:
        """Whether misclassifications differ in their costs."""
        return self.costs is not None and not is_equal(self.costs.amounts)

    @property
    def classes(self) -> np.ndarray:
        """Class labels."""
        return labels.classes_array(self.schema.target)

    def check_target(self) -> None:
        """Raise ValueError if the model was fitted without a target: it predicts nothing."""
        if self.schema.target == NO_TARGET:
            raise ValueError(
                f"{self.name} was fitted without a target, so there is nothing to predict, export, report or serve; "
                "fit it again with the name of the target column, as in fit(frame, 'y'), or ask it with probability()"
            )

    def encoded(self, X: FrameLike) -> Table:
        """Encode rows for prediction with the schema."""
        self.check_target()
        frame = read(X)
        check_shape(frame, frame.n_rows, self.name)
        check_columns(frame, self.schema, self.name)
        frame = self._with_unused(frame)
        values = encode.encode(frame, self.schema, unseen=self.unseen, accepts_infinite=self.accepts_infinite)
        return Table(self.schema, values, np.ones(frame.n_rows), None, True)

    def required_columns(self, given: Collection[str]) -> tuple[str, ...]:
        """Columns that rows must have; those of the others that do not affect any prediction may be absent."""
        sources = tuple(dict.fromkeys(column.source for column in self.schema.columns))
        if all(name in given for name in sources):
            return sources
        from baytree.formula.transforms import columns_used  # slow import, only needed if columns are absent

        used = columns_used(self.formula())
        return tuple(dict.fromkeys(self.schema.columns[j].source for j in sorted(used)))

    def _with_unused(self, frame: RawFrame) -> RawFrame:
        """Rows with absent columns added as missing values, if they do not affect any prediction."""
        if not (self.schema.is_named and frame.is_named):
            return frame
        absent = [name for name in self.schema.sources if name not in frame.columns]
        if not absent or set(absent) & set(self.required_columns(frame.columns)):
            return frame
        empty = Numbers.of(np.full(frame.n_rows, np.nan))
        return msgspec.structs.replace(frame, columns={**frame.columns, **dict.fromkeys(absent, empty)}, matrix=None)

    def predict(self, X: FrameLike) -> np.ndarray:
        """Most probable class, class of least expected cost, or expected value, of each row. [n_rows]"""
        source = remote_source(X)
        if source is not None:
            return source.map_rows(self.predict, ("prediction",), self._no_answer())
        if is_without_rows(X):
            return self._no_answer()
        table = self.encoded(X)
        if self.schema.target.classes is None:
            return self.model.predict(table)[:, 0]
        return self.classes[self.predict_codes(table)]

    def predict_codes(self, table: Table) -> np.ndarray:
        """Class code of each encoded row: the most probable class, or the one of least expected cost. int [n_rows]"""
        return predict_codes(self.model, table, self.costs)

    def predict_with_codes(self, table: Table) -> tuple[np.ndarray, np.ndarray | None]:
        """Predictions of encoded rows [n_rows, n_outputs], and their class codes [n_rows]; None in regression."""
        return predict_with_codes(self.model, table, self.costs)

    def choose(self, probability: np.ndarray) -> np.ndarray:
        """Code of the class to predict given these probabilities [..., n_classes]: int [...]."""
        if self.costs is None or not self.has_costs:
            return np.argmax(probability, axis=-1)
        rows = probability.reshape(-1, probability.shape[-1])
        return self.costs.predict_codes(rows).reshape(probability.shape[:-1])

    def formula(self) -> Formula:
        """Model as an expression of the raw columns, with its rule for choosing a class and for unknown levels."""
        formula = msgspec.structs.replace(self.model.formula(self.schema), unseen=self.unseen)
        return formula if self.costs is None or self.costs.by_model else self.costs.choose_in(formula)

    def predict_proba(self, X: FrameLike) -> np.ndarray:
        """Probability of each class, in the order of the classes. float64 [n_rows, n_classes]"""
        empty = np.empty((0, len(self.schema.classes)))
        source = remote_source(X)
        if source is not None:
            return source.map_rows(self.predict_proba, tuple(f"P({label})" for label in self.schema.classes), empty)
        if is_without_rows(X):
            return empty
        return self.model.predict(self.encoded(X))

    def _no_answer(self) -> np.ndarray:
        return self.classes[:0] if self.schema.target.classes is not None else np.empty(0)

    def explain(self, X: FrameLike) -> list[Explanation]:
        """One explanation per row."""
        if is_without_rows(X):
            return ExplanationList()
        table = self.encoded(X)
        return ExplanationList(name_unknown_values(self.explain_encoded(table), X, table))

    def explain_encoded(self, table: Table) -> list[Explanation]:
        """One explanation per encoded row; with costs, of the class of least expected cost."""
        explanations = self.model.explain(table)
        if not self.has_costs:
            return explanations
        codes = self.predict_codes(table).tolist()
        return [msgspec.structs.replace(each, choice=code) for each, code in zip(explanations, codes, strict=True)]

    def describe(self) -> str:
        """Model as text, with its costs."""
        from baytree.rendering.model_text import text  # slow import, only needed here

        words = text(self.summary())
        if self.costs is None or not self.has_costs:
            return words
        return f"{words}\npredicts the class of least expected cost: {self.costs.describe(self.schema.classes)}"

    def summary(self) -> Summary:
        """Record of the model's names and numbers; nodes of a tree name the class that is predicted there."""
        return shown_by_costs(self.model, self.costs).summary(self.schema)


def shown_by_costs(model: Any, costs: CostMatrix | None) -> Any:
    """The model as it is shown: a tree whose nodes name the class of least expected cost, any other model unchanged."""
    if costs is None or costs.by_model or not hasattr(model, "decided_by"):
        return model
    return model.decided_by(costs)


def is_without_rows(X: FrameLike) -> bool:
    """Whether a table with columns, or a list of rows, has no rows at all; its prediction is empty."""
    shape = getattr(X, "shape", None)
    if shape is not None:  # before dicts: a DOK sparse matrix is one
        return len(shape) == 2 and shape[0] == 0 and shape[1] > 0
    if isinstance(X, (list, tuple)):
        return not len(X)
    return isinstance(X, dict) and bool(X) and all(_is_empty(values) for values in X.values())


def _is_empty(values: Any) -> bool:
    return hasattr(values, "__len__") and not isinstance(values, str) and not len(values)


class FittedEstimator(Protocol):
    """A fitted estimator, as exports, reports, evaluation, drift and diff read it."""

    @property
    def _predictor(self) -> Predictor: ...
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
