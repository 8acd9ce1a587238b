"""Saying nothing on a page: at each least probability, how many rows are answered and how many of those right.

Prediction sets on a page: a class is in the set where its probability is at least what rows kept back have told.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from baytree.rendering.page.table_views import RejectionView
from baytree.reporting.subject import EvaluatedRows, FittedEstimator, ReportSubject, predictor_of
from baytree.uncertainty.rejection import RejectionCurvePoints, at_least

THRESHOLDS = np.arange(101) / 100  # where the page's slider stops

ON_THE_ROWS = "on the rows of this page; rows that the model has learnt from flatter it"

BY_CROSS_VALIDATION = "by cross-validation"


class RejectionCurveLike(Protocol):
    """Accuracy against the share of rows that are answered, the surest first."""

    @property
    def least(self) -> np.ndarray: ...
    @property
    def share(self) -> np.ndarray: ...
    @property
    def accuracy(self) -> np.ndarray: ...


def rejection_payload(subject: ReportSubject, kept_back: RejectionCurveLike | None) -> dict[str, Any]:
    """What the slider reads: by answers for rows that were kept back, else by the rows of the page, else nothing."""
    if kept_back is not None:
        return _told(kept_back, BY_CROSS_VALIDATION)
    return {} if subject.judged is None else _told(_of_rows(subject.judged), ON_THE_ROWS)


def silence_view(payload: dict[str, Any]) -> RejectionView:
    """The curve of a payload, drawn in a box of 200 by 200."""
    if not payload:
        return RejectionView("", 0.0)
    low, every = payload["low"], zip(payload["share"], payload["right"], strict=True)
    points = dict.fromkeys(f"{200 * share:.1f} {200 * (1 - right) / (1 - low):.1f}" for share, right in every if share)
    return RejectionView("M" + "L".join(points), low, payload["tried"])


def _told(curve: RejectionCurveLike, tried: str) -> dict[str, Any]:
    found = at_least(THRESHOLDS, curve.least, curve.share, curve.accuracy)
    right = [float(each) if np.isfinite(each) else None for each in found[:, 1]]
    low = min(float(np.floor(20 * np.nanmin(found[:, 1])) / 20), 0.95)
    return {"share": found[:, 0].tolist(), "right": right, "low": low, "tried": tried}


def _of_rows(judged: EvaluatedRows) -> RejectionCurvePoints:
    sure = judged.answers[np.arange(len(judged.choice)), judged.choice]
    return RejectionCurvePoints.of(sure, judged.choice == judged.table.label, judged.table.weight)


class Promised(Protocol):
    """What was asked for."""

    @property
    def alpha(self) -> float: ...


class PredictionSetsLike(Protocol):
    """Sets of classes, or intervals of numbers, of a model that was fitted before."""

    @property
    def estimator_(self) -> FittedEstimator: ...
    @property
    def promise(self) -> Promised: ...
    def bounds(self) -> np.ndarray: ...


def sets_payload(subject: ReportSubject, sets: PredictionSetsLike) -> dict[str, Any]:
    """The least probability of each class in a set, or how far an interval reaches: the page's formula does the rest."""
    if not hasattr(sets, "bounds"):
        raise ValueError(f"sets={sets!r}: give what bt.conformal gave")
    if predictor_of(sets.estimator_).model is not subject.predictor.model:
        raise ValueError("sets: these are of another model; give bt.conformal(model, held_out, target, cv='fitted')")
    bounds = [float(each) if np.isfinite(each) else None for each in sets.bounds()]
    return {"bounds": bounds, "asked": 1 - sets.promise.alpha}
