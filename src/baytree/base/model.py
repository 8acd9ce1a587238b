"""What every model can do, and the one form that every explanation has.

A model is a frozen record of arrays. An explanation is a ledger: a start, a line of evidence per column, and their sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.rendering.explanation import ExcludedClasses, ExplanationTable, to_text

if TYPE_CHECKING:
    from baytree.formula import Formula
    from baytree.summary import Summary

_MOST_LEDGERS = 20  # of a notebook's view


class Model(Protocol):
    """What was learnt: rows to answers, and to the reasons for them. A frozen record of arrays."""

    def predict(self, table: Table) -> np.ndarray:
        """The probability of each class, or the expected number, for each row: [n_rows, n_outputs]."""
        ...

    def explain(self, table: Table) -> list[Explanation]:
        """The ledger of each row."""
        ...

    def summary(self, schema: Schema) -> Summary:
        """What the model is, as a record; text, HTML and JSON are printers of it."""
        ...

    def formula(self, schema: Schema) -> Formula:
        """The model as an expression of the raw columns; every export is a printer of it."""
        ...

    def check(self, schema: Schema) -> None:
        """Raises an error where the model, read from a file, does not fit the schema: any index, shape or size."""
        ...


def predict_codes(model: Model, table: Table) -> np.ndarray:
    """The class code of each row: the most probable class, unless the model chooses otherwise, as by costs. [n_rows]"""
    choose = getattr(model, "predict_codes", None)
    return choose(table) if choose else np.argmax(model.predict(table), axis=1)


def predict_with_codes(model: Model, table: Table) -> tuple[np.ndarray, np.ndarray | None]:
    """The answers of each row, and the code of the class that is chosen; None where they are numbers.

    A model that finds both in one go has a method for it.
    """
    both = getattr(model, "predict_with_codes", None)
    if table.schema.target.classes is None:
        return model.predict(table), None
    if both:
        return both(table)
    answers, choose = model.predict(table), getattr(model, "predict_codes", None)
    return answers, choose(table) if choose else np.argmax(answers, axis=1)


class Evidence(msgspec.Struct, frozen=True):
    """One line of a ledger: what a column's value adds to the score of each class."""

    column: str
    value: str
    effect: np.ndarray  # [n_classes]
    condition: str = ""  # what a test asked of the value, with the column's name; empty where the value itself counts

    @property
    def told(self) -> str:
        """The line's name: `age = 5`, or what was asked and, where that leaves it open, the value: `age < 7.5 (5)`."""
        if not self.condition:
            return f"{self.column} = {self.value}"
        is_said = self.condition == f"{self.column} = {self.value}"
        return self.condition if is_said else f"{self.condition} ({self.value})"

    @property
    def excluded(self) -> np.ndarray:
        """The classes that cannot be, with this value. int64 [n_excluded]"""
        return np.flatnonzero(np.isneginf(self.effect))


