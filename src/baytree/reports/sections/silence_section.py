"""Saying nothing on a page: at each least probability, how many rows are answered and how many of those right."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from baytree.limits.answered import Answered, at_least
from baytree.reports.subject import Judged, Subject
from baytree.show.report.records.interactive_views import SilenceView

THRESHOLDS = np.arange(101) / 100  # where the page's slider stops
ON_THE_ROWS = "on the rows of this page; rows that the model has learnt from flatter it"
BY_CROSS_VALIDATION = "by cross-validation"


class Curve(Protocol):
    """Accuracy against the share of rows that are answered, the surest first."""

    @property
    def least(self) -> np.ndarray: ...
    @property
    def share(self) -> np.ndarray: ...
    @property
    def accuracy(self) -> np.ndarray: ...


def silence_payload(subject: Subject, kept_back: Curve | None) -> dict[str, Any]:
    """What the slider reads: by answers for rows that were kept back, else by the rows of the page, else nothing."""
    if kept_back is not None:
        return _told(kept_back, BY_CROSS_VALIDATION)
    return {} if subject.judged is None else _told(_of_rows(subject.judged), ON_THE_ROWS)


def silence_view(payload: dict[str, Any]) -> SilenceView:
    """The curve of a payload, drawn in a box of 200 by 200."""
    if not payload:
        return SilenceView("", 0.0)
    low, every = payload["low"], zip(payload["share"], payload["right"], strict=True)
    points = dict.fromkeys(f"{200 * share:.1f} {200 * (1 - right) / (1 - low):.1f}" for share, right in every if share)
    return SilenceView("M" + "L".join(points), low, payload["tried"])


def _told(curve: Curve, tried: str) -> dict[str, Any]:
    found = at_least(THRESHOLDS, curve.least, curve.share, curve.accuracy)
    right = [float(each) if np.isfinite(each) else None for each in found[:, 1]]
    low = min(float(np.floor(20 * np.nanmin(found[:, 1])) / 20), 0.95)
    return {"share": found[:, 0].tolist(), "right": right, "low": low, "tried": tried}


def _of_rows(judged: Judged) -> Answered:
    sure = judged.answers[np.arange(len(judged.choice)), judged.choice]
    return Answered.of(sure, judged.choice == judged.table.label, judged.table.weight)
