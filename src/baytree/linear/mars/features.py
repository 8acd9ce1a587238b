"""Options, features and training data of MARS.

`MarsOptions` holds the user's parameters and the quantities derived from them (slots, GCV, knot spans). `SplineFeatures` are
numbers and ranks, levels against a reference level, and missing indicators, divided by a power of two, so that scaling is
exact. The unit is 1 for every column of ordinary size, because the minimum new part of a linear term (see `forward.py`) is
measured in the column's units. `SplineRows` is what the passes learn from.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np

from baytree.data.encoding.table import Table, refuse_infinite
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import LocalPartitions
from baytree.linear.design.feature_layout import VALUE, FeatureLayout, check_floats
from baytree.linear.design.learn import learn_layout
from baytree.linear.design.moments import moments_of, summarize_rows

_ADJUST_ENDSPAN = 2.0  # by how much the ends without knots grow for terms of degree 2 and more (earth's Adjust.endspan)

_LOG_2 = 0.69315  # log 2 rounded as in earth, whose models this code reproduces; so are the other constants of the spans


class MarsOptions(msgspec.Struct, frozen=True, kw_only=True):
    """User options. Spans of 0 are computed from the table; a negative `min_span` is a number of knots."""

    max_degree: int = 1
    max_terms: int | None = None
    penalty: float | None = None
    min_span: int = 0
    end_span: int = 0
    threshold: float = 0.001
    fast_k: int = 20
    fast_beta: float = 1.0
    auto_linear: bool = True
    prune: bool = True
    standardize: bool = False
    ordinal: str = "rank"
    missing: str = "mean+indicator"
    monotone: tuple[tuple[str, int], ...] = ()  # (column, 1 or −1): predictions must not decrease or not increase with it
    conventions: str | None = None  # "earth": integer weights also weight residuals, instead of repeating rows

    def slots(self, n_features: int) -> int:
        """Maximum number of term slots; a step uses two of them, even if it adds one term."""
        return min(200, max(20, 2 * n_features)) + 1 if self.max_terms is None else self.max_terms

    def cost(self, n_terms: int) -> float:
        """Effective number of parameters of a model: coefficients plus `penalty` per knot."""
        penalty = (2.0 if self.max_degree == 1 else 3.0) if self.penalty is None else self.penalty
        return 0.0 if penalty == -1 else n_terms + penalty * (n_terms - 1) / 2

    def gcv(self, rss: float, n_terms: int, n_rows: int) -> float:
        """Generalised cross-validation RSS / (n (1 − cost / n)²); infinite if the cost reaches n."""
        cost = self.cost(n_terms)
        return rss / (n_rows * (1 - cost / n_rows) ** 2) if cost < n_rows else math.inf


class Spans(msgspec.Struct, frozen=True):
    """Ranks of a sorted column that may be knots: from `end` up, the `first`-th that counts, then every `step`-th."""

    end: int
    first: int
    step: int


def spans_of(options: MarsOptions, n_rows: int, n_features: int, n_support: int, degree: int) -> Spans:
    """Spans of Friedman (1991, equations 43 and 45, α = 0.05) for a term of this degree over a parent with `n_support`
    non-zero rows.
    """
    end = options.end_span or int(7.32193 + math.log(n_features) / _LOG_2)
    if degree > 1:
        end += int(_ADJUST_ENDSPAN * end + 0.5)
    end = max(1, min(end, n_rows // 2 - 1))
    if options.min_span < 0:
        step = -(-n_rows // (1 - options.min_span))
        return Spans(end, max(1, -(-end // step) * step - 1), step)
    step = options.min_span or max(1, int((2.9702 + math.log(n_features * max(1, n_support))) / 1.7329))
    free = max(0, n_rows - 2 * end)
    first = end + free // 2
    if free > step:
        first = end + (step // 2 if free % step == 0 else free % step // 2)
    return Spans(end, max(1, first), step)


MAX_ABS_VALUE = 1e60  # units; features are clipped to it: a product of three is still a finite double

_UNSCALED_RANGE = 1e-30, 1e30


class SplineFeatures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Features of a table, their units and ranges, and the reference level of each nominal column."""

    layout: FeatureLayout
    unit: np.ndarray  # float64 [n_features], powers of two
    range: np.ndarray  # float64 [n_features, 2], minimum and maximum in units
    reference: np.ndarray  # int32 [n_columns], -1 for none

    def __post_init__(self) -> None:
        check_floats("features", unit=self.unit, range=self.range)
        if self.unit.shape != (len(self.layout),) or not (np.frexp(self.unit)[0] == 0.5).all():
            raise ValueError("features: every feature needs a unit that is a power of two")
        if self.range.shape != (len(self.layout), 2):
            raise ValueError("features: every feature needs a range")
        if self.reference.dtype != np.int32 or self.reference.shape != (self.layout.n_columns,):
            raise ValueError("features: every column needs a reference level")

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the features fit the columns of the schema."""
        self.layout.check(schema)
        for j, column in enumerate(schema.columns):
            if not -1 <= self.reference[j] < max(len(column.levels), 1):
                raise ValueError(f"features: column {column.name!r} has no such reference level")

    def __len__(self) -> int:
        return len(self.layout)

    def of(self, table: Table) -> np.ndarray:
        """Features of all rows in their units. float64 [n_features, n_rows]"""
        return _in_units(self.layout.by_feature(table), self.unit, table)


def learn_features(table: Table, options: MarsOptions) -> tuple[SplineFeatures, np.ndarray]:
    """Features of a table and their values; levels that do not occur get no feature."""
    rows = LocalPartitions(table)
    row_summary = summarize_rows(rows)
    layout, reference, moments = learn_layout(rows, row_summary, ordinal=options.ordinal, missing=options.missing)
    x = layout.by_feature(table)
    ranges = np.stack([x.min(axis=1), x.max(axis=1)], axis=1)  # [n_features, 2]
    occurs = np.flatnonzero((layout.level == VALUE) | (ranges != 0).any(axis=1))
    if len(occurs) < len(x):
        layout, ranges, x = layout.take(occurs), ranges[occurs], x[occurs]
    deviation = (moments or moments_of(rows, layout, row_summary))[1] if options.standardize else None
    unit = _units(ranges, None if deviation is None else np.where(deviation > 0, deviation, 1.0))
    return SplineFeatures(layout, unit, ranges / unit[:, None], reference), _in_units(x, unit, table)


def _in_units(x: np.ndarray, unit: np.ndarray, table: Table) -> np.ndarray:
    """Features divided by their units and clipped, in place. [n_features, n_rows]"""
    if not np.isfinite(x).all():
        refuse_infinite(table.schema, table.values)
    if (unit != 1).any():
        x /= unit[:, None]
    return np.clip(x, -MAX_ABS_VALUE, MAX_ABS_VALUE, out=x)


def _units(ends: np.ndarray, spread: np.ndarray | None) -> np.ndarray:
    """Power of two below each feature's deviation; without deviations, 1 for ordinary sizes and the power of two below the
    others.
    """
    size = np.abs(ends).max(axis=1, initial=0.0) if spread is None else spread
    is_ordinary = (size > _UNSCALED_RANGE[0]) & (size < _UNSCALED_RANGE[1]) if spread is None else np.zeros(len(size), bool)
    exponent = np.clip(np.frexp(size)[1] - 1, -1074, 1000).astype(float)
    return np.where(is_ordinary | (size == 0), 1.0, np.exp2(exponent))


class SplineRows(msgspec.Struct, frozen=True):
    """Training data of the passes: features, responses, and row weights if they differ."""

    x: np.ndarray  # float64 [n_features, n_rows]
    y: np.ndarray  # float64 [n_responses, n_rows]
    weight: np.ndarray | None = None  # float64 [n_rows]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.x.shape[1]

    @property
    def root(self) -> np.ndarray:
        """Square roots of the weights, the factors of the residuals. [n_rows]"""
        return np.ones(self.n_rows) if self.weight is None else np.sqrt(self.weight)


def standard_responses(rows: SplineRows) -> np.ndarray:
    """Centred responses times the square roots of the weights; a single response is divided by its standard deviation."""
    y = rows.y - np.average(rows.y, axis=1, weights=rows.weight)[:, None]
    if len(y) == 1 and y.shape[1] > 1:
        deviation = float(np.std(rows.y, ddof=1))
        y = y / deviation if deviation > 0 else y
    return y * rows.root


def rest_of(column: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Part of a column orthogonal to an orthonormal basis; projected twice to remove rounding errors."""
    residual = column - basis.T @ (basis @ column)
    return residual - basis.T @ (basis @ residual)
