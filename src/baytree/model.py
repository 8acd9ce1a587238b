"""What every model can do, and the one form that every explanation has.

A model is a frozen record of arrays. An explanation is a ledger: a start, a line of evidence per column, and their sum.
"""

from __future__ import annotations

from typing import Protocol

import msgspec
import numpy as np

from .table import Schema, Table


class Model(Protocol):
    """A learnt classifier: rows to probabilities, and to the reasons for them."""

    def probabilities(self, table: Table) -> np.ndarray:
        """The probability of each class for each row: [n_rows, n_classes]."""
        ...

    def explain(self, table: Table) -> list[Explanation]:
        """The ledger of each row."""
        ...

    def describe(self, schema: Schema) -> str:
        """The model in words."""
        ...

    def check(self, schema: Schema) -> None:
        """Raises an error where the model, read from a file, does not fit the schema: any index, shape or size."""
        ...


class Evidence(msgspec.Struct, frozen=True):
    """One line of a ledger: what a column's value adds to the score of each class."""

    column: str
    value: str
    effect: np.ndarray  # [n_classes]


class Explanation(msgspec.Struct, frozen=True):
    """Why a row got its scores: start + Σ effects = scores, exactly, in the order of the lines."""

    classes: tuple
    start: np.ndarray  # [n_classes]
    evidence: tuple[Evidence, ...]
    probability: np.ndarray  # [n_classes]
    unit: str = "log-odds"  # of start and effects; "probability" for trees, "number" in regression

    @property
    def scores(self) -> np.ndarray:
        """The sum of the ledger: [n_classes]."""
        total = self.start.copy()
        for line in self.evidence:
            total = total + line.effect
        return total

    @property
    def prediction(self) -> object:
        """The most probable class, or the number."""
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
            "evidence": [
                {"column": line.column, "value": line.value, "effect": line.effect.tolist()} for line in self.evidence
            ],
            "scores": self.scores.tolist(),
        }

    def __str__(self) -> str:
        return _in_words(self)


def softmax(scores: np.ndarray) -> np.ndarray:
    """Scores in logs to probabilities, stable at any size: [n_rows, n_classes]."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    np.exp(shifted, out=shifted)
    return shifted / shifted.sum(axis=1, keepdims=True)


_BAR = 20  # characters of the longest bar


def _in_words(explanation: Explanation) -> str:
    if explanation.unit == "number":
        return _number_in_words(explanation)
    order = np.argsort(-explanation.probability, kind="stable")
    best, other = int(order[0]), int(order[1]) if len(order) > 1 else None
    head = f"{explanation.classes[best]}, with probability {explanation.probability[best]:.3f}"
    if other is None:
        return head
    head += f" ({explanation.classes[other]}: {explanation.probability[other]:.3f})"
    lines = [("start", float(explanation.start[best] - explanation.start[other]))]
    lines += [(f"{e.column} = {e.value}", float(e.effect[best] - e.effect[other])) for e in explanation.evidence]
    total = float(explanation.scores[best] - explanation.scores[other])
    return "\n".join([head, "", *_ledger(lines, total, explanation, best, other)])


def _number_in_words(explanation: Explanation) -> str:
    lines = [("start", float(explanation.start[0]))]
    lines += [(f"{e.column} = {e.value}", float(e.effect[0])) for e in explanation.evidence]
    width = max(len(name) for name, _ in [*lines, ("sum", 0.0)])
    largest = max([abs(effect) for _, effect in lines[1:]] or [1.0]) or 1.0
    rows = [f"{name:<{width}}  {effect:+12.6g}  {_bar(effect, largest)}".rstrip() for name, effect in lines[1:]]
    total = float(explanation.scores[0])
    head = f"{explanation.classes[0]} = {total:.6g}"
    return "\n".join([head, "", f"{'start':<{width}}  {lines[0][1]:12.6g}", *rows, f"{'sum':<{width}}  {total:12.6g}"])


def _ledger(lines: list[tuple[str, float]], total: float, explanation: Explanation, best: int, other: int) -> list[str]:
    title = f"{explanation.unit} for {explanation.classes[best]} against {explanation.classes[other]}"
    width = max(len(name) for name, _ in [*lines, ("sum", 0.0)])
    largest = max([abs(effect) for _, effect in lines if np.isfinite(effect)] or [1.0]) or 1.0
    rows = [f"{name:<{width}}  {effect:+9.3f}  {_bar(effect, largest)}".rstrip() for name, effect in lines]
    return [f"{'':<{width}}  {title}", *rows, f"{'sum':<{width}}  {total:+9.3f}"]


def _bar(effect: float, largest: float) -> str:
    length = _BAR if not np.isfinite(effect) else round(_BAR * abs(effect) / largest)
    return ("+" if effect > 0 else "−") * length
