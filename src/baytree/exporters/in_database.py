"""Predictions of the rows of a database as a query: the model's SQL export over the user's query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baytree.base.predictor import FittedEstimator, Predictor
from baytree.engine.sql.rows import SqlRows
from baytree.exporters import export

_SOURCE = "baytree_source"  # name of the user's query inside ours


def predicted_rows(model: FittedEstimator | Predictor, rows: SqlRows) -> SqlRows:
    """Rows with the further columns `prediction` and, for classes, `P(class)`; nothing is computed until they are read."""
    taken = [name for name in rows.columns if name == "prediction" or name.startswith("P(")]
    if taken:
        raise ValueError(f"the rows have a column {taken[0]!r} already, which the predictions need; rename it in the query")
    printed = export(model, "sql", dialect=rows.database.dialect, table=_SOURCE)
    assert isinstance(printed, str)
    return SqlRows(rows.database, f"WITH {_SOURCE} AS ({rows.query}) {printed.rstrip().rstrip(';')}", rows.min_count)


def counted_predictions(model: Predictor, rows: SqlRows, target: str) -> list[tuple]:
    """Groups of rows with the same target and probabilities: target, output of the model for each class, number of rows."""
    predicted = predicted_rows(model, rows)
    source = predicted.source()
    names: Sequence[Any] = predicted.columns[-len(model.schema.classes) :]
    outputs = {f"p{k}": source[name] for k, name in enumerate(names)}
    table = source.select(y=predicted.value(source, target), **outputs)
    return predicted.run(table.group_by("y", *outputs).aggregate(n=table.count()))
