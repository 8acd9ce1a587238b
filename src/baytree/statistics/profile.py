"""Profile of a table: a small additive summary of each column's distribution in each class.

A model stores the profile of its training rows; interviews, pages and drift detection read it, predictions do not. Tables of
more than `MAX_COMPLETE_CELLS` cells are sampled: one row of each run of 2^k rows, which represents them all. The sample
depends on row numbers only, so it is the same for all partitionings and engines.

Numeric columns are summarized by a `Histogram`. Its buckets are 2^e wide and start at multiples of their width, where e
is the smallest exponent with at most `MAX_BUCKETS` non-empty buckets. So a single outlier costs one bucket, and few
distinct values stay exact. Buckets of one exponent nest in those of the next, so histograms of parts add up to that of
the whole, bit for bit, in any order.
"""

from __future__ import annotations

from typing import Self, TypeVar

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import DenseColumns, Table, Tokens
from baytree.data.schema.column import Column, Kind, level_map
from baytree.data.schema.schema import Schema
from baytree.parallel.threads import free
from baytree.statistics.counts import Counts
from baytree.statistics.exact_sum import regrouped

MAX_BUCKETS = 256  # non-empty buckets of a histogram: fine enough for deciles and plots, about 4 kB per column and class

_MIN_PARALLEL_VALUES = 1 << 15  # counting fewer values takes little longer than starting threads

EXACT_EXPONENT = -1075  # exponent of buckets that hold a single double each, as in src/core/numeric/histogram.hpp


class Histogram(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="sketch"):
    """Mergeable histogram: lower edges of the non-empty buckets, ascending, and their weight in each class.

    Missing values are counted separately, in the first row of `counts`.
    """

    exponent: np.ndarray  # int64 [1]
    edges: np.ndarray  # float64 [n_buckets]
    counts: Counts  # [n_buckets + 1, n_classes]

    @classmethod
    def of(cls, values: np.ndarray, label: np.ndarray, weight: np.ndarray | None, n_classes: int) -> Self:
        """Histogram of numbers, NaN where missing; a weight of None is 1 for every row."""
        exponent, edges, code = _core.bucketed(values, MAX_BUCKETS)
        return cls(np.array([exponent]), edges, Counts.of(code, label, weight, len(edges), n_classes))

    @classmethod
    def of_columns(cls, values: np.ndarray, label: np.ndarray, n_classes: int, row_weight: int = 1) -> tuple[Self, ...]:
        """Histograms of the columns of a matrix whose rows all have the same integer weight `row_weight`."""
        threads = free() if values.size >= _MIN_PARALLEL_VALUES else 1
        histograms = _core.bucket_columns(values, np.ascontiguousarray(label), n_classes, MAX_BUCKETS, threads)
        return tuple([cls(np.array([exponent]), edges, Counts.of_rows(n, row_weight)) for exponent, edges, n in histograms])

    def __add__(self, other: Self) -> Self:
        exponent = max(int(self.exponent[0]), int(other.exponent[0]))
        exponent, edges, own_bucket, other_bucket = _core.united_buckets(self.edges, other.edges, exponent, MAX_BUCKETS)
        parts = ((self.counts.cells, _target_rows(own_bucket)), (other.counts.cells, _target_rows(other_bucket)))
        return type(self)(np.array([exponent]), edges, Counts(regrouped(parts, len(edges) + 1)))

    def __sub__(self, other: Self) -> Self:
        """Remove rows of this histogram, keeping the bucket width; ValueError if they cannot be part of it."""
        exponent, edges, _, other_bucket = _core.united_buckets(self.edges, other.edges, int(self.exponent[0]), MAX_BUCKETS)
        if len(edges) > len(self.edges) or exponent > self.exponent[0]:
            raise ValueError("cannot subtract values that are not in the histogram")
        remaining = self.counts - Counts(regrouped([(other.counts.cells, _target_rows(other_bucket))], len(edges) + 1))
        nonzero = np.flatnonzero(remaining.known().any(axis=1))
        return type(self)(self.exponent, edges[nonzero], remaining.recoded([nonzero], np.arange(remaining.cells.shape[1])))

    def scale(self, factor: int) -> Self:
        """Same histogram with every row repeated `factor` times."""
        return type(self)(self.exponent, self.edges, self.counts.scale(factor))

    def recoded(self, classes: np.ndarray) -> Self:
        """Same histogram with recoded classes; −1 for a new class."""
        same = np.arange(len(self.edges))
        return type(self)(self.exponent, self.edges, self.counts.recoded([same], classes))

    def check(self, n_classes: int) -> None:
        """Raise ValueError unless the edges ascend and there is a cell for each bucket and class."""
        if self.exponent.shape != (1,) or not EXACT_EXPONENT <= self.exponent[0] <= 1024:
            raise ValueError("the bucket width of a histogram is invalid")
        if self.edges.ndim != 1 or len(self.edges) > MAX_BUCKETS or not np.all(self.edges[:-1] < self.edges[1:]):
            raise ValueError("the buckets of a histogram must be ascending and not too many")
        self.counts.check(len(self.edges), n_classes)

    def points(self) -> np.ndarray:
        """A value within each bucket, its midpoint unless it holds a single double: [n_buckets]."""
        if self.exponent[0] == EXACT_EXPONENT:
            return self.edges
        return self.edges + np.where(np.isfinite(self.edges), np.ldexp(0.5, self.exponent[0]), 0.0)


