"""What a branch asks of its column, in words."""

from __future__ import annotations

from functools import cache
from math import ceil, floor, inf

from baytree.show.names import listed, plain
from baytree.summary.tree import NamedCondition
from baytree.table.schema import Column, Kind


def sentence(condition: NamedCondition, most_levels: int | None = None) -> str:
    """The condition with the column's name: `3 < age ≤ 10 or missing`, `sex = female`."""
    name = plain(condition.column)
    if condition.levels is None:
        test = interval(condition, name)
    else:
        test = f"{name} = {listed(condition.levels, most_levels)}" if condition.levels else ""
    if not condition.missing:
        return test or f"{name}: none"
    return f"{test} or missing" if test else f"{name} missing"


def label(condition: NamedCondition, most_levels: int | None = None) -> str:
    """The condition without the column's name, as it stands beside a branch: `≤ 14`, `1st, 2nd or missing`."""
    test = interval(condition) if condition.levels is None else listed(condition.levels, most_levels)
    return (f"{test} or missing" if test else "missing") if condition.missing else test or "none"


def interval(condition: NamedCondition, name: str = "") -> str:
    """The numbers around a name: `3 < age ≤ 10`; without a name `3 < … ≤ 10`, `≤ 10`, `> 3`. Dates: `before 2024-03-01`."""
    if condition.unit and (between := dates(condition)):
        return f"{name} {between}".strip()
    above, below = "≤" if condition.from_low else "<", "<" if condition.below_high else "≤"
    low, high = edge(condition.low, condition.unit), edge(condition.high, condition.unit)
    if low and high:
        return f"{low} {above} {name or '…'} {below} {high}"
    if low:
        return f"{name} {'≥' if condition.from_low else '>'} {low}".strip()
    return f"{name} {below} {high}".strip() if high else f"{name} known".strip()


def dates(condition: NamedCondition) -> str:
    """The dates between two edges in words: `before 2024-03-01`, `from 2024-01-01 on`; nothing where there is no edge.

    A moment that belongs to what is before it is named itself (`up to 2024-02-29`, `after 2024-02-29`), since the next one
    is a microsecond later; of days the next one is named.
    """
    low = _moment(condition.low, condition.unit, condition.from_low)
    high = _moment(condition.high, condition.unit, condition.below_high)
    after = f"after {low}" if _is_last(condition.low, condition.unit, condition.from_low) else f"from {low}"
    until = f"up to {high}" if _is_last(condition.high, condition.unit, condition.below_high) else f"before {high}"
    if low and high:
        return f"{after}, {until}"
    return f"{after}{' on' * after.startswith('from')}" if low else until if high else ""


def _moment(edge: float | None, unit: str | None, is_itself: bool) -> str:
    """The first moment beyond an edge, or the edge itself where it is the last moment before it."""
    if edge is None or abs(edge) == inf:
        return ""
    if unit == "clock" or _is_last(edge, unit, is_itself):
        return shown(edge, unit)
    return shown(ceil(edge) + float(edge == floor(edge) and not is_itself), unit)


def _is_last(edge: float | None, unit: str | None, is_itself: bool) -> bool:
    """Whether an edge is a moment that belongs to what is before it, in a unit finer than days."""
    return unit not in ("D", "W", "clock") and not is_itself and edge is not None and edge == floor(edge)


def edge(value: float | None, unit: str | None) -> str:
    """A number or a date; nothing where there is no edge."""
    return "" if value is None else shown(value, unit) if abs(value) < inf else str(value)


def shown(value: float, unit: str | None) -> str:
    """A short number, or a date."""
    return _column(unit).show(value)


def mean(value: float, spread: float, unit: str | None) -> str:
    """A mean: a short number, or a date with no more of its time than its spread is worth."""
    return _column(unit).show_mean(value, spread)


def distance(value: float, unit: str | None) -> str:
    """A short number, or days."""
    return _column(unit).show_distance(value)


@cache
def _column(unit: str | None) -> Column:
    return Column("", Kind.NUMERIC, unit=unit)
