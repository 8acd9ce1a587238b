"""Folds of rows that are elsewhere, for models that add up: one round observes all folds, another answers for their rows.

The rows stay where they are. Their labels come here to be dealt into folds, the fold of each row goes there, and the answers
come back, as those of `predict` do.
"""

from __future__ import annotations

from functools import partial, reduce
from operator import add
from time import perf_counter
from typing import Self

import msgspec
import numpy as np
from sklearn.base import clone

from baytree.choose.validate.fold_tables import to_answer_for
from baytree.choose.validate.result import CrossValidation
from baytree.choose.validate.trials import Trial, can_subtract, codes_among, spread
from baytree.engine.elsewhere import Elsewhere, refuse_more_than_fits
from baytree.engine.gathering import Perhaps
from baytree.estimators.additive import AdditiveEstimator
from baytree.estimators.learning import far_rows, learner_of
from baytree.folds.cv import CV, Folds, names_rows, read_cv
from baytree.given import EstimatorLike, FrameLike, TargetLike, WeightsLike
from baytree.learner import Additive
from baytree.model import Model, choices
from baytree.statistics.strung import Strung
from baytree.table.labels import Labels
from baytree.table.schema import Schema
from baytree.table.table import Table

MOST_FOLDS = 1000  # models at a time; to leave one row out after the other, rows are brought here


def validated_where_rows_are(
    estimator: EstimatorLike, frame: FrameLike, target: TargetLike, sample_weight: WeightsLike, cv: CV, seed: int
) -> CrossValidation | None:
    """The cross-validation of rows that stay where they are; None where it needs them here."""
    if not isinstance(estimator, AdditiveEstimator) or names_rows(cv) or cv in ("loo", "leave-one-out"):
        return None
    rows = far_rows(clone(estimator), frame, target, sample_weight)
    learner = learner_of(estimator, rows.schema)
    if not can_subtract(learner, rows.schema):
        return None
    n_classes = len(rows.schema.target.classes or ())
    refuse_more_than_fits(rows.n_rows * 8.0 * (n_classes + 4), rows.source)
    label, weight = rows.total(_labels, rows_per_part=None).arrays
    folds = read_cv(cv, len(label), label, n_classes > 0, None, seed)
    fold = _held_out(folds, len(label))
    if fold is None:
        return None
    trials = tuple(_trials(learner, rows, folds, fold))
    known = None if rows.encoding.is_unweighted else weight
    return CrossValidation(type(estimator).__name__, Labels(label, rows.schema.target), trials, folds.how, known)


class ByFold(msgspec.Struct, frozen=True):
    """What was seen of each fold, and of the rows that none holds out."""

    seen: tuple[Perhaps, ...]

    @classmethod
    def of(cls, learner: Additive, fold: np.ndarray, n_folds: int, table: Table) -> Self:
        """Of the rows of one part."""
        own = fold[table.first : table.first + len(table)]
        places = [np.flatnonzero(own == k) for k in range(-1, n_folds)]
        return cls(tuple(Perhaps(learner.observe(table.take(rows)) if len(rows) else None) for rows in places))

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(mine + theirs for mine, theirs in zip(self.seen, other.seen, strict=True)))


def _trials(learner: Additive, rows: Elsewhere, folds: Folds, fold: np.ndarray) -> list[Trial]:
    start = perf_counter()
    n_folds = len(folds.parts)
    seen = rows.total(partial(ByFold.of, learner, fold, n_folds), rows_per_part=None).seen
    everything = reduce(add, seen).value
    models = []
    for own in seen[1:]:
        schema, left = (everything - own.value).shrunk(rows.schema)
        models.append((schema, learner.derive(left, schema)))
    seconds = (perf_counter() - start) / n_folds
    answer, probability = rows.total(partial(_answers, models, fold), rows_per_part=None).arrays
    return [
        Trial(part.test, len(part.train), answer[part.test], probability[part.test] if probability.size else None, seconds)
        for part in folds.parts
    ]


def _answers(models: list[tuple[Schema, Model]], fold: np.ndarray, table: Table) -> Strung:
    """What the model that has not seen a row answers for it, and with which probabilities."""
    own, classes = fold[table.first : table.first + len(table)], table.schema.target.classes
    answer = np.zeros(len(table), np.int32 if classes else np.float64)
    probability = np.zeros((len(table), len(classes or ())))
    for k, (schema, model) in enumerate(models):
        places = np.flatnonzero(own == k)
        if not len(places):
            continue
        held_out = to_answer_for(table, places, schema)
        answers = model.answers(held_out)
        if classes is None:
            answer[places] = answers[:, 0]
            continue
        known = codes_among(schema.classes, classes)
        answer[places] = known[choices(model, held_out)]
        probability[places] = spread(answers, known, len(classes))
    return Strung.of(table.first, answer, probability)


def _labels(table: Table) -> Strung:
    return Strung.of(table.first, table.label, table.weight)


def _held_out(folds: Folds, n_rows: int) -> np.ndarray | None:
    """int16 [n_rows]: the fold that holds each row out, −1 for none; None where they are not apart or leave rows aside."""
    fold = np.full(n_rows, -1, np.int16)
    if len(folds.parts) > MOST_FOLDS:
        return None
    for number, part in enumerate(folds.parts):
        is_rest = len(part.train) + len(part.test) == n_rows and part.is_complement
        if not is_rest or (fold[part.test] >= 0).any():
            return None
        fold[part.test] = number
    return fold
