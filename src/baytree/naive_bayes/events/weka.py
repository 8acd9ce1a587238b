"""Numbers as Weka's NaiveBayes takes them: rounded to the column's precision, probabilities of intervals, a floor.

The precision is the mean gap between the distinct values of the column, 0.01 where there is only one; values are rounded
to multiples of it, half to even, in learning and in predicting.
"""

from __future__ import annotations

import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.formula.builder import Effects, FormulaBuilder, constant, where_known
from baytree.formula.expressions import (
    Apply,
    Case,
    Compare,
    Expression,
    Greatest,
    Named,
    Number,
    Product,
    Quotient,
    Sum,
    When,
)
from baytree.formula.expressions import Kernels as KernelSum
from baytree.naive_bayes.events.base import ColumnLikelihood, check_numeric
from baytree.naive_bayes.events.binned import DistinctEvent, counted
from baytree.naive_bayes.events.estimation import ColumnGroup, Estimation
from baytree.naive_bayes.events.kernel import KernelSet, kernel_summary, kernels_of
from baytree.naive_bayes.events.normal import check_moments, normals
from baytree.statistics.counts import DistinctValues
from baytree.summary.naive_bayes import KernelDensity, Normal


class WekaNormalLikelihood(ColumnLikelihood, frozen=True, tag="weka_normal"):
    """The normal probability of one interval of precision around each rounded value, at least 1e-75."""

    precision: float
    mean: np.ndarray  # [n_classes, 1]
    scale: np.ndarray  # [n_classes, 1], positive

    def __post_init__(self) -> None:
        check_moments((self.column,), self.mean, self.scale)
        _check_precision(self.precision)

    def check(self, schema: Schema) -> None:
        """Raises an error unless the column is numeric and the classes as many."""
        check_numeric(self.columns, len(self.mean), schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Adds the logarithm of each row's factor to its scores; a missing value adds nothing."""
        values = rounded(table.values[self.column], self.precision)
        _core.add_interval_scores(values, self.precision, self.mean.ravel(), self.scale.ravel(), scores)

    def formula(self, steps: FormulaBuilder) -> Effects:
        """log max(1e-75, Φ((r + p/2 − m)/s) − Φ((r − p/2 − m)/s)) of the value r, rounded to the precision p."""
        j, half, mean, scale = self.column, self.precision / 2, self.mean[:, 0], self.scale[:, 0]
        value = _rounded_in_steps(j, self.precision, steps)
        ends = [Quotient(Sum((value, constant(end), constant(-mean))), constant(scale)) for end in (half, -half)]
        below, above = map(_lower_tail, ends)
        share = Sum((below, Product((constant(-1.0), above))))
        return [(j, where_known(j, Apply("log", Greatest((share, constant(1e-75)))), len(mean)))]

    def summary(self, schema: Schema) -> list[Normal]:
        """Mean and deviation of each column in each class."""
        return normals(self.columns, self.mean, self.scale, schema)

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """Mean, deviation and precision in each class."""
        precision = np.full(len(self.mean), self.precision)
        return ["mean", "scale", "precision"], np.stack([self.mean[:, 0], self.scale[:, 0], precision])

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """A number for each row of a class, rounded to the precision."""
        drawn = self.mean[label, 0] + self.scale[label, 0] * random.standard_normal(len(label))
        return [rounded(drawn, self.precision)]


class WekaKernelLikelihood(ColumnLikelihood, frozen=True, tag="weka_kernel"):
    """The share of the kernels' probability in one interval of precision, added up until little can follow."""

    precision: float
    kernels: KernelSet

    def __post_init__(self) -> None:
        _check_precision(self.precision)

    def check(self, schema: Schema) -> None:
        """Raises an error unless the column is numeric and the classes as many."""
        check_numeric(self.columns, self.kernels.n_classes, schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Adds the logarithm of each row's factor to its scores; a missing value adds nothing."""
        values = rounded(table.values[self.column], self.precision)
        for first in range(0, len(values), self.kernels.rows_at_once):
            part = slice(first, first + self.kernels.rows_at_once)
            _core.add_interval_kernel_scores(values[part], self.precision, *self.kernels.arrays, scores[part])

    def formula(self, steps: FormulaBuilder) -> Effects:
        """The logarithm of the sum of all bumps at the rounded value, as an expression."""
        value = _rounded_in_steps(self.column, self.precision, steps)
        density = KernelSum(value, self.kernels.bumps(), self.precision)
        return [(self.column, where_known(self.column, density, self.kernels.n_classes))]

    def summary(self, schema: Schema) -> list[KernelDensity]:
        """Mean, width and number of kernels in each class."""
        return [kernel_summary(self.kernels, schema.columns[self.column])]

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """Mean, width and number of the kernels of each class."""
        return self.kernels.distribution()

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """A number for each row of a class, rounded to the precision."""
        return [rounded(self.kernels.draw(random, label), self.precision)]


class WekaGaussian(DistinctEvent):
    """Mean and deviation (divisor n) of the rounded values; the deviation is at least a sixth of the precision."""

    name = "weka gaussian"
    likelihoods = (WekaNormalLikelihood,)

    def estimate(
        self, seen: DistinctValues, group: ColumnGroup, schema: Schema, estimation: Estimation
    ) -> WekaNormalLikelihood:
        """The densities that Weka would use; a class without values has mean 0."""
        value, weight = counted(seen, group, schema)
        precision = precision_of(value)
        moments = np.array([_moments(rounded(value, precision), w) for w in weight.T]).reshape(-1, 2)
        scale = np.maximum(moments[:, 1:], precision / 6)
        return WekaNormalLikelihood(group.columns[0], precision, np.ascontiguousarray(moments[:, :1]), scale)


class WekaKernel(DistinctEvent):
    """Kernels at the rounded values of a class, (max − min) / √n wide, and at least a sixth of the precision."""

    name = "weka kernel"
    likelihoods = (WekaKernelLikelihood,)

    def estimate(
        self, seen: DistinctValues, group: ColumnGroup, schema: Schema, estimation: Estimation
    ) -> WekaKernelLikelihood:
        """The kernels that Weka would use; a class without values has one at 0."""
        value, weight = counted(seen, group, schema)
        precision = precision_of(value)
        classes = [_centres(rounded(value, precision), w) for w in weight.T]
        width = [max((v[-1] - v[0]) / np.sqrt(w.sum()), precision / 6) for v, w in classes]
        return WekaKernelLikelihood(group.columns[0], precision, kernels_of(classes, width))


def precision_of(value: np.ndarray) -> float:
    """The mean gap between distinct ascending values: as in Weka the gaps are added one by one, from the lowest."""
    if len(value) < 2:
        return 0.01
    with np.errstate(over="ignore"):
        total = np.cumsum(np.diff(value))[-1]  # a pairwise sum would have another last bit
    n_gaps = len(value) - 1
    return float(total / n_gaps) if np.isfinite(total) else float(value[-1] / n_gaps - value[0] / n_gaps)


def rounded(values: np.ndarray, precision: float) -> np.ndarray:
    """The values as multiples of the precision, half to even; what lies too far for that is left as it is."""
    with np.errstate(over="ignore"):
        multiples = np.rint(values / precision) * precision
    return np.where(np.isinf(multiples), values, multiples)


def _moments(value: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    if not weight.any():
        return 0.0, 0.0
    share = weight / weight.sum()
    mean = (value * share).sum()
    largest = np.abs(value - mean).max() or 1.0
    return float(mean), float(largest * np.sqrt((share * ((value - mean) / largest) ** 2).sum()))


def _centres(value: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rounded values that a class has, and their weights."""
    if not weight.any():
        return np.zeros(1), np.ones(1)
    centre, place = np.unique(value[weight > 0], return_inverse=True)
    return centre, np.bincount(place, weight[weight > 0])


def _check_precision(precision: float) -> None:
    if not 0 < precision < np.inf:
        raise ValueError("a precision is positive")


def _rounded_in_steps(column: int, precision: float, steps: FormulaBuilder) -> Named:
    """`rounded` as an expression; a value too far from 0 to be a multiple of the precision is left as it is."""
    nearest = Product((Apply("round", Quotient(Number(column), constant(precision))), constant(precision)))
    multiple = steps.add_step(where_known(column, nearest, 1))
    too_far = Compare(Apply("abs", multiple), "==", constant(np.inf))
    return steps.add_step(Case((When(too_far, where_known(column, Number(column), 1)),), multiple))


def _lower_tail(z: Expression) -> Expression:
    """Φ(z) = erfc(−z/√2)/2."""
    return Product((constant(0.5), Apply("erfc", Product((constant(-np.sqrt(0.5)), z)))))
