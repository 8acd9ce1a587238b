"""Likelihoods of counts and binary values: Bernoulli, Poisson, multinomial, complement and Dirichlet–multinomial.

`CountLikelihood` is linear in x in log space, up to log Γ terms. `DirichletMultinomialLikelihood` is the exact predictive
of a vector of counts, which does not factor over its columns.
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
    """Scores of counts: `zero` if x = 0, else base + x · slope, plus log Γ(shape + x) / Γ(shape) for finite shapes.

    Rule `binary` tests x > threshold only, `poisson` subtracts log x!; `count` and `poisson` refuse negative values.
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
                raise ValueError("a count likelihood needs one number per column and class")
            if np.isnan(array).any():
                raise ValueError("a count likelihood must not contain NaN")
        if (self.shape <= 0).any() or np.isposinf(self.zero).any() or np.isposinf(self.base).any():
            raise ValueError("shapes must be positive, and scores must not be +inf")

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Arguments of the C++ kernels."""
        return self.zero, self.base, self.slope, self.shape

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the columns are numeric and every class has scores."""
        check_numeric(self.columns, self.zero.shape[1], schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Add each row's log-probability to its scores; missing values contribute nothing."""
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
        first = 0
        for matrix in matrices(table, self.columns):
            self._add_dense(matrix, slice(first, first + matrix.shape[1]), scores)
            first += matrix.shape[1]

    def _add_dense(self, matrix: np.ndarray, part: slice, scores: np.ndarray) -> None:
        zero, base, slope, shape = (array[part] for array in self.arrays)
        _core.add_amount_scores(matrix, zero, base, slope, shape, self.threshold, self.rule, scores)

    def effects(self, table: Table) -> list[np.ndarray]:
        """Contribution of each column to the scores: a list of float64 [n_rows, n_classes]."""
        return [self._effect(table.values[j], k) for k, j in enumerate(self.columns)]

    def _effect(self, values: np.ndarray, k: int) -> np.ndarray:
        scores = np.zeros((len(values), self.zero.shape[1]))
        self._add_dense(values.reshape(-1, 1), slice(k, k + 1), scores)
        return scores

    def formula(self, steps: FormulaBuilder) -> Effects:
        """Contribution of each column, as an expression."""
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
        """One number per column and class."""
        entries = ((schema.columns[j].name, *self.distribution(schema, j)) for j in self.columns)
        return [Amount(name, names[-1], tuple(rows[-1].tolist())) for name, names, rows in entries]

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """Probabilities of no and yes, mean count, proportion among the columns, or weight, in each class."""
        k = self.columns.index(column)
        if self.rule == "binary":
            return ["no", "yes"], np.exp(np.stack([self.zero[k], self.base[k]]))
        if self.rule == "poisson":
            return ["mean"], self._rates(k)[None]
        if self.rule == "count":
            return ["share"], np.exp(self.slope[k])[None]
        return ["weight"], self.slope[k][None]

    def _rates(self, k: int) -> np.ndarray:
        """Mean of a Poisson column: e^slope, or shape · (1 − p) / p if the rate is integrated out."""
        exp_slope = np.exp(self.slope[k])
        finite = np.isfinite(self.shape[k])
        return np.where(
            finite, np.where(finite, self.shape[k], 1.0) * exp_slope / np.maximum(1 - exp_slope, 1e-300), exp_slope
        )

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """Random values of each column for each row, given its class; ValueError for multinomial and complement rules."""
        return [self._drawn(random, label, k) for k in range(len(self.columns))]

    def _drawn(self, random: np.random.Generator, label: np.ndarray, k: int) -> np.ndarray:
        if self.rule == "binary":
            return (random.random(len(label)) < np.exp(self.base[k])[label]).astype(np.float64)
        if self.rule == "poisson":
            exp_slope = np.exp(self.slope[k])[label]
            shape = self.shape[k][label]
            finite = np.isfinite(shape)
            rate = random.gamma(np.where(finite, shape, 1.0)) * exp_slope / np.maximum(1 - exp_slope, 1e-300)
            return random.poisson(np.where(finite, rate, exp_slope)).astype(np.float64)
        raise ValueError("rows cannot be drawn, because multinomial and complement columns do not model the total of a row")


def amount_weights(columns: tuple[int, ...], rule: Rule, slope: np.ndarray) -> CountLikelihood:
    """Likelihood that adds x · slope."""
    zeros = np.zeros_like(slope)
    return CountLikelihood(columns, rule, 0.0, zeros, zeros, slope, zeros + np.inf)


def poisson_rates(columns: tuple[int, ...], rate: np.ndarray) -> CountLikelihood:
    """Poisson likelihood with these rates [n_columns, n_classes]."""
    with np.errstate(divide="ignore"):
        return CountLikelihood(columns, "poisson", 0.0, -rate, -rate, np.log(rate), np.full_like(rate, np.inf))


def _predictive(shape: np.ndarray, x: Expression) -> list[Expression]:
    """log Γ(shape + x) − log Γ(shape), for classes whose rate is integrated out."""
    finite = np.isfinite(shape)
    if not finite.any():
        return []
    rising = LogRising(constant(np.where(finite, shape, 1.0)), x)
    if finite.all():
        return [rising]
    return [Case((When(Compare(constant(shape), "<", constant(np.inf)), rising),), constant(0.0))]


class DirichletMultinomialLikelihood(ColumnsLikelihood, frozen=True, tag="urns"):
    """Dirichlet–multinomial distribution of counts in each class (Pólya urn)."""

    concentration: np.ndarray  # [n_columns, n_classes]

    def __post_init__(self) -> None:
        check_concentration(self.concentration)
        if len(self.concentration) != len(self.columns):
            raise ValueError("concentrations need one number per column and class")

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the columns are numeric and every class has concentrations."""
        check_numeric(self.columns, self.concentration.shape[1], schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Add each row's log-probability to its scores; a column with a missing value is left out of the distribution."""
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
        blocks = list(matrices(table, self.columns))
        matrix = blocks[0] if len(blocks) == 1 else np.hstack(blocks)
        _core.add_urn_scores(matrix, self.concentration, total, scores)

    def effects(self, table: Table) -> list[np.ndarray]:
        """Contribution of each column given the columns before it: a list of float64 [n_rows, n_classes]."""
        steps = [np.zeros((len(table), self.concentration.shape[1]))]
        counts = np.column_stack([table.values[j] for j in self.columns])
        for k in range(1, counts.shape[1] + 1):
            scores = np.zeros_like(steps[0])
            known = np.where(np.arange(counts.shape[1]) < k, counts, np.where(np.isnan(counts), np.nan, 0.0))
            _core.add_urn_scores(known, self.concentration, self.concentration.sum(axis=0), scores)
            steps.append(scores)
        return [after - before for before, after in pairwise(steps)]

    def formula(self, steps: FormulaBuilder) -> Effects:
        """Σ log Γ(a + x)/Γ(a) − log Γ(A + n)/Γ(A); columns with missing values are left out of A and n."""
        concentration, n_classes = self.concentration, self.concentration.shape[1]
        columns = list(enumerate(self.columns))
        added: Effects = [
            (j, where_known(j, LogRising(constant(concentration[k]), Number(j)), n_classes)) for k, j in columns
        ]
        sampled = steps.add_step(Sum(tuple(where_known(j, Number(j), 1) for _, j in columns)))
        left_out = [Case((When(Known(j), constant(0.0)),), constant(-concentration[k])) for k, j in columns]
        size = steps.add_step(Sum((constant(concentration.sum(axis=0)), *left_out)))
        return [*added, (None, less_size(size, sampled))]

    def summary(self, schema: Schema) -> list[Amount]:
        """Expected proportion of each column in each class."""
        proportions = (self.concentration / self.concentration.sum(axis=0)).tolist()
        rows = zip(self.columns, proportions, strict=True)
        return [Amount(schema.columns[j].name, "share", tuple(row)) for j, row in rows]

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """Expected proportion of a column in each class."""
        k = self.columns.index(column)
        return ["share"], (self.concentration[k] / self.concentration.sum(axis=0))[None]

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """Raise ValueError: the distribution does not include the total of a row."""
        raise ValueError("rows cannot be drawn, because multinomial and complement columns do not model the total of a row")


def fill_empty_classes(concentration: np.ndarray) -> np.ndarray:
    """Replace all-zero concentrations of a class by uniform ones, so that a class without data is uninformative."""
    empty = concentration.sum(axis=0) <= 0
    return np.where(empty, 1.0, np.minimum(concentration, 1e300 / max(len(concentration), 1)))


def check_concentration(concentration: np.ndarray) -> None:
    """Raise ValueError unless every class has finite, non-negative concentrations with a positive sum."""
    if concentration.dtype != np.float64 or concentration.ndim != 2:
        raise ValueError("concentrations need one number per column and class")
    if not np.isfinite(concentration).all() or (concentration < 0).any() or (concentration.sum(axis=0) <= 0).any():
        raise ValueError("concentrations must be finite, not negative, and not all 0 in a class")


def less_size(size: Named, sampled: Named) -> Expression:
    """−log Γ(A + n)/Γ(A); 0 if the count n or the total concentration A is 0."""
    zero, cost = constant(0.0), Product((constant(-1.0), LogRising(size, sampled)))
    whens = (When(Compare(sampled, "<=", zero), zero), When(Compare(size, "<=", zero), zero))
    return Case(whens, cost)
