"""Encoding of labelled rows for a fitted model: true labels in the codes of the model's target.

Used for everything that compares a fitted model with true labels: evaluation, held-out intervals, reports.
"""

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
    """Label of each row: a class code of the model, or a number."""

    values: np.ndarray  # int32 codes [n_rows], −1 for missing or unknown classes; or float64 [n_rows]
    missing: np.ndarray  # bool [n_rows]
    unseen: object = None  # first class that the model does not know

    @property
    def is_known(self) -> np.ndarray:
        """Whether each row has a label that the model knows. bool [n_rows]"""
        return ~self.missing if self.values.dtype == np.float64 else self.values >= 0


def encode_labelled(predictor: Predictor, frame: FrameLike) -> tuple[Table, np.ndarray]:
    """Encode the rows whose label the model knows; returns the table and their indices in the frame.

    Raises ValueError if there are none.
    """
    target = predictor.schema.target
    truth = read_target(target, column_named(frame, target.name))
    known, label = truth.is_known, truth.values
    index = np.flatnonzero(known)
    if not len(index):
        raise ValueError(f"no row has a known value in the target column {target.name!r}")
    table = predictor.encoded(frame)
    selected = table if len(index) == len(table) else table.take(index)
    return msgspec.structs.replace(selected, label=label[known]), index


def read_target(target: Target, column: TargetLike) -> TrueLabels:
    """Labels of a column in the codes of a target."""
    if target.classes is None:
        numbers = target_reading.read_numbers(column, target.name)
        return TrueLabels(numbers.values, numbers.missing)
    read = labels.without_words_for_none(target_reading.read_classes(column, target.name))
    code_of = {label: code for code, label in enumerate(target.classes)}
    by_text = {str(label): code for label, code in code_of.items()}
    classes = read.target.classes or ()
    codes_of_classes = [code_of.get(label, by_text.get(str(label), -1)) for label in classes]
    unseen = next((label for label, code in zip(classes, codes_of_classes, strict=True) if code < 0), None)
    codes = np.where(read.missing, -1, np.array([*codes_of_classes, -1], np.int32)[read.values]).astype(np.int32)
    return TrueLabels(codes, read.missing, unseen)


def column_named(frame: FrameLike, name: str) -> Any:
    """Target column of a frame or dict, by name; raises ValueError if there is none."""
    names = frame if isinstance(frame, Mapping) else getattr(frame, "column_names", getattr(frame, "columns", ()))
    for each in names:
        if str(each) == name:
            return frame[each]
    raise ValueError(f"the rows have no target column {name!r}, which evaluation needs; add it, or pass no rows")
