"""Mathematical functions, softmax and densities in SQL, written out as terms; a vector is one term per class.

Databases raise an error where a result leaves the range of doubles, so each function tests for that before it computes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, log, pi

from sqlglot import exp

from baytree.exporters.sql import terms
from baytree.exporters.sql.terms import ColumnCache, Term
from baytree.formula.expressions import Bumps, Kernels, LogDensity
from baytree.formula.limits import MAX_DOUBLE, MAX_KERNELS, MINUS_INFINITY


def softmax(cache: ColumnCache, scores: Sequence[Term]) -> list[Term]:
    """Softmax of log scores: a probability per class."""
    scores = [cache.store(score) for score in scores]
    top = cache.store(terms.extreme(exp.Greatest, scores))
    parts = [cache.store(exponential(cache, cache.store(terms.subtracted(score, top)), -700.0)) for score in scores]
    total = cache.store(terms.added(parts))
    return [terms.divided(part, total) for part in parts]


def first_highest(cache: ColumnCache, values: Sequence[Term]) -> Term:
    """Index of the greatest value; the first of equal ones."""
    if len(values) == 1:
        return terms.integer(0)
    top = cache.store(terms.extreme(exp.Greatest, values))
    sides = [(terms.compared(value, "==", top), terms.integer(k)) for k, value in enumerate(values[:-1])]
    return terms.case(sides, terms.integer(len(values) - 1))


def applied(cache: ColumnCache, function: str, x: Term) -> Term:
    """Apply a function of one number."""
    return _FUNCTIONS[function](cache, x)


def exponential(cache: ColumnCache, x: Term, lower: float = -745.0) -> Term:
    """exp(x), and 0 below `lower`: PostgreSQL raises an error for results that are too small for a double."""
    return terms.case([(terms.compared(x, "<", cache.number(lower)), cache.number(0.0))], terms.function(exp.Exp, x))


def log1p(cache: ColumnCache, x: Term) -> Term:
    """log(1 + x) as log(1 + x) · x / ((1 + x) − 1), which is accurate for small x, too (W. Kahan's formula)."""
    one_plus_x = cache.store(terms.added([cache.number(1.0), x]))
    difference = terms.subtracted(one_plus_x, cache.number(1.0))
    is_tiny = terms.compared(one_plus_x, "==", cache.number(1.0))
    return terms.case([(is_tiny, x)], terms.divided(terms.multiplied([terms.function(exp.Ln, one_plus_x), x]), difference))


def _logarithm(cache: ColumnCache, x: Term) -> Term:
    is_positive = terms.compared(x, ">", cache.number(0.0))
    return terms.case([(is_positive, terms.function(exp.Ln, x))], cache.number(MINUS_INFINITY))


def _rounded(cache: ColumnCache, x: Term) -> Term:
    """Nearest integer, half to even."""
    up = cache.store(terms.function(exp.Floor, terms.added([x, cache.number(0.5)])))
    half = cache.store(terms.function(exp.Floor, terms.divided(up, cache.number(2.0))))
    is_tie = terms.compared(terms.subtracted(up, x), "==", cache.number(0.5))
    is_odd = terms.compared(terms.subtracted(up, terms.multiplied([cache.number(2.0), half])), "==", cache.number(1.0))
    both = Term(exp.And(this=is_tie.sql, expression=is_odd.sql), max(is_tie.layer, is_odd.layer))
    return terms.case([(both, terms.subtracted(up, cache.number(1.0)))], up)


def _erfc(cache: ColumnCache, x: Term) -> Term:
    """Complementary error function: by the series of erf for |x| below 2.5, beyond by the continued fraction of the tail."""
    size = cache.store(terms.function(exp.Abs, x))
    square = cache.store(terms.multiplied([size, size]))
    gaussian = cache.store(exponential(cache, cache.store(terms.multiplied([cache.number(-1.0), square]))))
    near = terms.subtracted(cache.number(1.0), _erf_series(cache, size, square, gaussian))
    tail = terms.divided(terms.multiplied([cache.number(0.5641895835477563), gaussian]), _erfc_fraction(cache, size))
    above = cache.store(terms.case([(terms.compared(size, "<", cache.number(2.5)), near)], tail))
    return terms.case([(terms.compared(x, "<", cache.number(0.0)), terms.subtracted(cache.number(2.0), above))], above)


def _erf_series(cache: ColumnCache, size: Term, square: Term, bell: Term) -> Term:
    """2/√π · exp(−x²) · x · Σ (2x²)ⁿ / (3 · 5 ⋯ (2n + 1)), by Horner's method."""
    series = cache.number(0.0)
    for n in range(60, 0, -1):
        part = cache.store(terms.multiplied([square, cache.number(2.0 / (2 * n + 1))]))
        series = cache.store(terms.multiplied([part, terms.added([cache.number(1.0), series])]))
    return terms.multiplied([cache.number(1.1283791670955126), bell, size, terms.added([cache.number(1.0), series])])


def _erfc_fraction(cache: ColumnCache, size: Term) -> Term:
    """x + (1/2) / (x + (2/2) / (x + (3/2) / …))."""
    fraction = size
    for n in range(60, 0, -1):
        safe = terms.extreme(exp.Greatest, [fraction, cache.number(1e-9)])
        fraction = cache.store(terms.added([size, terms.divided(cache.number(n / 2), safe)]))
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


def log_density(cache: ColumnCache, density: LogDensity, k: int, x: Term) -> Term:
    """Log density of class k, normal or Student's t."""
    mean, scale, degrees, constant = (v[k] for v in (density.mean, density.scale, density.degrees, density.constant))
    z = cache.store(_standardized(cache, x, mean, scale))
    tiny = terms.compared(terms.function(exp.Abs, z), "<", cache.number(1e-150))
    square = terms.case([(tiny, cache.number(0.0))], terms.multiplied([z, z]))
    if degrees == inf:
        shape = terms.multiplied([cache.number(-0.5), square])
    else:
        ratio = cache.store(terms.divided(square, cache.number(degrees)))
        shape = terms.multiplied([cache.number(-0.5 * (degrees + 1)), log1p(cache, ratio)])
    near = terms.added([cache.number(constant), shape])
    return terms.case([(Term(terms.is_known(z.sql), z.layer), near)], _tail(cache, density, k, x))


def log_rising(cache: ColumnCache, shape: Term, amount: Term) -> Term:
    """log Γ(shape + amount) − log Γ(shape) by Stirling's series, after shifting the shape to 15 or more.

    Raises ValueError if the shape is not a constant.
    """
    a = terms.value_of(shape.sql)
    if a is None:
        raise ValueError(
            "SQL: a Dirichlet-multinomial whose concentrations depend on the row has no closed form; export to Python or C"
        )
    is_zero = terms.compared(amount, "==", cache.number(0.0))
    if a == 0:
        return terms.case([(is_zero, cache.number(0.0))], cache.number(MINUS_INFINITY))
    shift: list[Term] = []
    while a < 15:
        shift.append(log1p(cache, cache.store(terms.divided(amount, cache.number(a)))))
        a += 1
    total = cache.store(terms.added([amount, cache.number(a)]))
    logs = terms.multiplied([amount, terms.function(exp.Ln, total)])
    ratio = log1p(cache, cache.store(terms.divided(amount, cache.number(a))))
    parts = [logs, terms.multiplied([cache.number(a - 0.5), ratio]), terms.multiplied([cache.number(-1.0), amount])]
    parts += [_stirling(cache, total), cache.number(-_stirling_of(a))]
    parts += [terms.multiplied([cache.number(-1.0), each]) for each in shift]
    return terms.case([(is_zero, cache.number(0.0))], terms.added(parts))


def check_kernels(kernels: Kernels) -> None:
    """Raise ValueError for densities that a query cannot represent."""
    if kernels.precision is not None:
        raise ValueError(
            "SQL: Weka's kernel sum stops at negligible terms, which a query cannot express; export to Python or C"
        )
    if sum(len(each.centre) for each in kernels.classes) > MAX_KERNELS:
        raise ValueError(
            f"SQL: a density of more than {MAX_KERNELS:,} kernels makes the query too long; export to Python or C"
        )


def kernel_sum(cache: ColumnCache, bumps: Bumps, x: Term) -> Term:
    """Log of a kernel density, computed relative to the nearest kernel to avoid underflow."""
    low, high = (
        max(min(end, 1e150), -1e150)
        for end in (bumps.centre[0] - 1e100 * bumps.width, bumps.centre[-1] + 1e100 * bumps.width)
    )
    near = cache.store(_within(cache, x, low, high, x))
    width = cache.number(bumps.width)
    standardized = [terms.divided(terms.subtracted(near, cache.number(centre)), width) for centre in bumps.centre]
    z = [cache.store(terms.function(exp.Abs, each)) for each in standardized]
    nearest = cache.store(terms.extreme(exp.Least, z))
    parts = [_bump(cache, each, nearest, weight) for each, weight in zip(z, bumps.weight, strict=True)]
    log_norm = log(sum(bumps.weight)) + log(bumps.width) + 0.5 * log(2 * pi)
    whole = terms.added([terms.function(exp.Ln, terms.added(parts)), cache.number(-log_norm)])
    inside = terms.subtracted(whole, terms.multiplied([cache.number(0.5), nearest, nearest]))
    outside = _far_kernel(cache, x, bumps.centre, bumps.width)
    return terms.case([(Term(terms.is_known(near.sql), near.layer), inside)], outside)


def _standardized(cache: ColumnCache, x: Term, mean: float, scale: float) -> Term:
    """(x − mean) / scale up to 2^500, NULL beyond; computed with halved values where the difference could overflow."""
    max_distance, half = 2.0**500 * scale, 1.0
    if not abs(mean) + max_distance < 4e307:
        max_distance, half = min(max_distance, 1.7e308), 0.5
    low, high = (max(min(mean * half + side * max_distance * half, 1.7e308), -1.7e308) / half for side in (-1, 1))
    scaled_x = terms.multiplied([x, cache.number(half)]) if half < 1 else x
    z = terms.divided(terms.subtracted(scaled_x, cache.number(mean * half)), cache.number(scale * half))
    return _within(cache, x, max(low, -MAX_DOUBLE), min(high, MAX_DOUBLE), z)


def _within(cache: ColumnCache, x: Term, low: float, high: float, value: Term) -> Term:
    between = exp.Between(this=x.sql, low=cache.number(low).sql, high=cache.number(high).sql)
    return terms.case([(Term(between, x.layer), value)], Term(exp.Null(), 0))


def _tail(cache: ColumnCache, density: LogDensity, k: int, x: Term) -> Term:
    """Log density beyond 2^500 scales from the mean, where squares overflow."""
    mean, scale, degrees, constant = (v[k] for v in (density.mean, density.scale, density.degrees, density.constant))
    distance = _log_distance(cache, x, [mean], scale)
    if degrees == inf:
        return _far_below(cache, distance)
    rest = terms.added([distance, cache.number(-0.5 * log(degrees))])
    return terms.added([cache.number(constant), terms.multiplied([cache.number(-(degrees + 1)), rest])])


def _far_kernel(cache: ColumnCache, x: Term, centre: Sequence[float], wide: float) -> Term:
    return _far_below(cache, _log_distance(cache, x, [centre[0], centre[-1]], wide))


def _log_distance(cache: ColumnCache, x: Term, centres: Sequence[float], scale: float) -> Term:
    """Log of the distance from the nearest centre in units of the scale; halved values avoid overflow."""
    ends = [terms.subtracted(terms.multiplied([x, cache.number(0.5)]), cache.number(c * 0.5)) for c in centres]
    nearest = terms.extreme(exp.Least, [terms.function(exp.Abs, end) for end in ends])
    size = terms.extreme(exp.Greatest, [nearest, cache.number(1e-300)])
    return terms.added([terms.function(exp.Ln, size), cache.number(log(2.0) - log(scale))])


def _far_below(cache: ColumnCache, distance: Term) -> Term:
    return terms.added([cache.number(-(2.0**990)), terms.multiplied([cache.number(-(2.0**990) / 2048), distance])])


def _bump(cache: ColumnCache, z: Term, lower: Term, weight: float) -> Term:
    exponent = terms.multiplied([cache.number(-0.5), terms.subtracted(z, lower), terms.added([z, lower])])
    return terms.multiplied([cache.number(weight), exponential(cache, cache.store(exponent))])


def _stirling(cache: ColumnCache, x: Term) -> Term:
    r = cache.store(terms.divided(cache.number(1.0), terms.multiplied([x, x])))
    inner = cache.number(1 / 1680)
    for factor in (1 / 1260, 1 / 360, 1 / 12):
        inner = terms.subtracted(cache.number(factor), terms.multiplied([r, inner]))
    return terms.divided(inner, x)


def _stirling_of(x: float) -> float:
    r = 1 / (x * x)
    return (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r / 1680))) / x
