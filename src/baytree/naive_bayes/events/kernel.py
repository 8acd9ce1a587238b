"""Kernel density event: a sum of normal kernels at the distinct values of each class (John and Langley 1995)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Column
from baytree.data.schema.schema import Schema
from baytree.formula.builder import Effects, FormulaBuilder, numbers, where_known
from baytree.formula.expressions import Bumps, Number
from baytree.formula.expressions import Kernels as KernelSum
from baytree.naive_bayes.events.base import ColumnLikelihood, check_numeric
from baytree.naive_bayes.events.binned import DistinctEvent, value_weights
from baytree.naive_bayes.events.estimation import ColumnGroup, Estimation
from baytree.statistics.counts import DistinctValues
from baytree.summary.naive_bayes import KernelDensity

_MAX_EVALUATIONS = 1 << 22  # maximum number of kernel evaluations per call, so that Ctrl-C is handled in between


class KernelSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Kernels of each class: ascending centres, their weights, and one bandwidth per class."""

    start: np.ndarray  # int64 [n_classes + 1]
    centre: np.ndarray  # [n_kernels]
    weight: np.ndarray  # [n_kernels], positive
    width: np.ndarray  # [n_classes], positive

    def __post_init__(self) -> None:
        start = self.start
        if start.dtype != np.int64 or start.ndim != 1 or len(start) < 2 or start[0] != 0 or (np.diff(start) < 1).any():
            raise ValueError("every class has a kernel")
        if self.width.shape != (len(start) - 1,) or {self.centre.shape, self.weight.shape} != {(int(start[-1]),)}:
            raise ValueError("the kernels do not fit their classes")
        if any(array.dtype != np.float64 for array in (self.centre, self.weight, self.width)):
            raise ValueError("kernels must be float64 arrays")
        if not np.isfinite(self.centre).all() or not all(_is_positive(a) for a in (self.weight, self.width)):
            raise ValueError("kernels need finite centres, positive weights and positive widths")
        for c in range(len(self.width)):
            if (np.diff(self.centre[start[c] : start[c + 1]]) <= 0).any():
                raise ValueError("the kernels of a class must be ascending")

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.width)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Arguments of the C++ kernels."""
        return self.start, self.centre, self.weight, self.width

    @property
    def rows_at_once(self) -> int:
        """Maximum number of rows per call."""
        return max(1, _MAX_EVALUATIONS // max(1, int(self.start[-1])))

    def bumps(self) -> tuple[Bumps, ...]:
        """Kernels of each class in the form of a formula."""
        classes = [self.of_class(c) for c in range(self.n_classes)]
        widths = self.width.tolist()
        return tuple(Bumps(numbers(v), numbers(w), width) for (v, w), width in zip(classes, widths, strict=True))

    def of_class(self, c: int) -> tuple[np.ndarray, np.ndarray]:
        """Centres and weights of the kernels of a class."""
        part = slice(int(self.start[c]), int(self.start[c + 1]))
        return self.centre[part], self.weight[part]

    def draw(self, random: np.random.Generator, label: np.ndarray) -> np.ndarray:
        """Random values given the class of each row: a random kernel, then normal noise."""
        sampled = np.empty(len(label))
        for c in np.unique(label):
            centre, weight = self.of_class(c)
            rows = label == c
            chosen = random.choice(len(centre), rows.sum(), p=weight / weight.sum())
            sampled[rows] = centre[chosen] + self.width[c] * random.standard_normal(rows.sum())
        return sampled

    def distribution(self) -> tuple[list[str], np.ndarray]:
        """Mean, bandwidth and number of kernels of each class."""
        classes = [self.of_class(c) for c in range(self.n_classes)]
        means = [float((centre * (weight / weight.sum())).sum()) for centre, weight in classes]
        return ["mean", "width", "kernels"], np.array([means, self.width, np.diff(self.start)], np.float64)


class KernelLikelihood(ColumnLikelihood, frozen=True, tag="kernel"):
    """Kernel density of a numeric column in each class."""

    kernels: KernelSet

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the column is numeric and the number of classes matches."""
        check_numeric(self.columns, self.kernels.n_classes, schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Add the log-density of each row to its scores; missing values contribute nothing."""
        values = np.ascontiguousarray(table.values[self.column])
        for first in range(0, len(values), self.kernels.rows_at_once):
            part = slice(first, first + self.kernels.rows_at_once)
            _core.add_kernel_scores(values[part], *self.kernels.arrays, scores[part])

    def formula(self, steps: FormulaBuilder) -> Effects:
        """Logarithm of the kernel density, as an expression."""
        density = KernelSum(Number(self.column), self.kernels.bumps())
        return [(self.column, where_known(self.column, density, self.kernels.n_classes))]

    def summary(self, schema: Schema) -> list[KernelDensity]:
        """Mean, bandwidth and number of kernels in each class."""
        return [kernel_summary(self.kernels, schema.columns[self.column])]

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """Mean, bandwidth and number of kernels of each class."""
        return self.kernels.distribution()

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """Random value for each row, given its class."""
        return [self.kernels.draw(random, label)]


class Kernel(DistinctEvent):
    """Gaussian kernel at every value, with Silverman's bandwidth: 0.9 · min(s, IQR / 1.34) · n^(−1/5).

    A class without values gets the kernels of all classes; a column that is constant in training contributes nothing.
    """

    name = "kernel"
    is_density = True
    likelihoods = (KernelLikelihood,)

    def estimate(
        self, statistic: DistinctValues, group: ColumnGroup, schema: Schema, estimation: Estimation
    ) -> KernelLikelihood:
        """Kernels of each class."""
        value, weight = value_weights(statistic, group, schema)
        if len(value) < 2:
            return KernelLikelihood(group.columns[0], same_kernel(0.0, 1.0, weight.shape[1]))
        total = weight.sum(axis=1)
        pooled_width = _silverman(value, total)
        classes = [(value[w > 0], w[w > 0]) if w.any() else (value, total) for w in weight.T]
        width = [max(_silverman(v, w), pooled_width * 1e-3) for v, w in classes]
        return KernelLikelihood(group.columns[0], kernels_of(classes, width))


def kernels_of(classes: list[tuple[np.ndarray, np.ndarray]], width: Sequence[float]) -> KernelSet:
    """Kernels at the given values and weights of each class."""
    start = np.concatenate([[0], np.cumsum([len(value) for value, _ in classes])]).astype(np.int64)
    centre, weight = (np.concatenate([pair[k] for pair in classes]) for k in (0, 1))
    return KernelSet(start, centre, weight, np.array(width, np.float64))


def same_kernel(centre: float, width: float, n_classes: int) -> KernelSet:
    """The same single kernel in every class, which is uninformative."""
    return kernels_of([(np.array([centre]), np.ones(1))] * n_classes, [width] * n_classes)


def kernel_summary(kernels: KernelSet, column: Column) -> KernelDensity:
    """Mean, bandwidth and number of kernels in each class."""
    mean, width, number = (tuple(row) for row in kernels.distribution()[1].tolist())
    return KernelDensity(column.name, mean, width, tuple(map(int, number)), column.unit)


def _silverman(value: np.ndarray, weight: np.ndarray) -> float:
    """Silverman's bandwidth (1986) of weighted values; for equal values a tiny fraction of their size."""
    proportion = weight / weight.sum()
    size = np.abs(value).max()
    if len(value) < 2 or size == 0:
        return max(size * 2.0**-40, 2.0**-900)
    scaled = value / size  # so that squares do not overflow
    mean = (scaled * proportion).sum()
    deviation = np.sqrt((proportion * (scaled - mean) ** 2).sum())
    low, high = scaled[np.minimum(np.searchsorted(np.cumsum(proportion), [0.25, 0.75]), len(value) - 1)]
    spread = min(deviation, (high - low) / 1.34) or deviation
    return max(float(0.9 * spread * weight.sum() ** -0.2), 2.0**-40) * size


def _is_positive(array: np.ndarray) -> bool:
    return bool((np.isfinite(array) & (array > 0)).all())
