"""Reading of rows in exported Python modules: functions whose source is copied into them, like those of `runtime`."""

from __future__ import annotations

import datetime
import math
import re


def _read(row: dict, columns: dict) -> dict:
    """Values of a row by column; None where a value is missing."""
    return {name: how[0](name, row.get(name), *how[1:]) for name, how in columns.items()}


def _number(name: str, value: float | str | None, domain: str) -> float | None:
    """Number as a float; None if it is missing. Raises ValueError if it is outside the domain."""
    if value is None or value != value:
        return None
    number = float(value)
    if number != number:
        return None
    if domain != "any" and math.isinf(number):
        raise ValueError(f"column {name!r}: {value!r} is infinite; give a finite number, or None if it is missing")
    if domain == "count" and number < 0:
        raise ValueError(f"column {name!r}: {value!r} is negative; counts must not be negative")
    return number


def _date(name: str, value: float | str | datetime.date | datetime.timedelta | None, domain: str, unit: str) -> float | None:
    """Date, time span or ISO text as a number in the column's unit since 1970-01-01; numbers are returned unchanged."""
    if isinstance(value, str):
        value = _iso_date(name, value)
    if value is None or value != value:
        return None
    if isinstance(value, datetime.datetime):
        value = value.replace(tzinfo=None) - (value.utcoffset() or datetime.timedelta()) - datetime.datetime(1970, 1, 1)
    elif isinstance(value, datetime.date):
        value = value - datetime.date(1970, 1, 1)
    if not isinstance(value, datetime.timedelta):
        return _number(name, value, domain)
    units = {"W": 604800000000, "D": 86400000000, "h": 3600000000, "m": 60000000, "s": 1000000, "ms": 1000, "us": 1}
    if unit not in units:
        raise ValueError(f"column {name!r}: give the number of units {unit!r} since 1970")
    return value // datetime.timedelta(microseconds=1) / units[unit]


def _iso_date(name: str, text: str) -> datetime.timedelta | None:
    """Time from 1970-01-01 to an ISO date, in UTC if it has a time zone; None for a blank text."""
    if not text.strip():
        return None
    time = r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.]([0-9]{1,9}))?)?(?:[Zz]|([+-])([0-9]{2}):?([0-9]{2})?)?"
    found = re.fullmatch(rf"([0-9]{{4}})-([0-9]{{2}})-([0-9]{{2}})(?:[T ]{time})?", text.strip())
    try:
        day = datetime.date(*map(int, found.groups()[:3])) if found else None
    except ValueError:
        day = None
    if found is None or day is None:
        raise ValueError(f"column {name!r}: {text!r} is not an ISO date such as 2024-02-13 or 2024-02-13T10:30:00")
    hour, minute, second, fraction, sign, ahead, beyond = found.groups()[3:]
    zone = (60 * int(ahead or 0) + int(beyond or 0)) * (-1 if sign == "-" else 1)
    whole = datetime.timedelta(hours=int(hour or 0), minutes=int(minute or 0) - zone, seconds=int(second or 0))
    return day - datetime.date(1970, 1, 1) + whole + datetime.timedelta(microseconds=int((fraction or "").ljust(6, "0")[:6]))


def _date_part(name: str, value: float | str | datetime.date | None, unit: str, part: str) -> float | str | None:
    """Year, month or weekday of a date."""
    number = _date(name, value, "finite", unit)
    if number is None:
        return None
    day = math.floor(number / {"D": 1, "h": 24, "m": 1440, "s": 86400, "ms": 86400000, "us": 86400000000}[unit])
    if part == "weekday":
        return ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[(day + 3) % 7]
    century = (4 * (day + 719468) + 3) // 146097  # years start in March, so that the leap day is the last day of a year
    rest = day + 719468 - 146097 * century // 4
    year = (4 * rest + 3) // 1461
    month = (5 * (rest - 1461 * year // 4) + 2) // 153
    if part == "month":
        return float(month + 3 if month < 10 else month - 9)
    return float(100 * century + year + (month >= 10))


def _level(name: str, value: object, levels: dict, unseen: str) -> str | None:
    """Text of a level; None if it did not occur in training, unless that is an error."""
    if value is None or value != value:
        return None
    text = levels.get(value if isinstance(value, (str, int, float)) else str(value))
    if text is None and unseen == "error":
        raise ValueError(f"column {name!r}: level {value!r} was not seen in training")
    return text


def _truth(name: str, value: object, spellings: dict, unseen: str) -> str | None:
    """Text of a level of a boolean column, given in any spelling."""
    if value is None or value != value:
        return None
    text = spellings.get(" ".join(str(value).split()).casefold())
    if text is None and unseen == "error":
        raise ValueError(f"column {name!r}: level {value!r} was not seen in training")
    return text


def _words(
    name: str, value: object, lowercase: bool, ngrams: tuple, stop_words: frozenset, buckets: int | None
) -> dict | None:
    """Number of occurrences of each word or n-gram in a document."""
    if value is None or value != value:
        return None
    if not isinstance(value, str):
        raise ValueError(f"column {name!r} is text, but {value!r} is not")
    words = [word for word in re.findall(r"\w\w+", value.lower() if lowercase else value) if word not in stop_words]
    counts = {}
    for n in range(ngrams[0], ngrams[1] + 1):
        for first in range(len(words) - n + 1):
            token = " ".join(words[first : first + n])
            token = token if buckets is None else _bucket(token, buckets)
            counts[token] = counts.get(token, 0) + 1
    return counts


def _bucket(token: str, buckets: int) -> str:
    """Hash bucket of a word: its signed 32-bit MurmurHash3 without the sign, modulo the number of buckets."""
    content, mask, code = token.encode("utf-8", "surrogatepass"), 0xFFFFFFFF, 0
    for first in range(0, len(content), 4):
        part = int.from_bytes(content[first : first + 4], "little") * 0xCC9E2D51 & mask
        code ^= ((part << 15 | part >> 17) & mask) * 0x1B873593 & mask
        if first + 4 <= len(content):
            code = ((code << 13 | code >> 19) & mask) * 5 + 0xE6546B64 & mask
    code ^= len(content)
    code = (code ^ code >> 16) * 0x85EBCA6B & mask
    code = (code ^ code >> 13) * 0xC2B2AE35 & mask
    code ^= code >> 16
    return f"#{abs(code - 2**32 if code >= 2**31 else code) % buckets}"
