"""Sums and sums of products of features, as linear models need them, by one grouped query.

Numeric features are expressions of a row. Features of levels and of missing values are constant within a group of rows with
equal levels, so the rows are grouped by these columns, and only the products of two numeric features are written out as
sums. If the levels have too many combinations, each pair of columns is grouped by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.engine.sql.expressions import double, ibis, whole
from baytree.engine.sql.group_sizes import check_group_sizes

if TYPE_CHECKING:
    from baytree.engine.sql.partitions import SqlPartitions

MAX_GROUPS = 2_000  # groups of equal levels that one query returns; of more, columns are grouped alone and in pairs

_VALUE = -1  # level code of a numeric feature, as in linear.design.feature_layout

_LARGEST = 1e140  # squares of larger numbers overflow when they are added up

Stage = Callable[["RowExpressions"], Mapping[str, Any]]  # columns of a row, such as its scores

Weigh = Callable[[Any], Mapping[str, Any]]  # weights of a row, from a table with the columns of the stage


class Layout(msgspec.Struct, frozen=True):
    """Features as the engine sees them: (raw − centre) / scale, and the constant 1 as the last one."""

    features: Any  # has `source`, `level`, `fill` and `matrix(table)`, as linear.design.feature_layout.FeatureLayout
    centre: np.ndarray  # [p]
    scale: np.ndarray  # [p]

    def __len__(self) -> int:
        return len(self.centre) + 1


class RowExpressions:
    """Expressions of one row: its numeric features, and scores that are linear in all features."""

    def __init__(self, products: FeatureSums, table: Any):
        self.products, self.table = products, table
        self.numeric = {int(f): self._numeric(int(f)) for f in products.numeric}
        self.weight = table.w if "w" in table.columns else double(1.0)
        self.label = table.y if "y" in table.columns else None

    def _numeric(self, feature: int) -> Any:
        layout = self.products.layout
        j = int(layout.features.source[feature])
        value = self.table[f"c{j}"].fill_null(double(layout.features.fill[j]))
        return (value - double(layout.centre[feature])) / double(layout.scale[feature])

    def score(self, coefficient: np.ndarray) -> Any:
        """Linear score of a row. coefficient [p + 1], the constant last"""
        score = double(float(coefficient[-1]))
        for feature, value in self.numeric.items():
            score = score + double(float(coefficient[feature])) * value
        for j in self.products.keys:
            score = score + self._effect(j, coefficient)
        return score

    def _effect(self, column: int, coefficient: np.ndarray) -> Any:
        """Effect of the levels of a column and of its missing values."""
        products = self.products
        own = np.flatnonzero((products.layout.features.source == column) & (products.layout.features.level != _VALUE))
        value = self.table[f"c{column}"]
        distinct, matrix = products.levels_of(column)
        effects = matrix[:, own] @ coefficient[own]
        missing = next((float(e) for v, e in zip(distinct, effects, strict=True) if v is None), 0.0)
        if not products.has_levels(column):
            return ibis.ifelse(
                value.isnull(), double(missing), double(float(effects[0]) if distinct[0] is not None else 0.0)
            )
        branches = [
            (value == products.literal(column, each), double(float(effect)))
            for each, effect in zip(distinct, effects, strict=True)
            if each is not None
        ]
        return ibis.cases(*branches, else_=double(missing)) if branches else double(missing)


class Sums(msgspec.Struct, frozen=True):
    """Sums over the rows of one class, or of all."""

    totals: dict[str, float]
    linear: dict[str, np.ndarray]  # [p + 1] each
    quadratic: dict[str, np.ndarray]  # [p + 1, p + 1] each


class FeatureSums:
    """Sums over features of the rows of a query; `names` are the columns, of which the target may be the last."""

    def __init__(self, rows: SqlPartitions, layout: Layout, has_target: bool = False):
        self.rows, self.frame, self.layout = rows, rows.frame, layout
        self.names = tuple(column.source for column in rows.schema.columns) + ((self.frame.target,) if has_target else ())
        features = layout.features
        self.numeric = np.flatnonzero(features.level == _VALUE)
        self.levels = np.flatnonzero(features.level != _VALUE)
        self.keys = tuple(np.unique(features.source[self.levels]).tolist())  # columns by which rows are grouped
        self._check_range()

    def has_levels(self, column: int) -> bool:
        """Whether the features of a column are its levels, not only its missing values."""
        own = self.layout.features.level[self.layout.features.source == column]
        return bool((own >= 0).any())

    def levels_of(self, column: int) -> tuple[list[Any], np.ndarray]:
        """Distinct values of a column as the database returns them, None if missing, and their features [n, p]."""
        if not self.has_levels(column):
            return [0.0, None], self._matrix({column: np.array([0.0, np.nan])}, 2)
        cells = self.frame.cells[self.names[column]]
        distinct = list(dict.fromkeys(value if value == value else None for value in list(cells.value)))
        return distinct, self._matrix({column: self.rows.encode(column, self._given(column, distinct))}, len(distinct))

    def literal(self, column: int, value: Any) -> Any:
        """Value of a column as the clean column has it."""
        if self.frame.is_string(self.names[column]):
            return self.frame.rows.literal(self.names[column], value)
        return double(value)

    def sums(
        self,
        stage: Stage,
        weigh: Weigh,
        totals: Sequence[str],
        linear: Sequence[str],
        quadratic: Sequence[str],
        by_class: bool = False,
    ) -> list[Sums]:
        """Sums of weights, and of weights times features and products of features, of all rows or of each class."""
        table = self.frame.table(self.names)
        expressions = RowExpressions(self, table)
        columns = {f"x{f}": value for f, value in expressions.numeric.items()}
        keys = {f"g{j}": self._key(table, j) for j in self.keys}
        staged = table.select(**columns, **keys, **({"y": table.y} if by_class else {}), **stage(expressions))
        weights = {f"u_{name}": weight for name, weight in weigh(staged).items()}
        base = staged.select(*columns, *keys, *(["y"] if by_class else []), **weights)
        n_classes = len(self.rows.schema.classes) if by_class else 1
        size = len(self.layout)
        result = [
            Sums(
                dict.fromkeys(totals, 0.0),
                {n: np.zeros(size) for n in linear},
                {n: np.zeros((size, size)) for n in quadratic},
            )
            for _ in range(n_classes)
        ]
        names = list(dict.fromkeys([*linear, *quadratic]))
        is_joint = self._n_groups(base) <= MAX_GROUPS
        pairs = combinations(self.keys, 2) if quadratic else ()
        subsets = [self.keys] if is_joint else [(), *((j,) for j in self.keys), *pairs]
        for subset in subsets:
            is_whole = is_joint or not subset
            self._add(base, subset, result, by_class, totals if is_whole else (), names, quadratic, is_whole, is_joint)
        for each in result:
            for matrix in each.quadratic.values():
                matrix[:] = np.triu(matrix) + np.triu(matrix, 1).T
        return result

    def total(self, weigh: Callable[[RowExpressions], Any], reduction: str) -> float:
        """Maximum or sum of an expression over all rows."""
        table = self.frame.table(self.names)
        base = table.select(v=weigh(RowExpressions(self, table)))
        return float(self.frame.run(base.aggregate(v=getattr(base.v, reduction)()))[0][0])

    # --- the query and its answer -------------------------------------------------------------------------------------

    def _add(
        self,
        base: Any,
        subset: tuple[int, ...],
        result: list[Sums],
        by_class: bool,
        totals: Sequence[str],
        names: list[str],
        quadratic: Sequence[str],
        is_whole: bool,
        is_joint: bool,
    ) -> None:
        """Add the sums of one grouping of the rows to the result."""
        numeric = self.numeric.tolist() if is_whole else []
        pairs = [(a, b) for i, a in enumerate(numeric) for b in numeric[i:]]
        aggregates = {f"t_{n}": base[f"u_{n}"].sum() for n in dict.fromkeys([*totals, *names])}
        if is_joint or len(subset) <= 1:
            aggregates |= {f"l_{n}_{f}": (base[f"u_{n}"] * base[f"x{f}"]).sum() for n in names for f in self.numeric}
        aggregates |= {
            f"q_{n}_{a}_{b}": (base[f"u_{n}"] * base[f"x{a}"] * base[f"x{b}"]).sum() for n in quadratic for a, b in pairs
        }
        keys = [*(["y"] if by_class else []), *(f"g{j}" for j in subset)]
        grouped = (
            base.group_by(keys).aggregate(n=base.count(), **aggregates)
            if keys
            else base.aggregate(n=base.count(), **aggregates)
        )
        check_group_sizes(self.frame, grouped)
        answer = self.frame.run(grouped)
        if not answer:
            return
        columns = dict(zip(list(grouped.columns), zip(*answer, strict=True), strict=True))
        label = self.frame.class_codes(columns["y"]) if by_class else np.zeros(len(answer), np.int64)
        number = {name: np.array([0.0 if v is None else float(v) for v in columns[name]]) for name in aggregates}
        features = self._group_features(subset, columns, len(answer))
        for k, each in enumerate(result):
            own = label == k
            for name in totals:
                each.totals[name] += float(number[f"t_{name}"][own].sum())
            for name in names:
                self._add_group(
                    each,
                    name,
                    features[own],
                    {key: value[own] for key, value in number.items()},
                    subset,
                    is_joint,
                    name in quadratic,
                    pairs,
                )

    def _add_group(
        self,
        each: Sums,
        name: str,
        features: np.ndarray,
        number: dict[str, np.ndarray],
        subset: tuple[int, ...],
        is_joint: bool,
        is_quadratic: bool,
        pairs: list[tuple[int, int]],
    ) -> None:
        total, last = number[f"t_{name}"], len(self.layout) - 1
        own = np.flatnonzero(np.isin(self.layout.features.source[self.levels], subset))
        own = self.levels[own]
        adds_numeric, adds_levels = is_joint or not subset, is_joint or len(subset) == 1
        vector = np.zeros(last + 1)
        if adds_numeric:
            vector[self.numeric] = [number[f"l_{name}_{f}"].sum() for f in self.numeric]
            vector[last] = total.sum()
        if adds_levels:
            vector[own] = total @ features[:, own]
        if name in each.linear:
            each.linear[name] += vector
        if not is_quadratic:
            return
        matrix = each.quadratic[name]
        if adds_numeric or adds_levels:
            matrix[:, last] += vector
        for a, b in pairs:
            matrix[a, b] += number[f"q_{name}_{a}_{b}"].sum()
        if adds_levels:
            for f in self.numeric:
                products = number[f"l_{name}_{f}"] @ features[:, own]
                matrix[np.minimum(own, f), np.maximum(own, f)] += products
        block = (features[:, own] * total[:, None]).T @ features[:, own]
        if not is_joint and len(subset) == 2:  # the columns alone have their own groups
            source = self.layout.features.source[own]
            block = np.where(source[:, None] != source, block, 0.0)
        if len(subset):
            matrix[np.ix_(own, own)] += block

    def _group_features(self, subset: tuple[int, ...], columns: dict[str, tuple], n: int) -> np.ndarray:
        """Features of levels of each group. [n, p]"""
        encoded = {}
        for j in subset:
            given = columns[f"g{j}"]
            if not self.has_levels(j):
                encoded[j] = np.where(np.array(given, np.float64) > 0, np.nan, 0.0)
                continue
            decoded = self.frame.rows.decode(self.names[j], given) if self.frame.is_string(self.names[j]) else list(given)
            encoded[j] = self.rows.encode(j, self._given(j, decoded))
        return self._matrix(encoded, n)

    def _matrix(self, encoded: Mapping[int, np.ndarray], n: int) -> np.ndarray:
        """Centred and scaled features of rows of which only some columns are given. [n, p]"""
        columns = list(self.rows.schema.columns)
        values = []
        for j in range(len(self.layout.features.fill)):
            is_number = j >= len(columns) or columns[j].kind is Kind.NUMERIC
            default = np.zeros(n) if is_number else np.zeros(n, np.int32)
            values.append(encoded.get(j, default))
        raw = self.layout.features.matrix(Table(self.rows.schema, tuple(values), np.ones(n)))
        return (raw - self.layout.centre) / self.layout.scale

    def _key(self, table: Any, column: int) -> Any:
        value = table[f"c{column}"]
        return value if self.has_levels(column) else ibis.ifelse(value.isnull(), whole(1), whole(0))

    def _given(self, column: int, values: list[Any]) -> list[Any]:
        return values if self.frame.is_string(self.names[column]) else [np.nan if v is None else v for v in values]

    def _n_groups(self, base: Any) -> int:
        if not self.keys:
            return 1
        distinct = base.select(*(f"g{j}" for j in self.keys)).distinct().limit(MAX_GROUPS + 1)
        if not hasattr(self, "_counted_groups"):
            self._counted_groups = int(self.frame.run(distinct.aggregate(n=distinct.count()))[0][0])
        return self._counted_groups

    def _check_range(self) -> None:
        for f in self.numeric:
            name = self.names[int(self.layout.features.source[f])]
            summary = self.frame.summaries[name]
            if max(abs(summary.low), abs(summary.high)) > _LARGEST:
                raise ValueError(
                    f"column {name!r} holds numbers beyond ±{_LARGEST:g}, whose squares overflow; "
                    "divide it in the query"
                )
