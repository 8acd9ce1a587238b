"""Sufficient statistic of naive Bayes: class weights and one statistic per group of columns."""

from __future__ import annotations

from collections.abc import Sequence
from operator import add, sub
from typing import Self

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.column import Column, level_map
from baytree.data.schema.schema import Schema, Target
from baytree.engine.partitions import MIN_TOTAL_WEIGHT
from baytree.naive_bayes.events.estimation import ColumnGroup
from baytree.naive_bayes.events.registry import EVENTS, Statistic
from baytree.statistics.counts import Counts
from baytree.statistics.exact_sum import bounded, times_limbs


class NaiveBayesStatistic(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="naive_bayes_seen"):
    """Sufficient statistic of naive Bayes: class weights and one statistic per group of columns."""

    groups: tuple[ColumnGroup, ...]
    classes: Counts  # [n_classes + 1, 1]
    statistics: tuple[Statistic, ...]  # class as declared by the event of the group

    @classmethod
    def of(cls, table: Table, groups: Sequence[ColumnGroup]) -> Self:
        """Statistic of the rows of a table."""
        weight = None if table.is_unweighted else table.weight
        classes = Counts.of(table.label, np.zeros(len(table), np.int32), weight, table.n_classes, 1)
        return cls(tuple(groups), classes, tuple(EVENTS[g.event].observe(table, g) for g in groups))

    def __add__(self, other: Self) -> Self:
        sums = tuple(map(add, self.statistics, other.statistics))
        return type(self)(self.groups, self.classes + other.classes, sums)

    def __sub__(self, other: Self) -> Self:
        differences = tuple(map(sub, self.statistics, other.statistics))
        return type(self)(self.groups, self.classes - other.classes, differences)

    def to_schema(self, old: Schema, new: Schema) -> Self:
        """Same statistic recoded for a schema with other levels or classes."""
        if old.columns == new.columns and old.target == new.target:
            return self
        classes = level_map(old.classes, new.classes)
        recoded = tuple(
            statistic.recoded([level_map(old.columns[j].levels, new.columns[j].levels) for j in group.columns], classes)
            for group, statistic in zip(self.groups, self.statistics, strict=True)
        )
        return type(self)(self.groups, self.classes.recoded([classes], np.zeros(1, int)), recoded)

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless every statistic has the shape that the schema requires."""
        n_classes = len(schema.classes)
        self.classes.check(n_classes, 1)
        if len(self.groups) != len(self.statistics):
            raise ValueError("groups and statistics differ in number")
        for group, statistic in zip(self.groups, self.statistics, strict=True):
            if group.event not in EVENTS or not group.columns or not set(group.columns) <= set(range(len(schema))):
                raise ValueError(f"the event {group.event!r} is unknown or does not fit the columns {group.columns}")
            EVENTS[group.event].check(statistic, group, schema)

    def drop_unused_levels(self, schema: Schema) -> tuple[Schema, Self]:
        """Schema without undeclared levels and classes that no longer occur, and the recoded statistic."""
        target = _used_classes(schema.target, self.classes.known()[:, 0])
        columns = list(schema.columns)
        for group, statistic in zip(self.groups, self.statistics, strict=True):
            weight = statistic.level_weights()
            if weight is not None:
                columns[group.columns[0]] = _used_levels(columns[group.columns[0]], weight)
        smaller = msgspec.structs.replace(schema, columns=tuple(columns), target=target)
        return smaller, self.to_schema(schema, smaller)


def _as_rows(statistic: NaiveBayesStatistic) -> NaiveBayesStatistic:
    """Statistic with weights that can be compared with the pseudo-counts of a prior.

    A total weight below `MIN_TOTAL_WEIGHT` cannot be meant as a number of rows, so only the proportions count: weights are
    multiplied by a power of 2**32 until the total is about one row or more.
    """
    counts, exponent = bounded(statistic.classes.cells)
    total = float(counts.sum())
    if exponent or not 0 < total < MIN_TOTAL_WEIGHT:
        return statistic
    limbs = -int(np.floor(np.log2(total) / 32))
    statistics = tuple(times_limbs(part, limbs) for part in statistic.statistics)
    return msgspec.structs.replace(statistic, classes=times_limbs(statistic.classes, limbs), statistics=statistics)


def _used_levels(column: Column, weight: np.ndarray) -> Column:
    if column.declared:
        return column
    levels = tuple(level for level, w in zip(column.levels, weight, strict=True) if w > 0)
    return msgspec.structs.replace(column, levels=levels)


def _used_classes(target: Target, weight: np.ndarray) -> Target:
    classes = tuple(label for label, w in zip(target.classes or (), weight, strict=True) if w > 0)
    if not classes:
        raise ValueError("cannot forget all training rows: no data would be left")
    return msgspec.structs.replace(target, classes=classes)
