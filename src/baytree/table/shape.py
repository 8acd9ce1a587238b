"""How many rows and columns were given, and whether that can be."""

from __future__ import annotations

from baytree.table.frames import RawFrame
from baytree.table.schema import Schema


def check_shape(frame: RawFrame, n_labels: int, name: str) -> None:
    """Raises an error where there are no rows, no columns, or another number of labels."""
    columns = n_columns(frame)
    if frame.n_rows == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape=(0, {columns})) while a minimum of 1 is required by {name}.")
    if columns == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({frame.n_rows}, 0)) while a minimum of 1 is required by {name}."
        )
    if n_labels != frame.n_rows:
        raise ValueError(f"X has {frame.n_rows} rows, but y has {n_labels}: inconsistent numbers of samples")


def check_columns(frame: RawFrame, schema: Schema, name: str) -> None:
    """Raises an error where columns go by position and their number is another one."""
    if schema.is_named and frame.is_named:
        return
    columns = n_columns(frame)
    if columns != len(schema.inputs):
        raise ValueError(f"X has {columns} features, but {name} is expecting {len(schema.inputs)} features as input")


def n_columns(frame: RawFrame) -> int:
    """The number of columns that were given."""
    return frame.matrix.shape[1] if frame.matrix is not None else len(frame.columns)
