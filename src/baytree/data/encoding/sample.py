"""Rows with their labels and weights, as users give them: the one reading of a frame, its target and its weights."""

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

ReadLabels = Callable[[TargetLike, str], Labels]  # of the labels and the name of the target


class RemoteColumns(Protocol):
    """The columns of rows that are not in memory: their names, and what they hold."""

    columns: dict[str, Any]
    is_named: bool
    matrix: None

    def census(self, declared: Mapping[str, Any] | None) -> TableProfile:
        """What each column holds, with what is declared of it."""
        ...


Columns = RawFrame | RemoteColumns


class TrainingSample(msgspec.Struct, frozen=True):
    """The raw columns of the rows that count, with their labels and weights."""

    frame: RawFrame
    label: Labels
    weight: np.ndarray  # float64 [n_rows], none of them 0
    is_unweighted: bool
    row_mask: np.ndarray | None = None  # bool [n_given]: which of the given rows these are; None where they are all


def read_sample(
    X: FrameLike, y: TargetLike, sample_weight: WeightsLike, read_labels: ReadLabels, name: str
) -> TrainingSample:
    """The rows that count; `y` is the labels or the name of their column, `sample_weight` likewise. `name` asks for them."""
    frame, label = labelled(X, y, read_labels, name)
    frame, given = _weighed(frame, sample_weight)
    weight, is_unweighted = read_weights(given, frame.n_rows)
    kept = None if is_unweighted and not label.has_missing else counted_rows_mask(label, weight)
    if kept is None:
        return TrainingSample(frame, label, weight, is_unweighted)
    return TrainingSample(encode.take(frame, kept), labels.take(label, kept), weight[kept], is_unweighted, kept)


def read_part(X: FrameLike, target: str, weight_name: str | None, read_labels: ReadLabels) -> tuple[TrainingSample, int]:
    """The rows of one part that count, perhaps none, and how many have no label.

    What only all parts together can be refused for is let be.
    """
    frame, label = _by_name(X, read(X), target, read_labels)
    frame, given = _weighed(frame, weight_name)
    weight, is_unweighted = read_part_weights(given, frame.n_rows)
    missing = label.missing
    keep, n_missing = (weight > 0) & ~missing, int(missing.sum())
    if keep.all():
        return TrainingSample(frame, label, weight, is_unweighted), n_missing
    kept = encode.take(frame, keep), labels.take(label, keep), weight[keep]
    return TrainingSample(*kept, is_unweighted, keep), n_missing


def labelled(X: FrameLike, y: TargetLike, read_labels: ReadLabels, name: str) -> tuple[RawFrame, Labels]:
    """The columns and the labels of all rows, whether they come together or apart; `name` asks for them."""
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
    """The labels that answers are held against, one for each row of X, and their weights."""
    frame = read(X)
    label = _by_name(X, frame, y, read_labels)[1] if isinstance(y, str) else read_labels(y, "y")
    check_shape(frame, len(label.values), name)
    return label, read_weights(_weighed(frame, sample_weight)[1], frame.n_rows)[0]


def counted_rows_mask(label: Labels, weight: np.ndarray) -> np.ndarray | None:
    """Which rows have a label and a weight that is not zero; None where all have, a warning where labels are missing."""
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
    """Warns of rows that are left out because they have no label."""
    told, are = ("1 row has", "is") if n_rows == 1 else (f"{n_rows} rows have", "are")
    _warnings.warn(f"{told} no value in the target column {target!r} and {are} left out")


def schema_of(frame: Columns, declared: SchemaLike, leaves_out_identifiers: bool = True) -> Schema:
    """The kinds and levels of the columns: as declared, or inferred; the columns of an array of numbers are numbers."""
    if isinstance(declared, Schema):
        return declared
    is_plain = isinstance(frame.columns, NumberedColumns) and not declared
    if is_plain or (frame.matrix is not None and not isinstance(frame.matrix, np.ndarray)):
        n_columns = frame.matrix.shape[1]  # type: ignore
        return Schema(number_columns(n_columns), inputs=position_names(n_columns), is_named=False)
    if isinstance(frame.columns, MatrixColumns) and isinstance(frame, RawFrame) and not declared:
        return schema_of_array(frame, frame.columns, None if leaves_out_identifiers else Kind.NUMERIC)
    census = census_of(frame, declared)
    return (census if leaves_out_identifiers else census.kept()).schema(frame.is_named)


