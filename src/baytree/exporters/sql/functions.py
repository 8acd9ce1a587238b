"""Functions of one number in SQL, and those of a vector, which is a term for each class.

Densities in SQL, written out: what leaves the doubles is asked for before it is computed, since databases stop there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, log, pi

from sqlglot import exp

from baytree.exporters.sql import terms
from baytree.exporters.sql.terms import FAR_BELOW, ColumnCache, Term
from baytree.formula.expressions import Bumps, Kernels, LogDensity


def softmax(kept: ColumnCache, scores: Sequence[Term]) -> list[Term]:
    """Scores in logarithms as shares."""
    scores = [kept.keep(score) for score in scores]
    top = kept.keep(terms.extreme(exp.Greatest, scores))
    parts = [kept.keep(exponential(kept, kept.keep(terms.subtracted(score, top)), -700.0)) for score in scores]
    total = kept.keep(terms.added(parts))
    return [terms.divided(part, total) for part in parts]


def first_highest(kept: ColumnCache, values: Sequence[Term]) -> Term:
    """The place of the greatest; of equal ones the first."""
    if len(values) == 1:
        return terms.whole(0)
    top = kept.keep(terms.extreme(exp.Greatest, values))
    sides = [(terms.compared(value, "==", top), terms.whole(k)) for k, value in enumerate(values[:-1])]
    return terms.case(sides, terms.whole(len(values) - 1))


def applied(kept: ColumnCache, function: str, x: Term) -> Term:
    """A function of one number."""
    return _FUNCTIONS[function](kept, x)


def exponential(kept: ColumnCache, x: Term, least: float = -745.0) -> Term:
    """PostgreSQL refuses results that are too small for a double."""
    return terms.case([(terms.compared(x, "<", kept.number(least)), kept.number(0.0))], terms.function(exp.Exp, x))


def log1p(kept: ColumnCache, x: Term) -> Term:
    """log(1 + x) · x / ((1 + x) − 1), which is right to the last bits also of small x."""
    more = kept.keep(terms.added([kept.number(1.0), x]))
    less = terms.subtracted(more, kept.number(1.0))
    near = terms.compared(more, "==", kept.number(1.0))
    return terms.case([(near, x)], terms.divided(terms.multiplied([terms.function(exp.Ln, more), x]), less))


def _logarithm(kept: ColumnCache, x: Term) -> Term:
    is_positive = terms.compared(x, ">", kept.number(0.0))
    return terms.case([(is_positive, terms.function(exp.Ln, x))], kept.number(FAR_BELOW))


def _rounded(kept: ColumnCache, x: Term) -> Term:
    """Half to even."""
    up = kept.keep(terms.function(exp.Floor, terms.added([x, kept.number(0.5)])))
    half = kept.keep(terms.function(exp.Floor, terms.divided(up, kept.number(2.0))))
    is_tie = terms.compared(terms.subtracted(up, x), "==", kept.number(0.5))
    is_odd = terms.compared(terms.subtracted(up, terms.multiplied([kept.number(2.0), half])), "==", kept.number(1.0))
    both = Term(exp.And(this=is_tie.sql, expression=is_odd.sql), max(is_tie.layer, is_odd.layer))
    return terms.case([(both, terms.subtracted(up, kept.number(1.0)))], up)


def _erfc(kept: ColumnCache, x: Term) -> Term:
    """Near 0 by the series of the error function, beyond by the continued fraction of its tail."""
    size = kept.keep(terms.function(exp.Abs, x))
    square = kept.keep(terms.multiplied([size, size]))
    bell = kept.keep(exponential(kept, kept.keep(terms.multiplied([kept.number(-1.0), square]))))
    near = terms.subtracted(kept.number(1.0), _erf_series(kept, size, square, bell))
    tail = terms.divided(terms.multiplied([kept.number(0.5641895835477563), bell]), _erfc_fraction(kept, size))
    above = kept.keep(terms.case([(terms.compared(size, "<", kept.number(2.5)), near)], tail))
    return terms.case([(terms.compared(x, "<", kept.number(0.0)), terms.subtracted(kept.number(2.0), above))], above)


def _erf_series(kept: ColumnCache, size: Term, square: Term, bell: Term) -> Term:
    """2/√π · exp(−x²) · x · Σ (2x²)ⁿ / (3 · 5 ⋯ (2n + 1)), Horner's way."""
    series = kept.number(0.0)
    for n in range(60, 0, -1):
        part = kept.keep(terms.multiplied([square, kept.number(2.0 / (2 * n + 1))]))
        series = kept.keep(terms.multiplied([part, terms.added([kept.number(1.0), series])]))
    return terms.multiplied([kept.number(1.1283791670955126), bell, size, terms.added([kept.number(1.0), series])])


