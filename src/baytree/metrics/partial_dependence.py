"""Partial dependence (Friedman, 2001) and individual conditional expectation (Goldstein and others, 2015).

One column is set to each of some values in all rows, and the model predicts them: the mean over the rows is the partial
dependence, the single rows are the individual curves. Values that do not occur together with the rest of a row are
predicted as well, so correlated columns need care.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree._typing import FrameLike
from baytree.base.predictor import Predictor
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.engine.dispatch import remote_source
from baytree.rendering.plots.evaluation_plots import PartialDependence

MAX_VALUES = 40  # values of a numeric column, at quantiles of the rows

MAX_ROWS = 1_000  # rows that the mean is taken over: its standard error is below a thirtieth of the standard deviation

MAX_CURVES = 50  # rows with an individual curve; more would cover each other


def partial_dependence(predictor: Predictor, X: FrameLike, column: str, label: object = None) -> PartialDependence:
    """Dependence of the predictions for rows on a column: of the second of two classes, of all classes, or of the number."""
    if remote_source(X) is not None:
        raise ValueError("partial dependence needs rows in memory; pass a local frame, such as one partition")
    table = predictor.encoded(X)
    if not len(table):
        raise ValueError("partial dependence needs at least one row")
    j = _position(table, column)
    values = _grid(table, j)
    table = table.take(np.linspace(0, len(table) - 1, min(len(table), MAX_ROWS)).astype(np.intp))
    codes, outputs = _outputs(predictor, label)
    curves = np.stack([predictor.model.predict(_with_value(table, j, value))[:, codes] for value in values], axis=1)
    own = predictor.schema.columns[j]
    levels = tuple(map(str, own.levels)) if own.kind is not Kind.NUMERIC else ()
    shown = np.linspace(0, len(curves) - 1, min(len(curves), MAX_CURVES)).astype(np.intp)
    return PartialDependence(column, values.astype(float), levels, curves.mean(axis=0), curves[shown], outputs, tuple(codes))


def _position(table: Table, column: str) -> int:
    names = [own.name for own in table.schema.columns]
    if column not in names:
        raise ValueError(f"column={column!r}: the model has no such column; choose one of {', '.join(map(repr, names))}")
    j = names.index(column)
    if table.schema.columns[j].kind is Kind.TEXT:
        raise ValueError(f"column={column!r}: a text column has no values to vary; explain(X) shows the effect of its words")
    return j


def _grid(table: Table, j: int) -> np.ndarray:
    """Values that the column is set to: all levels, or distinct quantiles of the known numbers."""
    own, values = table.schema.columns[j], table.values[j]
    if own.kind is not Kind.NUMERIC:
        return np.arange(len(own.levels), dtype=np.int32)
    known = values[np.isfinite(values)]
    if not len(known):
        raise ValueError(f"column={own.name!r}: all its values are missing in these rows")
    return np.unique(np.quantile(known, np.linspace(0, 1, MAX_VALUES)))


def _outputs(predictor: Predictor, label: object) -> tuple[list[int], tuple[str, ...]]:
    classes = predictor.schema.classes
    if not classes:
        return [0], (f"predicted {predictor.schema.target.name}",)
    if label is None:
        codes = [1] if len(classes) == 2 else list(range(len(classes)))
    else:
        codes = [code for code, known in enumerate(classes) if known == label or str(known) == label]
        if not codes:
            raise ValueError(f"label={label!r}: give one of the classes {', '.join(map(repr, classes))}")
    names = tuple(str(classes[code]) for code in codes)
    return codes, names if len(codes) > 1 else (f"probability of {names[0]}",)


def _with_value(table: Table, j: int, value: np.generic) -> Table:
    columns = tuple(table.values[k] for k in range(len(table.schema.columns)))
    constant = np.full(len(table), value, dtype=columns[j].dtype)
    return msgspec.structs.replace(table, values=(*columns[:j], constant, *columns[j + 1 :]))
