"""Dates in SQL: a column of dates, timestamps or ISO texts as a number, and the year, month and weekday of a date.

The type of a column is not known when a query is written, and databases convert dates differently. So each dialect only
converts the column to an ISO text; the number is computed from the digits of that text by the same arithmetic everywhere.
Years start in March internally, so that the leap day is the last day of a year.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from baytree.exporters.sql import terms
from baytree.exporters.sql.terms import ColumnCache, Term

MICROSECONDS_PER_DAY = 86_400_000_000.0

PER_UNIT = {"W": 7 * MICROSECONDS_PER_DAY, "D": MICROSECONDS_PER_DAY, "h": 3.6e9, "m": 6e7, "s": 1e6, "ms": 1e3, "us": 1.0}

_DATE, _TIME = "9999-99-99", "9999-99-99 99:99"

_BODIES = (_DATE, _TIME, f"{_TIME}:99", *(f"{_TIME}:99.{'9' * n}" for n in range(1, 10)))

_ZONES = {
    1: ("Z",),
    6: ("+99:99", "-99:99"),
    5: ("+9999", "-9999"),
    3: ("+99", "-99"),
}  # shapes of time zones by their length

_EPOCH = 719_468.0  # days from 0000-03-01 to 1970-01-01


def microseconds(cache: ColumnCache, name: str, dialect: str) -> Term:
    """Microseconds since 1970-01-01; NULL if the value is missing or not a date."""
    text, layer = cache.store_text(Term(_text(name, dialect), 0))
    shape = text
    for digit in "012345678":
        shape = _replace(shape, digit, "9")
    shape, layer = cache.store_text(Term(shape, layer))
    zone = cache.store(Term(_zone_length(shape), layer))
    length = exp.Paren(this=exp.Sub(this=exp.Length(this=text), expression=zone.sql))
    is_iso = exp.In(this=_substring(shape, 1, length), expressions=[exp.Literal.string(body) for body in _BODIES])
    size = cache.store(Term(exp.Case(ifs=[exp.If(this=is_iso, true=length)]), zone.layer))
    year, month, day = (
        cache.store(_digits(cache, text, size, *position)) for position in ((10, 1, 4), (10, 6, 2), (10, 9, 2))
    )
    return cache.store(
        terms.case(
            [
                (
                    _is_date(cache, year, month, day),
                    terms.added([_time(cache, text, size, zone), _days(cache, year, month, day)]),
                )
            ],
            Term(exp.Null(), 0),
        )
    )


def is_given(name: str, dialect: str) -> exp.Expression:
    """1 where a date column has a value, 0 where it is NULL or a blank text."""
    blank = exp.EQ(this=_text(name, dialect), expression=exp.Literal.string(""))
    missing = terms.any_of([terms.is_null(terms.name(name)), blank])
    return exp.Case(ifs=[exp.If(this=missing, true=exp.Literal.number(0))], default=exp.Literal.number(1))


def in_unit(cache: ColumnCache, time: Term, unit: str) -> Term:
    """Microseconds converted to the unit of a column."""
    return time if unit == "us" else terms.divided(time, cache.number(PER_UNIT[unit]))


def part(cache: ColumnCache, time: Term, part_name: str) -> Term:
    """Year, month, or weekday (0 is Monday) of microseconds since 1970-01-01."""

    def floored(above: Term, below: float) -> Term:
        return cache.store(_floored(cache, above, below))

    def affine(factor: float, x: Term, constant: float) -> Term:
        return terms.added([terms.multiplied([cache.number(factor), x]), cache.number(constant)])

    day = floored(time, MICROSECONDS_PER_DAY)
    if part_name == "weekday":
        monday = affine(1.0, day, 3.0)
        return terms.subtracted(monday, terms.multiplied([cache.number(7.0), floored(monday, 7.0)]))
    day = cache.store(affine(1.0, day, _EPOCH))
    century = floored(affine(4.0, day, 3.0), 146_097.0)
    day_of_century = cache.store(terms.subtracted(day, floored(affine(146_097.0, century, 0.0), 4.0)))
    year = floored(affine(4.0, day_of_century, 3.0), 1_461.0)
    day_of_year = terms.subtracted(day_of_century, floored(affine(1_461.0, year, 0.0), 4.0))
    month = floored(affine(5.0, day_of_year, 2.0), 153.0)  # 0 is March
    is_january_or_february = terms.compared(month, ">=", cache.number(10.0))
    if part_name == "month":
        return terms.case([(is_january_or_february, affine(1.0, month, -9.0))], affine(1.0, month, 3.0))
    full_year = terms.added([affine(100.0, century, 0.0), year])
    return terms.case([(is_january_or_february, terms.added([full_year, cache.number(1.0)]))], full_year)


# --- text of a date -----------------------------------------------------------------------------------------------------


def _text(name: str, dialect: str) -> exp.Expression:
    """Date, timestamp or text as ISO text with a space between date and time."""
    column = terms.name(name)
    if dialect == "postgres":  # a cast would depend on the setting DateStyle
        json = exp.Cast(this=exp.Anonymous(this="TO_JSONB", expressions=[column]), to=exp.DataType.build("text"))
        text: exp.Expression = exp.Trim(this=json, expression=exp.Literal.string('"'), position="BOTH")
    elif dialect == "tsql":
        to = exp.DataType.build("nvarchar(40)", dialect="tsql")
        text = exp.Convert(this=to, expression=column, style=exp.Literal.number(126))
    elif dialect == "snowflake":  # a cast would depend on the setting TIMESTAMP_OUTPUT_FORMAT
        time = exp.Cast(this=column, to=exp.DataType.build("timestampntz"))
        text = exp.Anonymous(this="TO_VARCHAR", expressions=[time, exp.Literal.string('YYYY-MM-DD"T"HH24:MI:SS.FF6')])
    else:
        text = exp.Cast(this=column, to=exp.DataType.build("char" if dialect == "mysql" else "text"))
    return _replace(_replace(exp.Trim(this=text), "T", " "), "z", "Z")


def _replace(text: exp.Expression, old: str, new: str) -> exp.Expression:
    return exp.Anonymous(this="REPLACE", expressions=[text, exp.Literal.string(old), exp.Literal.string(new)])


def _substring(text: exp.Expression, start: int | exp.Expression, length: int | exp.Expression) -> exp.Expression:
    start, length = (exp.Literal.number(x) if isinstance(x, int) else x for x in (start, length))
    return exp.Substring(this=text, start=start, length=length)


def _zone_length(shape: exp.Expression) -> exp.Expression:
    """Number of characters of the time zone, 0 if there is none."""
    ifs = []
    for length, zones in _ZONES.items():
        ends = [exp.Like(this=shape, expression=exp.Literal.string(f"%:%{zone}")) for zone in zones]
        ifs.append(exp.If(this=terms.any_of(ends), true=exp.Literal.number(length)))
    return exp.Case(ifs=ifs, default=exp.Literal.number(0))


def _digits(cache: ColumnCache, text: exp.Expression, size: Term, minimum: int, start: int, length: int) -> Term:
    """Number at a position of the text; 0 where the text, without its time zone, is shorter than `minimum`."""
    return _if_longer(cache, size, minimum, _number(_substring(text, start, length)))


def _if_longer(cache: ColumnCache, size: Term, minimum: int, number: exp.Expression) -> Term:
    is_there = exp.GTE(this=size.sql, expression=exp.Literal.number(minimum))
    ifs = [exp.If(this=is_there, true=number), exp.If(this=terms.is_known(size.sql), true=cache.number(0.0).sql)]
    return Term(exp.Case(ifs=ifs), size.layer)


def _number(digits: exp.Expression) -> exp.Expression:
    return exp.Cast(this=digits, to=exp.DataType.build("double"))


# --- number of a date ---------------------------------------------------------------------------------------------------


def _time(cache: ColumnCache, text: exp.Expression, size: Term, zone: Term) -> Term:
    """Microseconds since midnight, in UTC if there is a time zone."""
    hour, minute, second = (_digits(cache, text, size, *position) for position in ((16, 12, 2), (16, 15, 2), (19, 18, 2)))
    seconds = _weighed(cache, [(3.6e9, hour), (6e7, minute), (1e6, second), (-6e7, _zone_minutes(cache, text, size, zone))])
    return terms.added([seconds, _fraction(cache, text, size)])


def _fraction(cache: ColumnCache, text: exp.Expression, size: Term) -> Term:
    """Microseconds within a second; further digits are truncated."""
    n_digits = exp.Paren(this=exp.Sub(this=size.sql, expression=exp.Literal.number(20)))
    is_long = exp.GT(this=size.sql, expression=exp.Literal.number(26))
    length = exp.Case(ifs=[exp.If(this=is_long, true=exp.Literal.number(6))], default=n_digits)
    scale = [exp.If(this=exp.Literal.number(20 + n), true=cache.number(10.0 ** (6 - n)).sql) for n in range(1, 6)]
    scaled = exp.Mul(
        this=_number(_substring(text, 21, length)),
        expression=exp.Case(this=size.sql, ifs=scale, default=cache.number(1.0).sql),
    )
    return _if_longer(cache, size, 21, scaled)


def _zone_minutes(cache: ColumnCache, text: exp.Expression, size: Term, zone: Term) -> Term:
    """Minutes by which the time is ahead of UTC."""

    def after(n: int | exp.Expression) -> exp.Expression:
        return exp.Add(this=size.sql, expression=exp.Literal.number(n) if isinstance(n, int) else n)

    def at_least(n: int) -> Term:
        return Term(exp.GTE(this=zone.sql, expression=exp.Literal.number(n)), zone.layer)

    last = exp.Sub(this=zone.sql, expression=exp.Literal.number(1))
    hours = Term(_number(_substring(text, after(2), 2)), size.layer)
    minutes = terms.case([(at_least(5), Term(_number(_substring(text, after(last), 2)), size.layer))], cache.number(0.0))
    is_west = exp.EQ(this=_substring(text, after(1), 1), expression=exp.Literal.string("-"))
    sign = terms.case([(Term(is_west, size.layer), cache.number(-1.0))], cache.number(1.0))
    ahead = terms.multiplied([sign, _weighed(cache, [(60.0, hours), (1.0, minutes)])])
    return terms.case([(at_least(3), ahead)], cache.number(0.0))


def _days(cache: ColumnCache, year: Term, month: Term, day: Term) -> Term:
    """Microseconds from 1970-01-01 to the start of a day."""
    is_before = terms.compared(month, "<=", cache.number(2.0))
    year_from_march = cache.store(terms.case([(is_before, terms.subtracted(year, cache.number(1.0)))], year))
    months_since_march = terms.case(
        [(is_before, terms.added([month, cache.number(9.0)]))], terms.subtracted(month, cache.number(3.0))
    )
    days_before_month = _floored(
        cache, terms.added([terms.multiplied([cache.number(153.0), months_since_march]), cache.number(2.0)]), 5.0
    )
    leap_days = [(sign, _floored(cache, year_from_march, n)) for sign, n in ((1.0, 4.0), (-1.0, 100.0), (1.0, 400.0))]
    total = _weighed(cache, [(365.0, year_from_march), *leap_days, (1.0, days_before_month), (1.0, day)])
    return terms.multiplied([terms.subtracted(total, cache.number(_EPOCH + 1)), cache.number(MICROSECONDS_PER_DAY)])


def _is_date(cache: ColumnCache, year: Term, month: Term, day: Term) -> Term:
    """Condition that the day exists."""

    def divides(n: float) -> exp.Expression:
        return terms.compared(terms.multiplied([cache.number(n), _floored(cache, year, n)]), "==", year).sql

    is_leap = terms.any_of([terms.all_of([divides(4.0), exp.Not(this=divides(100.0))]), divides(400.0)])
    february = exp.Case(ifs=[exp.If(this=is_leap, true=cache.number(29.0).sql)], default=cache.number(28.0).sql)
    lengths = {2: february, **dict.fromkeys((4, 6, 9, 11), cache.number(30.0).sql)}
    ifs = [exp.If(this=cache.number(float(n)).sql, true=length) for n, length in lengths.items()]
    last = exp.Case(this=month.sql, ifs=ifs, default=cache.number(31.0).sql)
    bounds = [
        exp.GTE(this=year.sql, expression=cache.number(1.0).sql),
        exp.GTE(this=month.sql, expression=cache.number(1.0).sql),
        exp.LTE(this=month.sql, expression=cache.number(12.0).sql),
        exp.GTE(this=day.sql, expression=cache.number(1.0).sql),
        exp.LTE(this=day.sql, expression=last),
    ]
    return Term(terms.all_of(bounds), max(year.layer, month.layer, day.layer))


def _weighed(cache: ColumnCache, parts: Sequence[tuple[float, Term]]) -> Term:
    return terms.added([x if weight == 1.0 else terms.multiplied([cache.number(weight), x]) for weight, x in parts])


def _floored(cache: ColumnCache, above: Term, below: float) -> Term:
    return terms.function(exp.Floor, terms.divided(above, cache.number(below)))
