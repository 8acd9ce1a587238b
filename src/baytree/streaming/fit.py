"""Fitting to tables on disk: in batches if the learner is mergeable, else with the whole table in memory.

A mergeable learner reads each batch once and keeps only statistics, so a file may be larger than memory. The kinds of the
columns are inferred from the first batch (about 8 MB); if all rows together suggest other kinds, the fit is repeated once.
Classes and levels may appear in any batch. `FitRequest` says what to fit, and which rows count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
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
    from baytree.estimators.incremental import MergeableEstimator

Progress = Callable[[int], Any]


def learn(
    offers: Mapping[str, Estimator], source: files.TableSource, request: FitRequest, progress: Progress | None = None
) -> Estimator:
    """Fit an estimator to a source: in batches if it is mergeable, else with the whole table in memory.

    `offers` are estimators by task, "classification" or "regression"; if there are two, the target column decides.
    """
    learnt = files.attempt(source, lambda source: _fit(offers, source, request, progress))
    return with_notes(learnt, source.notes)


def _fit(
    offers: Mapping[str, Estimator], source: files.TableSource, request: FitRequest, progress: Progress | None
) -> Estimator:
    from baytree.estimators.incremental import MergeableEstimator
    from baytree.estimators.learner_access import adds_up

    only = next(iter(offers.values())) if len(offers) == 1 else None
    if not isinstance(only, MergeableEstimator):
        return _fit_in_memory(offers, source, request, progress)
    task = next(iter(offers))
    request, only = _without_structure(request, only)
    if request.structure:
        return _fit_in_memory(offers, source, request, progress)
    first = next((frame_rows for frame in source.batches() if len(frame_rows := counted_rows(frame, request, 0))), None)
    if first is not None:
        _check_task(offers, first, request)
    if first is not None and not adds_up(only, columns_and_weight(first, request)[0], request.target):
        return _fit_in_memory({task: only}, source, request, progress)
    return _fit_in_batches(only, source, request, progress)


def _fit_in_batches(
    estimator: MergeableEstimator, source: files.TableSource, request: FitRequest, progress: Progress | None
) -> MergeableEstimator:
    from baytree.estimators.learner_access import fit_in_batches

    n_rows, n_kept, profile = 0, 0, None

    def batches() -> Iterator[tuple[pl.DataFrame, str, np.ndarray | None]]:
        nonlocal n_rows, n_kept, profile
        for frame in source.batches(progress):
            kept = counted_rows(frame, request, n_rows)
            n_rows, n_kept = n_rows + len(frame), n_kept + len(kept)
            if len(kept):
                columns, weight = columns_and_weight(kept, request)
                part = _profile(estimator, columns, request.target)
                profile = part if profile is None else profile + part
                yield columns, request.target, weight
        note_dropped_rows(source, request, n_rows, n_kept)

    with _warnings.capture() as messages:
        fitted = fit_in_batches(estimator, batches())
    refuse_one_class(fitted.schema_.target)
    # replaced by the notes of the profile of all rows
    _warnings.emit([each for each in messages if "; to change it, " not in each[0]])
    return fitted if profile is None else _with_whole_profile(estimator, fitted, profile, source, request)


def _with_whole_profile(
    estimator: MergeableEstimator,
    learnt: MergeableEstimator,
    census: TableProfile,
    source: files.TableSource,
    request: FitRequest,
) -> MergeableEstimator:
    """Set the notes of the whole table; fit again if its profile suggests other kinds than the first batch."""
    whole = census.schema()
    if isinstance(estimator.schema, (dict, type(None))) and _kinds(whole) != _kinds(learnt.schema_):
        declared = {**(estimator.schema or {}), **_kinds(whole)}
        refitted = _fit_in_batches(type(estimator)(**{**estimator.get_params(), "schema": declared}), source, request, None)
        learnt = refitted.set_params(schema=estimator.schema)
    notes = (*whole.notes, *target_notes(learnt.schema_.target))
    learnt.schema_ = msgspec.structs.replace(learnt.schema_, notes=notes)
    return learnt


def _profile(estimator: MergeableEstimator, columns: pl.DataFrame, target: str) -> TableProfile:
    frame = read(columns.drop(target))
    declared = estimator.schema if isinstance(estimator.schema, dict) else None
    return TableProfile.of_part(msgspec.structs.replace(frame, target=target), declared)


def _kinds(schema: Schema) -> dict[str, Any]:
    """Return the kind of each column, without its levels; "drop" for columns that are left out."""
    kinds: dict[str, Any] = dict.fromkeys(schema.left_out, "drop")
    for column in schema.columns:
        if column.source == column.name:
            kinds[column.name] = msgspec.structs.replace(column, levels=(), declared=False)
    return kinds


def _fit_in_memory(
    offers: Mapping[str, Estimator], source: files.TableSource, request: FitRequest, progress: Progress | None
) -> Estimator:
    import polars as pl

    from baytree.model_selection.problem import task_notes, task_of

    frame = pl.concat(source.batches(progress))
    kept = counted_rows(frame, request, 0)
    note_dropped_rows(source, request, len(frame), len(kept))
    _check_task(offers, kept, request)
    chosen = next(iter(offers)) if len(offers) == 1 else task_of(kept[request.target], request.target)
    request, estimator = _without_structure(request, offers[chosen])
    columns, weight = columns_and_weight(kept, request)
    learnt = estimator.fit(columns, request.target, sample_weight=weight, **request.structure)
    return with_notes(learnt, task_notes(columns[request.target], request.target, request.task))


def with_notes(estimator: Estimator, notes: Iterable[Note]) -> Estimator:
    """Prepend notes to those of the estimator's schema, without duplicates; return the estimator."""
    schema = estimator.schema_
    all_notes = tuple(dict.fromkeys((*notes, *schema.notes)))
    estimator.schema_ = msgspec.structs.replace(schema, notes=all_notes)
    return estimator


