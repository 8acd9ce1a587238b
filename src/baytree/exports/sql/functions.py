"""Functions of one number in SQL, and those of a vector, which is a term for each class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from baytree.exports.sql import terms
from baytree.exports.sql.terms import FAR_BELOW, Keeper, Term


def softmax(kept: Keeper, scores: Sequence[Term]) -> list[Term]:
    """Scores in logarithms as shares."""
    scores = [kept.keep(score) for score in scores]
    top = kept.keep(terms.extreme(exp.Greatest, scores))
    parts = [kept.keep(exponential(kept, kept.keep(terms.subtracted(score, top)), -700.0)) for score in scores]
    total = kept.keep(terms.added(parts))
    return [terms.divided(part, total) for part in parts]


def first_highest(kept: Keeper, values: Sequence[Term]) -> Term:
    """The place of the greatest; of equal ones the first."""
    if len(values) == 1:
        return terms.whole(0)
    top = kept.keep(terms.extreme(exp.Greatest, values))
    sides = [(terms.compared(value, "==", top), terms.whole(k)) for k, value in enumerate(values[:-1])]
    return terms.case(sides, terms.whole(len(values) - 1))


def applied(kept: Keeper, function: str, x: Term) -> Term:
    """A function of one number."""
    return _FUNCTIONS[function](kept, x)


def exponential(kept: Keeper, x: Term, least: float = -745.0) -> Term:
    """PostgreSQL refuses results that are too small for a double."""
    return terms.case([(terms.compared(x, "<", kept.number(least)), kept.number(0.0))], terms.function(exp.Exp, x))


def log1p(kept: Keeper, x: Term) -> Term:
    """log(1 + x) · x / ((1 + x) − 1), which is right to the last bits also of small x."""
    more = kept.keep(terms.added([kept.number(1.0), x]))
    less = terms.subtracted(more, kept.number(1.0))
    near = terms.compared(more, "==", kept.number(1.0))
    return terms.case([(near, x)], terms.divided(terms.multiplied([terms.function(exp.Ln, more), x]), less))


def _logarithm(kept: Keeper, x: Term) -> Term:
    is_positive = terms.compared(x, ">", kept.number(0.0))
    return terms.case([(is_positive, terms.function(exp.Ln, x))], kept.number(FAR_BELOW))


def _rounded(kept: Keeper, x: Term) -> Term:
    """Half to even."""
    up = kept.keep(terms.function(exp.Floor, terms.added([x, kept.number(0.5)])))
    half = kept.keep(terms.function(exp.Floor, terms.divided(up, kept.number(2.0))))
    is_tie = terms.compared(terms.subtracted(up, x), "==", kept.number(0.5))
    is_odd = terms.compared(terms.subtracted(up, terms.multiplied([kept.number(2.0), half])), "==", kept.number(1.0))
    both = Term(exp.And(this=is_tie.sql, expression=is_odd.sql), max(is_tie.layer, is_odd.layer))
    return terms.case([(both, terms.subtracted(up, kept.number(1.0)))], up)


def _erfc(kept: Keeper, x: Term) -> Term:
    """Near 0 by the series of the error function, beyond by the continued fraction of its tail."""
    size = kept.keep(terms.function(exp.Abs, x))
    square = kept.keep(terms.multiplied([size, size]))
    bell = kept.keep(exponential(kept, kept.keep(terms.multiplied([kept.number(-1.0), square]))))
    near = terms.subtracted(kept.number(1.0), _erf_series(kept, size, square, bell))
    tail = terms.divided(terms.multiplied([kept.number(0.5641895835477563), bell]), _erfc_fraction(kept, size))
    above = kept.keep(terms.case([(terms.compared(size, "<", kept.number(2.5)), near)], tail))
    return terms.case([(terms.compared(x, "<", kept.number(0.0)), terms.subtracted(kept.number(2.0), above))], above)


def _erf_series(kept: Keeper, size: Term, square: Term, bell: Term) -> Term:
    """2/√π · exp(−x²) · x · Σ (2x²)ⁿ / (3 · 5 ⋯ (2n + 1)), Horner's way."""
    series = kept.number(0.0)
    for n in range(60, 0, -1):
        part = kept.keep(terms.multiplied([square, kept.number(2.0 / (2 * n + 1))]))
        series = kept.keep(terms.multiplied([part, terms.added([kept.number(1.0), series])]))
    return terms.multiplied([kept.number(1.1283791670955126), bell, size, terms.added([kept.number(1.0), series])])


def _erfc_fraction(kept: Keeper, size: Term) -> Term:
    """x + (1/2) / (x + (2/2) / (x + (3/2) / …))."""
    fraction = size
    for n in range(60, 0, -1):
        safe = terms.extreme(exp.Greatest, [fraction, kept.number(1e-9)])
        fraction = kept.keep(terms.added([size, terms.divided(kept.number(n / 2), safe)]))
    return fraction


_FUNCTIONS: Mapping[str, Callable[[Keeper, Term], Term]] = {
    "exp": exponential,
    "log": _logarithm,
    "log1p": log1p,
    "round": _rounded,
    "erfc": _erfc,
    "sqrt": lambda _, x: terms.function(exp.Sqrt, x),
    "abs": lambda _, x: terms.function(exp.Abs, x),
}
