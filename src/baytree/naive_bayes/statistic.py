"""What naive Bayes has seen: the classes, and for each group of columns what its event counts."""

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
    """Everything that naive Bayes keeps of the rows: class weights, and one statistic per group of columns."""

    groups: tuple[ColumnGroup, ...]
    classes: Counts  # [n_classes + 1, 1]
    statistics: tuple[Statistic, ...]  # of the kind that the group's event keeps

    @classmethod
    def of(cls, table: Table, groups: Sequence[ColumnGroup]) -> Self:
        """The statistics of the rows of a table."""
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
        """The same statistics under a schema with other levels or classes."""
        if old.columns == new.columns and old.target == new.target:
            return self
        classes = level_map(old.classes, new.classes)
        recoded = tuple(
            statistic.recoded([level_map(old.columns[j].levels, new.columns[j].levels) for j in group.columns], classes)
            for group, statistic in zip(self.groups, self.statistics, strict=True)
        )
        return type(self)(self.groups, self.classes.recoded([classes], np.zeros(1, int)), recoded)

    def check(self, schema: Schema) -> None:
        """Raises an error unless every statistic has the shape that the schema asks for."""
        n_classes = len(schema.classes)
        self.classes.check(n_classes, 1)
        if len(self.groups) != len(self.statistics):
            raise ValueError("groups and statistics differ in number")
        for group, statistic in zip(self.groups, self.statistics, strict=True):
            if group.event not in EVENTS or not group.columns or not set(group.columns) <= set(range(len(schema))):
                raise ValueError(f"no event {group.event!r} looks at the columns {group.columns}")
            EVENTS[group.event].check(statistic, group, schema)

    def drop_unused_levels(self, schema: Schema) -> tuple[Schema, Self]:
        """Without the collected levels and classes that no row is left of."""
        target = _kept_classes(schema.target, self.classes.known()[:, 0])
        columns = list(schema.columns)
        for group, statistic in zip(self.groups, self.statistics, strict=True):
            weight = statistic.level_weights()
            if weight is not None:
                columns[group.columns[0]] = _kept_levels(columns[group.columns[0]], weight)
        smaller = msgspec.structs.replace(schema, columns=tuple(columns), target=target)
        return smaller, self.to_schema(schema, smaller)


def _as_rows(seen: NaiveBayesStatistic) -> NaiveBayesStatistic:
    """What was seen, with weights that a prior can be held against.

    Weights that together are less than the smallest part of one row cannot be meant as numbers of rows: only their
    proportions count, so they are raised until together they are one row or more.
    """
    counts, exponent = bounded(seen.classes.cells)
    total = float(counts.sum())
    if exponent or not 0 < total < MIN_TOTAL_WEIGHT:
        return seen
    limbs = -int(np.floor(np.log2(total) / 32))
    statistics = tuple(times_limbs(part, limbs) for part in seen.statistics)
    return msgspec.structs.replace(seen, classes=times_limbs(seen.classes, limbs), statistics=statistics)


def _kept_levels(column: Column, weight: np.ndarray) -> Column:
    if column.declared:
        return column
    kept = tuple(level for level, w in zip(column.levels, weight, strict=True) if w > 0)
    return msgspec.structs.replace(column, levels=kept)


def _kept_classes(target: Target, weight: np.ndarray) -> Target:
    kept = tuple(label for label, w in zip(target.classes or (), weight, strict=True) if w > 0)
    if not kept:
        raise ValueError("every learnt row would be forgotten, and a model of nothing is no model")
    return msgspec.structs.replace(target, classes=kept)
