"""What to learn from a source, and which of its rows count for that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from baytree import notices
from baytree.table import files
from baytree.table.reading.forms import is_nothing

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Lesson:
    """What to learn: the column to predict, the column of weights, and the columns to leave alone."""

    target: str
    weight: str | None = None
    drop: tuple[str, ...] = ()
    task: str | None = None  # what the target is, where it was said


def counted_rows(frame: pl.DataFrame, lesson: Lesson, n_before: int) -> pl.DataFrame:
    """The rows that count: with a label, and with a weight that is not zero."""
    keep = _is_labelled(frame[lesson.target])
    if lesson.weight:
        weight = frame[lesson.weight].fill_null(-1.0)
        wrong = (weight < 0).arg_max() or 0
        if weight[wrong] < 0:
            place = f"column {lesson.weight!r}, row {n_before + wrong + 1:,}"
            raise ValueError(f"{place}: a weight is a number that is not negative, not {frame[lesson.weight][wrong]!r}")
        keep &= weight > 0
    return frame if keep.all() else frame.filter(keep)


def _is_labelled(labels: pl.Series) -> pl.Series:
    import polars as pl

    if labels.dtype != pl.String:
        return labels.is_not_null()
    gone = [text for text in labels.drop_nulls().unique().to_list() if is_nothing(text)]
    return labels.is_not_null() & ~labels.is_in(gone).fill_null(False)


def columns_and_weight(frame: pl.DataFrame, lesson: Lesson) -> tuple[pl.DataFrame, np.ndarray | None]:
    """The columns, with the target among them, and the weights."""
    weight = frame[lesson.weight].to_numpy() if lesson.weight else None
    return frame.drop([*lesson.drop, *([lesson.weight] if lesson.weight else [])]), weight


def tell_left_out(source: files.Source, lesson: Lesson, n_rows: int, n_kept: int) -> None:
    if not n_rows:
        raise ValueError(f"{source.name}: there is a header but no row")
    without = f"no value in the target column {lesson.target!r}" + (" or no weight" if lesson.weight else "")
    if not n_kept:
        raise ValueError(f"{source.name}: every row has {without}")
    if n_kept < n_rows:
        sentence = f"{source.name}: {n_rows - n_kept:,} of {n_rows:,} rows have {without}; they are left out"
        notices.warn(sentence)
