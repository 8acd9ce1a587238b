"""What each event model adds to the scores, as expressions; a missing value adds nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from baytree.bayes.events import Likelihood
from baytree.bayes.events.amounts import AmountLikelihood
from baytree.bayes.events.categorical import LevelLikelihood
from baytree.bayes.events.discretized import BinLikelihood
from baytree.bayes.events.e1071 import E1071Likelihood
from baytree.bayes.events.kernel import KernelLikelihood
from baytree.bayes.events.kernel import Kernels as KernelArrays
from baytree.bayes.events.normal import NormalLikelihood, log_constants
from baytree.bayes.events.text.document_likelihood import DocumentLikelihood
from baytree.bayes.events.text.document_urns import DocumentUrns
from baytree.bayes.events.urns import UrnLikelihood
from baytree.bayes.events.weka import WekaKernelLikelihood, WekaNormalLikelihood
from baytree.bayes.formula_words import documents, less_size, urns_of_words
from baytree.formula.expressions import (
    Apply,
    Bumps,
    Case,
    Compare,
    Expression,
    Greatest,
    Kernels,
    Known,
    LogDensity,
    LogRising,
    Lookup,
    Named,
    Number,
    Product,
    Quotient,
    Sum,
    When,
)
from baytree.formula.steps import Effects, Steps, constant, numbers, table, where_known


def effects(likelihood: Likelihood, steps: Steps) -> Effects:
    """What each column of a likelihood adds, in order, by its column."""
    if type(likelihood) not in WRITERS:
        raise ValueError(f"a {type(likelihood).__name__} cannot be said as a formula, so this model cannot be exported")
    return WRITERS[type(likelihood)](likelihood, steps)


def _normal(likelihood: NormalLikelihood, _: Steps) -> Effects:
    fields = (likelihood.mean, likelihood.scale, likelihood.degrees)
    columns = zip(likelihood.columns, *(a.T for a in (*fields, log_constants(*fields[1:]))), strict=True)
    return [(j, where_known(j, LogDensity(Number(j), *map(numbers, of)), len(likelihood.mean))) for j, *of in columns]


def _levels(likelihood: LevelLikelihood, _: Steps) -> Effects:
    nothing = (0.0,) * likelihood.log_probability.shape[1]
    return [(likelihood.column, Lookup(likelihood.column, table(likelihood.log_probability), nothing))]


def _bins(likelihood: BinLikelihood, _: Steps) -> Effects:
    nothing, cuts = (0.0,) * likelihood.log_probability.shape[1], numbers(likelihood.cuts)
    return [(likelihood.column, Lookup(likelihood.column, table(likelihood.log_probability), nothing, cuts))]


def _e1071(likelihood: E1071Likelihood, steps: Steps) -> Effects:
    """log (1/(s √2π) e^(−z²/2)), of 0.001 where that density is no longer a double."""
    added: Effects = []
    for k, j in enumerate(likelihood.columns):
        mean, scale = likelihood.mean[:, k], likelihood.scale[:, k]
        apart = Quotient(Sum((Number(j), constant(-mean))), constant(scale))
        z = steps.keep(where_known(j, apart, len(mean)))
        bell = Apply("exp", Product((constant(-0.5), z, z)))
        density = steps.keep(Quotient(bell, constant(np.sqrt(2 * np.pi) * scale)))
        raised = Case((When(Compare(density, ">", constant(0.0)), density),), constant(0.001))
        added.append((j, where_known(j, Apply("log", raised), len(mean))))
    return added


def _weka_normal(likelihood: WekaNormalLikelihood, steps: Steps) -> Effects:
    """log max(1e-75, Φ((r + p/2 − m)/s) − Φ((r − p/2 − m)/s)) of the value r, rounded to the precision p."""
    j, half = likelihood.column, likelihood.precision / 2
    mean, scale = likelihood.mean[:, 0], likelihood.scale[:, 0]
    value = _rounded(j, likelihood.precision, steps)
    sides = [_lower_tail(Quotient(Sum((value, constant(end), constant(-mean))), constant(scale))) for end in (half, -half)]
    share = Sum((sides[0], Product((constant(-1.0), sides[1]))))
    return [(j, where_known(j, Apply("log", Greatest((share, constant(1e-75)))), len(mean)))]


def _kernel(likelihood: KernelLikelihood, _: Steps) -> Effects:
    j, kernels = likelihood.column, likelihood.kernels
    return [(j, where_known(j, Kernels(Number(j), _bumps(kernels)), kernels.n_classes))]


def _weka_kernel(likelihood: WekaKernelLikelihood, steps: Steps) -> Effects:
    j, kernels = likelihood.column, likelihood.kernels
    value = _rounded(j, likelihood.precision, steps)
    return [(j, where_known(j, Kernels(value, _bumps(kernels), likelihood.precision), kernels.n_classes))]


def _amounts(likelihood: AmountLikelihood, _: Steps) -> Effects:
    n_classes = likelihood.zero.shape[1]
    return [(j, where_known(j, _amount(likelihood, k), n_classes)) for k, j in enumerate(likelihood.columns)]


def _amount(likelihood: AmountLikelihood, k: int) -> Expression:
    x, zero = Number(likelihood.columns[k]), constant(likelihood.zero[k])
    if likelihood.rule == "binary":
        is_yes = Compare(x, ">", constant(likelihood.threshold))
        return Case((When(is_yes, constant(likelihood.base[k])),), zero)
    terms: list[Expression] = [constant(likelihood.base[k]), Product((x, constant(likelihood.slope[k])))]
    if likelihood.rule == "poisson":
        terms.append(Product((constant(-1.0), LogRising(constant(1.0), x))))
    terms += _predictive(likelihood.shape[k], x)
    return Case((When(Compare(x, "==", constant(0.0)), zero),), Sum(tuple(terms)))


def _predictive(shape: np.ndarray, x: Expression) -> list[Expression]:
    """log Γ(shape + x) − log Γ(shape) in the classes whose rate was integrated out."""
    finite = np.isfinite(shape)
    if not finite.any():
        return []
    rising = LogRising(constant(np.where(finite, shape, 1.0)), x)
    if finite.all():
        return [rising]
    return [Case((When(Compare(constant(shape), "<", constant(np.inf)), rising),), constant(0.0))]


def _urns(likelihood: UrnLikelihood, steps: Steps) -> Effects:
    """Σ log Γ(a + x)/Γ(a), less log Γ(A + n)/Γ(A): what is not known is left out of the urn."""
    urn, n_classes = likelihood.concentration, likelihood.concentration.shape[1]
    columns = list(enumerate(likelihood.columns))
    added: Effects = [(j, where_known(j, LogRising(constant(urn[k]), Number(j)), n_classes)) for k, j in columns]
    drawn = steps.keep(Sum(tuple(where_known(j, Number(j), 1) for _, j in columns)))
    left_out = [Case((When(Known(j), constant(0.0)),), constant(-urn[k])) for k, j in columns]
    size = steps.keep(Sum((constant(urn.sum(axis=0)), *left_out)))
    return [*added, (None, less_size(size, drawn))]


def _rounded(column: int, precision: float, steps: Steps) -> Named:
    """The multiple of the precision that is nearest, half to even; a value too far for that is left as it is."""
    nearest = Product((Apply("round", Quotient(Number(column), constant(precision))), constant(precision)))
    multiple = steps.keep(where_known(column, nearest, 1))
    too_far = Compare(Apply("abs", multiple), "==", constant(np.inf))
    return steps.keep(Case((When(too_far, where_known(column, Number(column), 1)),), multiple))


def _lower_tail(z: Expression) -> Expression:
    """Φ(z) = erfc(−z/√2)/2."""
    return Product((constant(0.5), Apply("erfc", Product((constant(-np.sqrt(0.5)), z)))))


def _bumps(kernels: KernelArrays) -> tuple[Bumps, ...]:
    classes = [kernels.of_class(c) for c in range(kernels.n_classes)]
    widths = kernels.width.tolist()
    return tuple(Bumps(numbers(v), numbers(w), width) for (v, w), width in zip(classes, widths, strict=True))


WRITERS: dict[type, Callable[[Any, Steps], Effects]] = {
    NormalLikelihood: _normal,
    LevelLikelihood: _levels,
    BinLikelihood: _bins,
    E1071Likelihood: _e1071,
    WekaNormalLikelihood: _weka_normal,
    KernelLikelihood: _kernel,
    WekaKernelLikelihood: _weka_kernel,
    AmountLikelihood: _amounts,
    UrnLikelihood: _urns,
    DocumentLikelihood: documents,
    DocumentUrns: urns_of_words,
}
