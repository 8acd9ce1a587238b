"""Learning from tables on disk: a batch at a time where the model allows it, else all rows at once.

An additive model sees each batch once and keeps only statistics, so a file may be larger than memory. The kinds of the
columns are decided on the first batch (about 8 MB); classes and levels may still come with any later one.

What to learn from a source, and which of its rows count for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from baytree import _warnings
from baytree.data import files
from baytree.data.encoding.labels import notes as target_notes
from baytree.data.encoding.labels import refuse_one_class
from baytree.data.frames import read
from baytree.data.inference.infer import TableProfile
from baytree.data.parsing.string_format import is_missing_token

if TYPE_CHECKING:
    import polars as pl

    from baytree.data.schema.notes import Note
    from baytree.data.schema.schema import Schema
    from baytree.estimators.base import Estimator
    from baytree.estimators.incremental import AdditiveEstimator

Progress = Callable[[int], Any]


def learn(
    offers: Mapping[str, Estimator], source: files.TableSource, lesson: FitRequest, progress: Progress | None = None
) -> Estimator:
    """The estimator fitted to a source: in batches where it is additive, else with the whole table in memory.

    `offers` are estimators by their task, "classification" or "regression"; of two, the target column decides.
    """
    learnt = files.attempt(source, lambda source: _learnt(offers, source, lesson, progress))
    return with_notes(learnt, source.notes)


def _learnt(
    offers: Mapping[str, Estimator], source: files.TableSource, lesson: FitRequest, progress: Progress | None
) -> Estimator:
    from baytree.estimators.incremental import AdditiveEstimator
    from baytree.estimators.learner_access import adds_up

    only = next(iter(offers.values())) if len(offers) == 1 else None
    if not isinstance(only, AdditiveEstimator):
        return _at_once(offers, source, lesson, progress)
    first = next((kept for frame in source.batches() if len(kept := counted_rows(frame, lesson, 0))), None)
    if first is not None:
        _check_task(offers, first, lesson)
    if first is not None and not adds_up(only, columns_and_weight(first, lesson)[0], lesson.target):
        return _at_once(offers, source, lesson, progress)
    return _in_batches(only, source, lesson, progress)


def _in_batches(
    estimator: AdditiveEstimator, source: files.TableSource, lesson: FitRequest, progress: Progress | None
) -> AdditiveEstimator:
    from baytree.estimators.learner_access import fit_in_batches

    n_rows, n_kept, census = 0, 0, None

    def batches() -> Iterator[tuple[pl.DataFrame, str, np.ndarray | None]]:
        nonlocal n_rows, n_kept, census
        for frame in source.batches(progress):
            kept = counted_rows(frame, lesson, n_rows)
            n_rows, n_kept = n_rows + len(frame), n_kept + len(kept)
            if len(kept):
                columns, weight = columns_and_weight(kept, lesson)
                seen = _census(estimator, columns, lesson.target)
                census = seen if census is None else census + seen
                yield columns, lesson.target, weight
        note_dropped_rows(source, lesson, n_rows, n_kept)

    with _warnings.capture() as told:
        learnt = fit_in_batches(estimator, batches())
    refuse_one_class(learnt.schema_.target)
    _warnings.emit([each for each in told if "; to change it, " not in each[0]])  # all rows together say that better
    return learnt if census is None else _as_whole(estimator, learnt, census, source, lesson)


def _as_whole(
    estimator: AdditiveEstimator,
    learnt: AdditiveEstimator,
    census: TableProfile,
    source: files.TableSource,
    lesson: FitRequest,
) -> AdditiveEstimator:
    """What was learnt, with what all rows together tell; learnt once more where they ask for other kinds than the first."""
    whole = census.schema()
    if isinstance(estimator.schema, (dict, type(None))) and _kinds(whole) != _kinds(learnt.schema_):
        declared = {**(estimator.schema or {}), **_kinds(whole)}
        again = _in_batches(type(estimator)(**{**estimator.get_params(), "schema": declared}), source, lesson, None)
        learnt = again.set_params(schema=estimator.schema)
    notes = (*whole.notes, *target_notes(learnt.schema_.target))
    learnt.schema_ = msgspec.structs.replace(learnt.schema_, notes=notes)
    return learnt


def _census(estimator: AdditiveEstimator, columns: pl.DataFrame, target: str) -> TableProfile:
    frame = read(columns.drop(target))
    declared = estimator.schema if isinstance(estimator.schema, dict) else None
    return TableProfile.of_part(msgspec.structs.replace(frame, target=target), declared)


def _kinds(schema: Schema) -> dict[str, Any]:
    """What each column is taken for, without its levels; one that is left out is dropped."""
    kinds: dict[str, Any] = dict.fromkeys(schema.left_out, "drop")
    for column in schema.columns:
        if column.source == column.name:
            kinds[column.name] = msgspec.structs.replace(column, levels=(), declared=False)
    return kinds


def _at_once(
    offers: Mapping[str, Estimator], source: files.TableSource, lesson: FitRequest, progress: Progress | None
) -> Estimator:
    import polars as pl

    from baytree.model_selection.problem import task_notes, task_of

    frame = pl.concat(source.batches(progress))
    kept = counted_rows(frame, lesson, 0)
    note_dropped_rows(source, lesson, len(frame), len(kept))
    columns, weight = columns_and_weight(kept, lesson)
    _check_task(offers, columns, lesson)
    chosen = next(iter(offers)) if len(offers) == 1 else task_of(columns[lesson.target], lesson.target)
    learnt = offers[chosen].fit(columns, lesson.target, sample_weight=weight)
    return with_notes(learnt, task_notes(columns[lesson.target], lesson.target, lesson.task))


def with_notes(estimator: Estimator, notes: Iterable[Note]) -> Estimator:
    """The estimator, its schema with further notes in front."""
    schema = estimator.schema_
    told = tuple(dict.fromkeys((*notes, *schema.notes)))
    estimator.schema_ = msgspec.structs.replace(schema, notes=told)
    return estimator


def _check_task(offers: Mapping[str, Estimator], frame: pl.DataFrame, lesson: FitRequest) -> None:
    """Refuses to take a number for classes, or words for a number, unless that was said."""
    from baytree.model_selection.problem import task_of

    found = task_of(frame[lesson.target], lesson.target)
    if lesson.task is not None or found in offers:
        return
    n = frame[lesson.target].n_unique()
    if found == "regression":
        raise ValueError(
            f"the target {lesson.target!r} holds {n:,} different numbers, and this model predicts classes; "
            "use a model of numbers, such as cart or linear, or give task='classification' to take each number for a class"
        )
    raise ValueError(
        f"the target {lesson.target!r} holds classes, but this model is for numbers; use one of classes, such as cart or nb"
    )


@dataclass(frozen=True)
class FitRequest:
    """What to learn: the column to predict, the column of weights, and the columns to leave alone."""

    target: str
    weight: str | None = None
    drop: tuple[str, ...] = ()
    task: str | None = None  # what the target is, where it was said


def counted_rows(frame: pl.DataFrame, lesson: FitRequest, n_before: int) -> pl.DataFrame:
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
    gone = [text for text in labels.drop_nulls().unique().to_list() if is_missing_token(text)]
    return labels.is_not_null() & ~labels.is_in(gone).fill_null(False)


def columns_and_weight(frame: pl.DataFrame, lesson: FitRequest) -> tuple[pl.DataFrame, np.ndarray | None]:
    """The columns, with the target among them, and the weights."""
    weight = frame[lesson.weight].to_numpy() if lesson.weight else None
    return frame.drop([*lesson.drop, *([lesson.weight] if lesson.weight else [])]), weight


def note_dropped_rows(source: files.TableSource, lesson: FitRequest, n_rows: int, n_kept: int) -> None:
    if not n_rows:
        raise ValueError(f"{source.name}: there is a header but no row")
    without = f"no value in the target column {lesson.target!r}" + (" or no weight" if lesson.weight else "")
    if not n_kept:
        raise ValueError(f"{source.name}: every row has {without}")
    if n_kept < n_rows:
        sentence = f"{source.name}: {n_rows - n_kept:,} of {n_rows:,} rows have {without}; they are left out"
        _warnings.warn(sentence)
