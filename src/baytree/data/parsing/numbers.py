"""Parse one string as a number: decimal and thousands marks, sign, unit, currency and scale; conversion of units.

Most strings determine their marks: `1,234.5` and `1.234,5` are unambiguous. A single mark before exactly three digits
(`1,234`) may be either; then the `decimal` mark inferred from the column decides. Units of one dimension (`5 kg`, `5000 g`)
are converted to each other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from baytree.data.parsing.vocabulary import BOUNDS, CURRENCIES, SCALES, Pattern

BLANK = "\u00a0\u202f\u2009\u2007 "

_MINUS = "−–﹣－-"

_NUMBER = Pattern(
    rf"(?P<open>\(?)\s*(?P<sign>[+{_MINUS}]?)\s*(?P<before>(?:[^\d.,()+{_MINUS}]|(?<=[^\W\d_])\.)*?)\s*(?P<inner>[+{_MINUS}]?)"
    rf"(?P<digits>\d[\d.,'’`´{BLANK}]*|[.,]\d+)(?P<power>[eE][+-]?\d+)?(?P<gap>\s*)(?P<after>[^\d()]*?)\s*"
    rf"(?P<close>\)?)(?P<last>[{_MINUS}]?)"
)

_STYLES = (  # patterns of the digits alone; the first that matches determines the style
    ("whole", Pattern(r"\d+")),
    ("dots", Pattern(r"[1-9]\d{0,2}(?:\.\d{3}){2,}(?:,\d+)?|[1-9]\d{0,2}(?:\.\d{3})+,\d+")),
    (
        "commas",
        Pattern(r"[1-9]\d{0,2}(?:,\d{3}){2,}(?:\.\d+)?|[1-9]\d{0,2}(?:,\d{3})+\.\d+|[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?"),
    ),
    ("dot3", Pattern(r"[1-9]\d{0,2}\.\d{3}")),
    ("comma3", Pattern(r"[1-9]\d{0,2},\d{3}")),
    ("dot", Pattern(r"\d*\.\d+|\d+\.")),
    ("comma", Pattern(r"\d*,\d+|\d+,")),
    ("spaces", Pattern(rf"[1-9]\d{{0,2}}(?:[{BLANK}]\d{{3}})+")),
    ("spaces comma", Pattern(rf"[1-9]\d{{0,2}}(?:[{BLANK}]\d{{3}})+,\d+")),
    ("spaces dot", Pattern(rf"[1-9]\d{{0,2}}(?:[{BLANK}]\d{{3}})+\.\d+")),
    ("quotes", Pattern(r"[1-9]\d{0,2}(?:['’`´]\d{3})+(?:\.\d+)?")),
    ("quotes comma", Pattern(r"[1-9]\d{0,2}(?:['’`´]\d{3})+,\d+")),
)

BY_COMMA = frozenset(("comma", "dots", "spaces comma", "quotes comma"))  # styles with an unambiguous decimal comma

BY_DOT = frozenset(("dot", "commas", "spaces dot"))

GROUPED = frozenset(("dots", "commas", "spaces", "spaces comma", "spaces dot", "quotes", "quotes comma"))

AMBIGUOUS_MARKS = {"dot3": ".", "comma3": ","}

_UNIT = Pattern(r"[^\W\d_°%‰µ$€£¥]*[\w°%‰µ$€£¥²³³/·^\"*' .]{0,14}")

_NO_CENTS = Pattern(r"[.,](?:[-–—]{1,2})$")  # `15,-` means 15

_FOOTNOTES = "*†‡§"

_ORDINALS = frozenset(("st", "nd", "rd", "th"))  # `1st` is a rank, not a number with a unit

_LONG_CODE = 16  # min digits of a whole number that is an identifier


class Numeral(NamedTuple):
    """Properties of a numeric string besides its digits."""

    style: str  # key of _STYLES, or "code" for digits that are not a quantity
    unit: str  # text around it, lower-cased, including signs of bounds, percent and currency
    scale: str = ""  # a multiplier such as k or Mio
    is_accounting: bool = False  # negative by parentheses or a sign at the end
    has_sign: bool = False  # a plus sign
    is_marked: bool = False  # a footnote mark such as a star or dagger


def numeral(text: str) -> Numeral | None:
    """Return the numeral of the string, or None if it is not a number.

    >>> numeral("$1,234.50")[:2], numeral("12 kg").unit, numeral("(1.5)").is_accounting, numeral("007").style, numeral("A1")
    (('commas', '$'), 'kg', True, 'code', None)
    """
    match = _NUMBER.fullmatch(_NO_CENTS.sub("", text))
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    digits = match["digits"].strip(BLANK)
    style = next((name for name, pattern in _STYLES if pattern.fullmatch(digits)), "")
    after = match["after"].strip()
    bare = after.rstrip(_FOOTNOTES).rstrip()
    around = _around(match["before"].strip(), bare, match["gap"] or digits != match["digits"])
    if not style or around is None or (match["power"] and style in GROUPED):
        return None
    is_bare = not match["before"] and not match["after"]
    if style == "whole" and is_bare and not match["power"] and _is_code(digits, match["sign"] or match["inner"]):
        style = "code"
    negative = bool(match["open"]) or bool(match["last"])
    return Numeral(style, *around, negative, "+" in match["sign"] + match["inner"], bare != after)


def value(text: str, decimal: str) -> float:
    """Return the value of a numeral; `decimal` is the decimal mark if the string is ambiguous.

    >>> value("1,234", "."), value("1,234", ","), value("(1 234,5 €)", "."), value("3.5k", ".")
    (1234.0, 1.234, -1234.5, 3500.0)
    """
    match = _NUMBER.fullmatch(_NO_CENTS.sub("", text))
    if match is None:
        raise ValueError(text)
    digits = match["digits"].strip(BLANK)
    style = next(name for name, pattern in _STYLES if pattern.fullmatch(digits))
    mark = "," if style in BY_COMMA else "." if style not in AMBIGUOUS_MARKS else decimal
    plain = "".join("." if c == mark else c for c in digits if c.isdigit() or c == mark)
    is_negative = bool(match["open"] or match["last"]) != any(c in _MINUS for c in match["sign"] + match["inner"] if c)
    size = float(plain + (match["power"] or "")) * SCALES.get(_scale(match["after"].strip()), 1.0)
    return -size if is_negative else size


def _is_code(digits: str, sign: str) -> bool:
    return (len(digits) > 1 and digits[0] == "0") or len(digits) >= _LONG_CODE or (sign == "+" and len(digits) >= 8)


def _around(before: str, after: str, is_apart: object) -> tuple[str, str] | None:
    """Return unit and scale of the text around the digits; None if it cannot be a unit."""
    if after.casefold() in _ORDINALS and not before:
        return None
    scale = _scale(after)
    rest = after.removeprefix(scale).strip() if scale else after
    if before and before.casefold() not in CURRENCIES | BOUNDS and not all(c in "$€£¥₹<>≤≥~≈±= " for c in before):
        return None
    if rest and (not _UNIT.fullmatch(rest) or (len(rest) > 3 and not is_apart and not rest.isalpha())):
        return None
    unit = " ".join(part.casefold() for part in (before, rest) if part)
    return (unit if unit in ("s", "ms") else unit.removesuffix("s")), scale


def _scale(after: str) -> str:
    """Return the multiplier (thousands, millions …) at the start of the text after the digits, or ""."""
    word = re.match(r"[A-Za-z]+\.?", after)
    return word[0] if word and word[0] in SCALES else ""


_DEGREES = {"°c": (1.0, 0.0), "°f": (5 / 9, -160 / 9)}  # factor and offset to degrees Celsius

_LINEAR: tuple[Mapping[str, float], ...] = (
    {"µg": 1e-6, "mg": 1e-3, "g": 1.0, "gram": 1.0, "kg": 1e3, "kilo": 1e3, "lb": 453.59237, "pound": 453.59237,
     "oz": 28.349523125},
    {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3, "in": 0.0254, "inch": 0.0254, "ft": 0.3048, "feet": 0.3048, "yd": 0.9144,
     "mi": 1609.344, "mile": 1609.344},
    {"ms": 1e-3, "s": 1.0, "sec": 1.0, "second": 1.0, "min": 60.0, "minute": 60.0, "h": 3600.0, "hr": 3600.0, "hour": 3600.0,
     "d": 86400.0, "day": 86400.0},
    {"ml": 1e-3, "cl": 1e-2, "dl": 0.1, "l": 1.0, "liter": 1.0, "litre": 1.0},
    {"b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12},
    {"mm²": 1e-6, "cm²": 1e-4, "m²": 1.0, "m2": 1.0, "ha": 1e4, "km²": 1e6},
)  # fmt: skip

_FAMILIES = (*({unit: (factor, 0.0) for unit, factor in family.items()} for family in _LINEAR), _DEGREES)

UNITLESS = "1"  # unit of a unitless column in which a unit would be a typing error


def is_known(unit: str) -> bool:
    """Return whether this is a known unit, a currency or a sign such as %.

    >>> is_known("kg"), is_known("€"), is_known("o")
    (True, True, False)
    """
    return any(unit in family for family in _FAMILIES) or unit in CURRENCIES or not any(map(str.isalnum, unit))


def can_be_compared(units: Collection[str]) -> bool:
    """Return whether the units have one dimension, so that numbers can be converted.

    >>> can_be_compared(["kg", "g"]), can_be_compared(["kg", "cm"])
    (True, False)
    """
    return any(all(unit in family for unit in units) for family in _FAMILIES)


def convert_unit(value: float, unit: str, requested: str) -> float | None:
    """Convert a number to another unit; None if the units differ in dimension.

    >>> convert_unit(5000, "g", "kg"), round(convert_unit(212, "°f", "°c"), 9), convert_unit(1, "g", "m")
    (5.0, 100.0, None)
    """
    family = next((family for family in _FAMILIES if unit in family and requested in family), None)
    if family is None:
        return None
    (factor, offset), (divisor, shift) = family[unit], family[requested]
    return (value * factor + offset - shift) / divisor
