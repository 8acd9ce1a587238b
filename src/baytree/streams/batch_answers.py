"""Answers for the rows of a source, and how good they are, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from baytree.choose.judging import Judged, judged
from baytree.drifts.batch import Batch
from baytree.streams.batch_learning import Progress
from baytree.table import files
from baytree.table.frames import read

if TYPE_CHECKING:
    import polars as pl

    from baytree.predictor import Predictor
    from baytree.table.schema import Target


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


def verdict(model: Predictor, source: files.Source, progress: Progress | None = None) -> Judged | None:
    """How a model fares on rows whose target is known; rows without one are passed over. None where there is no row."""
    parts = (judged(model, target_of(model).name, None, frame) for frame in source.batches(progress))
    first = next(parts, None)
    return None if first is None else reduce(add, parts, first)


def target_of(model: Predictor) -> Target:
    """What the model predicts."""
    if model.schema.target is None:
        raise ValueError(f"{model.name} has no target")
    return model.schema.target


def drift_of(model: Predictor, source: files.Source, progress: Progress | None = None) -> Batch:
    """What the rows of a source look like beside those of training."""
    parts = (Batch.of(model, read(frame)) for frame in source.batches(progress))
    return reduce(add, parts, Batch.none(model))


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