def census_of(frame: Columns, declared: Mapping[str, Any] | None) -> TableProfile:
    """What each column holds; rows that are elsewhere are asked for it."""
    return TableProfile.of(frame, declared) if isinstance(frame, RawFrame) else frame.census(declared)


def batch_census(frame: RawFrame, declared: SchemaLike) -> TableProfile | None:
    """What the columns of a batch hold, to be added up; None where they have no names, or their schema is given."""
    is_known = isinstance(declared, Schema) or not frame.is_named or frame.matrix is not None
    return None if is_known else TableProfile.of_part(frame, declared)


def with_notes(schema: Schema, notes: Iterable[Note]) -> Schema:
    """The schema with these notes, and with those on its target; what is new and doubtful is warned of."""
    told = tuple(dict.fromkeys((*notes, *labels.notes(schema.target))))
    seen = {(note.column, note.option) for note in schema.notes}
    warn_of(note for note in told if (note.column, note.option) not in seen)
    return msgspec.structs.replace(schema, notes=told)


def with_target(schema: Schema, target: Target, n_rows: int, *notes: Note) -> Schema:
    """The schema with its target, and with what is told of that; what is doubtful is warned of."""
    told = (*labels.notes(target), *labels.rare_notes(target, n_rows), *notes)
    warn_of(told)
    return msgspec.structs.replace(schema, target=target, notes=(*schema.notes, *told))


def with_infinite(table: Table) -> Table:
    """The table, its schema with what is told of infinite numbers that are learnt from: they have an order, but no size."""
    schema, notes = table.schema, []
    for column, values in zip(schema.columns, table.values, strict=True) if schema.is_named else ():
        if holds_infinite(column, values):
            done = "infinite numbers are taken to lie beyond all others"
            notes.append(Note(column.name, done, int(np.isinf(values).sum()), "missing", "inf", is_doubtful=True))
    warn_of(notes)
    told = msgspec.structs.replace(schema, notes=(*schema.notes, *notes))
    return msgspec.structs.replace(table, schema=told) if notes else table


def _by_name(X: FrameLike, frame: RawFrame, name: str, read_labels: ReadLabels) -> tuple[RawFrame, Labels]:
    if not frame.is_named or name not in frame.columns:
        raise ValueError(f"no target column {name!r}; the columns are {', '.join(map(repr, frame.columns))}")
    label = labels.without_words_for_none(read_labels(_original(X, frame, name), name))
    return msgspec.structs.replace(_without(frame, name), target=name), label


def _original(X: FrameLike, frame: RawFrame, name: str) -> Any:
    """The target column as its library holds it, so that classes go back in the type in which they came."""
    is_frame = hasattr(X, "columns") and hasattr(X, "__getitem__")
    names = getattr(X, "column_names", X.columns) if is_frame else X if isinstance(X, dict) else ()
    original = next((other for other in names if str(other) == name), None)
    column = frame.columns[name] if original is None else X[original]
    return column if hasattr(column, "__len__") and not isinstance(column, str) else frame.columns[name]


def _weighed(frame: RawFrame, sample_weight: WeightsLike) -> tuple[RawFrame, Any]:
    """The weights, also where they are the name of a column, which then is none to learn from."""
    if not isinstance(sample_weight, str):
        return frame, sample_weight
    return _without(frame, sample_weight), weight_column(frame, sample_weight)


def _without(frame: RawFrame, name: str) -> RawFrame:
    columns = {other: raw for other, raw in frame.columns.items() if other != name}
    return msgspec.structs.replace(frame, columns=columns, matrix=None)