def _erfc_fraction(kept: ColumnCache, size: Term) -> Term:
    """x + (1/2) / (x + (2/2) / (x + (3/2) / …))."""
    fraction = size
    for n in range(60, 0, -1):
        safe = terms.extreme(exp.Greatest, [fraction, kept.number(1e-9)])
        fraction = kept.keep(terms.added([size, terms.divided(kept.number(n / 2), safe)]))
    return fraction


_FUNCTIONS: Mapping[str, Callable[[ColumnCache, Term], Term]] = {
    "exp": exponential,
    "log": _logarithm,
    "log1p": log1p,
    "round": _rounded,
    "erfc": _erfc,
    "sqrt": lambda _, x: terms.function(exp.Sqrt, x),
    "abs": lambda _, x: terms.function(exp.Abs, x),
}

MOST_TERMS = 4_000  # kernels of all classes

LARGEST = 1.7976931348623157e308


def log_density(kept: ColumnCache, density: LogDensity, k: int, x: Term) -> Term:
    """The density of class k, normal or Student's."""
    mean, scale, degrees, constant = (v[k] for v in (density.mean, density.scale, density.degrees, density.constant))
    z = kept.keep(_standardized(kept, x, mean, scale))
    tiny = terms.compared(terms.function(exp.Abs, z), "<", kept.number(1e-150))
    square = terms.case([(tiny, kept.number(0.0))], terms.multiplied([z, z]))
    if degrees == inf:
        shape = terms.multiplied([kept.number(-0.5), square])
    else:
        share = kept.keep(terms.divided(square, kept.number(degrees)))
        shape = terms.multiplied([kept.number(-0.5 * (degrees + 1)), log1p(kept, share)])
    near = terms.added([kept.number(constant), shape])
    return terms.case([(Term(terms.is_known(z.sql), z.layer), near)], _tail(kept, density, k, x))


def log_rising(kept: ColumnCache, shape: Term, amount: Term) -> Term:
    """Stirling's series after the shape is shifted to 15 or more; a shape must be known here."""
    a = terms.value_of(shape.sql)
    if a is None:
        raise ValueError("SQL: an urn whose contents are not known in advance has no closed form; export to Python or C")
    none = terms.compared(amount, "==", kept.number(0.0))
    if a == 0:
        return terms.case([(none, kept.number(0.0))], kept.number(FAR_BELOW))
    shift: list[Term] = []
    while a < 15:
        shift.append(log1p(kept, kept.keep(terms.divided(amount, kept.number(a)))))
        a += 1
    more = kept.keep(terms.added([amount, kept.number(a)]))
    logs = terms.multiplied([amount, terms.function(exp.Ln, more)])
    ratio = log1p(kept, kept.keep(terms.divided(amount, kept.number(a))))
    parts = [logs, terms.multiplied([kept.number(a - 0.5), ratio]), terms.multiplied([kept.number(-1.0), amount])]
    parts += [_stirling(kept, more), kept.number(-_stirling_of(a))]
    parts += [terms.multiplied([kept.number(-1.0), each]) for each in shift]
    return terms.case([(none, kept.number(0.0))], terms.added(parts))


def check_kernels(kernels: Kernels) -> None:
    """Refuses densities that no query can hold."""
    if kernels.precision is not None:
        raise ValueError("SQL: Weka's kernels are added up until little is left, which no query can; use Python or C")
    if sum(len(each.centre) for each in kernels.classes) > MOST_TERMS:
        raise ValueError(f"SQL: a density of more than {MOST_TERMS:,} kernels makes too long a query; use Python or C")


