"""Whether the target is a class or a number, as a person would say."""

from __future__ import annotations

import numpy as np

from baytree.given import TargetLike
from baytree.table import label_reading
from baytree.table.frames import Numbers, read_column
from baytree.table.notes import Note

MOST_NUMBERED_CLASSES = 20  # more different whole numbers than this are an amount, not names


def task_notes(y: TargetLike, name: str, task: str | None) -> tuple[Note, ...]:
    """What is told of a target of numbers: whether it is a number to predict or classes, and how to change it."""
    raw = label_reading.as_numbers(read_column(y, name), name)
    if task is not None or not isinstance(raw, Numbers) or raw.unit is not None:
        return ()
    n = len(np.unique(raw.values[~np.isnan(raw.values)]))
    if task_of(y, name) == "regression":
        return (Note(name, f"{n:,} different numbers: a number to predict", 0, "task", "classification"),)
    return (Note(name, f"{n:,} different whole numbers are taken for classes", 0, "task", "regression"),) if n > 2 else ()


def task_of(y: TargetLike, name: str = "y") -> str:
    """Whether labels are classes or numbers: "classification" or "regression"."""
    raw = label_reading.as_numbers(read_column(y, name), name)
    if not isinstance(raw, Numbers) or raw.unit is not None:
        return "classification"
    known = np.unique(raw.values[~np.isnan(raw.values)])
    if not len(known):
        return "classification"
    is_whole = bool((known == np.floor(known)).all())
    return "classification" if is_whole and len(known) <= MOST_NUMBERED_CLASSES else "regression"