class Explanation(msgspec.Struct, frozen=True):
    """Why a row got its scores: start + Σ effects = scores, exactly, in the order of the lines.

    Attributes
    ----------
    classes : tuple
        The classes, as they came; the name of the target where that is a number.
    start : ndarray of shape (n_classes,)
        The scores before any column is looked at.
    evidence : tuple of Evidence
        A line for each column that counts: its `column`, its `value` and the `effect` on each score.
    probability : ndarray of shape (n_classes,)
        The probability of each class; 1 where the target is a number.
    unit : {"log-odds", "probability", "number"}
        What start and effects are measured in: probability for trees, number in regression.
    unanswered : str
        Why the row gets no answer, where `reject` was set and none is worth giving; empty else.
    scores : ndarray of shape (n_classes,)
        The sum of the ledger.
    prediction : object
        The most probable class, or the number; None where the row gets no answer.
    """

    classes: tuple
    start: np.ndarray  # [n_classes]
    evidence: tuple[Evidence, ...]
    probability: np.ndarray  # [n_classes]
    unit: str = "log-odds"  # of start and effects; "probability" for trees, "number" in regression
    unanswered: str = ""  # why the row gets no answer

    @property
    def scores(self) -> np.ndarray:
        """The sum of the ledger: [n_classes]."""
        total = self.start.copy()
        for line in self.evidence:
            total = total + line.effect
        return total

    @property
    def prediction(self) -> object:
        """The most probable class, or the number; None where the row gets no answer."""
        if self.unanswered:
            return None
        if self.unit == "number":
            return float(self.scores[0])
        return self.classes[int(np.argmax(self.probability))]

    def to_dict(self) -> dict:
        """The ledger as plain values."""
        return {
            "prediction": self.prediction,
            "probability": dict(zip(map(str, self.classes), self.probability.tolist(), strict=True)),
            "unit": self.unit,
            "start": self.start.tolist(),
            "evidence": [self._line(line) for line in self.evidence],
            "scores": self.scores.tolist(),
        } | ({"unanswered": self.unanswered} if self.unanswered else {})

    def _line(self, line: Evidence) -> dict:
        told = {"column": line.column, "value": line.value, "effect": line.effect.tolist()}
        condition = {"condition": line.condition} if line.condition else {}
        excluded = {"excludes": [self.classes[c] for c in line.excluded]} if len(line.excluded) else {}
        return told | condition | excluded

    def against_runner_up(self) -> tuple[str, str, list[float], float]:
        """The answer in words, what is added up, its amounts (the start, then each line of evidence), and their sum.

        Of classes it is the most probable one against the next.
        """
        ledger, scores = (self.start, *(line.effect for line in self.evidence)), self.scores
        if self.unit == "number":
            return f"{self.classes[0]} = {scores[0]:.6g}", "number", [float(line[0]) for line in ledger], float(scores[0])
        order = np.argsort(-self.probability, kind="stable")
        best = int(order[0])
        none = f"no answer: {self.unanswered}; the likeliest is " if self.unanswered else ""
        answer = f"{none}{self.classes[best]}, with probability {self.probability[best]:.3f}"
        if len(order) == 1:
            return answer, self.unit, [float(line[0]) for line in ledger], float(scores[0])
        other = int(order[1])
        answer += f" ({self.classes[other]}: {self.probability[other]:.3f})"
        title = f"{self.unit} for {self.classes[best]} against {self.classes[other]}"
        with np.errstate(invalid="ignore"):  # two impossible classes differ by no number
            amounts = [float(line[best] - line[other]) for line in ledger]
            return answer, title, amounts, float(scores[best] - scores[other])

    def __str__(self) -> str:
        return to_text(self._ledger()) if len(self.probability) > 1 or self.unit == "number" else self.against_runner_up()[0]

    def _repr_html_(self) -> str:
        from baytree.rendering.explanation import to_html  # only a notebook asks for it

        return to_html(self._ledger())

    def _ledger(self) -> ExplanationTable:
        answer, title, (start, *amounts), total = self.against_runner_up()
        names = tuple(line.told for line in self.evidence)
        excluded = tuple(tuple(self.classes[c] for c in line.excluded) for line in self.evidence)
        impossible = tuple(self.classes[c] for c in np.flatnonzero(np.isneginf(self.scores)))
        kept = () if self.unit == "number" else tuple(c for c in self.classes if c not in set(impossible))
        never = tuple(self.classes[c] for c in np.flatnonzero(np.isneginf(self.start)))
        outcome = ExcludedClasses((never, *excluded), impossible, is_every=not kept and bool(impossible))
        return ExplanationTable(answer, title, names, start, tuple(amounts), total, self.unit == "number", outcome)


class ExplanationList(list[Explanation]):
    """The ledgers of several rows: a list that a notebook shows one below the other."""

    def _repr_html_(self) -> str:
        from baytree.display.results import stacked  # only a notebook asks for it

        more = [f"{len(self) - _MOST_LEDGERS:,} more"] if len(self) > _MOST_LEDGERS else []
        return stacked([explanation._repr_html_() for explanation in self[:_MOST_LEDGERS]], more)


def softmax(scores: np.ndarray) -> np.ndarray:
    """Scores in logs to probabilities, stable at any size: [n_rows, n_classes]."""
    shifted = scores - _over_classes(np.maximum, scores)
    np.exp(shifted, out=shifted)
    shifted /= _over_classes(np.add, shifted)
    return shifted


def _over_classes(operation: np.ufunc, values: np.ndarray) -> np.ndarray:
    """The operation over each row: [n_rows, 1]. Of a few classes column by column, the same result several times faster."""
    if not 0 < values.shape[1] < 8:  # from eight on numpy adds in another order
        return operation.reduce(values, axis=1, keepdims=True)
    total = values[:, 0].copy()
    for column in values.T[1:]:
        operation(total, column, out=total)
    return total[:, None]
