"""What a page is about: a model, the profile of its rows, and, where rows are given, how well it does on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from baytree.given import FrameLike
from baytree.model import choices
from baytree.predictor import Predictor
from baytree.statistics.profile import Profile, is_readable
from baytree.summary import Summary
from baytree.table import labels
from baytree.table.table import Table


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
        profile = Profile.of(judged.table) if is_readable(judged.table) else predictor.profile
        return cls(msgspec.structs.replace(predictor, profile=profile), summary, profile, judged)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes as they are written; none where the target is a number."""
        return tuple(map(str, self.predictor.schema.classes))


def _judged(predictor: Predictor, frame: FrameLike) -> Judged:
    known, label = _labelled(predictor, frame)
    table = predictor.encoded(frame)
    places = np.flatnonzero(known)
    if not len(places):
        raise ValueError(f"no row has a known value in the target column {predictor.schema.target.name!r}")
    kept = table if len(places) == len(table) else table.take(places)
    kept = msgspec.structs.replace(kept, label=label[known])
    answers = predictor.model.answers(kept)
    if predictor.schema.target.classes is None:
        return Judged(kept, answers, np.zeros(0, np.int32), _explained(kept.label, answers[:, 0]), places)
    choice = choices(predictor.model, kept)
    return Judged(kept, answers, choice, float(np.mean(choice == kept.label)), places)


def _labelled(predictor: Predictor, frame: FrameLike) -> tuple[np.ndarray, np.ndarray]:
    """Which rows have a label that the model knows, and the code or number of each."""
    target = predictor.schema.target
    column = _column(frame, target.name)
    if target.classes is None:
        numbers = labels.read_numbers(column, target.name)
        return ~numbers.missing, numbers.values
    read = labels.read_classes(column, target.name)
    code = {label: code for code, label in enumerate(target.classes)}
    code |= {str(label): code for code, label in enumerate(target.classes) if str(label) not in code}
    known = np.array([*(code.get(label, code.get(str(label), -1)) for label in read.target.classes or ()), -1], np.int32)
    label = np.where(read.missing, -1, known[read.values]).astype(np.int32)
    return label >= 0, label


def _column(frame: FrameLike, name: str) -> Any:
    names = list(frame) if isinstance(frame, Mapping) else list(getattr(frame, "column_names", getattr(frame, "columns", ())))
    for each in names:
        if str(each) == name:
            return frame[each]
    raise ValueError(f"the rows have no target column {name!r}, so they cannot be judged; give rows with it, or none")


def _explained(truth: np.ndarray, answer: np.ndarray) -> float:
    spread = float(((truth - truth.mean()) ** 2).sum())
    return 1 - float(((truth - answer) ** 2).sum()) / spread if spread else float("nan")
