"""Functions and densities in PMML, composed of the built-in functions of the standard."""

from __future__ import annotations

from math import inf, log, pi, sqrt
from typing import Protocol
from xml.etree.ElementTree import Element

from baytree.exporters.pmml.elements import added, apply, compared, if_else, multiplied, number, value_of
from baytree.formula.expressions import Bumps, Kernels, LogDensity
from baytree.formula.limits import MAX_KERNELS, MINUS_INFINITY

_PLAIN = {"exp": "exp", "log1p": "ln1p", "sqrt": "sqrt", "abs": "abs", "round": "rint"}


class FieldCache(Protocol):
    """Stores values as derived fields, so that nothing is computed twice."""

    def store(self, value: Element) -> Element:
        """Reference to the field that holds a value."""


def softmax(cache: FieldCache, scores: list[Element]) -> list[Element]:
    """Softmax of log scores: a probability per class."""
    top = cache.store(apply("max", *scores))
    parts = [cache.store(apply("exp", apply("-", score, top))) for score in scores]
    total = cache.store(added(parts))
    return [apply("/", part, total) for part in parts]


def first_highest(cache: FieldCache, values: list[Element]) -> Element:
    """Index of the greatest value; the first of equal ones."""
    if len(values) == 1:
        return number(0.0)
    top, last = cache.store(apply("max", *values)), number(len(values) - 1.0)
    indices = [if_else(compared(v, "==", top), number(float(k)), last) for k, v in enumerate(values[:-1])]
    return apply("min", *indices, last)


def applied(function: str, x: Element) -> Element:
    """Function of one number; erfc(x) = 2 Φ(−x √2)."""
    if function == "erfc":
        return multiplied([number(2.0), apply("stdNormalCDF", multiplied([number(-sqrt(2.0)), x]))])
    if function == "log":
        return if_else(compared(x, ">", number(0.0)), apply("ln", x), number(MINUS_INFINITY))
    return apply(_PLAIN[function], x)


def log_density(cache: FieldCache, density: LogDensity, k: int, x: Element) -> Element:
    """Log density of class k, normal or Student's t."""
    mean, scale, degrees, constant = (v[k] for v in (density.mean, density.scale, density.degrees, density.constant))
    half = cache.store(apply("-", multiplied([number(0.5), x]), number(mean / 2)))
    z = cache.store(apply("/", half, number(scale / 2)))
    distance = added([apply("ln", apply("abs", half)), number(log(2.0) - log(scale))])
    if degrees == inf:
        inside, outside = multiplied([number(-0.5), z, z]), _far_below(distance)
    else:
        logs = apply("ln1p", multiplied([apply("/", z, number(degrees)), z]))
        inside = multiplied([number(-0.5 * (degrees + 1)), logs])
        rest = added([distance, number(-0.5 * log(degrees))])
        outside = added([number(constant), multiplied([number(-(degrees + 1)), rest])])
    is_near = compared(apply("abs", z), "<=", number(2.0**500))
    return if_else(is_near, added([number(constant), inside]), outside)


def log_rising(cache: FieldCache, shape: Element, amount: Element) -> Element:
    """log Γ(shape + amount) − log Γ(shape) by Stirling's series, after shifting the shape to 15 or more.

    Raises ValueError if the shape is not a constant.
    """
    a = value_of(shape)
    if a is None:
        raise ValueError(
            "PMML: a Dirichlet-multinomial whose concentrations depend on the row has no closed form; export to Python or C"
        )
    is_zero = compared(amount, "==", number(0.0))
    if a == 0:
        return if_else(is_zero, number(0.0), number(MINUS_INFINITY))
    shift: list[Element] = []
    while a < 15:
        shift.append(apply("ln1p", apply("/", amount, number(a))))
        a += 1
    total = cache.store(added([amount, number(a)]))
    logs = multiplied([amount, apply("ln", total)])
    ratio = apply("ln1p", apply("/", amount, number(a)))
    parts = [logs, multiplied([number(a - 0.5), ratio]), multiplied([number(-1.0), amount])]
    parts += [_stirling(cache, total), number(-_stirling_of(a)), *(multiplied([number(-1.0), each]) for each in shift)]
    return if_else(is_zero, number(0.0), cache.store(added(parts)))


def check_kernels(kernels: Kernels) -> None:
    """Raise ValueError for densities that a document cannot represent."""
    if kernels.precision is not None:
        raise ValueError(
            "PMML: Weka's kernel sum stops at negligible terms, which a field cannot express; export to Python or C"
        )
    if sum(len(each.centre) for each in kernels.classes) > MAX_KERNELS:
        raise ValueError(
            f"PMML: a density of more than {MAX_KERNELS:,} kernels makes the file too long; export to Python or C"
        )


def kernel_sum(cache: FieldCache, bumps: Bumps, x: Element) -> Element:
    """Log of a kernel density, computed relative to the nearest kernel to avoid underflow."""
    scaled = cache.store(apply("/", x, number(2 * bumps.width)))
    half_distances = (apply("abs", apply("-", scaled, number(v / (2 * bumps.width)))) for v in bumps.centre)
    z = [cache.store(multiplied([number(2.0), each])) for each in half_distances]
    nearest = cache.store(apply("min", *z)) if len(z) > 1 else z[0]
    exponents = (multiplied([number(-0.5), apply("-", each, nearest), added([each, nearest])]) for each in z)
    parts = [multiplied([number(w), apply("exp", exponent)]) for w, exponent in zip(bumps.weight, exponents, strict=True)]
    log_norm = log(sum(bumps.weight)) + log(bumps.width) + 0.5 * log(2 * pi)
    inside = added([apply("ln", cache.store(added(parts))), number(-log_norm), multiplied([number(-0.5), nearest, nearest])])
    outside = _far_below(apply("ln", apply("min", nearest, number(1.797693e308))))
    return if_else(compared(nearest, "<", number(2.0**500)), inside, outside)


def _far_below(distance: Element) -> Element:
    scaled = added([number(1.0), apply("/", distance, number(2048.0))])
    return multiplied([number(-(2.0**990)), scaled])


def _stirling(cache: FieldCache, x: Element) -> Element:
    r = cache.store(apply("/", number(1.0), multiplied([x, x])))
    inner = number(1 / 1680)
    for factor in (1 / 1260, 1 / 360, 1 / 12):
        inner = apply("-", number(factor), multiplied([r, inner]))
    return apply("/", inner, x)


def _stirling_of(x: float) -> float:
    r = 1 / (x * x)
    return (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r / 1680))) / x
