"""Units of measurement that can be brought to one another: those of a column that mixes `5 kg` and `5000 g`."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from baytree.table.reading.words import CURRENCIES

_DEGREES = {"°c": (1.0, 0.0), "°f": (5 / 9, -160 / 9)}  # in degrees Celsius: a factor and an offset
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


NONE = "1"  # the unit of numbers without one, where another would be a typing error


def is_known(unit: str) -> bool:
    """Whether this is a unit of measurement, money or a share.

    >>> is_known("kg"), is_known("€"), is_known("o")
    (True, True, False)
    """
    return any(unit in family for family in _FAMILIES) or unit in CURRENCIES or not any(map(str.isalnum, unit))


def can_be_compared(units: Collection[str]) -> bool:
    """Whether numbers in these units can be brought to one of them.

    >>> can_be_compared(["kg", "g"]), can_be_compared(["kg", "cm"])
    (True, False)
    """
    return any(all(unit in family for unit in units) for family in _FAMILIES)


def brought(value: float, unit: str, wanted: str) -> float | None:
    """A number of one unit in another; None where there is no way from one to the other.

    >>> brought(5000, "g", "kg"), round(brought(212, "°f", "°c"), 9), brought(1, "g", "m")
    (5.0, 100.0, None)
    """
    family = next((family for family in _FAMILIES if unit in family and wanted in family), None)
    if family is None:
        return None
    (factor, offset), (divisor, shift) = family[unit], family[wanted]
    return (value * factor + offset - shift) / divisor
