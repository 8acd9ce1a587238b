"""Rows with their target, for a model that has learnt: what a frame says is true, in the model's own codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from baytree.given import FrameLike
from baytree.predictor import Predictor
from baytree.table import label_reading
from baytree.table.table import Table


def labelled(predictor: Predictor, frame: FrameLike) -> tuple[Table, np.ndarray]:
    """The rows whose label the model knows, encoded, and their places in the frame."""
    known, label = _labels(predictor, frame)
    places = np.flatnonzero(known)
    if not len(places):
        raise ValueError(f"no row has a known value in the target column {predictor.schema.target.name!r}")
    table = predictor.encoded(frame)
    kept = table if len(places) == len(table) else table.take(places)
    return msgspec.structs.replace(kept, label=label[known]), places


def _labels(predictor: Predictor, frame: FrameLike) -> tuple[np.ndarray, np.ndarray]:
    """Which rows have a label that the model knows, and the code or number of each."""
    target = predictor.schema.target
    column = _column(frame, target.name)
    if target.classes is None:
        numbers = label_reading.read_numbers(column, target.name)
        return ~numbers.missing, numbers.values
    read = label_reading.read_classes(column, target.name)
    place = {label: code for code, label in enumerate(target.classes)}
    by_text = {str(label): code for label, code in place.items()}
    known = [place.get(label, by_text.get(str(label), -1)) for label in read.target.classes or ()]
    label = np.where(read.missing, -1, np.array([*known, -1], np.int32)[read.values]).astype(np.int32)
    return label >= 0, label


def _column(frame: FrameLike, name: str) -> Any:
    names = frame if isinstance(frame, Mapping) else getattr(frame, "column_names", getattr(frame, "columns", ()))
    for each in names:
        if str(each) == name:
            return frame[each]
    raise ValueError(f"the rows have no target column {name!r}, so they cannot be judged; give rows with it, or none")
