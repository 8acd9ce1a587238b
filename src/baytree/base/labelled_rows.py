"""Rows with their target, for a model that has learnt: what a frame says is true, in the model's own codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np

from baytree._typing import FrameLike, TargetLike
from baytree.base.predictor import Predictor
from baytree.data.encoding import labels
from baytree.data.encoding import read_target as target_reading
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Target


class TrueLabels(NamedTuple):
    """The code or number of each row, in the terms of a model."""

    values: np.ndarray  # int32 codes, −1 where the model does not know the class, or float64
    missing: np.ndarray  # bool [n_rows]
    unseen: object = None  # the first class that the model does not know

    @property
    def is_known(self) -> np.ndarray:
        """bool [n_rows]: which rows have a label that the model knows."""
        return ~self.missing if self.values.dtype == np.float64 else self.values >= 0


def encode_labelled(predictor: Predictor, frame: FrameLike) -> tuple[Table, np.ndarray]:
    """The rows whose label the model knows, encoded, and their places in the frame."""
    target = predictor.schema.target
    truth = read_target(target, column_named(frame, target.name))
    known, label = truth.is_known, truth.values
    places = np.flatnonzero(known)
    if not len(places):
        raise ValueError(f"no row has a known value in the target column {target.name!r}")
    table = predictor.encoded(frame)
    kept = table if len(places) == len(table) else table.take(places)
    return msgspec.structs.replace(kept, label=label[known]), places


def read_target(target: Target, column: TargetLike) -> TrueLabels:
    """The labels of a column in the codes of a target."""
    if target.classes is None:
        numbers = target_reading.read_numbers(column, target.name)
        return TrueLabels(numbers.values, numbers.missing)
    read = labels.without_words_for_none(target_reading.read_classes(column, target.name))
    place = {label: code for code, label in enumerate(target.classes)}
    by_text = {str(label): code for label, code in place.items()}
    given = read.target.classes or ()
    known = [place.get(label, by_text.get(str(label), -1)) for label in given]
    unseen = next((label for label, code in zip(given, known, strict=True) if code < 0), None)
    codes = np.where(read.missing, -1, np.array([*known, -1], np.int32)[read.values]).astype(np.int32)
    return TrueLabels(codes, read.missing, unseen)


def column_named(frame: FrameLike, name: str) -> Any:
    """The target column of rows."""
    names = frame if isinstance(frame, Mapping) else getattr(frame, "column_names", getattr(frame, "columns", ()))
    for each in names:
        if str(each) == name:
            return frame[each]
    raise ValueError(f"the rows have no target column {name!r}, so they cannot be judged; give rows with it, or none")
