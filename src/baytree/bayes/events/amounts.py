"""Amounts: Bernoulli, Poisson, multinomial and complement events of numeric columns, mostly linear in log space."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np

from baytree import _core
from baytree.bayes.estimation import Estimation, Group, prior_numbers
from baytree.bayes.events.gaussian import check_numeric
from baytree.statistics.totals import Totals, refuse_negative, sparse_entries
from baytree.summary import Amount
from baytree.table.schema import Kind, Schema
from baytree.table.table import SparseColumns, Table, matrices

Rule = Literal["binary", "count", "poisson", "amount"]


class AmountLikelihood(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="amounts"):
    """Scores of amounts: `zero` for a value of 0, else base + x · slope, with log Γ(shape + x) / Γ(shape) for finite shapes.

    With the rule `binary` only x > threshold is asked; `poisson` takes log x! away; counts may not be negative.
    """

    columns: tuple[int, ...]
    rule: Rule
    threshold: float
    zero: np.ndarray  # [n_columns, n_classes]
    base: np.ndarray
    slope: np.ndarray
    shape: np.ndarray

    def __post_init__(self) -> None:
        for array in self.arrays:
            if array.dtype != np.float64 or array.ndim != 2 or array.shape != (len(self.columns), self.zero.shape[1]):
                raise ValueError("amounts have one number per column and class")
            if np.isnan(array).any():
                raise ValueError("the numbers of amounts are known")
        if (self.shape <= 0).any() or np.isposinf(self.zero).any() or np.isposinf(self.base).any():
            raise ValueError("shapes are positive and scores at most finite")

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """What the kernels take."""
        return self.zero, self.base, self.slope, self.shape

    def check(self, schema: Schema) -> None:
        """Raises an error unless the columns are numbers and every class has its scores."""
        check_numeric(self.columns, self.zero.shape[1], schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Adds each row's log-probability to its scores; a missing value adds nothing."""
        try:
            self._add(table, scores)
        except ValueError:
            if self.rule in ("count", "poisson"):
                refuse_negative(table, self.columns)
            raise

    def _add(self, table: Table, scores: np.ndarray) -> None:
        if isinstance(table.values, SparseColumns) and not (self.rule == "binary" and self.threshold < 0):
            entries = sparse_entries(table, self.columns)
            fields = entries.start, entries.code, entries.count, entries.missing
            _core.add_sparse_amount_scores(*fields, *self.arrays, self.threshold, self.rule, scores)
            return
        done = 0
        for matrix in matrices(table, self.columns):
            part = slice(done, done + matrix.shape[1])
            _core.add_amount_scores(matrix, *(a[part] for a in self.arrays), self.threshold, self.rule, scores)
            done += matrix.shape[1]

    def effects(self, table: Table) -> list[np.ndarray]:
        """For each column what it adds to the scores: [n_rows, n_classes] each."""
        return [self._effect(table.values[j], k) for k, j in enumerate(self.columns)]

    def _effect(self, values: np.ndarray, k: int) -> np.ndarray:
        scores = np.zeros((len(values), self.zero.shape[1]))
        cells = (a[k : k + 1] for a in self.arrays)
        _core.add_amount_scores(values.reshape(-1, 1), *cells, self.threshold, self.rule, scores)
        return scores

    def summary(self, schema: Schema) -> list[Amount]:
        """For each column the number that stands for it in each class."""
        told = ((schema.columns[j].name, *self.distribution(schema, j)) for j in self.columns)
        return [Amount(name, names[-1], tuple(rows[-1].tolist())) for name, names, rows in told]

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """The probability of yes, the mean count, the share among the columns, or the weight, in each class."""
        k = self.columns.index(column)
        if self.rule == "binary":
            return ["no", "yes"], np.exp(np.stack([self.zero[k], self.base[k]]))
        if self.rule == "poisson":
            return ["mean"], self._rates(k)[None]
        if self.rule == "count":
            return ["share"], np.exp(self.slope[k])[None]
        return ["weight"], self.slope[k][None]

    def _rates(self, k: int) -> np.ndarray:
        """The mean of a Poisson column: e^slope, or shape · (1 − p) / p where the rate was integrated out."""
        share = np.exp(self.slope[k])
        finite = np.isfinite(self.shape[k])
        return np.where(finite, np.where(finite, self.shape[k], 1.0) * share / np.maximum(1 - share, 1e-300), share)

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """A value of each column for each row of a class; counts of a multinomial are those of one draw each."""
        return [self._drawn(random, label, k) for k in range(len(self.columns))]

    def _drawn(self, random: np.random.Generator, label: np.ndarray, k: int) -> np.ndarray:
        if self.rule == "binary":
            return (random.random(len(label)) < np.exp(self.base[k])[label]).astype(np.float64)
        if self.rule == "poisson":
            share = np.exp(self.slope[k])[label]
            shape = self.shape[k][label]
            finite = np.isfinite(shape)
            rate = random.gamma(np.where(finite, shape, 1.0)) * share / np.maximum(1 - share, 1e-300)
            return random.poisson(np.where(finite, rate, share)).astype(np.float64)
        raise ValueError("multinomial and complement columns do not say how large a row is, so rows cannot be drawn")


