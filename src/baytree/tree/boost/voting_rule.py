"""One rule that votes: what it asks, as a model file can hold it, and how sure it is."""

from __future__ import annotations

from math import floor, inf

import msgspec
import numpy as np

from baytree.summary.tree import VotingRuleSummary
from baytree.table.schema import Kind, Schema
from baytree.tree.model.conditions import Condition, Interval


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A condition as a model file can hold it, which has no word for infinity: a bound that is not there is None."""

    column: int
    low: float | str | None = None  # "inf" or "-inf" where that is the bound
    high: float | str | None = None
    from_low: bool = False
    below_high: bool = False
    levels: tuple[int, ...] | None = None  # None where numbers are asked for
    missing: bool = False

    @classmethod
    def of(cls, condition: Condition) -> Asked:
        """The record of a condition."""
        allowed = condition.allowed
        if not isinstance(allowed, Interval):
            return cls(condition.column, levels=allowed, missing=condition.missing)
        low = None if allowed.low == -inf and not allowed.from_low else _written(allowed.low)
        high = None if allowed.high == inf and not allowed.below_high else _written(allowed.high)
        return cls(condition.column, low, high, allowed.from_low, allowed.below_high, None, condition.missing)

    @property
    def condition(self) -> Condition:
        """The condition that was written."""
        if self.levels is not None:
            return Condition(self.column, self.levels, self.missing)
        low, high = -inf if self.low is None else float(self.low), inf if self.high is None else float(self.high)
        return Condition(self.column, Interval(low, high, self.from_low, self.below_high), self.missing)


class VotingRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """IF all conditions hold THEN the class: what it covers of the training rows, and how much of that is of the class."""

    asked: tuple[Asked, ...]
    label: int  # the class by its code
    cover: float
    right: float
    lift: float  # its confidence over the share of the class in all rows

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What must hold, a condition for each column."""
        return tuple(each.condition for each in self.asked)

    @property
    def confidence(self) -> float:
        """(right + 1) / (cover + 2)."""
        return (self.right + 1.0) / (self.cover + 2.0)

    @property
    def thousandths(self) -> float:
        """The confidence in whole thousandths, as rules vote with it."""
        return floor(1000.0 * self.confidence + 0.5)

    @property
    def vote(self) -> float:
        """The same as a share."""
        return self.thousandths / 1000.0

    def check(self, schema: Schema) -> None:
        """Raises an error unless its class is one, and every condition reads a column in a way of its kind."""
        if not 0 <= self.label < len(schema.classes):
            raise ValueError("a rule names a class that there is not")
        for condition in self.conditions:
            _check_condition(condition, schema)

    def named(self, schema: Schema) -> VotingRuleSummary:
        """The rule with the names of columns, levels and classes."""
        conditions = tuple(condition.named(schema) for condition in self.conditions)
        label = str(schema.classes[self.label])
        return VotingRuleSummary(conditions, label, self.cover, self.right, self.lift, self.confidence)


def _written(edge: float) -> float | str:
    return edge if np.isfinite(edge) else str(edge)


def _check_condition(condition: Condition, schema: Schema) -> None:
    if not 0 <= condition.column < len(schema):
        raise ValueError("a rule asks for a column that there is not")
    column = schema.columns[condition.column]
    allowed = condition.allowed
    if allowed != () and isinstance(allowed, Interval) != (column.kind is Kind.NUMERIC):
        raise ValueError(f"a rule asks for column {column.name!r} as if it were of another kind")
    if not isinstance(allowed, Interval) and any(not 0 <= code < len(column.levels) for code in allowed):
        raise ValueError(f"a rule asks for a level of column {column.name!r} that there is not")
