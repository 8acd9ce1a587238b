"""How parameters follow from counts: the estimate, its pseudo-counts, and what was set for single columns.

Three estimates are kept apart. `mle` is the plain frequency or the plain mean and variance. `map` is the mode of the
posterior. `bayes` is the posterior predictive, everything unknown integrated out: Dirichlet–multinomial for levels, a
Student t for numbers. Laplace's rule (add one) is `bayes` with α = 1; under that same prior `map` is the `mle`.

Shares of columns or words among all of them, and the weights that complement naive Bayes makes of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from baytree._typing import PriorsLike
from baytree.data.encoding.table import Table, refuse_infinite
from baytree.data.schema.schema import Schema
from baytree.statistics.counts import Counts
from baytree.statistics.exact_sum import bounded


class ColumnGroup(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Columns that one event model looks at together; `threshold` is where a Bernoulli event begins to say yes."""

    event: str
    columns: tuple[int, ...]
    threshold: float = 0.0


class Estimation(msgspec.Struct, frozen=True):
    """How parameters follow from what was seen; `priors`, read by their events, by the names of columns or the target."""

    estimate: str = "bayes"
    alpha: float | tuple[float, ...] = 1.0
    class_alpha: float | None = None  # pseudo-counts of the classes where a convention has its own
    priors: Mapping[str, Any] = {}
    var_smoothing: float = 1e-9
    is_normalised: bool = False  # the weights of the complement event have length 1


def smoothed(counts: np.ndarray, added: float | np.ndarray) -> np.ndarray:
    """(n + α) / (N + Σα) along the first axis; uniform where a class has nothing and α = 0."""
    pseudo = np.broadcast_to(np.reshape(added, (-1, 1)), (len(counts), 1))
    total = counts.sum(axis=0) + pseudo.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (counts + pseudo) / total
    return np.where(total > 0, share, 1 / max(len(counts), 1))


def pseudo_counts(estimation: Estimation, name: str, levels: Sequence[Any], exponent: int = 0) -> np.ndarray:
    """What is added to the count of each level: α by Bayes; α − 1 for the mode, which with α = 1 is the mle."""
    alpha = _dirichlet(estimation.priors.get(name), name, levels, estimation.alpha)
    added = {"mle": np.zeros_like(alpha), "map": np.maximum(alpha - 1, 0), "bayes": alpha}[estimation.estimate]
    return np.ldexp(added, -exponent)


def default_pseudo_count(estimation: Estimation) -> float:
    """The pseudo-count of a level whose column has no prior of its own; 0 where none is added, or each has another."""
    alpha = estimation.alpha if isinstance(estimation.alpha, (int, float)) else 0.0
    return {"mle": 0.0, "map": max(alpha - 1, 0.0), "bayes": alpha}[estimation.estimate]


def class_priors(seen: Counts, schema: Schema, estimation: Estimation) -> np.ndarray:
    """The probability of each class before any column is looked at."""
    counts, exponent = bounded(seen.cells)
    if estimation.class_alpha is not None:
        return smoothed(counts[1:], np.ldexp(estimation.class_alpha, -exponent))[:, 0]
    return smoothed(counts[1:], pseudo_counts(estimation, schema.target.name, schema.classes, exponent))[:, 0]


def read_numbers(given: object, name: str, wanted: Sequence[str]) -> tuple[float, ...]:
    """The numbers of a column's own prior; one that is left out or not positive is an error."""
    if not isinstance(given, Mapping) or set(given) != set(wanted):
        raise ValueError(f"priors[{name!r}]={given!r}: give {', '.join(wanted)} as a dict")
    numbers = tuple(float(given[each]) for each in wanted)
    for each, number in zip(wanted, numbers, strict=True):
        if not np.isfinite(number) or (number <= 0 and each != "m0"):
            raise ValueError(f"priors[{name!r}][{each!r}]={number!r}: give a finite number above 0")
    return numbers


def read_pseudo_count(given: object, name: str) -> float:
    """A column's own pseudo-count."""
    if not isinstance(given, (int, float)) or not 0 <= given < np.inf:
        raise ValueError(f"priors[{name!r}]={given!r}: give a pseudo-count, a number of at least 0")
    return float(given)


def read_pseudo_counts(given: PriorsLike, name: str) -> PriorsLike:
    """Pseudo-counts of levels: one for all, one for each, or by their names; which levels there are, the rows will tell."""
    amounts = np.asarray(list(given.values()) if isinstance(given, Mapping) else given, np.float64)
    if amounts.ndim > 1 or not (np.isfinite(amounts).all() and (amounts >= 0).all()):
        raise ValueError(f"priors[{name!r}]={given!r}: {_PER_LEVEL}")
    return given


_PER_LEVEL = "give a pseudo-count of at least 0, or one for each level"


@contextmanager
def locate_infinite(table: Table) -> Iterator[None]:
    """Names the place where a kernel met an infinite number."""
    try:
        yield
    except ValueError:
        refuse_infinite(table.schema, table.values)
        raise


def _dirichlet(given: PriorsLike, name: str, levels: Sequence[Any], alpha: ArrayLike) -> np.ndarray:
    amounts: object = alpha if given is None else given
    if isinstance(given, Mapping):
        unknown = [level for level in given if level not in set(levels)]
        if unknown:
            raise ValueError(f"priors[{name!r}] names {unknown[0]!r}; the levels are {list(levels)}")
        amounts = [given.get(level, alpha) for level in levels]
    added = np.asarray(amounts, np.float64)
    if added.shape not in ((), (len(levels),)):
        raise ValueError(f"priors[{name!r}]={amounts!r}: {_PER_LEVEL}")
    return np.broadcast_to(added, (len(levels),)).astype(np.float64)


def log_proportions(total: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """log (N_w + α) − log (N + Σα) of totals [n_columns, n_classes]; uniform where there is nothing."""
    raised = total + alpha[:, None]
    whole = raised.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, np.log(raised) - np.log(whole), -np.log(max(len(total), 1)))


def complement_weights(total: np.ndarray, alpha: np.ndarray, is_normalised: bool) -> np.ndarray:
    """−log of the shares in all other classes, or the shares of these logs: [n_columns, n_classes]."""
    log_share = log_proportions(total.sum(axis=1, keepdims=True) - total, alpha)
    if not is_normalised:
        return -log_share
    return log_share / np.minimum(log_share.sum(axis=0), -1e-300)
