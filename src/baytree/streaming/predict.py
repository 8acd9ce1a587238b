"""Answers for the rows of a source, and how good they are, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from baytree.base.model import predict_with_codes
from baytree.data import files
from baytree.data.frames import read
from baytree.drift_detection.batch import Batch
from baytree.metrics.evaluation import Judged, evaluate_rows
from baytree.model_diff.flips import Flips
from baytree.streaming.fit import Progress
from baytree.uncertainty.rejection import low_confidence_reasons

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from baytree.base.model import Explanation
    from baytree.base.predictor import Predictor
    from baytree.data.schema.schema import Target

UNANSWERED = "no prediction because"  # the column that says why


def answers(
    model: Predictor,
    source: files.TableSource,
    with_probabilities: bool,
    progress: Progress | None = None,
    kept: Iterable[str] = (),
    n_reasons: int = 0,
    least: float | None = None,
) -> Iterator[dict[str, Any]]:
    """For each batch its answers as columns: those to copy, the prediction, probabilities and reasons if asked for.

    A class of less than the `least` probability is no answer; a column says so.
    """
    kept, n_batches = tuple(kept), 0
    for frame in source.batches(progress):
        if len(frame):
            n_batches += 1
            yield {name: frame[name] for name in kept} | _answers(model, frame, with_probabilities, n_reasons, least)
    if not n_batches:  # no row, no answer, but the names of the columns
        yield {
            name: []
            for name in (
                *(*kept, "prediction", *(() if least is None else (UNANSWERED,))),
                *(*_probability_names(model, with_probabilities), *_reason_names(n_reasons)),
            )
        }


def _answers(
    model: Predictor, frame: pl.DataFrame, with_probabilities: bool, n_reasons: int, least: float | None
) -> dict[str, Any]:
    table = model.encoded(frame)
    found, choice = predict_with_codes(model.model, table)
    columns: dict[str, Any] = {"prediction": found[:, 0] if choice is None else _labels(model, choice)}
    if choice is not None and least is not None:
        columns |= _only_sure(columns["prediction"], low_confidence_reasons(found[range(len(choice)), choice], least))
    columns |= dict(zip(_probability_names(model, with_probabilities), found.T, strict=False))
    return columns | _reasons(model.model.explain(table), n_reasons) if n_reasons else columns


def _labels(model: Predictor, choice: np.ndarray) -> Any:
    """The labels of these codes, as a column of one type where they have one."""
    import polars as pl

    classes = target_of(model).classes or ()
    if len({type(label) for label in classes}) == 1:
        return pl.Series(list(classes)).gather(choice)
    return [classes[code] for code in choice.tolist()]


def _only_sure(labels: Any, reasons: list[str]) -> dict[str, Any]:
    """The labels without those that there are reasons against, and these."""
    import polars as pl

    told = pl.Series([reason or None for reason in reasons], dtype=pl.String)
    return {"prediction": pl.Series(labels, strict=False).zip_with(told.is_null(), pl.Series([None])), UNANSWERED: told}


def _reasons(ledgers: Sequence[Explanation], n: int) -> dict[str, list[Any]]:
    """The lines that tell most for the prediction against the next class: what they are of, and how much they tell."""
    columns: dict[str, list[Any]] = {name: [] for name in _reason_names(n)}
    for ledger in ledgers:
        _, _, (_, *amounts), _ = ledger.against_runner_up()
        order = sorted(range(len(amounts)), key=lambda k: -abs(amounts[k]))[:n]
        lines = [(ledger.evidence[k].told, amounts[k]) for k in order] + [(None, None)] * (n - len(order))
        for k, (reason, amount) in enumerate(lines, 1):
            columns[f"reason {k}"].append(reason)
            columns[f"effect {k}"].append(amount)
    return columns


def _reason_names(n: int) -> list[str]:
    return [name for k in range(1, n + 1) for name in (f"reason {k}", f"effect {k}")]


def _probability_names(model: Predictor, are_asked_for: bool) -> list[str]:
    return [f"P({label})" for label in target_of(model).classes or ()] if are_asked_for else []


def evaluate_source(
    model: Predictor, source: files.TableSource, progress: Progress | None = None, costs: np.ndarray | None = None
) -> Judged | None:
    """How a model fares on rows whose target is known; rows without one are passed over. None where there is no row."""
    parts = (evaluate_rows(model, target_of(model).name, None, costs, frame) for frame in source.batches(progress))
    first = next(parts, None)
    return None if first is None else reduce(add, parts, first)


def target_of(model: Predictor) -> Target:
    """What the model predicts."""
    if model.schema.target is None:
        raise ValueError(f"{model.name} has no target")
    return model.schema.target


def drift_of(model: Predictor, source: files.TableSource, progress: Progress | None = None) -> Batch:
    """What the rows of a source look like beside those of training."""
    parts = (Batch.of(model, read(frame)) for frame in source.batches(progress))
    return reduce(add, parts, Batch.none(model))


def flips_of(old: Predictor, new: Predictor, source: files.TableSource, progress: Progress | None = None) -> Flips:
    """The rows of a source that two models answer otherwise."""
    parts = (Flips.of(old, new, frame) for frame in source.batches(progress))
    return reduce(add, parts, Flips())


def rows(source: files.TableSource, wanted: Iterable[int]) -> dict[int, pl.DataFrame]:
    """The rows of these numbers, the first being 1, each as a frame of its own; the source is read no further."""
    found, first, left = {}, 1, set(wanted)
    for frame in source.batches():
        here = {at for at in left if at < first + len(frame)}
        found |= {at: frame.slice(at - first, 1) for at in here}
        left, first = left - here, first + len(frame)
        if not left:
            break
    return found
