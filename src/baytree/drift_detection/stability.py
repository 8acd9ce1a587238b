"""Population stability of a scorecard: how far the proportions of its bins and of its scores have moved.

The index (PSI) is Σ (new − old) · log(new / old) over the proportions of the groups, as credit analysts report it: below 0.1
little has changed, above 0.25 much has.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.base.predictor import Predictor
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Column

SCORE = "score"

_HALF_A_ROW = 0.5  # stands for a group without rows, whose logarithm would be infinite


class PopulationStability(msgspec.Struct, frozen=True):
    """Population stability index of the score or of a column."""

    name: str
    index: float


def count_groups(predictor: Predictor, table: Table) -> tuple[np.ndarray, ...]:
    """Rows of each group of the score and of each column of a scorecard; empty for other models."""
    groups = getattr(predictor.model, "stability_groups", None)
    if groups is None:
        return ()
    return tuple(np.bincount(group, minlength=len(weight)) for _, weight, group in groups(table))


def stability(predictor: Predictor, counts: tuple[np.ndarray, ...]) -> list[PopulationStability]:
    """Index of the score, and then of each column, those that have moved most first."""
    if not counts:
        return []
    empty = Table(predictor.schema, tuple(map(_no_values, predictor.schema.columns)), np.zeros(0))
    named = [(name, weight) for name, weight, _ in predictor.model.stability_groups(empty)]
    score, *columns = (
        PopulationStability(name, population_stability(weight, now))
        for (name, weight), now in zip(named, counts, strict=True)
    )
    return [score, *sorted(columns, key=lambda each: -each.index)]


def population_stability(before: np.ndarray, now: np.ndarray) -> float:
    """Index of two distributions over the same groups; 0 without new rows.

    >>> round(population_stability(np.array([50.0, 50.0]), np.array([30, 70])), 4)
    0.1695
    """
    if not now.sum() or not before.sum():
        return 0.0
    used = (before > 0) | (now > 0)
    old, new = (
        np.where(each[used] > 0, each[used], _HALF_A_ROW) / each.sum() for each in (before, np.asarray(now, np.float64))
    )
    return float(((new - old) * np.log(new / old)).sum())


def _no_values(column: Column) -> np.ndarray:
    return np.zeros(0, np.int32) if column.levels else np.zeros(0)
