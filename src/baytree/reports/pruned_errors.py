"""How the trees of a cost-complexity sequence do on rows: cross-validated where these grew the tree, else held out."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from baytree.given import FrameLike, TargetLike
from baytree.model import Model, choices
from baytree.reports.subject import Judged, Subject
from baytree.table.table import Table

MOST_CELLS = 1 << 18  # of a table that is learnt from ten times for the sake of a page
MOST_ANSWERS = 1 << 24  # rows times trees that are asked
BY_CROSS_VALIDATION = "by cross-validation"
ON_THE_ROWS = "on the rows of this page"


@runtime_checkable
class Prunable(Protocol):
    """A tree that can be cut back."""

    def stopped(self, penalty: float) -> Model:
        """The tree that answers as the one that is left at a penalty."""
        ...


class Path(Protocol):
    """The trees of a sequence, and their cross-validated errors over that of the root; none where there are none."""

    splits: np.ndarray
    risk: np.ndarray
    error: np.ndarray


@runtime_checkable
class Validating(Protocol):
    """An estimator that grows a tree again on folds of rows."""

    def cost_complexity_path(self, X: FrameLike, y: TargetLike) -> Path:
        """The path of the tree that the rows grow."""
        ...


def with_errors(payload: dict[str, Any], subject: Subject, validated: Path | None) -> dict[str, Any]:
    """The tree of a page with an error of each tree in its sequence, and the words for it."""
    if subject.judged is None or not payload["path"]:
        return payload
    errors, words = _cross_validated(payload["path"], validated), BY_CROSS_VALIDATION
    if errors is None:
        errors, words = _held_out(subject, subject.judged, payload["path"]), ON_THE_ROWS
    path = [[*step[:3], error] for step, error in zip(payload["path"], errors, strict=True)] if errors else payload["path"]
    return payload | {"path": path, "tried": words}


def validated_path(model: object, subject: Subject, frame: FrameLike) -> Path | None:
    """The path of the tree that a small table grows, cross-validated; None where the model knows no such thing."""
    if subject.judged is None or not isinstance(model, Validating):
        return None
    if len(subject.judged.table) * len(subject.predictor.schema) > MOST_CELLS:
        return None
    try:
        return model.cost_complexity_path(frame, subject.predictor.schema.target.name)
    except ValueError:  # folds that name rows of another table, or rows too few to be dealt
        return None


def _cross_validated(path: list[list[Any]], validated: Path | None) -> list[float] | None:
    """The errors by cross-validation, where the rows grow the very tree of the page."""
    if validated is None or not len(validated.error):
        return None
    found = {int(n) + 1: each for n, *each in zip(validated.splits, validated.risk, validated.error, strict=True)}
    if any(leaves not in found or abs(found[leaves][0] - risk) > 1e-9 for _, leaves, risk, _ in path):
        return None
    return [float(found[leaves][1]) for _, leaves, _, _ in path]


def _held_out(subject: Subject, judged: Judged, path: list[list[Any]]) -> list[float] | None:
    """The error of each tree over that of the root."""
    model = subject.predictor.model
    if not isinstance(model, Prunable) or len(judged.table) * len(path) > MOST_ANSWERS:
        return None
    losses = [_loss(model.stopped(penalty), judged.table) for penalty, *_ in path]
    return [loss / losses[0] for loss in losses] if losses[0] else None


def _loss(model: Model, table: Table) -> float:
    """The weight of rows answered wrong, or the sum of squares."""
    if table.schema.target.classes is not None:
        return float(table.weight @ (choices(model, table) != table.label))
    return float(table.weight @ (table.label - model.answers(table)[:, 0]) ** 2)