def kernel_sum(kept: ColumnCache, bumps: Bumps, x: Term) -> Term:
    """The logarithm of a sum of normal bumps, taken from the nearest one."""
    low, high = (
        max(min(end, 1e150), -1e150)
        for end in (bumps.centre[0] - 1e100 * bumps.width, bumps.centre[-1] + 1e100 * bumps.width)
    )
    near = kept.keep(_within(kept, x, low, high, x))
    wide = kept.number(bumps.width)
    apart = [terms.divided(terms.subtracted(near, kept.number(centre)), wide) for centre in bumps.centre]
    z = [kept.keep(terms.function(exp.Abs, each)) for each in apart]
    least = kept.keep(terms.extreme(exp.Least, z))
    parts = [_bump(kept, each, least, weight) for each, weight in zip(z, bumps.weight, strict=True)]
    size = log(sum(bumps.weight)) + log(bumps.width) + 0.5 * log(2 * pi)
    whole = terms.added([terms.function(exp.Ln, terms.added(parts)), kept.number(-size)])
    inside = terms.subtracted(whole, terms.multiplied([kept.number(0.5), least, least]))
    far = _far_kernel(kept, x, bumps.centre, bumps.width)
    return terms.case([(Term(terms.is_known(near.sql), near.layer), inside)], far)


def _standardized(kept: ColumnCache, x: Term, mean: float, scale: float) -> Term:
    """(x − mean) / scale up to 2^500, NULL beyond; of halves where the difference could leave the doubles."""
    reach, half = 2.0**500 * scale, 1.0
    if not abs(mean) + reach < 4e307:
        reach, half = min(reach, 1.7e308), 0.5
    low, high = (max(min(mean * half + side * reach * half, 1.7e308), -1.7e308) / half for side in (-1, 1))
    part = terms.multiplied([x, kept.number(half)]) if half < 1 else x
    z = terms.divided(terms.subtracted(part, kept.number(mean * half)), kept.number(scale * half))
    return _within(kept, x, max(low, -LARGEST), min(high, LARGEST), z)


def _within(kept: ColumnCache, x: Term, low: float, high: float, value: Term) -> Term:
    between = exp.Between(this=x.sql, low=kept.number(low).sql, high=kept.number(high).sql)
    return terms.case([(Term(between, x.layer), value)], Term(exp.Null(), 0))


def _tail(kept: ColumnCache, density: LogDensity, k: int, x: Term) -> Term:
    """Beyond 2^500 scales from the mean, where squares leave the doubles."""
    mean, scale, degrees, constant = (v[k] for v in (density.mean, density.scale, density.degrees, density.constant))
    distance = _log_distance(kept, x, [mean], scale)
    if degrees == inf:
        return _far_below(kept, distance)
    rest = terms.added([distance, kept.number(-0.5 * log(degrees))])
    return terms.added([kept.number(constant), terms.multiplied([kept.number(-(degrees + 1)), rest])])


def _far_kernel(kept: ColumnCache, x: Term, centre: Sequence[float], wide: float) -> Term:
    return _far_below(kept, _log_distance(kept, x, [centre[0], centre[-1]], wide))


def _log_distance(kept: ColumnCache, x: Term, centres: Sequence[float], scale: float) -> Term:
    """log of the distance from the nearest of the centres in units of the scale, by halves."""
    ends = [terms.subtracted(terms.multiplied([x, kept.number(0.5)]), kept.number(c * 0.5)) for c in centres]
    least = terms.extreme(exp.Least, [terms.function(exp.Abs, end) for end in ends])
    size = terms.extreme(exp.Greatest, [least, kept.number(1e-300)])
    return terms.added([terms.function(exp.Ln, size), kept.number(log(2.0) - log(scale))])


def _far_below(kept: ColumnCache, distance: Term) -> Term:
    return terms.added([kept.number(-(2.0**990)), terms.multiplied([kept.number(-(2.0**990) / 2048), distance])])


def _bump(kept: ColumnCache, z: Term, least: Term, weight: float) -> Term:
    gap = terms.multiplied([kept.number(-0.5), terms.subtracted(z, least), terms.added([z, least])])
    return terms.multiplied([kept.number(weight), exponential(kept, kept.keep(gap))])


def _stirling(kept: ColumnCache, x: Term) -> Term:
    r = kept.keep(terms.divided(kept.number(1.0), terms.multiplied([x, x])))
    inner = kept.number(1 / 1680)
    for factor in (1 / 1260, 1 / 360, 1 / 12):
        inner = terms.subtracted(kept.number(factor), terms.multiplied([r, inner]))
    return terms.divided(inner, x)


def _stirling_of(x: float) -> float:
    r = 1 / (x * x)
    return (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r / 1680))) / x
