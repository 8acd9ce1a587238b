"""The rows of a fold out of a table that was encoded once: what a frame of these rows alone would have been encoded to."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.table import labels
from baytree.table.schema import Column, Schema, level_map
from baytree.table.table import SparseColumns, Table, Values


def to_learn_from(table: Table, rows: np.ndarray) -> Table:
    """These rows, without the collected levels and classes that none of them has: a fold must not know what it left out."""
    part = table.take(rows)
    label = labels.take(labels.Labels(table.label, table.schema.target), rows)
    schema = msgspec.structs.replace(part.schema, target=label.target)
    part = msgspec.structs.replace(part, schema=schema, label=label.values)
    if isinstance(part.values, SparseColumns):  # numbers have no levels
        return part
    pairs = [_kept(column, values) for column, values in zip(schema.columns, part.values, strict=True)]
    columns, values = tuple(column for column, _ in pairs), tuple(value for _, value in pairs)
    return msgspec.structs.replace(part, schema=msgspec.structs.replace(schema, columns=columns), values=values)


def to_answer_for(table: Table, rows: np.ndarray, schema: Schema) -> Table:
    """These rows under a schema that may know fewer levels: what it does not know is missing."""
    part = table.take(rows)
    if isinstance(part.values, SparseColumns):
        return msgspec.structs.replace(part, schema=schema, label=None)
    pairs = zip(part.schema.columns, schema.columns, part.values, strict=True)
    values = tuple(v if old.levels == new.levels else _recoded(v, old.levels, new.levels) for old, new, v in pairs)
    return msgspec.structs.replace(part, schema=schema, values=values, label=None)


def _kept(column: Column, values: Values) -> tuple[Column, Values]:
    if not column.levels or column.declared or not isinstance(values, np.ndarray):
        return column, values
    is_used = np.bincount(values + 1, minlength=len(column.levels) + 1)[1:] > 0
    if is_used.all():
        return column, values
    kept = tuple(level for level, used in zip(column.levels, is_used.tolist(), strict=True) if used)
    return msgspec.structs.replace(column, levels=kept), _recoded(values, column.levels, kept)


def _recoded(codes: np.ndarray, old: tuple, new: tuple) -> np.ndarray:
    return np.append(level_map(new, old), -1).astype(np.int32)[codes]
