"""Functions and densities in PMML, written out of the functions that the standard has."""

from __future__ import annotations

from math import inf, log, pi, sqrt
from typing import Protocol
from xml.etree.ElementTree import Element

from baytree.exporters.pmml.elements import FAR_BELOW, added, apply, chosen, compared, multiplied, number, value_of
from baytree.formula.expressions import Bumps, Kernels, LogDensity

MOST_TERMS = 4_000  # kernels of all classes

_PLAIN = {"exp": "exp", "log1p": "ln1p", "sqrt": "sqrt", "abs": "abs", "round": "rint"}


class FieldCache(Protocol):
    """What gives values names, so that nothing is computed twice."""

    def keep(self, value: Element) -> Element:
        """The field that holds a value."""


def softmax(kept: FieldCache, scores: list[Element]) -> list[Element]:
    """Scores in logarithms as shares."""
    top = kept.keep(apply("max", *scores))
    parts = [kept.keep(apply("exp", apply("-", score, top))) for score in scores]
    total = kept.keep(added(parts))
    return [apply("/", part, total) for part in parts]


def first_highest(kept: FieldCache, values: list[Element]) -> Element:
    """The place of the greatest; of equal ones the first."""
    if len(values) == 1:
        return number(0.0)
    top, last = kept.keep(apply("max", *values)), number(len(values) - 1.0)
    places = [chosen(compared(v, "==", top), number(float(k)), last) for k, v in enumerate(values[:-1])]
    return apply("min", *places, last)


def applied(function: str, x: Element) -> Element:
    """A function of one number; erfc(x) = 2 Φ(−x √2)."""
    if function == "erfc":
        return multiplied([number(2.0), apply("stdNormalCDF", multiplied([number(-sqrt(2.0)), x]))])
    if function == "log":
        return chosen(compared(x, ">", number(0.0)), apply("ln", x), number(FAR_BELOW))
    return apply(_PLAIN[function], x)


def log_density(kept: FieldCache, density: LogDensity, k: int, x: Element) -> Element:
    """The density of class k, normal or Student's."""
    mean, scale, degrees, constant = (v[k] for v in (density.mean, density.scale, density.degrees, density.constant))
    half = kept.keep(apply("-", multiplied([number(0.5), x]), number(mean / 2)))
    z = kept.keep(apply("/", half, number(scale / 2)))
    distance = added([apply("ln", apply("abs", half)), number(log(2.0) - log(scale))])
    if degrees == inf:
        near, far = multiplied([number(-0.5), z, z]), _far_below(distance)
    else:
        logs = apply("ln1p", multiplied([apply("/", z, number(degrees)), z]))
        near = multiplied([number(-0.5 * (degrees + 1)), logs])
        rest = added([distance, number(-0.5 * log(degrees))])
        far = added([number(constant), multiplied([number(-(degrees + 1)), rest])])
    is_near = compared(apply("abs", z), "<=", number(2.0**500))
    return chosen(is_near, added([number(constant), near]), far)


def log_rising(kept: FieldCache, shape: Element, amount: Element) -> Element:
    """Stirling's series after the shape is shifted to 15 or more; a shape must be known here."""
    a = value_of(shape)
    if a is None:
        raise ValueError("PMML: an urn whose contents are not known in advance has no closed form; use Python or C")
    none = compared(amount, "==", number(0.0))
    if a == 0:
        return chosen(none, number(0.0), number(FAR_BELOW))
    shift: list[Element] = []
    while a < 15:
        shift.append(apply("ln1p", apply("/", amount, number(a))))
        a += 1
    more = kept.keep(added([amount, number(a)]))
    logs = multiplied([amount, apply("ln", more)])
    ratio = apply("ln1p", apply("/", amount, number(a)))
    parts = [logs, multiplied([number(a - 0.5), ratio]), multiplied([number(-1.0), amount])]
    parts += [_stirling(kept, more), number(-_stirling_of(a)), *(multiplied([number(-1.0), each]) for each in shift)]
    return chosen(none, number(0.0), kept.keep(added(parts)))


def check_kernels(kernels: Kernels) -> None:
    """Refuses densities that a document cannot hold."""
    if kernels.precision is not None:
        raise ValueError("PMML: Weka's kernels are added up until little is left, which no field can; use Python or C")
    if sum(len(each.centre) for each in kernels.classes) > MOST_TERMS:
        raise ValueError(f"PMML: a density of more than {MOST_TERMS:,} kernels makes too long a file; use Python or C")


def kernel_sum(kept: FieldCache, bumps: Bumps, x: Element) -> Element:
    """The logarithm of a sum of normal bumps, taken from the nearest one."""
    scaled = kept.keep(apply("/", x, number(2 * bumps.width)))
    apart = (apply("abs", apply("-", scaled, number(v / (2 * bumps.width)))) for v in bumps.centre)
    z = [kept.keep(multiplied([number(2.0), each])) for each in apart]
    least = kept.keep(apply("min", *z)) if len(z) > 1 else z[0]
    gaps = (multiplied([number(-0.5), apply("-", each, least), added([each, least])]) for each in z)
    parts = [multiplied([number(w), apply("exp", gap)]) for w, gap in zip(bumps.weight, gaps, strict=True)]
    size = log(sum(bumps.weight)) + log(bumps.width) + 0.5 * log(2 * pi)
    near = added([apply("ln", kept.keep(added(parts))), number(-size), multiplied([number(-0.5), least, least])])
    far = _far_below(apply("ln", apply("min", least, number(1.797693e308))))
    return chosen(compared(least, "<", number(2.0**500)), near, far)


def _far_below(distance: Element) -> Element:
    share = added([number(1.0), apply("/", distance, number(2048.0))])
    return multiplied([number(-(2.0**990)), share])


def _stirling(kept: FieldCache, x: Element) -> Element:
    r = kept.keep(apply("/", number(1.0), multiplied([x, x])))
    inner = number(1 / 1680)
    for factor in (1 / 1260, 1 / 360, 1 / 12):
        inner = apply("-", number(factor), multiplied([r, inner]))
    return apply("/", inner, x)


def _stirling_of(x: float) -> float:
    r = 1 / (x * x)
    return (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r / 1680))) / x
