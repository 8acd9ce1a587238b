"""Reject option: rules that withhold a prediction, the reason in words, and the curve of accuracy against coverage.

`RejectRule` reads what users pass as `reject=`. The `*_reasons` functions return one string per row, empty if the row is
predicted. `RejectionCurvePoints` computes the accuracy–coverage curve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec
import numpy as np

from baytree import param_validation
from baytree._typing import FrameLike


class SupportsPredictSet(Protocol):
    """Protocol of objects with prediction sets."""

    def predict_set(self, X: FrameLike) -> np.ndarray:
        """Whether each class is in the prediction set of each row. bool [n_rows, n_classes]"""
        ...


class RejectRule(msgspec.Struct, frozen=True):
    """When to withhold a prediction; None disables a criterion."""

    confidence: float | None = None  # minimum probability of a prediction
    cost: float | None = None  # cost of a rejection relative to a mistake (Chow 1970)
    typicality: float | None = None  # minimum proportion of rows, under the model, that are as unlikely
    sets: SupportsPredictSet | None = None  # prediction sets: predict only if the set has a single class

    @classmethod
    def read(cls, given: Any) -> RejectRule:
        """Rule from user input: a minimum probability, prediction sets, or a dict of these."""
        if hasattr(given, "predict_set"):
            return cls(sets=given)
        if not isinstance(given, Mapping):
            return cls(confidence=param_validation.number("reject", given, 0, 1))
        for name in given:
            if name not in cls.__struct_fields__:
                raise ValueError(f"reject names {name!r}: give one of {', '.join(map(repr, cls.__struct_fields__))}")
        if "sets" in given and not hasattr(given["sets"], "predict_set"):
            raise ValueError(f"reject['sets']={given['sets']!r}: pass the result of bt.conformal")
        numbers = {name: _number(name, given[name]) for name in given if name != "sets"}
        return cls(**numbers, sets=given.get("sets"))


def _number(name: str, value: Any) -> float:
    if name == "cost":
        return param_validation.finite("reject['cost']", value, 0)
    return param_validation.number(f"reject[{name!r}]", value, 0, 1)


def low_confidence_reasons(probability: np.ndarray, min_probability: float) -> list[str]:
    """A reason for each row whose predicted class has a probability [n_rows] below `min_probability`."""
    return [
        f"the predicted class has probability {p:.3g}, below {min_probability:g}" if p < min_probability else ""
        for p in probability.tolist()
    ]


def too_costly(expected: np.ndarray, cost: float) -> list[str]:
    """A reason for each row whose expected cost of prediction [n_rows] exceeds the cost of rejection."""
    return [
        f"a prediction has an expected cost of {c:.3g}, more than a rejection ({cost:g})" if c > cost else ""
        for c in expected.tolist()
    ]


def atypical_reasons(typicality: np.ndarray, min_typicality: float) -> list[str]:
    """A reason for each row that is unlike the training rows. typicality [n_rows]: proportion of rows that are as
    unlikely
    """
    template = "unlike the training rows: only {:.2%} of the rows that the model expects are as unlikely, below {:g}"
    return [template.format(t, min_typicality) if t < min_typicality else "" for t in typicality.tolist()]


def ambiguous_reasons(members: np.ndarray, classes: Sequence[Any]) -> list[str]:
    """A reason for each row whose prediction set [n_rows, n_classes] does not have exactly one class."""
    reasons = []
    for row in members:
        names = [str(label) for label, is_in in zip(classes, row, strict=True) if is_in]
        alternatives = f"several classes are possible: {', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else ""
        reasons.append(alternatives if names else "no class is plausible")
    return reasons


def first_reasons(of_rules: Sequence[list[str]], n_rows: int) -> list[str]:
    """For each row the reason of the first rule that rejects it; empty if it is predicted."""
    return [next((reasons[row] for reasons in of_rules if reasons[row]), "") for row in range(n_rows)]


class RejectionCurvePoints(msgspec.Struct, frozen=True):
    """One point per distinct threshold, most confident rows first; rows of equal confidence form one point."""

    threshold: np.ndarray  # [n], confidence threshold, decreasing
    coverage: np.ndarray  # [n], coverage: proportion of rows predicted, increasing to 1
    accuracy: np.ndarray  # [n], accuracy among them

    @classmethod
    def of(cls, sure: np.ndarray, is_right: np.ndarray, weight: np.ndarray) -> RejectionCurvePoints:
        """Curve of rows with their confidence, whether the prediction is right, and weight. [n_rows] each"""
        order = np.argsort(-sure, kind="stable")
        last = np.append(np.flatnonzero(np.diff(sure[order])), len(order) - 1)
        covered, correct = np.cumsum(weight[order])[last], np.cumsum((weight * is_right)[order])[last]
        return cls(sure[order][last], covered / covered[-1], correct / np.maximum(covered, 1e-300))


def at_least(thresholds: np.ndarray, minimum: np.ndarray, proportion: np.ndarray, accuracy: np.ndarray) -> np.ndarray:
    """Coverage and accuracy at each threshold; the accuracy is NaN if no row is predicted. [n, 2]

    >>> at_least(np.array([0.5, 0.8, 0.95]), np.array([0.9, 0.6]), np.array([0.25, 1.0]), np.array([1.0, 0.75])).tolist()
    [[1.0, 0.75], [0.25, 1.0], [0.0, nan]]
    """
    n_points = np.searchsorted(-minimum, -thresholds, side="right")  # number of points that are at least as confident
    coverage, accuracies = np.append(0.0, proportion)[n_points], np.append(np.nan, accuracy)[n_points]
    return np.stack([coverage, accuracies], axis=1)
