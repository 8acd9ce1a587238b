"""Year, month and weekday of dates in ONNX, by integer arithmetic on doubles.

Years start in March internally, so that the leap day is the last day of a year.
"""

from __future__ import annotations

from baytree.exporters.onnx.graph import Graph


def part(graph: Graph, number: str, per_day: int, part_name: str) -> str:
    """Year, month, or weekday (0 is Monday, −1 is missing) of a date. [n_rows, 1]"""
    op = graph.op

    def floored(above: str, below: float) -> str:
        return op("Floor", op("Div", above, graph.number(below)))

    def affine(factor: float, x: str, constant: float) -> str:
        return op("Add", op("Mul", graph.number(factor), x), graph.number(constant))

    date = floored(number, float(per_day))
    if part_name == "weekday":
        monday = affine(1.0, date, 3.0)
        weekday = op("Sub", monday, affine(7.0, floored(monday, 7.0), 0.0))
        return op("Cast", op("Where", op("IsNaN", date), graph.number(-1.0), weekday), to=7)
    day = affine(1.0, date, 719_468.0)
    century = floored(affine(4.0, day, 3.0), 146_097.0)
    day_of_century = op("Sub", day, floored(affine(146_097.0, century, 0.0), 4.0))
    year = floored(affine(4.0, day_of_century, 3.0), 1_461.0)
    month = floored(affine(5.0, op("Sub", day_of_century, floored(affine(1_461.0, year, 0.0), 4.0)), 2.0), 153.0)
    is_january_or_february = op("GreaterOrEqual", month, graph.number(10.0))
    if part_name == "month":
        return op("Where", is_january_or_february, affine(1.0, month, -9.0), affine(1.0, month, 3.0))
    full_year = op("Add", affine(100.0, century, 0.0), year)
    return op("Where", is_january_or_february, affine(1.0, full_year, 1.0), full_year)
