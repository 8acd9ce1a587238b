"""What users of MARS can choose, checked, and what follows from it for a table of a certain size.

The features that splines are made of: numbers and ranks, levels against the first one, gaps; in units near their size.

A unit is a power of two, so that nothing is rounded on the way to it and back. It is 1 for every column of an ordinary size:
what a line's new part must be at least (see `forward`) is told in the units of the column.

What the passes learn from: features, responses and weights, and the part of a column that others do not explain.
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

_ENDS_ADJUSTED = 2.0  # how much longer the ends without knots are for terms of several columns

_LOG_2 = 0.69315  # rounded as in the programs that this one agrees with; so are the other numbers of the spans


class MarsOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The choices; spans of 0 are found from the table, a negative least span is a number of knots."""

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
    monotone: tuple[tuple[str, int], ...] = ()  # columns with which answers may not fall (1), or not rise (−1)
    conventions: str | None = None  # "earth": whole weights weigh residuals too

    def slots(self, n_features: int) -> int:
        """How many terms may be grown; a step takes two of them, even where it adds one term."""
        return min(200, max(20, 2 * n_features)) + 1 if self.max_terms is None else self.max_terms

    def cost(self, n_terms: int) -> float:
        """How many parameters the terms count for: each knot costs `penalty` beside the coefficients."""
        penalty = (2.0 if self.max_degree == 1 else 3.0) if self.penalty is None else self.penalty
        return 0.0 if penalty == -1 else n_terms + penalty * (n_terms - 1) / 2

    def gcv(self, rss: float, n_terms: int, n_rows: int) -> float:
        """Generalised cross-validation: RSS / (n (1 − cost / n)²); infinite where terms cost all that rows give."""
        cost = self.cost(n_terms)
        return rss / (n_rows * (1 - cost / n_rows) ** 2) if cost < n_rows else math.inf


class Spans(msgspec.Struct, frozen=True):
    """Which ranks of a sorted column may be knots: from `end` up, the `first`-th that counts, then every `step`-th."""

    end: int
    first: int
    step: int


def spans_of(options: MarsOptions, n_rows: int, n_features: int, n_support: int, degree: int) -> Spans:
    """Friedman's spans (1991, equations 43 and 45, α = 0.05) for a term of this degree over a parent with support."""
    end = options.end_span or int(7.32193 + math.log(n_features) / _LOG_2)
    if degree > 1:
        end += int(_ENDS_ADJUSTED * end + 0.5)
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


FAR = 1e60  # units; a product of three of them is still a double

_ORDINARY = 1e-30, 1e30


class SplineFeatures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which features a table has, their units and ranges, and the level that each nominal column is compared with."""

    layout: FeatureLayout
    unit: np.ndarray  # float64 [n_features], powers of two
    range: np.ndarray  # float64 [n_features, 2], least and greatest in units
    reference: np.ndarray  # int32 [n_columns]; -1 where there is none

    def __post_init__(self) -> None:
        check_floats("features", unit=self.unit, range=self.range)
        if self.unit.shape != (len(self.layout),) or not (np.frexp(self.unit)[0] == 0.5).all():
            raise ValueError("features: a power of two is needed for each feature")
        if self.range.shape != (len(self.layout), 2):
            raise ValueError("features: a range is needed for each feature")
        if self.reference.dtype != np.int32 or self.reference.shape != (self.layout.n_columns,):
            raise ValueError("features: a reference level is needed for each column")

    def check(self, schema: Schema) -> None:
        """Raises an error unless the features fit the columns of a schema."""
        self.layout.check(schema)
        for j, column in enumerate(schema.columns):
            if not -1 <= self.reference[j] < max(len(column.levels), 1):
                raise ValueError(f"features: column {column.name!r} has no such reference level")

    def __len__(self) -> int:
        return len(self.layout)

    def of(self, table: Table) -> np.ndarray:
        """The features of all rows in their units. [n_features, n_rows]"""
        return _in_units(self.layout.by_feature(table), self.unit, table)


def learn_features(table: Table, options: MarsOptions) -> tuple[SplineFeatures, np.ndarray]:
    """The features of a table's rows, and what they are in these; levels that do not occur have none."""
    rows = LocalPartitions(table)
    look = summarize_rows(rows)
    layout, reference, moments = learn_layout(rows, look, ordinal=options.ordinal, missing=options.missing)
    x = layout.by_feature(table)
    ends = np.stack([x.min(axis=1), x.max(axis=1)], axis=1)  # [n_features, 2]
    occurs = np.flatnonzero((layout.level == VALUE) | (ends != 0).any(axis=1))
    if len(occurs) < len(x):
        layout, ends, x = layout.take(occurs), ends[occurs], x[occurs]
    spread = (moments or moments_of(rows, layout, look))[1] if options.standardize else None
    unit = _units(ends, None if spread is None else np.where(spread > 0, spread, 1.0))
    return SplineFeatures(layout, unit, ends / unit[:, None], reference), _in_units(x, unit, table)


def _in_units(x: np.ndarray, unit: np.ndarray, table: Table) -> np.ndarray:
    """Features in their units, in place. [n_features, n_rows]"""
    if not np.isfinite(x).all():
        refuse_infinite(table.schema, table.values)
    if (unit != 1).any():
        x /= unit[:, None]
    return np.clip(x, -FAR, FAR, out=x)


def _units(ends: np.ndarray, spread: np.ndarray | None) -> np.ndarray:
    """The power of two below each feature's spread or, without one, below its size where that is out of the ordinary."""
    size = np.abs(ends).max(axis=1, initial=0.0) if spread is None else spread
    is_ordinary = (size > _ORDINARY[0]) & (size < _ORDINARY[1]) if spread is None else np.zeros(len(size), bool)
    exponent = np.clip(np.frexp(size)[1] - 1, -1074, 1000).astype(float)
    return np.where(is_ordinary | (size == 0), 1.0, np.exp2(exponent))


class SplineRows(msgspec.Struct, frozen=True):
    """What the passes learn from: features, responses, and the weight of each row where weights differ."""

    x: np.ndarray  # float64 [n_features, n_rows]
    y: np.ndarray  # float64 [n_responses, n_rows]
    weight: np.ndarray | None = None  # float64 [n_rows]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.x.shape[1]

    @property
    def root(self) -> np.ndarray:
        """What a row's residual is multiplied by. [n_rows]"""
        return np.ones(self.n_rows) if self.weight is None else np.sqrt(self.weight)


def standard_responses(rows: SplineRows) -> np.ndarray:
    """The responses about their means, times the roots of the weights; a single one in units of its deviation."""
    y = rows.y - np.average(rows.y, axis=1, weights=rows.weight)[:, None]
    if len(y) == 1 and y.shape[1] > 1:
        deviation = float(np.std(rows.y, ddof=1))
        y = y / deviation if deviation > 0 else y
    return y * rows.root


def rest_of(column: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """The part of a column that an orthonormal basis does not explain; twice, so that rounding leaves nothing behind."""
    rest = column - basis.T @ (basis @ column)
    return rest - basis.T @ (basis @ rest)
