"""Year, month and weekday of dates in PMML.

Years start in March internally, so that the leap day is the last day of a year.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from baytree.exporters.pmml.elements import apply, chosen, compared, field, number
from baytree.exporters.pmml.functions import FieldCache


def part(kept: FieldCache, name: str, per_day: int, which: str) -> Element:
    """Year, month, or weekday (0 is Monday) of a date."""

    def floored(above: Element, below: float) -> Element:
        return kept.keep(apply("floor", apply("/", above, number(below))))

    def affine(factor: float, x: Element, constant: float) -> Element:
        return apply("+", apply("*", number(factor), x), number(constant))

    date = floored(field(name), float(per_day))
    if which == "weekday":
        monday = kept.keep(affine(1.0, date, 3.0))
        return kept.keep(apply("-", monday, affine(7.0, floored(monday, 7.0), 0.0)))
    day = kept.keep(affine(1.0, date, 719_468.0))
    century = floored(affine(4.0, day, 3.0), 146_097.0)
    day_of_century = kept.keep(apply("-", day, floored(affine(146_097.0, century, 0.0), 4.0)))
    year = floored(affine(4.0, day_of_century, 3.0), 1_461.0)
    month = floored(affine(5.0, apply("-", day_of_century, floored(affine(1_461.0, year, 0.0), 4.0)), 2.0), 153.0)
    is_january_or_february = compared(month, ">=", number(10.0))
    if which == "month":
        return kept.keep(chosen(is_january_or_february, affine(1.0, month, -9.0), affine(1.0, month, 3.0)))
    full_year = kept.keep(apply("+", affine(100.0, century, 0.0), year))
    return kept.keep(chosen(is_january_or_february, affine(1.0, full_year, 1.0), full_year))
