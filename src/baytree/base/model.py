"""The `Model` interface, and `Explanation`, the common form of all explanations.

A model is a frozen record of arrays. An explanation is additive: a start value, one line of evidence per column, and their
sum, the score.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec
import numpy as np

from baytree._warnings import renamed
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.rendering.explanation import ExcludedClasses, ExplanationTable, to_text
from baytree.uncertainty.decision import CostMatrix

if TYPE_CHECKING:
    from baytree.formula import Formula
    from baytree.summary import Summary

_MAX_SHOWN_EXPLANATIONS = 20  # explanations of a list that a notebook shows; the others are counted


class Model(Protocol):
    """Fitted model, a frozen record of arrays: encoded rows → predictions and explanations."""

    def predict(self, table: Table) -> np.ndarray:
        """Class probabilities or expected values. float64 [n_rows, n_outputs]"""
        ...

    def explain(self, table: Table) -> list[Explanation]:
        """Explanation of each row."""
        ...

    def summary(self, schema: Schema) -> Summary:
        """Record of names and numbers, which renderers turn into text, HTML and JSON."""
        ...

    def formula(self, schema: Schema) -> Formula:
        """Model as an expression of the raw columns, which exporters print."""
        ...

    def check(self, schema: Schema) -> None:
        """Raise an error if the model, read from a file, does not fit the schema: any index, shape or size."""
        ...


def predict_codes(model: Model, table: Table, costs: CostMatrix | None = None) -> np.ndarray:
    """Class code of each row: the most probable class, or the one of least expected cost. int [n_rows]"""
    if costs is not None and not costs.by_model:
        return costs.predict_codes(model.predict(table))
    choose = getattr(model, "predict_codes", None)
    return choose(table) if choose else np.argmax(model.predict(table), axis=1)


def predict_with_codes(model: Model, table: Table, costs: CostMatrix | None = None) -> tuple[np.ndarray, np.ndarray | None]:
    """Predictions of each row, and its class code as in `predict_codes`; the code is None in regression.

    Models that compute both in one pass have a method of this name.
    """
    both = getattr(model, "predict_with_codes", None)
    if table.schema.target.classes is None:
        return model.predict(table), None
    if costs is not None and not costs.by_model:
        probability = model.predict(table)
        return probability, costs.predict_codes(probability)
    if both:
        return both(table)
    predictions, choose = model.predict(table), getattr(model, "predict_codes", None)
    return predictions, choose(table) if choose else np.argmax(predictions, axis=1)


class Evidence(msgspec.Struct, frozen=True):
    """One line of an explanation: what a column's value adds to the score of each class."""

    column: str
    value: str
    effect: np.ndarray  # [n_classes]
    condition: str = ""  # test on the value, with the column's name; empty if the value itself counts

    @property
    def label(self) -> str:
        """Label of the line: `age = 5`, or the condition, with the value unless it is implied: `age < 7.5 (5)`."""
        if not self.condition:
            return f"{self.column} = {self.value}"
        is_implied = self.condition == f"{self.column} = {self.value}"
        return self.condition if is_implied else f"{self.condition} ({self.value})"

    @property
    def excluded(self) -> np.ndarray:
        """Codes of the classes that are impossible with this value. int64 [n_excluded]"""
        return np.flatnonzero(np.isneginf(self.effect))

    told = renamed("told", "label")