class TotalEvent:
    """What the events share that keep totals of numeric columns."""

    can_subtract = True

    def observe(self, table: Table, group: Group) -> Totals:
        """The known weight and the sum of each column in each class."""
        return Totals.of(table, group.columns)

    def check(self, seen: Any, group: Group, schema: Schema) -> None:
        """Raises an error unless the statistic fits these columns."""
        if not isinstance(seen, Totals) or any(schema.columns[j].kind is not Kind.NUMERIC for j in group.columns):
            raise ValueError("an event of amounts keeps the totals of numeric columns")
        seen.check(len(group.columns), len(schema.classes))


class Bernoulli(TotalEvent):
    """Yes or no: whether a number lies above 0 (or another threshold); by Bayes, with a Beta(α, α) prior."""

    def observe(self, table: Table, group: Group) -> Totals:
        """The known weight of each column in each class, and that of yes."""
        return Totals.above(table, group.columns, group.threshold)

    def derive(self, seen: Totals, group: Group, schema: Schema, estimation: Estimation) -> AmountLikelihood:
        """(yes + a) / (n + a + b) by Bayes, its mode by map, yes / n by mle; one half where nothing is known."""
        known, yes = seen.rounded()
        a, b = _beta_priors(group, schema, estimation).T[:, :, None]
        total = known + a + b
        with np.errstate(invalid="ignore", divide="ignore"):
            log_yes = np.log(np.where(total > 0, (yes + a) / total, 0.5))
            log_no = np.log(np.where(total > 0, (np.maximum(known - yes, 0) + b) / total, 0.5))
        none = np.zeros_like(log_yes)
        return AmountLikelihood(group.columns, "binary", group.threshold, log_no, log_yes, none, none + np.inf)


class Poisson(TotalEvent):
    """Counts with a rate in every class; by Bayes a negative binomial, the rate under a Gamma prior integrated out.

    The prior is worth α rows with the column's own mean; `priors={"clicks": {"shape": …, "rate": …}}` sets another.
    """

    def derive(self, seen: Totals, group: Group, schema: Schema, estimation: Estimation) -> AmountLikelihood:
        """The rate of each class, or the predictive distribution."""
        known, total = seen.rounded()
        pooled = total.sum(axis=1) / np.maximum(known.sum(axis=1), 1e-300)
        if estimation.estimate == "mle":
            rate = np.where(known > 0, total / np.maximum(known, 1e-300), pooled[:, None])
            return _poisson(group, rate)
        shape, inverse = _gamma_priors(group, schema, estimation, pooled).T[:, :, None]
        shape, inverse = shape + total, inverse + known
        if estimation.estimate == "map":
            return _poisson(group, np.maximum(shape - 1, 0) / inverse)
        zero = -shape * np.log1p(1 / inverse)
        return AmountLikelihood(group.columns, "poisson", 0.0, zero, zero, -np.log1p(inverse), shape)


