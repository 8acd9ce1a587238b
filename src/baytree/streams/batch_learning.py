"""Learning from tables on disk: a batch at a time where the model allows it, else all rows at once.

An additive model sees each batch once and keeps only statistics, so a file may be larger than memory. The kinds of the
columns are decided on the first batch (about 8 MB); classes and levels may still come with any later one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from baytree import notices
from baytree.streams.lesson import Lesson, columns_and_weight, counted_rows, tell_left_out
from baytree.table import files
from baytree.table.frames import read
from baytree.table.infer import Census
from baytree.table.labels import notes as target_notes
from baytree.table.labels import refuse_one_class

if TYPE_CHECKING:
    import polars as pl

    from baytree.estimators.additive import AdditiveEstimator
    from baytree.estimators.base import Estimator
    from baytree.table.notes import Note
    from baytree.table.schema import Schema

Progress = Callable[[int], Any]


def learn(
    offers: Mapping[str, Estimator], source: files.Source, lesson: Lesson, progress: Progress | None = None
) -> Estimator:
    """The estimator fitted to a source: in batches where it is additive, else with the whole table in memory.

    `offers` are estimators by their task, "classification" or "regression"; of two, the target column decides.
    """
    learnt = files.attempt(source, lambda source: _learnt(offers, source, lesson, progress))
    return with_notes(learnt, source.notes)


def _learnt(offers: Mapping[str, Estimator], source: files.Source, lesson: Lesson, progress: Progress | None) -> Estimator:
    from baytree.estimators.additive import AdditiveEstimator
    from baytree.estimators.learning import adds_up

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
    estimator: AdditiveEstimator, source: files.Source, lesson: Lesson, progress: Progress | None
) -> AdditiveEstimator:
    from baytree.estimators.learning import learnt_in_batches

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
        tell_left_out(source, lesson, n_rows, n_kept)

    with notices.keeping() as told:
        learnt = learnt_in_batches(estimator, batches())
    refuse_one_class(learnt.schema_.target)
    notices.tell([each for each in told if "; to change it, " not in each[0]])  # all rows together say that better
    return learnt if census is None else _as_whole(estimator, learnt, census, source, lesson)


def _as_whole(
    estimator: AdditiveEstimator, learnt: AdditiveEstimator, census: Census, source: files.Source, lesson: Lesson
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


def _census(estimator: AdditiveEstimator, columns: pl.DataFrame, target: str) -> Census:
    frame = read(columns.drop(target))
    declared = estimator.schema if isinstance(estimator.schema, dict) else None
    return Census.of_part(msgspec.structs.replace(frame, target=target), declared)


def _kinds(schema: Schema) -> dict[str, Any]:
    """What each column is taken for, without its levels; one that is left out is dropped."""
    kinds: dict[str, Any] = dict.fromkeys(schema.left_out, "drop")
    for column in schema.columns:
        if column.source == column.name:
            kinds[column.name] = msgspec.structs.replace(column, levels=(), declared=False)
    return kinds


def _at_once(offers: Mapping[str, Estimator], source: files.Source, lesson: Lesson, progress: Progress | None) -> Estimator:
    import polars as pl

    from baytree.choose.task_of_target import task_notes, task_of

    frame = pl.concat(source.batches(progress))
    kept = counted_rows(frame, lesson, 0)
    tell_left_out(source, lesson, len(frame), len(kept))
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


def _check_task(offers: Mapping[str, Estimator], frame: pl.DataFrame, lesson: Lesson) -> None:
    """Refuses to take a number for classes, or words for a number, unless that was said."""
    from baytree.choose.task_of_target import task_of

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
