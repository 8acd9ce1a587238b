"""Parse one string as a date in ISO or local notation, with or without time, or as a time of day or duration.

Two numbers before a year (`03/04/2024`) may be day and month or month and day; the `order` inferred from the column
decides. Dates are microseconds since 1970-01-01, times of day seconds since midnight.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import NamedTuple

from baytree.data.parsing.vocabulary import MONTH, Pattern

_TIME = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?\s*(?P<zone>Z|z|UTC|GMT|[+-]\d{2}:?\d{2}|[+-]\d{2}|\[?[A-Z][a-z]+/[A-Za-z_]+\]?)?(?:\s*Uhr)?"
)

_DAY = r"(?:(?:[^\W\d_]{2,10})[.,]*\s+)?"  # name of a weekday

_NAME = r"(?P<name>[^\W\d_]{3,10})\.?"

_OF = r"(?:[-\s/,]*|\s+del?\s+)"  # 3 de marzo de 2024

_YEAR = r"(?P<year>\d{4}|'?\d{2})"

_DATES = (
    ("ymd", r"(?P<year>\d{4})年(?P<month>\d{1,2})月(?P<day>\d{1,2})日?"),
    ("ymd", r"(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})"),
    ("dm", rf"{_DAY}(?P<first>\d{{1,2}})(?P<sep>[-/]|\.\s?)(?P<other>\d{{1,2}})(?P=sep)\s?{_YEAR}"),
    ("name", rf"{_DAY}(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.|er)?{_OF}{_NAME}{_OF}{_YEAR}"),
    ("name", rf"{_DAY}{_NAME}[-\s]*(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,\s*|\s+|-)(?P<year>\d{{4}})"),
    ("name", rf"(?P<year>\d{{4}})[-\s/]{_NAME}(?:[-\s/](?P<day>\d{{1,2}}))?"),
    ("month", rf"{_NAME}[-\s/]*(?P<year>\d{{4}}|'\d{{2}}|(?<=-)\d{{2}})"),
    ("month", r"(?P<year>\d{4})[-/](?P<month>\d{1,2})"),
    ("month", r"(?P<month>\d{1,2})/(?P<year>\d{4})"),
    ("month", r"(?P<year>\d{4})[-\s]?[Qq](?P<quarter>[1-4])"),
    ("month", r"[Qq](?P<quarter>[1-4])[-\s/]*(?P<year>\d{4})"),
    ("week", r"(?P<year>\d{4})-?W(?P<week>\d{2})"),
)

_COMPACT = Pattern(r"(?P<year>\d{4}|\d{2})(?P<month>\d{2})(?P<day>\d{2})")

_LONG = (  # formats that include the time
    ("name", rf"{_DAY}{_NAME}\s+(?P<day>\d{{1,2}})\s+{_TIME}\s+(?P<year>\d{{4}})"),  # as C's ctime
    ("ymd", r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)T(?P<hour>\d\d):?(?P<minute>\d\d):?(?P<second>\d\d)?"
     r"(?P<part>)(?P<half>)(?P<zone>Z|[+-]\d\d:?\d\d)?"),
)  # fmt: skip

_WITH_TIME = tuple((style, rf"{text}(?:(?:\s*[T,:]\s*|\s+|\s+um\s+){_TIME})?") for style, text in _DATES)

_PATTERNS = tuple((style, Pattern(text)) for style, text in (*_LONG, *_WITH_TIME))

_CLOCK = Pattern(_TIME)

_SPANS = tuple(  # durations
    Pattern(text)
    for text in (
        r"(?P<hour>\d{1,4}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?",
        r"(?P<hour>\d{1,4})\s*(?:h|hrs?|hours?|Std\.?)\s*(?P<minute>\d{1,2})\s*(?:m|min|mins|minutes?|Min\.?)?(?P<second>)",
        r"(?P<hour>)(?P<minute>\d{1,4})\s*(?:m|min)\s*(?P<second>\d{1,2})\s*(?:s|sec)",
    )
)

_PIVOT = 69  # two-digit years: 69 is 1969, 68 is 2068, as in POSIX

_EPOCH = date(1970, 1, 1)

_SPREADSHEET = (_EPOCH - date(1899, 12, 30)).days  # day 0 of spreadsheets


class DatePattern(NamedTuple):
    """Match of a date or time: its style, and its two numbers if their order is ambiguous."""

    style: str  # key of _DATES, or "clock"
    separator: str = ""
    first: int = 0
    other: int = 0
    has_time: bool = False
    has_zone: bool = False
    is_span: bool = False  # longer than a day, or written as a duration


def match_date(text: str) -> DatePattern | None:
    """Return the date or time pattern of the string, or None; the order of day and month may be ambiguous.

    >>> match_date("13.02.2024")[:4], match_date("2024-02-13T10:00Z").has_zone
    (('dm', '.', 13, 2), True)
    >>> match_date("9:45 pm").style, match_date("12 kg")
    ('clock', None)
    """
    for style, match in _matches(text):
        has_time, has_zone = bool(match["hour"]), bool(match["zone"])
        if style == "dm":
            return DatePattern(style, match["sep"].strip(), int(match["first"]), int(match["other"]), has_time, has_zone)
        if "name" not in match.re.groupindex or match["name"].casefold() in MONTH:
            return DatePattern(style, "", 0, 0, has_time, has_zone)
    if parse_time(text) is None:
        return None
    return DatePattern("clock", is_span=_time_of_day(text) is None)


def parse_date(text: str, order: str) -> int | None:
    """Return microseconds since 1970, or None for strings that are not a valid date. `order` is "dmy" or "mdy".

    >>> parse_date("03/01/1970", "dmy"), parse_date("03/01/1970", "mdy"), parse_date("30.02.2024", "dmy")
    (172800000000, 5097600000000, None)
    >>> parse_date("19700103", "dmy"), parse_date("25571", "dmy")  # digits alone; days as a spreadsheet counts them
    (172800000000, 172800000000)
    """
    for _, match in _matches(text):
        day = _date(match.groupdict(), order)
        if day is not None:
            return (day - _EPOCH).days * 86_400_000_000 + (_seconds(match, True) if match["hour"] else 0)
    return _date_of_digits(text, order) if text.isdecimal() else None


def _date_of_digits(digits: str, order: str) -> int | None:
    """Return a date of digits alone: 20240131, 240131, days of a spreadsheet, or (milli)seconds since 1970; else None."""
    if len(digits) in (10, 13):
        return int(digits) * (1_000_000 if len(digits) == 10 else 1_000)
    if len(digits) == 5:
        return (int(digits) - _SPREADSHEET) * 86_400_000_000
    compact = _COMPACT.fullmatch(digits)
    day = _date(compact.groupdict(), order) if compact else None
    return None if day is None else (day - _EPOCH).days * 86_400_000_000


def parse_time(text: str) -> float | None:
    """Return seconds since midnight, or of a duration; None if the string is neither.

    >>> parse_time("9:45 pm"), parse_time("36:15"), parse_time("2h 30m"), parse_time("9:75")
    (78300.0, 130500.0, 9000.0, None)
    """
    seconds = _time_of_day(text)
    return _span(text) if seconds is None else seconds


def _time_of_day(text: str) -> float | None:
    match = _CLOCK.fullmatch(text)
    if not match or int(match["hour"]) > 24 or int(match["minute"]) > 59 or int(match["second"] or 0) > 60:
        return None
    return _seconds(match, False) / 1e6


def _span(text: str) -> float | None:
    found = next((found for pattern in _SPANS if (found := pattern.fullmatch(text))), None)
    if found is None:
        return None
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    return None if second > 59 or (found["hour"] and minute > 59) else 3600.0 * hour + 60 * minute + second


def _matches(text: str) -> list[tuple[str, re.Match]]:
    return [(style, match) for style, pattern in _PATTERNS if (match := pattern.fullmatch(text))]


def _date(parts: dict[str, str | None], order: str) -> date | None:
    year = int((parts["year"] or "").removeprefix("'"))
    year += 0 if len(parts["year"] or "") == 4 else 1900 if year >= _PIVOT else 2000
    try:
        if parts.get("week"):
            return date.fromisocalendar(year, int(parts["week"] or 1), 1)
        month, day = _month_and_day(parts, order)
        return date(year, month, day)
    except ValueError:
        return None


def _month_and_day(parts: dict[str, str | None], order: str) -> tuple[int, int]:
    if parts.get("first"):
        first, other = int(parts["first"] or 0), int(parts["other"] or 0)
        return (first, other) if order == "mdy" else (other, first)
    if parts.get("quarter"):
        return 3 * int(parts["quarter"] or 1) - 2, 1
    month = MONTH.get((parts.get("name") or "").casefold()) or int(parts.get("month") or 0)
    return month, int(parts.get("day") or 1)


def _seconds(found: re.Match, to_utc: bool) -> int:
    """Return the time of day in microseconds, converted from its zone if `to_utc`."""
    hour = int(found["hour"])
    half = (found["half"] or "").lower().replace(".", "")
    hour = hour % 12 + 12 if half == "pm" else hour % 12 if half == "am" else hour
    whole = hour * 3600 + int(found["minute"]) * 60 + int(found["second"] or 0)
    shift = _shift(found["zone"]) if to_utc else timedelta()
    return whole * 1_000_000 + int((found["part"] or "").ljust(6, "0")[:6]) - shift // timedelta(microseconds=1)


def _shift(zone: str | None) -> timedelta:
    if not zone or zone[0] not in "+-":
        return timedelta()
    hours, minutes = int(zone[1:3]), int(zone[3:].lstrip(":") or 0)
    shift = timedelta(hours=hours, minutes=minutes)
    return -shift if zone[0] == "-" else shift
