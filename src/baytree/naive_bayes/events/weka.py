"""Event models that reproduce Weka's NaiveBayes: rounding to a precision, probabilities of intervals, a floor of 1e-75.

The precision is the mean difference of neighbouring distinct values of the column, 0.01 if there is only one. Values are
rounded to multiples of it, half to even, in training and prediction. Reference: John and Langley (1995).
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
from baytree.naive_bayes.events.binned import DistinctEvent, value_weights
from baytree.naive_bayes.events.estimation import ColumnGroup, Estimation
from baytree.naive_bayes.events.kernel import KernelSet, kernel_summary, kernels_of
from baytree.naive_bayes.events.normal import check_moments, normals
from baytree.statistics.counts import DistinctValues
from baytree.summary.naive_bayes import KernelDensity, Normal


class WekaNormalLikelihood(ColumnLikelihood, frozen=True, tag="weka_normal"):
    """Normal probability of the interval of width `precision` around each rounded value, at least 1e-75."""

    precision: float
    mean: np.ndarray  # [n_classes, 1]
    scale: np.ndarray  # [n_classes, 1], positive

    def __post_init__(self) -> None:
        check_moments((self.column,), self.mean, self.scale)
        _check_precision(self.precision)

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the column is numeric and the number of classes matches."""
        check_numeric(self.columns, len(self.mean), schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Add the logarithm of each row's factor to its scores; missing values contribute nothing."""
        values = rounded(table.values[self.column], self.precision)
        _core.add_interval_scores(values, self.precision, self.mean.ravel(), self.scale.ravel(), scores)

    def formula(self, steps: FormulaBuilder) -> Effects:
        """log max(1e-75, Φ((r + p/2 − m)/s) − Φ((r − p/2 − m)/s)) for the value r, rounded to the precision p."""
        j, half, mean, scale = self.column, self.precision / 2, self.mean[:, 0], self.scale[:, 0]
        value = _rounded_expression(j, self.precision, steps)
        ends = [Quotient(Sum((value, constant(end), constant(-mean))), constant(scale)) for end in (half, -half)]
        below, above = map(_lower_tail, ends)
        probability = Sum((below, Product((constant(-1.0), above))))
        return [(j, where_known(j, Apply("log", Greatest((probability, constant(1e-75)))), len(mean)))]

    def summary(self, schema: Schema) -> list[Normal]:
        """Mean and standard deviation of each column in each class."""
        return normals(self.columns, self.mean, self.scale, schema)

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """Mean, standard deviation and precision in each class."""
        precision = np.full(len(self.mean), self.precision)
        return ["mean", "scale", "precision"], np.stack([self.mean[:, 0], self.scale[:, 0], precision])

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """Random value for each row, given its class, rounded to the precision."""
        sampled = self.mean[label, 0] + self.scale[label, 0] * random.standard_normal(len(label))
        return [rounded(sampled, self.precision)]


class WekaKernelLikelihood(ColumnLikelihood, frozen=True, tag="weka_kernel"):
    """Kernel probability of one interval of precision. Terms are added until the rest is negligible, as in Weka."""

    precision: float
    kernels: KernelSet

    def __post_init__(self) -> None:
        _check_precision(self.precision)

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the column is numeric and the number of classes matches."""
        check_numeric(self.columns, self.kernels.n_classes, schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Add the logarithm of each row's factor to its scores; missing values contribute nothing."""
        values = rounded(table.values[self.column], self.precision)
        for first in range(0, len(values), self.kernels.rows_at_once):
            part = slice(first, first + self.kernels.rows_at_once)
            _core.add_interval_kernel_scores(values[part], self.precision, *self.kernels.arrays, scores[part])

    def formula(self, steps: FormulaBuilder) -> Effects:
        """Logarithm of the kernel sum at the rounded value, as an expression."""
        value = _rounded_expression(self.column, self.precision, steps)
        density = KernelSum(value, self.kernels.bumps(), self.precision)
        return [(self.column, where_known(self.column, density, self.kernels.n_classes))]

    def summary(self, schema: Schema) -> list[KernelDensity]:
        """Mean, bandwidth and number of kernels in each class."""
        return [kernel_summary(self.kernels, schema.columns[self.column])]

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """Mean, bandwidth and number of kernels of each class."""
        return self.kernels.distribution()

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """Random value for each row, given its class, rounded to the precision."""
        return [rounded(self.kernels.draw(random, label), self.precision)]


class WekaGaussian(DistinctEvent):
    """Mean and standard deviation (divisor n) of the rounded values; the deviation is at least a sixth of the precision."""

    name = "weka gaussian"
    likelihoods = (WekaNormalLikelihood,)

    def estimate(
        self, statistic: DistinctValues, group: ColumnGroup, schema: Schema, estimation: Estimation
    ) -> WekaNormalLikelihood:
        """Densities as Weka would use them; a class without values has mean 0."""
        value, weight = value_weights(statistic, group, schema)
        precision = precision_of(value)
        moments = np.array([_moments(rounded(value, precision), w) for w in weight.T]).reshape(-1, 2)
        scale = np.maximum(moments[:, 1:], precision / 6)
        return WekaNormalLikelihood(group.columns[0], precision, np.ascontiguousarray(moments[:, :1]), scale)


class WekaKernel(DistinctEvent):
    """Kernels at the rounded values of a class, of bandwidth (max − min) / √n and at least a sixth of the precision."""

    name = "weka kernel"
    likelihoods = (WekaKernelLikelihood,)

    def estimate(
        self, statistic: DistinctValues, group: ColumnGroup, schema: Schema, estimation: Estimation
    ) -> WekaKernelLikelihood:
        """Kernels as Weka would use them; a class without values has one at 0."""
        value, weight = value_weights(statistic, group, schema)
        precision = precision_of(value)
        classes = [_centres(rounded(value, precision), w) for w in weight.T]
        width = [max((v[-1] - v[0]) / np.sqrt(w.sum()), precision / 6) for v, w in classes]
        return WekaKernelLikelihood(group.columns[0], precision, kernels_of(classes, width))


def precision_of(value: np.ndarray) -> float:
    """Mean difference of ascending distinct values. As in Weka, differences are added one by one from the lowest."""
    if len(value) < 2:
        return 0.01
    with np.errstate(over="ignore"):
        total = np.cumsum(np.diff(value))[-1]  # a pairwise sum would differ in the last bit
    n_differences = len(value) - 1
    return (
        float(total / n_differences) if np.isfinite(total) else float(value[-1] / n_differences - value[0] / n_differences)
    )


def rounded(values: np.ndarray, precision: float) -> np.ndarray:
    """Values rounded to multiples of the precision, half to even; unchanged if the multiple would overflow."""
    with np.errstate(over="ignore"):
        multiples = np.rint(values / precision) * precision
    return np.where(np.isinf(multiples), values, multiples)


def _moments(value: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    if not weight.any():
        return 0.0, 0.0
    proportion = weight / weight.sum()
    mean = (value * proportion).sum()
    largest = np.abs(value - mean).max() or 1.0
    return float(mean), float(largest * np.sqrt((proportion * ((value - mean) / largest) ** 2).sum()))


def _centres(value: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rounded values of a class and their weights."""
    if not weight.any():
        return np.zeros(1), np.ones(1)
    centre, index = np.unique(value[weight > 0], return_inverse=True)
    return centre, np.bincount(index, weight[weight > 0])


def _check_precision(precision: float) -> None:
    if not 0 < precision < np.inf:
        raise ValueError("a precision must be positive")


def _rounded_expression(column: int, precision: float, steps: FormulaBuilder) -> Named:
    """`rounded` as an expression; values whose multiple would overflow are unchanged."""
    nearest = Product((Apply("round", Quotient(Number(column), constant(precision))), constant(precision)))
    multiple = steps.add_step(where_known(column, nearest, 1))
    too_far = Compare(Apply("abs", multiple), "==", constant(np.inf))
    return steps.add_step(Case((When(too_far, where_known(column, Number(column), 1)),), multiple))


def _lower_tail(z: Expression) -> Expression:
    """Φ(z) = erfc(−z/√2)/2."""
    return Product((constant(0.5), Apply("erfc", Product((constant(-np.sqrt(0.5)), z)))))
