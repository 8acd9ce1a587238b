"""Likelihoods of amounts: Bernoulli, Poisson, multinomial and complement, mostly linear in log space.

Dirichlet–multinomial counts: the exact predictive of a bag, which does not factor over its words.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import numpy as np

from baytree import _core
from baytree.data.encoding.matrices import matrices
from baytree.data.encoding.table import SparseColumns, Table
from baytree.data.schema.schema import Schema
from baytree.formula.builder import Effects, FormulaBuilder, constant, where_known
from baytree.formula.expressions import Case, Compare, Expression, Known, LogRising, Named, Number, Product, Sum, When
from baytree.naive_bayes.events.base import ColumnsLikelihood, check_numeric
from baytree.statistics.totals import refuse_negative, sparse_entries
from baytree.summary.naive_bayes import Amount

Rule = Literal["binary", "count", "poisson", "amount"]


class CountLikelihood(ColumnsLikelihood, frozen=True, tag="amounts"):
    """Scores of amounts: `zero` for a value of 0, else base + x · slope, with log Γ(shape + x) / Γ(shape) for finite shapes.

    With the rule `binary` only x > threshold is asked; `poisson` takes log x! away; counts may not be negative.
    """

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
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
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
            self._add_dense(matrix, slice(done, done + matrix.shape[1]), scores)
            done += matrix.shape[1]

    def _add_dense(self, matrix: np.ndarray, part: slice, scores: np.ndarray) -> None:
        zero, base, slope, shape = (array[part] for array in self.arrays)
        _core.add_amount_scores(matrix, zero, base, slope, shape, self.threshold, self.rule, scores)

    def effects(self, table: Table) -> list[np.ndarray]:
        """For each column what it adds to the scores: [n_rows, n_classes] each."""
        return [self._effect(table.values[j], k) for k, j in enumerate(self.columns)]

    def _effect(self, values: np.ndarray, k: int) -> np.ndarray:
        scores = np.zeros((len(values), self.zero.shape[1]))
        self._add_dense(values.reshape(-1, 1), slice(k, k + 1), scores)
        return scores

    def formula(self, steps: FormulaBuilder) -> Effects:
        """What each amount adds, as an expression."""
        n_classes = self.zero.shape[1]
        return [(j, where_known(j, self._said(k), n_classes)) for k, j in enumerate(self.columns)]

    def _said(self, k: int) -> Expression:
        x, zero = Number(self.columns[k]), constant(self.zero[k])
        if self.rule == "binary":
            return Case((When(Compare(x, ">", constant(self.threshold)), constant(self.base[k])),), zero)
        terms: list[Expression] = [constant(self.base[k]), Product((x, constant(self.slope[k])))]
        if self.rule == "poisson":
            terms.append(Product((constant(-1.0), LogRising(constant(1.0), x))))
        terms += _predictive(self.shape[k], x)
        return Case((When(Compare(x, "==", constant(0.0)), zero),), Sum(tuple(terms)))

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


def amount_weights(columns: tuple[int, ...], rule: Rule, slope: np.ndarray) -> CountLikelihood:
    """A likelihood that adds x · slope."""
    none = np.zeros_like(slope)
    return CountLikelihood(columns, rule, 0.0, none, none, slope, none + np.inf)


def poisson_rates(columns: tuple[int, ...], rate: np.ndarray) -> CountLikelihood:
    """A likelihood with these rates of each column and class."""
    with np.errstate(divide="ignore"):
        return CountLikelihood(columns, "poisson", 0.0, -rate, -rate, np.log(rate), np.full_like(rate, np.inf))


def _predictive(shape: np.ndarray, x: Expression) -> list[Expression]:
    """log Γ(shape + x) − log Γ(shape) in the classes whose rate was integrated out."""
    finite = np.isfinite(shape)
    if not finite.any():
        return []
    rising = LogRising(constant(np.where(finite, shape, 1.0)), x)
    if finite.all():
        return [rising]
    return [Case((When(Compare(constant(shape), "<", constant(np.inf)), rising),), constant(0.0))]


class DirichletMultinomialLikelihood(ColumnsLikelihood, frozen=True, tag="urns"):
    """An urn for each class: every count drawn puts one more of its kind back (Pólya)."""

    concentration: np.ndarray  # [n_columns, n_classes]

    def __post_init__(self) -> None:
        check_concentration(self.concentration)
        if len(self.concentration) != len(self.columns):
            raise ValueError("urns have one number per column and class")

    def check(self, schema: Schema) -> None:
        """Raises an error unless the columns are numbers and every class has its urn."""
        check_numeric(self.columns, self.concentration.shape[1], schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Adds each row's log-probability to its scores; a missing value leaves its column out of the urn."""
        try:
            self._add(table, scores)
        except ValueError:
            refuse_negative(table, self.columns)
            raise

    def _add(self, table: Table, scores: np.ndarray) -> None:
        total = self.concentration.sum(axis=0)
        if isinstance(table.values, SparseColumns):
            entries = sparse_entries(table, self.columns)
            fields = entries.start, entries.code, entries.count, entries.missing
            _core.add_sparse_urn_scores(*fields, self.concentration, total, scores)
            return
        stripes = list(matrices(table, self.columns))
        whole = stripes[0] if len(stripes) == 1 else np.hstack(stripes)
        _core.add_urn_scores(whole, self.concentration, total, scores)

    def effects(self, table: Table) -> list[np.ndarray]:
        """What each column adds once the columns before it are known: [n_rows, n_classes] each."""
        steps = [np.zeros((len(table), self.concentration.shape[1]))]
        counts = np.column_stack([table.values[j] for j in self.columns])
        for k in range(1, counts.shape[1] + 1):
            scores = np.zeros_like(steps[0])
            known = np.where(np.arange(counts.shape[1]) < k, counts, np.where(np.isnan(counts), np.nan, 0.0))
            _core.add_urn_scores(known, self.concentration, self.concentration.sum(axis=0), scores)
            steps.append(scores)
        return [after - before for before, after in pairwise(steps)]

    def formula(self, steps: FormulaBuilder) -> Effects:
        """Σ log Γ(a + x)/Γ(a), less log Γ(A + n)/Γ(A): what is not known is left out of the urn."""
        urn, n_classes = self.concentration, self.concentration.shape[1]
        columns = list(enumerate(self.columns))
        added: Effects = [(j, where_known(j, LogRising(constant(urn[k]), Number(j)), n_classes)) for k, j in columns]
        drawn = steps.add_step(Sum(tuple(where_known(j, Number(j), 1) for _, j in columns)))
        left_out = [Case((When(Known(j), constant(0.0)),), constant(-urn[k])) for k, j in columns]
        size = steps.add_step(Sum((constant(urn.sum(axis=0)), *left_out)))
        return [*added, (None, less_size(size, drawn))]

    def summary(self, schema: Schema) -> list[Amount]:
        """The expected share of each column in each class."""
        share = (self.concentration / self.concentration.sum(axis=0)).tolist()
        rows = zip(self.columns, share, strict=True)
        return [Amount(schema.columns[j].name, "share", tuple(row)) for j, row in rows]

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """The expected share of a column in each class."""
        k = self.columns.index(column)
        return ["share"], (self.concentration[k] / self.concentration.sum(axis=0))[None]

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """Refused: nothing says how large a row is."""
        raise ValueError("multinomial and complement columns do not say how large a row is, so rows cannot be drawn")


def fill_empty_classes(concentration: np.ndarray) -> np.ndarray:
    """The same urns, an empty one filled evenly: a class without counts and without a prior tells nothing."""
    empty = concentration.sum(axis=0) <= 0
    return np.where(empty, 1.0, np.minimum(concentration, 1e300 / max(len(concentration), 1)))


def check_concentration(concentration: np.ndarray) -> None:
    """Raises an error unless every urn holds something, and nothing negative."""
    if concentration.dtype != np.float64 or concentration.ndim != 2:
        raise ValueError("urns have one number per column and class")
    if not np.isfinite(concentration).all() or (concentration < 0).any() or (concentration.sum(axis=0) <= 0).any():
        raise ValueError("urns hold finite numbers, and none is empty")


def less_size(size: Named, drawn: Named) -> Expression:
    """−log Γ(A + n)/Γ(A), 0 where nothing was drawn or nothing is left in the urn."""
    nothing, cost = constant(0.0), Product((constant(-1.0), LogRising(size, drawn)))
    whens = (When(Compare(drawn, "<=", nothing), nothing), When(Compare(size, "<=", nothing), nothing))
    return Case(whens, cost)
