"""Prediction sets on a page: a class is in the set where its probability is at least what rows kept back have told."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from baytree.reports.subject import Fitted, Subject, predictor_of


class Promised(Protocol):
    """What was asked for."""

    @property
    def alpha(self) -> float: ...


class Sets(Protocol):
    """Sets of classes, or intervals of numbers, of a model that was fitted before."""

    @property
    def estimator_(self) -> Fitted: ...
    @property
    def promise(self) -> Promised: ...
    def bounds(self) -> np.ndarray: ...


def sets_payload(subject: Subject, sets: Sets) -> dict[str, Any]:
    """The least probability of each class in a set, or how far an interval reaches: the page's formula does the rest."""
    if not hasattr(sets, "bounds"):
        raise ValueError(f"sets={sets!r}: give what bt.conformal gave")
    if predictor_of(sets.estimator_).model is not subject.predictor.model:
        raise ValueError("sets: these are of another model; give bt.conformal(model, held_out, target, cv='fitted')")
    bounds = [float(each) if np.isfinite(each) else None for each in sets.bounds()]
    return {"bounds": bounds, "asked": 1 - sets.promise.alpha}
