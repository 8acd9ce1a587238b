"""Whether the target of rows that are elsewhere is a class, and these rows as parts of a table: none is brought here."""

from __future__ import annotations

from functools import partial
from typing import Self

import msgspec
import numpy as np

from baytree import settings
from baytree.choose.native import column_of
from baytree.choose.task_of_target import MOST_NUMBERED_CLASSES
from baytree.engine.elsewhere import Elsewhere, Source
from baytree.engine.far_frame import far_frame
from baytree.given import FrameLike, TargetLike
from baytree.table import label_reading
from baytree.table.frames import Numbers, read_column
from baytree.table.sample import schema_of
from baytree.table.schema import SchemaLike


class Labels(msgspec.Struct, frozen=True):
    """Whether labels are numbers, and which: no more of them than there are numbered classes, and one."""

    are_numbers: bool
    values: np.ndarray  # float64 [n], ascending
    are_whole: bool

    @classmethod
    def of(cls, name: str, frame: FrameLike) -> Self:
        """Of the target column of some rows."""
        raw = label_reading.as_numbers(read_column(column_of(frame, name), name), name)
        if not isinstance(raw, Numbers) or raw.unit is not None:
            return cls(False, np.zeros(0), False)
        known = np.unique(raw.values[~np.isnan(raw.values)])
        return cls(True, known[: MOST_NUMBERED_CLASSES + 1], bool((known == np.floor(known)).all()))

    def __add__(self, other: Self) -> Self:
        values = np.union1d(self.values, other.values)[: MOST_NUMBERED_CLASSES + 1]
        return type(self)(self.are_numbers and other.are_numbers, values, self.are_whole and other.are_whole)

    @property
    def are_classes(self) -> bool:
        """Whether they are classes, as a person would say: the rule of `task_of`."""
        return not self.are_numbers or not len(self.values) or (self.are_whole and len(self.values) <= MOST_NUMBERED_CLASSES)


def classes_where_rows_are(source: Source, target: TargetLike, task: str | None, declared: SchemaLike) -> Elsewhere | None:
    """The rows as parts of a table; None where their target is a number."""
    settings.kinds_of_columns(declared)
    frame = far_frame(source, target, None, partial(label_reading.read_in_order, label_reading.read_classes, declared))
    if task == "regression" or (task is None and not source.total(partial(Labels.of, frame.target)).are_classes):
        return None
    return frame.parts(schema_of(frame, declared), False, None)
