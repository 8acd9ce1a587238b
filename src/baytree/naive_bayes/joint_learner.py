"""The joint distribution of all columns: its learner, the full table, and what it says of events and of new rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from baytree import _warnings
from baytree.base.learner import MergeableLearner
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import Partitions
from baytree.naive_bayes.joint_model import Combinations, JointTable, level_counts

MOST_CELLS = 1 << 24  # rows of a full table

Allowed = list[np.ndarray | None]  # for each column and the target the codes that an event allows; None for all


@dataclass(frozen=True)
class JointLearner(MergeableLearner):
    """Counts combinations of levels; `alpha` is added to every cell of the table."""

    alpha: float = 0.0

    def observe(self, table: Table) -> Combinations:
        """The combinations of the rows that know every column."""
        return Combinations.of(table)

    def observe_all(self, rows: Partitions) -> Combinations:
        """The combinations of all rows; warns of those that miss a value."""
        n_incomplete = rows.map_reduce(_n_incomplete)
        if n_incomplete:
            told = "1 row misses a value and is" if n_incomplete == 1 else f"{n_incomplete} rows miss a value and are"
            _warnings.warn(f"{told} left out of the joint table")
        return rows.map_reduce(self.observe)

    def derive(self, seen: Combinations, schema: Schema) -> JointTable:
        """The table that follows."""
        if not len(seen.code):
            raise ValueError("every row misses a value, so there is nothing to count; leave out what is mostly missing")
        exponent = max(0, seen.weight.magnitude - 900)
        alpha = float(np.ldexp(self.alpha, -exponent))
        return JointTable(seen.code, seen.weight.rounded(exponent), level_counts(schema), alpha)


def full_table(model: JointTable, schema: Schema) -> dict[str, np.ndarray]:
    """A row for each combination of levels and its probability, column by column."""
    levels = level_counts(schema)
    if prod(levels) > MOST_CELLS:
        raise ValueError(
            f"the full table has {prod(levels)} cells, more than the {MOST_CELLS} that are kept in memory; "
            "ask for single probabilities with .probability(...), or use NaiveBayesClassifier"
        )
    weight = np.full(levels, model.alpha)
    weight[tuple(model.code.T)] += model.weight
    codes = np.indices(levels).reshape(len(levels), -1)
    return {**as_levels(codes.T, schema), "probability": (weight / weight.sum()).ravel()}


def probability(model: JointTable, event: Allowed, given: Allowed) -> float:
    """P(event | given); NaN where what is given never happens."""
    whole = model.probability(given)
    both = [_both(a, b) for a, b in zip(given, event, strict=True)]
    return model.probability(both) / whole if whole > 0 else float("nan")


def draw(model: JointTable, n: int, given: Allowed, random: np.random.Generator) -> np.ndarray:
    """The codes of n rows drawn from the table: [n, n_columns + 1]."""
    choices = [np.arange(k) if codes is None else codes for k, codes in zip(model.levels, given, strict=True)]
    matches = np.ones(len(model.code), bool)
    for j, codes in enumerate(choices):
        matches &= np.isin(model.code[:, j], codes)
    seen, added = model.weight[matches].sum(), model.alpha * float(prod(map(len, choices)))
    if not seen + added > 0:
        raise ValueError("what is given never happens, so nothing can be drawn from it")
    drawn = np.column_stack([random.choice(codes, n) for codes in choices])  # for what α added, every cell is alike
    is_seen = random.random(n) * (seen + added) < seen
    if is_seen.any():
        share = model.weight[matches] / seen
        drawn[is_seen] = model.code[matches][random.choice(len(share), int(is_seen.sum()), p=share)]
    return drawn


def allowed_codes(event: Mapping[str, Any], schema: Schema) -> Allowed:
    """For each column and the target the codes that an event allows: a level or a list of levels by name."""
    levels = _levels_by_name(schema)
    for name in event:
        if name not in levels:
            raise ValueError(f"no column {name!r}; the columns are {', '.join(map(repr, levels))}")
    return [_codes(name, event[name], list(known)) if name in event else None for name, known in levels.items()]


def as_levels(codes: np.ndarray, schema: Schema) -> dict[str, np.ndarray]:
    """Codes [n_rows, n_columns + 1] as the levels and classes that a user wrote, by column."""
    return {name: _array(known)[codes[:, j]] for j, (name, known) in enumerate(_levels_by_name(schema).items())}


def _n_incomplete(table: Table) -> int:
    missing = np.zeros(len(table), bool)
    for values in table.values:
        missing |= np.asarray(values) < 0
    return int(missing.sum())


def _levels_by_name(schema: Schema) -> dict[str, tuple]:
    return {**{column.name: column.levels for column in schema.columns}, schema.target.name: schema.classes}


def _codes(name: str, wanted: Any, levels: list) -> np.ndarray:
    several = wanted if isinstance(wanted, (list, tuple, set, frozenset)) else [wanted]
    for level in several:
        if level not in levels:
            raise ValueError(f"column {name!r} has no level {level!r}; its levels are {levels[:20]}")
    return np.array(sorted({levels.index(level) for level in several}), np.int64)


def _both(left: np.ndarray | None, right: np.ndarray | None) -> np.ndarray | None:
    if left is None or right is None:
        return right if left is None else left
    return np.intersect1d(left, right)


def _array(levels: Sequence[Any]) -> np.ndarray:
    array = np.empty(len(levels), object)
    array[:] = levels
    return array
