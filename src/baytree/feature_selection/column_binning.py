"""`bin_column`: optimal bins of one column of a raw table, in memory or on an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from baytree import param_validation
from baytree._typing import FrameLike, TargetLike, WeightsLike
from baytree._warnings import did_you_mean
from baytree.binning.coarse_bins import MONOTONE, BinningOptions, coarse_bins
from baytree.binning.column_bins import ColumnBins
from baytree.binning.fine_bins import fine_bins
from baytree.binning.objective import OBJECTIVES
from baytree.binning.optimal import SHAPES
from baytree.data.encoding import read_target as target_reading
from baytree.data.encoding.labels import refuse_one_class
from baytree.data.encoding.sample import schema_of
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema, SchemaLike
from baytree.engine.dispatch import remote_source
from baytree.engine.partitions import LocalPartitions, Partitions
from baytree.engine.remote import RemoteSource
from baytree.engine.remote_frame import open_remote_frame
from baytree.feature_selection.filters import open_remote_classes
from baytree.model_selection.frame_rows import column_of
from baytree.model_selection.problem import SupervisedProblem

_MAX_BINS = 100


def bin_column(
    frame: FrameLike,
    column: str,
    target: TargetLike,
    *,
    max_bins: int = 6,
    min_bin: float = 0.05,
    monotone: str | None = "auto",
    objective: str = "auto",
    rare: float = 0.01,
    special: Sequence[float] = (),
    sample_weight: WeightsLike = None,
    task: str | None = None,
    schema: Mapping[str, Any] | Schema | None = None,
) -> ColumnBins:
    """Bin a column so that the bins tell as much as possible about the target.

    A number has at most 256 fine bins, one per value if there are no more values. Of all ways to join neighbouring fine
    bins, dynamic programming finds the best; the result is exact. Levels of a nominal column are ordered by their rate
    first. Missing and special values are bins of their own.

    Parameters
    ----------
    frame : data frame, dict of columns, `baytree.scan`, Dask or Spark frame
        Table with the column, with or without the target column. Remote rows stay where they are.
    column : str
        Name of the column to bin.
    target : str or array
        Name of the target column, or the labels: two classes, several classes, or numbers.
    max_bins : int, default=6
        Maximum number of bins, at least 2, besides those of missing and special values.
    min_bin : float, default=0.05
        Minimum proportion of all rows in a bin, from 0 to 0.5.
    monotone : {"auto", "up", "down", "peak", "valley", None}, default="auto"
        Order of the rates (of the second class) or means of neighbouring bins: never falling, never rising, first up and
        then down, first down and then up, or free. "auto" is the better of up and down; a peak or valley only if its
        objective is more than a tenth higher. Three and more classes have no single rate: their bins are free.
    objective : {"auto", "information_value", "log_likelihood", "squared_error"}, default="auto"
        What the bins maximise: information value for two classes, log-likelihood for classes, the explained sum of squares
        for numbers. "auto" is the first that applies to the target.
    rare : float, default=0.01
        Nominal levels with a smaller proportion of all rows are pooled before they are ordered.
    special : sequence of float, default=()
        Values of a numeric column that mean something else than an amount, such as −999.
    sample_weight : str or array, optional
        Weights of the rows, or the name of their column.
    task : {"classification", "regression"}, optional
        Type of the target; inferred by default.
    schema : dict or Schema, optional
        Kinds of columns that should not be inferred, as in every estimator.

    Returns
    -------
    ColumnBins
        Prints as a table; `cuts`, `to_frame` and `plot` give the bins, `merge` and `split_at` edit them.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"age": [20, 30, 40, None] * 10, "owes": (["yes"] * 3 + ["no"]) * 5 + ["yes", "no", "no", "no"] * 5}
    >>> print(bt.bin_column(rows, "age", "owes"))
       bin      rows  share  P(yes)      WoE      IV
    ------------------------------------------------
    1  ≤ 20       10  25.0%  1.0000   2.9957  1.4979
    2  > 20       20  50.0%  0.5000   0.0000  0.0000
    3  missing    10  25.0%  0.0000  -2.9957  1.4979
    information value for owes: 2.9957, down
    """
    _check_shape(max_bins, monotone)
    param_validation.one_of("objective", objective, ("auto", *OBJECTIVES))
    source = remote_source(frame)
    if source is None:
        rows = _local_rows(frame, column, target, task, schema, sample_weight)
    else:
        rows = _remote_rows(source, target, task, schema, sample_weight)
    j = _position(column, rows.schema)
    _check_column(rows.schema.columns[j], special, monotone, rows.schema)
    options = BinningOptions(
        max_bins=param_validation.integer("max_bins", max_bins, 2, _MAX_BINS),
        min_bin=param_validation.number("min_bin", min_bin, 0, 0.5),
        monotone=monotone,
        objective=_objective(objective, rows.schema),
        rare=param_validation.number("rare", rare, 0, 1),
    )
    fine = fine_bins(rows, j, special)
    schema_target = rows.schema.target
    return ColumnBins(fine, coarse_bins(fine, options), schema_target.name, rows.schema.classes, options.objective)


def _check_shape(max_bins: object, monotone: object) -> None:
    if isinstance(max_bins, int) and max_bins == 1:
        raise ValueError("max_bins=1: a single bin tells nothing about the target; give at least 2")
    param_validation.one_of("monotone", monotone, MONOTONE)


def _local_rows(
    frame: FrameLike, column: str, target: TargetLike, task: str | None, schema: SchemaLike, sample_weight: WeightsLike
) -> Partitions:
    """Rows with this column alone: the others need not be encoded."""
    names = [str(name) for name in (frame if isinstance(frame, Mapping) else getattr(frame, "columns", ()))]
    used = [column, *(name for name in (target, sample_weight) if isinstance(name, str))]
    for name in used:
        if name not in names:
            raise ValueError(f"bin_column: {did_you_mean('column', str(name), names)}")
    if column == target:
        raise ValueError(f"bin_column: {column!r} is the target itself; give another column")
    declared = {name: kind for name, kind in schema.items() if name in used} if isinstance(schema, Mapping) else schema
    table = {name: column_of(frame, name) for name in used}
    return LocalPartitions(SupervisedProblem.of(table, target, task, declared, sample_weight).table)


def _remote_rows(
    source: RemoteSource, target: TargetLike, task: str | None, schema: SchemaLike, sample_weight: WeightsLike
) -> Partitions:
    if sample_weight is not None:
        raise ValueError("sample_weight needs rows in memory; give a local frame")
    rows = open_remote_classes(source, target, task, schema)
    if rows is not None:
        return rows
    read_labels = partial(target_reading.read_in_order, target_reading.read_numbers, schema)
    frame = open_remote_frame(source, target, None, read_labels)
    return frame.parts(schema_of(frame, schema), False, None)


def _position(column: str, schema: Schema) -> int:
    """Position of the column that is binned."""
    if column in schema.left_out:
        raise ValueError(
            f"column {column!r} is left out because it seems only to identify rows; declare its kind, as in "
            f"schema={{{column!r}: 'numeric'}}"
        )
    if column not in schema.names:
        raise ValueError(f"bin_column: {did_you_mean('column', column, schema.names)}")
    return schema.names.index(column)


def _check_column(column: Column, special: Sequence[float], monotone: str | None, schema: Schema) -> None:
    """Raise ValueError for settings that do not fit the kind of the column or the target."""
    if column.kind is Kind.TEXT:
        raise ValueError(f"column {column.name!r} is text, which has no bins; leave it out, or declare it as nominal")
    if len(special) and column.kind is not Kind.NUMERIC:
        raise ValueError(
            f"special={list(special)!r}: column {column.name!r} has levels, which are bins of their own already"
        )
    if monotone in SHAPES and column.kind is Kind.NOMINAL:
        raise ValueError(
            f"monotone={monotone!r}: the levels of column {column.name!r} have no order; use 'auto', or list "
            f"them in order in schema={{{column.name!r}: …}}"
        )
    if monotone in SHAPES and len(schema.classes) > 2:
        raise ValueError(f"monotone={monotone!r}: {len(schema.classes)} classes have no single rate; use monotone='auto'")
    refuse_one_class(schema.target)


def _objective(given: str, schema: Schema) -> str:
    """Objective that fits the target; raises ValueError for one that does not."""
    n_classes = len(schema.classes)
    allowed = OBJECTIVES[2:] if schema.target.classes is None else OBJECTIVES[:2] if n_classes == 2 else OBJECTIVES[1:2]
    if given == "auto":
        return allowed[0]
    if given not in allowed:
        what = "a number" if schema.target.classes is None else f"{n_classes} classes"
        raise ValueError(f"objective={given!r}: the target {schema.target.name!r} has {what}; use {allowed[0]!r}")
    return given
