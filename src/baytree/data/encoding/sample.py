"""Training samples: the raw columns, labels and weights of the rows that count, read from user input.

Rows without a label or with weight 0 are dropped. `schema_of` infers the schema of the columns; `with_target` and
`with_notes` complete it and issue its doubtful notes as warnings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import msgspec
import numpy as np

from baytree import _warnings
from baytree._typing import FrameLike, TargetLike, WeightsLike
from baytree.data.encoding import encode, labels
from baytree.data.encoding.labels import Labels
from baytree.data.encoding.read_target import read_part_weights, read_weights, weight_column
from baytree.data.encoding.table import Table, check_shape, holds_infinite
from baytree.data.frames import read
from baytree.data.frames.arrays import number_columns
from baytree.data.frames.numbers import MatrixColumns, NumberedColumns, position_names
from baytree.data.frames.raw import RawFrame
from baytree.data.inference.infer import TableProfile, schema_of_array, warn_of
from baytree.data.schema.column import Kind
from baytree.data.schema.notes import Note
from baytree.data.schema.schema import Schema, SchemaLike, Target

ReadLabels = Callable[[TargetLike, str], Labels]  # (labels, name of the target) -> Labels


class RemoteColumns(Protocol):
    """Interface of the columns of rows that are not in memory: their names and their profile."""

    columns: dict[str, Any]
    is_named: bool
    matrix: None

    def census(self, declared: Mapping[str, Any] | None) -> TableProfile:
        """Return the profile of the columns, given what is declared of them."""
        ...


Columns = RawFrame | RemoteColumns


class TrainingSample(msgspec.Struct, frozen=True):
    """Raw columns, labels and weights of the rows that count."""

    frame: RawFrame
    label: Labels
    weight: np.ndarray  # float64 [n_rows], all positive
    is_unweighted: bool
    row_mask: np.ndarray | None = None  # bool [n_given]: the given rows that are kept; None if all are


def read_sample(
    X: FrameLike, y: TargetLike, sample_weight: WeightsLike, read_labels: ReadLabels, name: str
) -> TrainingSample:
    """Return the rows that have a label and a positive weight.

    `y` is the labels or the name of the label column, `sample_weight` likewise; `name` is the estimator in error messages.
    """
    frame, label = labelled(X, y, read_labels, name)
    frame, given = _weighed(frame, sample_weight)
    weight, is_unweighted = read_weights(given, frame.n_rows)
    row_mask = None if is_unweighted and not label.has_missing else counted_rows_mask(label, weight)
    if row_mask is None:
        return TrainingSample(frame, label, weight, is_unweighted)
    return TrainingSample(
        encode.take(frame, row_mask), labels.take(label, row_mask), weight[row_mask], is_unweighted, row_mask
    )


def read_part(X: FrameLike, target: str, weight_name: str | None, read_labels: ReadLabels) -> tuple[TrainingSample, int]:
    """Return the rows of one partition that count, perhaps none, and the number of rows without a label.

    Conditions that only concern the whole table, such as weights that are all zero, are not checked.
    """
    frame, label = _by_name(X, read(X), target, read_labels)
    frame, given = _weighed(frame, weight_name)
    weight, is_unweighted = read_part_weights(given, frame.n_rows)
    missing = label.missing
    row_mask, n_missing = (weight > 0) & ~missing, int(missing.sum())
    if row_mask.all():
        return TrainingSample(frame, label, weight, is_unweighted), n_missing
    selected = encode.take(frame, row_mask), labels.take(label, row_mask), weight[row_mask]
    return TrainingSample(*selected, is_unweighted, row_mask), n_missing


def labelled(X: FrameLike, y: TargetLike, read_labels: ReadLabels, name: str) -> tuple[RawFrame, Labels]:
    """Return columns and labels of all rows, with labels in the table or separate; `name` is the estimator in messages."""
    frame = read(X)
    if isinstance(y, str):
        frame, label = _by_name(X, frame, y, read_labels)
    else:
        frame = msgspec.structs.replace(frame, target=labels.name_apart(y, frame.columns))
        label = read_labels(y, frame.target)
        if label.has_missing:
            row = int(np.argmax(label.missing))
            raise ValueError(f"Input y contains NaN: the label of row {row} is missing; leave such rows out")
    check_shape(frame, len(label.values), name)
    return frame, label


def read_truth(
    X: FrameLike, y: TargetLike, sample_weight: WeightsLike, read_labels: ReadLabels, name: str
) -> tuple[Labels, np.ndarray]:
    """Return the true labels of all rows of X, with which predictions are compared, and their weights: float64 [n_rows]."""
    frame = read(X)
    label = _by_name(X, frame, y, read_labels)[1] if isinstance(y, str) else read_labels(y, "y")
    check_shape(frame, len(label.values), name)
    return label, read_weights(_weighed(frame, sample_weight)[1], frame.n_rows)[0]


def counted_rows_mask(label: Labels, weight: np.ndarray) -> np.ndarray | None:
    """Return the mask of rows with a label and a positive weight, or None if that is all rows; warn about missing labels."""
    missing = label.missing
    keep = (weight > 0) & ~missing
    if keep.all():
        return None
    if missing.any():
        warn_of_unlabelled(int(missing.sum()), label.target.name)
    if not keep.any():
        raise ValueError(f"no row has a label in the target column {label.target.name!r}")
    return keep


def warn_of_unlabelled(n_rows: int, target: str) -> None:
    """Warn about rows that are left out because they have no label."""
    rows_have, are = ("1 row has", "is") if n_rows == 1 else (f"{n_rows} rows have", "are")
    _warnings.warn(f"{rows_have} no value in the target column {target!r} and {are} left out")


def schema_of(frame: Columns, declared: SchemaLike, leaves_out_identifiers: bool = True) -> Schema:
    """Return the schema of the columns, declared or inferred; the columns of a numeric array without names are numeric."""
    if isinstance(declared, Schema):
        return declared
    is_plain = isinstance(frame.columns, NumberedColumns) and not declared
    if is_plain or (frame.matrix is not None and not isinstance(frame.matrix, np.ndarray)):
        n_columns = frame.matrix.shape[1]  # type: ignore
        return Schema(number_columns(n_columns), inputs=position_names(n_columns), is_named=False)
    if isinstance(frame.columns, MatrixColumns) and isinstance(frame, RawFrame) and not declared:
        return schema_of_array(frame, frame.columns, None if leaves_out_identifiers else Kind.NUMERIC)
    profile = census_of(frame, declared)
    return (profile if leaves_out_identifiers else profile.with_identifiers()).schema(frame.is_named)


def census_of(frame: Columns, declared: Mapping[str, Any] | None) -> TableProfile:
    """Return the profile of the columns, computed here or by the engine that holds the rows."""
    return TableProfile.of(frame, declared) if isinstance(frame, RawFrame) else frame.census(declared)


def batch_census(frame: RawFrame, declared: SchemaLike) -> TableProfile | None:
    """Return the mergeable profile of a batch, or None if its columns have no names or the schema is given."""
    is_known = isinstance(declared, Schema) or not frame.is_named or frame.matrix is not None
    return None if is_known else TableProfile.of_part(frame, declared)


def with_notes(schema: Schema, notes: Iterable[Note]) -> Schema:
    """Return the schema with these notes and those on its target; issue a warning for each new doubtful note."""
    all_notes = tuple(dict.fromkeys((*notes, *labels.notes(schema.target))))
    known = {(note.column, note.option) for note in schema.notes}
    warn_of(note for note in all_notes if (note.column, note.option) not in known)
    return msgspec.structs.replace(schema, notes=all_notes)


def with_target(schema: Schema, target: Target, n_rows: int, *notes: Note) -> Schema:
    """Return the schema with its target and the notes on it; issue a warning for each doubtful note."""
    target_notes = (*labels.notes(target), *labels.rare_notes(target, n_rows), *notes)
    warn_of(target_notes)
    return msgspec.structs.replace(schema, target=target, notes=(*schema.notes, *target_notes))


def with_infinite(table: Table) -> Table:
    """Return the table with notes on columns that contain infinite numbers, which have an order but no size."""
    schema, notes = table.schema, []
    for column, values in zip(schema.columns, table.values, strict=True) if schema.is_named else ():
        if holds_infinite(column, values):
            message = "infinite numbers are treated as extreme values beyond all others"
            notes.append(Note(column.name, message, int(np.isinf(values).sum()), "missing", "inf", is_doubtful=True))
    warn_of(notes)
    new_schema = msgspec.structs.replace(schema, notes=(*schema.notes, *notes))
    return msgspec.structs.replace(table, schema=new_schema) if notes else table


def _by_name(X: FrameLike, frame: RawFrame, name: str, read_labels: ReadLabels) -> tuple[RawFrame, Labels]:
    if not frame.is_named or name not in frame.columns:
        raise ValueError(f"no target column {name!r}; the columns are {', '.join(map(repr, frame.columns))}")
    label = labels.without_words_for_none(read_labels(_original(X, frame, name), name))
    return msgspec.structs.replace(_without(frame, name), target=name), label


def _original(X: FrameLike, frame: RawFrame, name: str) -> Any:
    """Return the target column as its library holds it, so that classes keep their type."""
    is_frame = hasattr(X, "columns") and hasattr(X, "__getitem__")
    names = getattr(X, "column_names", X.columns) if is_frame else X if isinstance(X, dict) else ()
    original = next((other for other in names if str(other) == name), None)
    column = frame.columns[name] if original is None else X[original]
    return column if hasattr(column, "__len__") and not isinstance(column, str) else frame.columns[name]


def _weighed(frame: RawFrame, sample_weight: WeightsLike) -> tuple[RawFrame, Any]:
    """Return the frame and the weights; a weight column given by name is removed from the frame."""
    if not isinstance(sample_weight, str):
        return frame, sample_weight
    return _without(frame, sample_weight), weight_column(frame, sample_weight)


def _without(frame: RawFrame, name: str) -> RawFrame:
    columns = {other: raw for other, raw in frame.columns.items() if other != name}
    return msgspec.structs.replace(frame, columns=columns, matrix=None)