class Multinomial(TotalEvent):
    """Counts that share a row: the columns of the group are the sides of a die; plugged-in shares (N_w + α) / (N + αV)."""

    def derive(self, seen: Totals, group: Group, schema: Schema, estimation: Estimation) -> AmountLikelihood:
        """The log-share of each column; a count of 0 adds nothing."""
        log_share = log_shares(seen.rounded()[1], column_alphas(group, schema, estimation))
        return amount_weights(group, "count", log_share)


class Complement(TotalEvent):
    """Counts weighed by how rare a column is in all other classes (Rennie and others 2003)."""

    def derive(self, seen: Totals, group: Group, schema: Schema, estimation: Estimation) -> AmountLikelihood:
        """The weight of each column in each class."""
        total = seen.rounded()[1]
        weight = complement_weights(total, column_alphas(group, schema, estimation), estimation.is_normalised)
        return amount_weights(group, "amount", weight)


def column_alphas(group: Group, schema: Schema, estimation: Estimation) -> np.ndarray:
    """The pseudo-count of each column of a group: [n_columns]."""
    alpha = np.broadcast_to(np.asarray(estimation.alpha, np.float64), (len(group.columns),)).copy()
    for k, j in enumerate(group.columns):
        given = estimation.priors.get(schema.columns[j].name)
        if given is not None:
            alpha[k] = _pseudo_count(given, schema.columns[j].name)
    if estimation.estimate == "map":
        return np.maximum(alpha - 1, 0)
    return alpha if estimation.estimate == "bayes" else np.zeros_like(alpha)


def log_shares(total: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """log (N_w + α) − log (N + Σα) of totals [n_columns, n_classes]; uniform where there is nothing."""
    raised = total + alpha[:, None]
    whole = raised.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, np.log(raised) - np.log(whole), -np.log(max(len(total), 1)))


def complement_weights(total: np.ndarray, alpha: np.ndarray, is_normalised: bool) -> np.ndarray:
    """−log of the shares in all other classes, or the shares of these logs: [n_columns, n_classes]."""
    log_share = log_shares(total.sum(axis=1, keepdims=True) - total, alpha)
    if not is_normalised:
        return -log_share
    return log_share / np.minimum(log_share.sum(axis=0), -1e-300)


def amount_weights(group: Group, rule: Rule, slope: np.ndarray) -> AmountLikelihood:
    """A likelihood that adds x · slope."""
    none = np.zeros_like(slope)
    return AmountLikelihood(group.columns, rule, 0.0, none, none, slope, none + np.inf)


def _poisson(group: Group, rate: np.ndarray) -> AmountLikelihood:
    with np.errstate(divide="ignore"):
        return AmountLikelihood(group.columns, "poisson", 0.0, -rate, -rate, np.log(rate), np.full_like(rate, np.inf))


def _beta_priors(group: Group, schema: Schema, estimation: Estimation) -> np.ndarray:
    """a and b of each column, less 1 for the mode: [n_columns, 2]."""
    alpha = np.broadcast_to(np.asarray(estimation.alpha, np.float64), (len(group.columns),))
    prior = np.stack([alpha, alpha], axis=1)
    for k, j in enumerate(group.columns):
        given = prior_numbers(estimation, schema.columns[j], ("a", "b"))
        prior[k] = prior[k] if given is None else given
    added = {"mle": 0 * prior, "map": np.maximum(prior - 1, 0), "bayes": prior}
    return added[estimation.estimate]


def _gamma_priors(group: Group, schema: Schema, estimation: Estimation, pooled: np.ndarray) -> np.ndarray:
    """Shape and rate of each column: [n_columns, 2]."""
    alpha = max(float(np.max(estimation.alpha)), 1e-9)
    prior = np.stack([np.maximum(alpha * pooled, 1e-9), np.full(len(pooled), alpha)], axis=1)
    for k, j in enumerate(group.columns):
        given = prior_numbers(estimation, schema.columns[j], ("shape", "rate"))
        prior[k] = prior[k] if given is None else given
    return prior


def _pseudo_count(given: object, name: str) -> float:
    if not isinstance(given, (int, float)) or not 0 <= given < np.inf:
        raise ValueError(f"priors[{name!r}]={given!r}: give a pseudo-count, a number of at least 0")
    return float(given)