def _target_rows(bucket: np.ndarray) -> np.ndarray:
    """Target rows of the cells of buckets, preceded by the row of missing values."""
    return np.concatenate([[0], bucket + 1])


S = TypeVar("S", bound=Histogram | Counts)

# Rows times columns of tables of which all rows are used. A profile of all rows costs about as much as fitting Gaussian
# naive Bayes (15 ns per value), so larger tables are sampled.
MAX_COMPLETE_CELLS = 1 << 20

MAX_SAMPLED_CELLS = 1 << 16  # rows times columns of the sample, which is profiled in about a millisecond

MAX_PROFILED_COLUMNS = 1 << 10  # tables with more columns get no profile: it would be larger than most models


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="profile"):
    """Number of rows, and the weight of each column's levels or values in each class.

    For a numeric target there is one class, and the target has a histogram of its own. For text columns only the weight of
    rows with and without a text is stored.
    """

    rows: np.ndarray  # int64 [1]
    columns: tuple[Histogram | Counts, ...]
    target: Histogram | None = None
    looked_at: np.ndarray | None = None  # int64 [1], number of sampled rows; None if all rows were used

    @classmethod
    def of(cls, table: Table) -> Self:
        """Profile of rows whose labels are known."""
        return cls._of(table, 1)

    @classmethod
    def _of(cls, table: Table, row_weight: int) -> Self:
        """Profile of rows that each count `row_weight` times."""
        is_number = table.schema.target.classes is None
        label = np.zeros(len(table), np.int32) if is_number else table.label
        weight, n_classes = None if table.is_unweighted else table.weight, max(table.n_classes, 1)
        if isinstance(table.values, DenseColumns) and weight is None:
            columns = Histogram.of_columns(table.values.matrix, label, n_classes, row_weight)
        else:
            pairs = zip(table.schema.columns, table.values, strict=True)
            columns = tuple(
                _scale(observed(column, values, label, weight, n_classes), row_weight) for column, values in pairs
            )
        target = _scale(Histogram.of(table.label, label, weight, 1), row_weight) if is_number else None
        return cls(np.array([len(table)]), columns, target)

    @classmethod
    def from_sample(cls, sample: Table, step: int, n_rows: int) -> Self:
        """Profile of `n_rows` rows from a sample, each row of which represents `step` rows."""
        profile = cls._of(sample, step)
        return cls(np.array([n_rows]), profile.columns, profile.target, profile.rows)

    @property
    def is_complete(self) -> bool:
        """Whether all rows were used."""
        return self.looked_at is None

    @property
    def n_sampled(self) -> int:
        """Number of rows behind the proportions; use it as the sample size of tests."""
        return int((self.rows if self.looked_at is None else self.looked_at)[0])

    def n_varying(self) -> int:
        """Number of columns with more than one distinct value, counting missing as a value."""
        counts = [column.counts if isinstance(column, Histogram) else column for column in self.columns]
        return sum(int(np.count_nonzero(column_counts.cells.rounded().any(axis=1)) > 1) for column_counts in counts)

    def __add__(self, other: Self) -> Self:
        columns = tuple(mine + theirs for mine, theirs in zip(self.columns, other.columns, strict=True))  # type: ignore
        target = None if self.target is None or other.target is None else self.target + other.target
        is_of_all = self.is_complete and other.is_complete
        looked_at = None if is_of_all else np.array([self.n_sampled + other.n_sampled])
        return type(self)(self.rows + other.rows, columns, target, looked_at)

    def __sub__(self, other: Self) -> Self:
        """Profile without these rows; both profiles must be of all their rows."""
        columns = tuple(mine - theirs for mine, theirs in zip(self.columns, other.columns, strict=True))  # type: ignore
        target = None if self.target is None or other.target is None else self.target - other.target
        return type(self)(self.rows - other.rows, columns, target)

    def to_schema(self, old: Schema, new: Schema) -> Self:
        """Same profile recoded for a schema with other levels or classes."""
        if old == new:
            return self
        classes = np.zeros(1, np.int64) if new.target.classes is None else level_map(old.classes, new.classes)
        pairs = zip(self.columns, old.columns, strict=True)
        columns = tuple(_recode(statistic, column, new[column.name], classes) for statistic, column in pairs)
        return msgspec.structs.replace(self, columns=columns)

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the profile, as read from a file, fits the schema."""
        n_classes = max(len(schema.classes), 1)
        if self.rows.shape != (1,) or self.rows.dtype != np.int64 or len(self.columns) != len(schema):
            raise ValueError("the profile does not fit the columns")
        if self.looked_at is not None and (self.looked_at.shape != (1,) or not 0 <= self.looked_at[0] <= self.rows[0]):
            raise ValueError("the sample of the profile is larger than its number of rows")
        for column, statistic in zip(schema.columns, self.columns, strict=True):
            _check(column, statistic, n_classes)
        if (self.target is None) is (schema.target.classes is None):
            raise ValueError("the profile does not fit the target")
        if self.target is not None:
            self.target.check(1)


def sampling_step(schema: Schema, n_rows: int) -> int:
    """Sampling step: 1, or the smallest power of two that leaves at most `MAX_SAMPLED_CELLS` cells."""
    cells = n_rows * max(len(schema), 1)
    return 1 if cells <= MAX_COMPLETE_CELLS else 1 << ((cells - 1) // MAX_SAMPLED_CELLS).bit_length()


def sample_rows(step: int, part: Table) -> Table:
    """Pseudo-random row of each run of `step` rows of the whole table, so that periodic patterns are not aliased."""
    return part.take(_sampled_positions(step, part.first, len(part)))


def _sampled_positions(step: int, first: int, n_rows: int) -> np.ndarray:
    run = np.arange(first // step, -(-(first + n_rows) // step), dtype=np.uint64)
    mixed = (run + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    position = (run * np.uint64(step) + (mixed >> np.uint64(32)) % np.uint64(step)).astype(np.int64) - first
    return position[(position >= 0) & (position < n_rows)]


def observed(
    column: Column, values: np.ndarray | Tokens, label: np.ndarray, weight: np.ndarray | None, n_classes: int
) -> Histogram | Counts:
    """Statistic of one column in a profile."""
    if isinstance(values, Tokens):
        return Counts.of(-values.missing.astype(np.int32), label, weight, 1, n_classes)
    if column.kind is Kind.NUMERIC:
        return Histogram.of(np.ascontiguousarray(values), label, weight, n_classes)
    return Counts.of(values, label, weight, len(column.levels), n_classes)


def _scale(statistic: S, row_weight: int) -> S:
    return statistic if row_weight == 1 else statistic.scale(row_weight)  # type: ignore[return-value]


def _recode(statistic: Histogram | Counts, old: Column, new: Column, classes: np.ndarray) -> Histogram | Counts:
    if isinstance(statistic, Histogram):
        return statistic.recoded(classes)
    levels = np.zeros(1, np.int64) if old.kind is Kind.TEXT else level_map(old.levels, new.levels)
    return statistic.recoded([levels], classes)


def _check(column: Column, statistic: Histogram | Counts, n_classes: int) -> None:
    if isinstance(statistic, Histogram) != (column.kind is Kind.NUMERIC):
        raise ValueError(f"the profile of column {column.name!r} does not match its kind")
    if isinstance(statistic, Histogram):
        statistic.check(n_classes)
    else:
        statistic.check(1 if column.kind is Kind.TEXT else len(column.levels), n_classes)
