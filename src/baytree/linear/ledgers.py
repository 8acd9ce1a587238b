"""Explanations of linear models: what each column adds to the score of each class, or to the number."""

from __future__ import annotations

import numpy as np

from baytree.model import Evidence, Explanation
from baytree.table.table import SparseColumns, Table, Tokens


def ledgers(table: Table, start: np.ndarray, effects: np.ndarray, answers: np.ndarray) -> list[Explanation]:
    """One explanation per row: what each column adds to the score of each class, or to the number."""
    shown, target = _shown(table), table.schema.target
    names = [column.name for column in table.schema.columns]
    classes, unit = ((target.name,), "number") if target.classes is None else (target.classes, "log-odds")
    return [
        Explanation(
            classes,
            start,
            tuple(Evidence(name, shown[j][i], effects[i, j]) for j, name in enumerate(names)),
            answers[i],
            unit,
        )
        for i in range(len(table))
    ]


def _shown(table: Table) -> list[list[str]]:
    values = table.values.matrix.toarray().T if isinstance(table.values, SparseColumns) else table.values
    return [
        _words_in(column) if isinstance(column, Tokens) else [named.show(value) for value in column]
        for named, column in zip(table.schema.columns, values, strict=True)
    ]


def _words_in(tokens: Tokens) -> list[str]:
    length = np.diff(tokens.start)
    return ["missing" if gone else f"{n} words" for n, gone in zip(length, tokens.missing, strict=True)]
