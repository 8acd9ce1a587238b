"""Learning from, and answering for, tables on disk: a batch at a time where the model allows it.

An additive model sees each batch once and keeps only statistics, so a file may be larger than memory. The kinds of the
columns are decided on the first batch (about 8 MB); classes and levels may still come with any later one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from baytree import notices
from baytree.choose.confusion import Confusion
from baytree.choose.residuals import Residuals
from baytree.table import files
from baytree.table.frames import read
from baytree.table.infer import Census
from baytree.table.labels import notes as target_notes
from baytree.table.labels import refuse_one_class
from baytree.table.reading.forms import is_nothing

if TYPE_CHECKING:
    import polars as pl

    from baytree.estimators.additive import AdditiveEstimator
    from baytree.estimators.base import Estimator
    from baytree.predictor import Predictor
    from baytree.table.notes import Note
    from baytree.table.schema import Schema, Target

Progress = Callable[[int], Any]


@dataclass(frozen=True)
class Lesson:
    """What to learn: the column to predict, the column of weights, and the columns to leave alone."""

    target: str
    weight: str | None = None
    drop: tuple[str, ...] = ()
    task: str | None = None  # what the target is, where it was said


def learn(
    offers: Mapping[str, Estimator], source: files.Source, lesson: Lesson, progress: Progress | None = None
) -> Estimator:
    """The estimator fitted to a source: in batches where it is additive, else with the whole table in memory.

    `offers` are estimators by their task, "classification" or "regression"; of two, the target column decides.
    """
    learnt = files.attempt(source, lambda source: _learnt(offers, source, lesson, progress))
    return with_notes(learnt, source.notes)


def answers(
    model: Predictor,
    source: files.Source,
    with_probabilities: bool,
    progress: Progress | None = None,
    kept: Iterable[str] = (),
) -> Iterator[dict[str, Any]]:
    """For each batch its answers as columns: those to copy, the prediction, the probability of each class if asked for."""
    classes, kept = target_of(model).classes if with_probabilities else (), tuple(kept)
    n_batches = 0
    for n_batches, frame in enumerate(source.batches(progress), start=1):  # noqa: B007
        columns: dict[str, Any] = {name: frame[name].to_list() for name in kept}
        columns["prediction"] = model.predict(frame).tolist()
        if classes:
            columns |= dict(zip((f"P({name})" for name in classes), model.predict_proba(frame).T, strict=True))
        yield columns
    if not n_batches:  # no row, no answer, but the names of the columns
        yield {name: [] for name in (*kept, "prediction", *(f"P({label})" for label in classes or ()))}


def confusion(model: Predictor, source: files.Source, progress: Progress | None = None) -> Confusion:
    """How a model fares on rows whose class is known; rows without one are passed over."""
    n_classes = len(target_of(model).classes or ())
    parts = (_confusion(model, frame) for frame in source.batches(progress))
    return reduce(add, parts, Confusion(np.zeros((n_classes, n_classes), np.int64)))


def target_of(model: Predictor) -> Target:
    """What the model predicts."""
    if model.schema.target is None:
        raise ValueError(f"{model.name} has no target")
    return model.schema.target


def residuals(model: Predictor, source: files.Source, progress: Progress | None = None) -> Residuals:
    """How far a model's numbers are from known ones; rows without one are passed over."""
    return reduce(add, (_residuals(model, frame) for frame in source.batches(progress)), Residuals())


def rows(source: files.Source, wanted: Iterable[int]) -> dict[int, pl.DataFrame]:
    """The rows of these numbers, the first being 1, each as a frame of its own; the source is read no further."""
    found, first, left = {}, 1, set(wanted)
    for frame in source.batches():
        here = {at for at in left if at < first + len(frame)}
        found |= {at: frame.slice(at - first, 1) for at in here}
        left, first = left - here, first + len(frame)
        if not left:
            break
    return found


