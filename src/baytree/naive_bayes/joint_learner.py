"""Joint distribution of all nominal columns and the class: learner, full table, event probabilities, sampling.

The model itself, `JointTable`, and its statistic, `Combinations`, are in `joint_model`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from baytree import _warnings
from baytree.base.learner import MergeableLearner
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import NO_TARGET, Schema
from baytree.engine.aggregates import CombinationCounts, as_query
from baytree.engine.partitions import Partitions
from baytree.naive_bayes.joint_model import Combinations, JointTable, level_counts

MAX_TABLE_CELLS = 1 << 24  # rows of a full table

Allowed = list[np.ndarray | None]  # allowed codes for each column and the target; None allows all


@dataclass(frozen=True)
class JointLearner(MergeableLearner):
    """Learner that counts combinations of levels; `alpha` is the pseudo-count of every cell of the table."""

    alpha: float = 0.0

    @as_query(lambda _: CombinationCounts())
    def observe(self, table: Table) -> Combinations:
        """Combinations of the rows without missing values."""
        return Combinations.of(table)

    def observe_all(self, rows: Partitions) -> Combinations:
        """Combinations of all complete rows; warns of the number of incomplete ones."""
        n_incomplete = rows.map_reduce(_n_incomplete)
        if n_incomplete:
            subject = (
                "1 row has a missing value and is"
                if n_incomplete == 1
                else f"{n_incomplete} rows have a missing value and are"
            )
            _warnings.warn(f"{subject} left out of the joint table")
        return rows.map_reduce(self.observe)

    def derive(self, statistic: Combinations, schema: Schema) -> JointTable:
        """Joint table with these weights, scaled by a power of two against overflow; raises ValueError without rows."""
        if not len(statistic.code):
            raise ValueError(
                "every row has a missing value, so there is nothing to count; drop the columns that are mostly missing"
            )
        exponent = max(0, statistic.weight.magnitude - 900)
        alpha = float(np.ldexp(self.alpha, -exponent))
        return JointTable(statistic.code, statistic.weight.rounded(exponent), level_counts(schema), alpha)


def full_table(model: JointTable, schema: Schema) -> dict[str, np.ndarray]:
    """Every combination of levels and its probability, as columns; raises ValueError above `MAX_TABLE_CELLS` cells."""
    levels = level_counts(schema)
    if prod(levels) > MAX_TABLE_CELLS:
        raise ValueError(
            f"the full table has {prod(levels)} cells, more than the limit of {MAX_TABLE_CELLS}; "
            "compute single probabilities with .probability(...), or use NaiveBayesClassifier"
        )
    weight = np.full(levels, model.alpha)
    weight[tuple(model.code.T)] += model.weight
    codes = np.indices(levels).reshape(len(levels), -1)
    return {**as_levels(codes.T, schema), "probability": (weight / weight.sum()).ravel()}


def probability(model: JointTable, event: Allowed, given: Allowed) -> float:
    """P(event | given); NaN if P(given) is 0."""
    given_probability = model.probability(given)
    joint_event = [intersect(a, b) for a, b in zip(given, event, strict=True)]
    return model.probability(joint_event) / given_probability if given_probability > 0 else float("nan")


def draw(model: JointTable, n: int, given: Allowed, random: np.random.Generator) -> np.ndarray:
    """Codes of n rows drawn from the table: [n, n_columns + 1]."""
    choices = [np.arange(k) if codes is None else codes for k, codes in zip(model.levels, given, strict=True)]
    matches = np.ones(len(model.code), bool)
    for j, codes in enumerate(choices):
        matches &= np.isin(model.code[:, j], codes)
    observed, pseudo_weight = model.weight[matches].sum(), model.alpha * float(prod(map(len, choices)))
    if not observed + pseudo_weight > 0:
        raise ValueError("the given values have probability 0, so no rows can be drawn")
    rows = np.column_stack([random.choice(codes, n) for codes in choices])  # pseudo-counts: uniform over cells
    is_observed = random.random(n) * (observed + pseudo_weight) < observed
    if is_observed.any():
        proportion = model.weight[matches] / observed
        rows[is_observed] = model.code[matches][random.choice(len(proportion), int(is_observed.sum()), p=proportion)]
    return rows


def allowed_codes(event: Mapping[str, Any], schema: Schema) -> Allowed:
    """Allowed codes of each column and the target, for an event that maps names to a level or a list of levels."""
    levels = _levels_by_name(schema)
    for name in event:
        if name not in levels:
            raise ValueError(f"no column {name!r}; the columns are {', '.join(map(repr, levels))}")
    check_levels(schema, [name for name in event if name in schema.names])
    codes = [_codes_of_levels(name, event[name], list(known)) if name in event else None for name, known in levels.items()]
    return codes if len(codes) > len(schema) else [*codes, None]


def check_levels(schema: Schema, names: Iterable[str]) -> None:
    """Raise ValueError unless these columns have levels, of which single ones have a probability."""
    for name in names:
        kind = schema[name].kind
        if kind not in (Kind.NOMINAL, Kind.ORDINAL):
            raise ValueError(
                f"column {name!r} is {kind}, so a single value has no probability: leave it out, cut it into intervals, or "
                f"declare schema={{{name!r}: 'nominal'}} if it has few values"
            )


def as_levels(codes: np.ndarray, schema: Schema) -> dict[str, np.ndarray]:
    """Levels and classes, as the user wrote them, for codes [n_rows, n_columns + 1]; by column name."""
    return {name: _object_array(known)[codes[:, j]] for j, (name, known) in enumerate(_levels_by_name(schema).items())}


def _incomplete_count(table: Table) -> int:
    return int(table.weight[_is_incomplete(table)].sum())


@as_query(lambda: CombinationCounts(_incomplete_count, counts_rows=True))
def _n_incomplete(table: Table) -> int:
    return int(_is_incomplete(table).sum())


def _is_incomplete(table: Table) -> np.ndarray:
    missing = np.zeros(len(table), bool)
    for values in table.values:
        missing |= np.asarray(values) < 0
    return missing


def _levels_by_name(schema: Schema) -> dict[str, tuple]:
    """Levels of each column and, under the target's name if there is a target, the classes."""
    levels = {column.name: column.levels for column in schema.columns}
    return levels if schema.target == NO_TARGET else {**levels, schema.target.name: schema.classes}


def _codes_of_levels(name: str, allowed: Any, levels: list) -> np.ndarray:
    requested = allowed if isinstance(allowed, (list, tuple, set, frozenset)) else [allowed]
    for level in requested:
        if level not in levels:
            raise ValueError(f"column {name!r} has no level {level!r}; its levels are {levels[:20]}")
    return np.array(sorted({levels.index(level) for level in requested}), np.int64)


def intersect(left: np.ndarray | None, right: np.ndarray | None) -> np.ndarray | None:
    if left is None or right is None:
        return right if left is None else left
    return np.intersect1d(left, right)


def _object_array(levels: Sequence[Any]) -> np.ndarray:
    array = np.empty(len(levels), object)
    array[:] = levels
    return array
