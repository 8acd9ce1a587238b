"""The right to say nothing: when an answer is not worth giving, and the reason in words.

What saying nothing brings: how many rows are answered, and how many of those right, as more confidence is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec
import numpy as np

from baytree import param_validation
from baytree._typing import FrameLike


class SupportsPredictSet(Protocol):
    """Prediction sets."""

    def predict_set(self, X: FrameLike) -> np.ndarray:
        """Whether each class is in the set of each row. bool [n_rows, n_classes]"""
        ...


class RejectRule(msgspec.Struct, frozen=True):
    """When to say nothing; None does not ask."""

    confidence: float | None = None  # the least probability of an answer
    cost: float | None = None  # what saying nothing costs, beside a mistake (Chow 1970)
    typicality: float | None = None  # the least share of rows, as the model expects them, that are as unlikely
    sets: SupportsPredictSet | None = None  # prediction sets: only what stands alone is an answer

    @classmethod
    def read(cls, given: Any) -> RejectRule:
        """What a user gave: a least probability, prediction sets, or a dict of these."""
        if hasattr(given, "predict_set"):
            return cls(sets=given)
        if not isinstance(given, Mapping):
            return cls(confidence=param_validation.number("reject", given, 0, 1))
        for name in given:
            if name not in cls.__struct_fields__:
                raise ValueError(f"reject names {name!r}: give one of {', '.join(map(repr, cls.__struct_fields__))}")
        if "sets" in given and not hasattr(given["sets"], "predict_set"):
            raise ValueError(f"reject['sets']={given['sets']!r}: give what bt.conformal gave")
        numbers = {name: _number(name, given[name]) for name in given if name != "sets"}
        return cls(**numbers, sets=given.get("sets"))


def _number(name: str, value: Any) -> float:
    if name == "cost":
        return param_validation.finite("reject['cost']", value, 0)
    return param_validation.number(f"reject[{name!r}]", value, 0, 1)


def low_confidence_reasons(probability: np.ndarray, least: float) -> list[str]:
    """A reason for each row whose answer has a probability [n_rows] below the least."""
    return [f"its class has probability {p:.3g}, below {least:g}" if p < least else "" for p in probability.tolist()]


def too_costly(expected: np.ndarray, cost: float) -> list[str]:
    """A reason for each row whose answer is expected to cost more [n_rows] than saying nothing."""
    return [f"an answer costs {c:.3g} on average, none {cost:g}" if c > cost else "" for c in expected.tolist()]


def atypical_reasons(typicality: np.ndarray, least: float) -> list[str]:
    """A reason for each row that is unlike anything seen: [n_rows] shares of rows that are as unlikely."""
    told = "unlike what was seen: of rows as the model expects them, {:.2%} are as unlikely, less than {:g}"
    return [told.format(t, least) if t < least else "" for t in typicality.tolist()]


def ambiguous_reasons(members: np.ndarray, classes: Sequence[Any]) -> list[str]:
    """A reason for each row whose prediction set [n_rows, n_classes] is not of one class."""
    reasons = []
    for row in members:
        names = [str(label) for label, is_in in zip(classes, row, strict=True) if is_in]
        several = f"it could be {', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else ""
        reasons.append(several if names else "it would be odd with any class")
    return reasons


def first_reasons(of_rules: Sequence[list[str]], n_rows: int) -> list[str]:
    """For each row the reason of the first rule that has one; empty where it is answered."""
    return [next((reasons[row] for reasons in of_rules if reasons[row]), "") for row in range(n_rows)]


class RejectionCurvePoints(msgspec.Struct, frozen=True):
    """A point for each different threshold, the surest rows first; rows that are as sure come together."""

    least: np.ndarray  # [n], the least confidence of an answer, falling
    share: np.ndarray  # [n], of rows that are then answered, rising to 1
    accuracy: np.ndarray  # [n], of right answers among them

    @classmethod
    def of(cls, sure: np.ndarray, is_right: np.ndarray, weight: np.ndarray) -> RejectionCurvePoints:
        """Of rows with what they are sure of, whether that is right, and their weight. [n_rows] each"""
        order = np.argsort(-sure, kind="stable")
        last = np.append(np.flatnonzero(np.diff(sure[order])), len(order) - 1)
        total, right = np.cumsum(weight[order])[last], np.cumsum((weight * is_right)[order])[last]
        return cls(sure[order][last], total / total[-1], right / np.maximum(total, 1e-300))


def at_least(thresholds: np.ndarray, least: np.ndarray, share: np.ndarray, accuracy: np.ndarray) -> np.ndarray:
    """The share answered, and the accuracy of those, at each threshold; NaN where nobody is answered. [n, 2]

    >>> at_least(np.array([0.5, 0.8, 0.95]), np.array([0.9, 0.6]), np.array([0.25, 1.0]), np.array([1.0, 0.75])).tolist()
    [[1.0, 0.75], [0.25, 1.0], [0.0, nan]]
    """
    place = np.searchsorted(-least, -thresholds, side="right")  # how many points are at least as sure
    shares, accuracies = np.append(0.0, share)[place], np.append(np.nan, accuracy)[place]
    return np.stack([shares, accuracies], axis=1)