def _check_task(offers: Mapping[str, Estimator], frame: pl.DataFrame, request: FitRequest) -> None:
    """Raise ValueError if a number would be used as classes, or a class as number, unless the task was given."""
    from baytree.model_selection.problem import task_of

    found = task_of(frame[request.target], request.target)
    if request.task is not None or found in offers:
        return
    n = frame[request.target].n_unique()
    if found == "regression":
        raise ValueError(
            f"the target {request.target!r} has {n:,} distinct numbers, but this model is a classifier; "
            "use a regression model, such as cart or linear, or give task='classification' to treat each number as a class"
        )
    raise ValueError(
        f"the target {request.target!r} has classes, but this model is a regressor; use a classifier, such as cart or nb"
    )


@dataclass(frozen=True)
class FitRequest:
    """What to fit: the target, the column of weights, the columns to drop, the task, and the groups and times of rows."""

    target: str
    weight: str | None = None
    drop: tuple[str, ...] = ()
    task: str | None = None  # None if it was not given
    structure: Mapping[str, Any] = field(default_factory=dict)  # groups, time and gap, as `fit` takes them

    @property
    def structure_columns(self) -> tuple[str, ...]:
        """Columns of groups and times, which are no features."""
        return tuple(self.structure[name] for name in ("groups", "time") if name in self.structure)


def _without_structure(request: FitRequest, estimator: Estimator) -> tuple[FitRequest, Estimator]:
    """Request and estimator for the fit; one without folds of its own takes no groups and times: their columns go."""
    from baytree.estimators.inner_folds import InnerFolds

    if not request.structure or isinstance(estimator, InnerFolds):
        return request, estimator
    dropped = request.structure_columns
    if isinstance(estimator.schema, Mapping):
        declared = {name: kind for name, kind in estimator.schema.items() if name not in dropped}
        estimator = type(estimator)(**{**estimator.get_params(deep=False), "schema": declared or None})
    return replace(request, drop=(*request.drop, *dropped), structure={}), estimator


def counted_rows(frame: pl.DataFrame, request: FitRequest, n_before: int) -> pl.DataFrame:
    """Return the rows with a label and a weight above 0; raise ValueError for a negative weight."""
    keep = _is_labelled(frame[request.target])
    if request.weight:
        weight = frame[request.weight].fill_null(-1.0)
        wrong = (weight < 0).arg_max() or 0
        if weight[wrong] < 0:
            where = f"column {request.weight!r}, row {n_before + wrong + 1:,}"
            raise ValueError(f"{where}: weights must be numbers of at least 0, not {frame[request.weight][wrong]!r}")
        keep &= weight > 0
    return frame if keep.all() else frame.filter(keep)


def _is_labelled(labels: pl.Series) -> pl.Series:
    import polars as pl

    if labels.dtype != pl.String:
        return labels.is_not_null()
    tokens = [text for text in labels.drop_nulls().unique().to_list() if is_missing_token(text)]
    return labels.is_not_null() & ~labels.is_in(tokens).fill_null(False)


def columns_and_weight(frame: pl.DataFrame, request: FitRequest) -> tuple[pl.DataFrame, np.ndarray | None]:
    """Return the columns including the target, and the weights."""
    weight = frame[request.weight].to_numpy() if request.weight else None
    return frame.drop([*request.drop, *([request.weight] if request.weight else [])]), weight


def note_dropped_rows(source: files.TableSource, request: FitRequest, n_rows: int, n_kept: int) -> None:
    if not n_rows:
        raise ValueError(f"{source.name}: there is a header but no row")
    without = f"no value in the target column {request.target!r}" + (" or no weight" if request.weight else "")
    if not n_kept:
        raise ValueError(f"{source.name}: every row has {without}")
    if n_kept < n_rows:
        sentence = f"{source.name}: {n_rows - n_kept:,} of {n_rows:,} rows have {without}; they are left out"
        _warnings.warn(sentence)
