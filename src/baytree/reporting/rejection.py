"""Page records of the reject option (accuracy by minimum probability) and of prediction sets."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from baytree.base.predictor import FittedEstimator
from baytree.rendering.page.table_views import RejectionView
from baytree.reporting.subject import EvaluatedRows, ReportSubject, predictor_of
from baytree.uncertainty.rejection import RejectionCurvePoints, at_least

THRESHOLDS = np.arange(101) / 100  # stops of the page's slider

ON_THE_ROWS = "on the rows of this page; the figures are optimistic if these are training rows"

BY_CROSS_VALIDATION = "by cross-validation"


class RejectionCurveLike(Protocol):
    """Accuracy against the proportion of rows that are predicted, the most certain first."""

    @property
    def threshold(self) -> np.ndarray: ...
    @property
    def coverage(self) -> np.ndarray: ...
    @property
    def accuracy(self) -> np.ndarray: ...


def rejection_payload(subject: ReportSubject, held_out_curve: RejectionCurveLike | None) -> dict[str, Any]:
    """Data of the slider: from a curve on held-out rows, else from the rows of the page, else empty."""
    if held_out_curve is not None:
        return _payload(held_out_curve, BY_CROSS_VALIDATION)
    return {} if subject.evaluated is None else _payload(_of_rows(subject.evaluated), ON_THE_ROWS)


def rejection_view(payload: dict[str, Any]) -> RejectionView:
    """Rejection curve of a payload, in a box of 200 by 200."""
    if not payload:
        return RejectionView("", 0.0)
    low, points_of_curve = payload["low"], zip(payload["share"], payload["right"], strict=True)
    points = dict.fromkeys(
        f"{200 * proportion:.1f} {200 * (1 - accuracy) / (1 - low):.1f}"
        for proportion, accuracy in points_of_curve
        if proportion
    )
    return RejectionView("M" + "L".join(points), low, payload["tried"])


def _payload(curve: RejectionCurveLike, method: str) -> dict[str, Any]:
    points = at_least(THRESHOLDS, curve.threshold, curve.coverage, curve.accuracy)
    accuracy = [float(each) if np.isfinite(each) else None for each in points[:, 1]]
    low = min(float(np.floor(20 * np.nanmin(points[:, 1])) / 20), 0.95)
    return {"share": points[:, 0].tolist(), "right": accuracy, "low": low, "tried": method}


def _of_rows(evaluated: EvaluatedRows) -> RejectionCurvePoints:
    certainty = evaluated.predictions[np.arange(len(evaluated.choice)), evaluated.choice]
    return RejectionCurvePoints.of(certainty, evaluated.choice == evaluated.table.label, evaluated.table.weight)


class Guarantee(Protocol):
    """Guarantee of prediction sets."""

    @property
    def alpha(self) -> float: ...


class PredictionSetsLike(Protocol):
    """Conformal prediction sets or intervals of a model that was fitted before."""

    @property
    def estimator_(self) -> FittedEstimator: ...
    @property
    def guarantee_settings(self) -> Guarantee: ...
    def bounds(self) -> np.ndarray: ...


def sets_payload(subject: ReportSubject, sets: PredictionSetsLike) -> dict[str, Any]:
    """Minimum probability of each class in a set, or half-width of an interval; the page's formula does the rest.

    Raises ValueError if `sets` is not a conformal predictor of this model.
    """
    if not hasattr(sets, "bounds"):
        raise ValueError(f"sets={sets!r}: give the result of bt.conformal")
    if predictor_of(sets.estimator_).model is not subject.predictor.model:
        raise ValueError(
            "sets: these are prediction sets of another model; give bt.conformal(model, held_out, target, cv='fitted')"
        )
    bounds = [float(each) if np.isfinite(each) else None for each in sets.bounds()]
    return {"bounds": bounds, "asked": 1 - sets.guarantee_settings.alpha}
