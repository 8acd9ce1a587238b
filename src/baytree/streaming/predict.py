"""Prediction, evaluation and comparison over the batches of a table: one additive result per batch, then summed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

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

UNANSWERED = "no prediction because"  # name of the column with the reason of a rejected prediction


def answers(
    model: Predictor,
    source: files.TableSource,
    with_probabilities: bool,
    progress: Progress | None = None,
    extra_columns: Iterable[str] = (),
    n_reasons: int = 0,
    min_probability: float | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the columns of each batch: `extra_columns`, the prediction, and on request probabilities and reasons.

    A class whose probability is below `min_probability` is not predicted; a column gives the reason.
    """
    extra_columns, n_batches = tuple(extra_columns), 0
    for frame in source.batches(progress):
        if len(frame):
            n_batches += 1
            yield {name: frame[name] for name in extra_columns} | _predict_batch(
                model, frame, with_probabilities, n_reasons, min_probability
            )
    if not n_batches:  # no rows: yield the column names only
        yield {
            name: []
            for name in (
                *(*extra_columns, "prediction", *(() if min_probability is None else (UNANSWERED,))),
                *(*_probability_names(model, with_probabilities), *_reason_names(n_reasons)),
            )
        }


def _predict_batch(
    model: Predictor, frame: pl.DataFrame, with_probabilities: bool, n_reasons: int, min_probability: float | None
) -> dict[str, Any]:
    table = model.encoded(frame)
    prediction, choice = model.predict_with_codes(table)
    columns: dict[str, Any] = {"prediction": prediction[:, 0] if choice is None else _labels(model, choice)}
    if choice is not None and min_probability is not None:
        columns |= _reject(
            columns["prediction"], low_confidence_reasons(prediction[range(len(choice)), choice], min_probability)
        )
    columns |= dict(zip(_probability_names(model, with_probabilities), prediction.T, strict=False))
    return columns | _reasons(model.explain_encoded(table), n_reasons) if n_reasons else columns


def _labels(model: Predictor, choice: np.ndarray) -> Any:
    """Return the labels of these codes, as a column of one type if they have one."""
    import polars as pl

    classes = target_of(model).classes or ()
    if len({type(label) for label in classes}) == 1:
        return pl.Series(list(classes)).gather(choice)
    return [classes[code] for code in choice.tolist()]


def _reject(labels: Any, reasons: list[str]) -> dict[str, Any]:
    """Return the labels without the rejected ones, and a column with the reasons."""
    import polars as pl

    messages = pl.Series([reason or None for reason in reasons], dtype=pl.String)
    return {
        "prediction": pl.Series(labels, strict=False).zip_with(messages.is_null(), pl.Series([None])),
        UNANSWERED: messages,
    }


def _reasons(ledgers: Sequence[Explanation], n: int) -> dict[str, list[Any]]:
    """Return the contributions that speak most for the prediction against the runner-up: the columns and their effects."""
    columns: dict[str, list[Any]] = {name: [] for name in _reason_names(n)}
    for ledger in ledgers:
        _, _, (_, *amounts), _ = ledger.against_runner_up()
        order = sorted(range(len(amounts)), key=lambda k: -abs(amounts[k]))[:n]
        lines = [(ledger.evidence[k].label, amounts[k]) for k in order] + [(None, None)] * (n - len(order))
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
    """Evaluate a model on a source; rows without a target are skipped. Returns None for an empty source."""
    parts = (evaluate_rows(model, target_of(model).name, None, costs, frame) for frame in source.batches(progress))
    first = next(parts, None)
    return None if first is None else reduce(add, parts, first)


def target_of(model: Predictor) -> Target:
    """Return the target of a model; raise ValueError if it has none."""
    if model.schema.target is None:
        raise ValueError(f"{model.name} has no target")
    return model.schema.target


def drift_of(model: Predictor, source: files.TableSource, progress: Progress | None = None) -> Batch:
    """Summarize the rows of a source for comparison with the training rows."""
    parts = (Batch.of(model, read(frame)) for frame in source.batches(progress))
    return reduce(add, parts, Batch.none(model))


def flips_of(old: Predictor, new: Predictor, source: files.TableSource, progress: Progress | None = None) -> Flips:
    """Count the rows of a source that two models predict differently."""
    parts = (Flips.of(old, new, frame) for frame in source.batches(progress))
    return reduce(add, parts, Flips())


def rows(source: files.TableSource, row_numbers: Iterable[int]) -> dict[int, pl.DataFrame]:
    """Return the rows with these 1-based numbers, each as a frame; stop reading after the last."""
    rows_by_number, first, remaining = {}, 1, set(row_numbers)
    for frame in source.batches():
        in_batch = {at for at in remaining if at < first + len(frame)}
        rows_by_number |= {at: frame.slice(at - first, 1) for at in in_batch}
        remaining, first = remaining - in_batch, first + len(frame)
        if not remaining:
            break
    return rows_by_number