class Explanation(msgspec.Struct, frozen=True):
    """Additive explanation of a row's scores: start + Σ effects = scores, exactly, in the order of the lines.

    Attributes
    ----------
    classes : tuple
        Class labels; the name of the target in regression.
    start : ndarray of shape (n_classes,)
        Scores before any column is taken into account.
    evidence : tuple of Evidence
        One line per column that contributes: its `column`, its `value` and its `effect` on each score.
    probability : ndarray of shape (n_classes,)
        Probability of each class; 1 in regression.
    unit : {"log-odds", "probability", "number", "points"}
        Unit of start and effects: probability for trees, number in regression, points for scorecards.
    unanswered : str
        Why the row is rejected, if `reject` was given; otherwise empty.
    choice : int or None
        Index of the predicted class, if it is the class of least expected cost; None for the most probable class.
    points_for : int or None
        Index of the class that the points of a scorecard count for; None for other models.
    scores : ndarray of shape (n_classes,)
        Sum of start and effects.
    prediction : object
        Predicted class: the most probable one, or the one of least expected cost; or the number. None if the row is
        rejected.
    """

    classes: tuple
    start: np.ndarray  # [n_classes]
    evidence: tuple[Evidence, ...]
    probability: np.ndarray  # [n_classes]
    unit: str = "log-odds"  # of start and effects; "probability" for trees, "number" in regression, "points"
    unanswered: str = ""  # why the row is rejected
    choice: int | None = None  # code of the predicted class, if costs decide
    points_for: int | None = None  # code of the class that the points of a scorecard count for

    @property
    def scores(self) -> np.ndarray:
        """Sum of start and effects. float64 [n_classes]"""
        total = self.start.copy()
        for line in self.evidence:
            total = total + line.effect
        return total

    @property
    def prediction(self) -> object:
        """Predicted class, or the number; None if the row is rejected."""
        if self.unanswered:
            return None
        if self.unit == "number":
            return float(self.scores[0])
        return self.classes[self._ranking()[0]]

    def _ranking(self) -> list[int]:
        """Classes by probability; the predicted one first."""
        order = np.argsort(-self.probability, kind="stable").tolist()
        return order if self.choice is None else [self.choice, *(code for code in order if code != self.choice)]

    def to_dict(self) -> dict:
        """Explanation as plain Python values."""
        return {
            "prediction": self.prediction,
            "probability": dict(zip(map(str, self.classes), self.probability.tolist(), strict=True)),
            "unit": self.unit,
            "start": self.start.tolist(),
            "evidence": [self._line(line) for line in self.evidence],
            "scores": self.scores.tolist(),
        } | ({"unanswered": self.unanswered} if self.unanswered else {})

    def _line(self, line: Evidence) -> dict:
        values = {"column": line.column, "value": line.value, "effect": line.effect.tolist()}
        condition = {"condition": line.condition} if line.condition else {}
        excluded = {"excludes": [self.classes[c] for c in line.excluded]} if len(line.excluded) else {}
        return values | condition | excluded

    def against_runner_up(self) -> tuple[str, str, list[float], float]:
        """Prediction as text, unit of the amounts, amounts (start, then each line of evidence), and their sum.

        For classes, the amounts compare the predicted class with the most probable of the others; points of a scorecard are
        those of its good class, whichever class is predicted.
        """
        ledger, scores = (self.start, *(line.effect for line in self.evidence)), self.scores
        if self.unit == "number":
            return f"{self.classes[0]} = {scores[0]:.6g}", "number", [float(line[0]) for line in ledger], float(scores[0])
        best, *others = self._ranking()
        what = "most probable class" if self.choice is None else "class of least expected cost"
        prefix = f"rejected: {self.unanswered}; the {what} is " if self.unanswered else ""
        text = f"{prefix}{self.classes[best]}, with probability {self.probability[best]:.3f}"
        if not others:
            return text, self.unit, [float(line[0]) for line in ledger], float(scores[0])
        other = others[0]
        text += f" ({self.classes[other]}: {self.probability[other]:.3f})"
        text += "" if self.choice is None or self.unanswered else ", by least expected cost"
        if self.points_for is not None:
            points = [float(line[self.points_for]) for line in ledger]
            return text, f"points for {self.classes[self.points_for]}", points, float(scores[self.points_for])
        title = f"{self.unit} for {self.classes[best]} against {self.classes[other]}"
        with np.errstate(invalid="ignore"):  # -inf - -inf for two impossible classes
            amounts = [float(line[best] - line[other]) for line in ledger]
            return text, title, amounts, float(scores[best] - scores[other])

    def __str__(self) -> str:
        has_ledger = len(self.probability) > 1 or self.unit == "number"
        return to_text(self.to_table()) if has_ledger else self.against_runner_up()[0]

    def _repr_html_(self) -> str:
        from baytree.rendering.explanation import to_html  # slow import, only needed in notebooks

        return to_html(self.to_table())

    def to_table(self) -> ExplanationTable:
        """Prediction with the contributions that text, HTML and plots show."""
        text, title, (start, *amounts), total = self.against_runner_up()
        names = tuple(line.label for line in self.evidence)
        excluded = tuple(tuple(self.classes[c] for c in line.excluded) for line in self.evidence)
        impossible = tuple(self.classes[c] for c in np.flatnonzero(np.isneginf(self.scores)))
        possible = () if self.unit == "number" else tuple(c for c in self.classes if c not in set(impossible))
        never = tuple(self.classes[c] for c in np.flatnonzero(np.isneginf(self.start)))
        outcome = ExcludedClasses((never, *excluded), impossible, is_every=not possible and bool(impossible))
        return ExplanationTable(text, title, names, start, tuple(amounts), total, self.unit == "number", outcome)


class ExplanationList(list[Explanation]):
    """List of explanations, which a notebook shows one below the other."""

    def _repr_html_(self) -> str:
        from baytree.display.results import stacked  # slow import, only needed in notebooks

        more = [f"{len(self) - _MAX_SHOWN_EXPLANATIONS:,} more"] if len(self) > _MAX_SHOWN_EXPLANATIONS else []
        return stacked([explanation._repr_html_() for explanation in self[:_MAX_SHOWN_EXPLANATIONS]], more)


def softmax(scores: np.ndarray) -> np.ndarray:
    """Log scores to probabilities, without overflow. float64 [n_rows, n_classes]"""
    shifted = scores - _over_classes(np.maximum, scores)
    np.exp(shifted, out=shifted)
    shifted /= _over_classes(np.add, shifted)
    return shifted


def _over_classes(operation: np.ufunc, values: np.ndarray) -> np.ndarray:
    """Reduce each row by a ufunc, [n_rows, 1]; column by column for a few classes, which is several times faster."""
    if not 0 < values.shape[1] < 8:  # from 8 columns on, numpy adds in another order, so results would differ
        return operation.reduce(values, axis=1, keepdims=True)
    total = values[:, 0].copy()
    for column in values.T[1:]:
        operation(total, column, out=total)
    return total[:, None]
