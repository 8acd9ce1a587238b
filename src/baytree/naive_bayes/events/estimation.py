"""Estimation settings, pseudo-counts and priors of the event models.

There are three estimates. `mle` is the relative frequency, or the sample mean and variance. `map` is the mode of the
posterior. `bayes` is the posterior predictive with all parameters integrated out: Dirichlet–multinomial for levels,
Student t for numbers. Laplace smoothing (add one) is `bayes` with α = 1; under that same prior `map` equals `mle`.

`log_proportions` and `complement_weights` are shared by the count and text events.
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
    """Columns of one event model; `threshold` is the value above which a Bernoulli event is true."""

    event: str
    columns: tuple[int, ...]
    threshold: float = 0.0


class Estimation(msgspec.Struct, frozen=True):
    """Settings of the estimation; `priors` holds parsed priors by column name or target name."""

    estimate: str = "bayes"
    alpha: float | tuple[float, ...] = 1.0
    class_alpha: float | None = None  # pseudo-count of the classes, if a convention has its own
    priors: Mapping[str, Any] = {}
    var_smoothing: float = 1e-9
    is_normalised: bool = False  # whether weights of the complement event are normalized


def smoothed(counts: np.ndarray, added: float | np.ndarray) -> np.ndarray:
    """(n + α) / (N + Σα) along the first axis; uniform if a class has no data and α = 0."""
    pseudo = np.broadcast_to(np.reshape(added, (-1, 1)), (len(counts), 1))
    total = counts.sum(axis=0) + pseudo.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        proportion = (counts + pseudo) / total
    return np.where(total > 0, proportion, 1 / max(len(counts), 1))


def pseudo_counts(estimation: Estimation, name: str, levels: Sequence[Any], exponent: int = 0) -> np.ndarray:
    """Pseudo-count of each level: α for 'bayes', α − 1 for 'map' (so that α = 1 gives the mle), 0 for 'mle'."""
    alpha = _dirichlet(estimation.priors.get(name), name, levels, estimation.alpha)
    added = {"mle": np.zeros_like(alpha), "map": np.maximum(alpha - 1, 0), "bayes": alpha}[estimation.estimate]
    return np.ldexp(added, -exponent)


def default_pseudo_count(estimation: Estimation) -> float:
    """Pseudo-count of a level without a column-specific prior; 0 if none is added or levels have different ones."""
    alpha = estimation.alpha if isinstance(estimation.alpha, (int, float)) else 0.0
    return {"mle": 0.0, "map": max(alpha - 1, 0.0), "bayes": alpha}[estimation.estimate]


def class_priors(statistic: Counts, schema: Schema, estimation: Estimation) -> np.ndarray:
    """Smoothed prior probability of each class: [n_classes]."""
    counts, exponent = bounded(statistic.cells)
    if estimation.class_alpha is not None:
        return smoothed(counts[1:], np.ldexp(estimation.class_alpha, -exponent))[:, 0]
    return smoothed(counts[1:], pseudo_counts(estimation, schema.target.name, schema.classes, exponent))[:, 0]


def read_numbers(given: object, name: str, parameter_names: Sequence[str]) -> tuple[float, ...]:
    """Numbers of a column's prior as a tuple; raises ValueError if one is absent or not positive."""
    if not isinstance(given, Mapping) or set(given) != set(parameter_names):
        raise ValueError(f"priors[{name!r}]={given!r}: give {', '.join(parameter_names)} as a dict")
    numbers = tuple(float(given[key]) for key in parameter_names)
    for key, number in zip(parameter_names, numbers, strict=True):
        if not np.isfinite(number) or (number <= 0 and key != "m0"):
            raise ValueError(f"priors[{name!r}][{key!r}]={number!r}: give a finite number above 0")
    return numbers


def read_pseudo_count(given: object, name: str) -> float:
    """Validated pseudo-count of a column."""
    if not isinstance(given, (int, float)) or not 0 <= given < np.inf:
        raise ValueError(f"priors[{name!r}]={given!r}: give a pseudo-count, a number of at least 0")
    return float(given)


def read_pseudo_counts(given: PriorsLike, name: str) -> PriorsLike:
    """Validated pseudo-counts: one for all levels, one per level, or by level name (checked once the levels are known)."""
    amounts = np.asarray(list(given.values()) if isinstance(given, Mapping) else given, np.float64)
    if amounts.ndim > 1 or not (np.isfinite(amounts).all() and (amounts >= 0).all()):
        raise ValueError(f"priors[{name!r}]={given!r}: {_PER_LEVEL}")
    return given


_PER_LEVEL = "give a pseudo-count of at least 0, or one for each level"


@contextmanager
def locate_infinite(table: Table) -> Iterator[None]:
    """Replace the error of a kernel by one that names row and column of the infinite value."""
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
    """log (N_w + α) − log (N + Σα) of totals [n_columns, n_classes]; uniform if there are none."""
    smoothed_total = total + alpha[:, None]
    column_sum = smoothed_total.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(column_sum > 0, np.log(smoothed_total) - np.log(column_sum), -np.log(max(len(total), 1)))


def complement_weights(total: np.ndarray, alpha: np.ndarray, is_normalised: bool) -> np.ndarray:
    """−log of the proportions in all other classes, or these logs normalized to sum 1: [n_columns, n_classes]."""
    log_proportion = log_proportions(total.sum(axis=1, keepdims=True) - total, alpha)
    if not is_normalised:
        return -log_proportion
    return log_proportion / np.minimum(log_proportion.sum(axis=0), -1e-300)
