"""Year, month and weekday of dates in PMML.

Years start in March internally, so that the leap day is the last day of a year.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from baytree.exporters.pmml.elements import apply, compared, field, if_else, number
from baytree.exporters.pmml.functions import FieldCache


def part(cache: FieldCache, name: str, per_day: int, part_name: str) -> Element:
    """Year, month, or weekday (0 is Monday) of a date."""

    def floored(above: Element, below: float) -> Element:
        return cache.store(apply("floor", apply("/", above, number(below))))

    def affine(factor: float, x: Element, constant: float) -> Element:
        return apply("+", apply("*", number(factor), x), number(constant))

    date = floored(field(name), float(per_day))
    if part_name == "weekday":
        monday = cache.store(affine(1.0, date, 3.0))
        return cache.store(apply("-", monday, affine(7.0, floored(monday, 7.0), 0.0)))
    day = cache.store(affine(1.0, date, 719_468.0))
    century = floored(affine(4.0, day, 3.0), 146_097.0)
    day_of_century = cache.store(apply("-", day, floored(affine(146_097.0, century, 0.0), 4.0)))
    year = floored(affine(4.0, day_of_century, 3.0), 1_461.0)
    month = floored(affine(5.0, apply("-", day_of_century, floored(affine(1_461.0, year, 0.0), 4.0)), 2.0), 153.0)
    is_january_or_february = compared(month, ">=", number(10.0))
    if part_name == "month":
        return cache.store(if_else(is_january_or_february, affine(1.0, month, -9.0), affine(1.0, month, 3.0)))
    full_year = cache.store(apply("+", affine(100.0, century, 0.0), year))
    return cache.store(if_else(is_january_or_february, affine(1.0, full_year, 1.0), full_year))
