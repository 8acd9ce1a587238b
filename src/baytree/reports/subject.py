"""What a page is about: a model, the profile of its rows, and, where rows are given, how well it does on them."""

from __future__ import annotations

from typing import Protocol

import msgspec
import numpy as np

from baytree.given import FrameLike
from baytree.labelled import labelled
from baytree.model import choices
from baytree.predictor import Predictor
from baytree.statistics.profile import Profile
from baytree.summary import Summary
from baytree.table.table import Table


class Fitted(Protocol):
    """A fitted estimator."""

    @property
    def _predictor(self) -> Predictor: ...


def predictor_of(model: Fitted | Predictor) -> Predictor:
    """What a fitted estimator, or a model file, answers with."""
    return model if isinstance(model, Predictor) else model._predictor


class Judged(msgspec.Struct, frozen=True):
    """Rows whose label is known, what the model answers, and the score: accuracy, or R²."""

    table: Table
    answers: np.ndarray  # [n_rows, n_outputs]
    choice: np.ndarray  # [n_rows], class codes; empty where the target is a number
    score: float
    places: np.ndarray  # of the rows in the frame


class Subject(msgspec.Struct, frozen=True):
    """A model and everything that sections read."""

    predictor: Predictor
    summary: Summary
    profile: Profile | None
    judged: Judged | None = None

    @classmethod
    def of(cls, predictor: Predictor, frame: FrameLike) -> Subject:
        """The model, judged on the rows of a frame where there is one."""
        summary = predictor.model.summary(predictor.schema)
        if frame is None:
            return cls(predictor, summary, predictor.profile)
        judged = _judged(predictor, frame)
        profile = Profile.of(judged.table)
        return cls(msgspec.structs.replace(predictor, profile=profile), summary, profile, judged)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes as they are written; none where the target is a number."""
        return tuple(map(str, self.predictor.schema.classes))


def _judged(predictor: Predictor, frame: FrameLike) -> Judged:
    kept, places = labelled(predictor, frame)
    answers = predictor.model.answers(kept)
    if predictor.schema.target.classes is None:
        return Judged(kept, answers, np.zeros(0, np.int32), _explained(kept.label, answers[:, 0]), places)
    choice = choices(predictor.model, kept)
    return Judged(kept, answers, choice, float(np.mean(choice == kept.label)), places)


def _explained(truth: np.ndarray, answer: np.ndarray) -> float:
    spread = float(((truth - truth.mean()) ** 2).sum())
    return 1 - float(((truth - answer) ** 2).sum()) / spread if spread else float("nan")
