"""Answers of a fitted model held against what is true of rows: statistics of a frame, or of a batch, that add up."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import settings
from baytree.choose.confusion import Confusion
from baytree.choose.residuals import Residuals
from baytree.given import CostsLike, FrameLike, TargetLike, WeightsLike
from baytree.labelled import column_named, read_target
from baytree.model import choices
from baytree.predictor import Predictor, is_without_rows
from baytree.table.frames import read
from baytree.table.shape import check_shape
from baytree.table.weight_reading import read_part_weights, weight_column

Judged = Confusion | Residuals


def judged(
    predictor: Predictor, y: TargetLike, sample_weight: WeightsLike, costs: np.ndarray | None, frame: FrameLike
) -> Judged:
    """How a model fares on rows whose target is known; those without one, or of weight 0, are passed over.

    `y` is the labels or the name of their column, `sample_weight` likewise; `costs` are of mistakes, [n_classes, n_classes].
    """
    target = predictor.schema.target
    if is_without_rows(frame):
        return _of_none(predictor, 0, costs)
    labels = read_target(target, column_named(frame, y) if isinstance(y, str) else y)
    check_shape(read(frame), len(labels.values), predictor.name)
    if labels.unseen is not None:
        raise ValueError(f"column {target.name!r}: class {labels.unseen!r} was not seen in training; leave such rows out")
    weight, is_unweighted = _weights(sample_weight, frame, len(labels.values))
    counts = labels.is_known & (weight > 0)
    n_unlabelled = int((~labels.is_known).sum())
    if not counts.any():
        return _of_none(predictor, n_unlabelled, costs)
    table = predictor.encoded(frame)
    table = table if counts.all() else table.take(np.flatnonzero(counts))
    truth, own = labels.values[counts], None if is_unweighted else weight[counts]
    answers = predictor.model.answers(table)
    if target.classes is None:
        found: Judged = Residuals.of(truth, answers[:, 0], own)
    else:
        found = Confusion.of(truth, choices(predictor.model, table), answers, own, costs)
    return msgspec.structs.replace(found, n_unlabelled=n_unlabelled)


def costs_of(predictor: Predictor, costs: CostsLike) -> np.ndarray | None:
    """What mistakes cost, checked: [n_classes, n_classes], in the order of the model's classes."""
    target = predictor.schema.target
    if costs is not None and target.classes is None:
        raise ValueError(f"costs are of classes, but {target.name!r} is a number; leave costs out")
    checked = settings.costs(costs, target.classes or ())
    return None if checked is None else checked.amounts


def _of_none(predictor: Predictor, n_unlabelled: int, costs: np.ndarray | None) -> Judged:
    classes = predictor.schema.target.classes
    return Residuals.none(n_unlabelled) if classes is None else Confusion.none(len(classes), n_unlabelled, costs)


def _weights(given: WeightsLike, frame: FrameLike, n_rows: int) -> tuple[np.ndarray, bool]:
    return read_part_weights(weight_column(read(frame), given) if isinstance(given, str) else given, n_rows)