def _learnt(offers: Mapping[str, Estimator], source: files.Source, lesson: Lesson, progress: Progress | None) -> Estimator:
    from baytree.estimators.additive import AdditiveEstimator
    from baytree.estimators.learning import adds_up

    only = next(iter(offers.values())) if len(offers) == 1 else None
    if not isinstance(only, AdditiveEstimator):
        return _at_once(offers, source, lesson, progress)
    first = next((kept for frame in source.batches() if len(kept := _counted(frame, lesson, 0))), None)
    if first is not None:
        _check_task(offers, first, lesson)
    if first is not None and not adds_up(only, _split(first, lesson)[0], lesson.target):
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
            kept = _counted(frame, lesson, n_rows)
            n_rows, n_kept = n_rows + len(frame), n_kept + len(kept)
            if len(kept):
                columns, weight = _split(kept, lesson)
                seen = _census(estimator, columns, lesson.target)
                census = seen if census is None else census + seen
                yield columns, lesson.target, weight
        _tell(source, lesson, n_rows, n_kept)

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
    return Census.of(msgspec.structs.replace(frame, target=target), declared)


def _kinds(schema: Schema) -> dict[str, Any]:
    """What each column is taken for, without its levels; one that is left out is dropped."""
    kinds: dict[str, Any] = dict.fromkeys(schema.left_out, "drop")
    for column in schema.columns:
        if column.source == column.name:
            kinds[column.name] = msgspec.structs.replace(column, levels=(), declared=False)
    return kinds


def _at_once(offers: Mapping[str, Estimator], source: files.Source, lesson: Lesson, progress: Progress | None) -> Estimator:
    import polars as pl

    from baytree.choose.problem import task_notes, task_of

    frame = pl.concat(source.batches(progress))
    kept = _counted(frame, lesson, 0)
    _tell(source, lesson, len(frame), len(kept))
    columns, weight = _split(kept, lesson)
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
    from baytree.choose.problem import task_of

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


def _counted(frame: pl.DataFrame, lesson: Lesson, n_before: int) -> pl.DataFrame:
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


def _split(frame: pl.DataFrame, lesson: Lesson) -> tuple[pl.DataFrame, np.ndarray | None]:
    """The columns, with the target among them, and the weights."""
    weight = frame[lesson.weight].to_numpy() if lesson.weight else None
    return frame.drop([*lesson.drop, *([lesson.weight] if lesson.weight else [])]), weight


def _tell(source: files.Source, lesson: Lesson, n_rows: int, n_kept: int) -> None:
    if not n_rows:
        raise ValueError(f"{source.name}: there is no row")
    without = f"no value in the target column {lesson.target!r}" + (" or no weight" if lesson.weight else "")
    if not n_kept:
        raise ValueError(f"{source.name}: every row has {without}")
    if n_kept < n_rows:
        sentence = f"{source.name}: {n_rows - n_kept:,} of {n_rows:,} rows have {without}; they are left out"
        notices.warn(sentence)


def _confusion(model: Predictor, frame: pl.DataFrame) -> Confusion:
    target = target_of(model)
    frame = frame.filter(frame[target.name].is_not_null())
    labels = frame[target.name].to_list()
    place = {label: code for code, label in enumerate(target.classes or ())}
    new = next((label for label in labels if label not in place), None)
    if new is not None:
        raise ValueError(f"column {target.name!r}: class {new!r} was not seen in training; leave such rows out")
    if not labels:
        return Confusion(np.zeros((len(place), len(place)), np.int64))
    truth, answer = ([place[label] for label in some] for some in (labels, model.predict(frame).tolist()))
    return Confusion.of(np.array(truth), np.array(answer), model.predict_proba(frame))


def _residuals(model: Predictor, frame: pl.DataFrame) -> Residuals:
    name = target_of(model).name
    frame = frame.filter(frame[name].is_not_null())
    return Residuals.of(frame[name].to_numpy().astype(float), model.predict(frame)) if len(frame) else Residuals()
