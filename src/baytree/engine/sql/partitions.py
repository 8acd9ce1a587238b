"""`SqlPartitions`: `map_reduce` answered by aggregate queries.

An observation that declares its aggregate form (`engine.aggregates`) is answered in one of three ways:

- `Marginals`: the cells of the columns become a few weighted rows with the same counts by class, and the observation itself
  runs on them. Columns of too many distinct numbers are represented by buckets, or by three values with their mean and
  variance, as the form allows.
- `CombinationCounts`: the groups of equal rows become weighted rows.
- `NodeCells` and `NodeRows`: the tests of a tree become a CASE expression by which the rows are grouped.

All other observations need the rows and are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

import msgspec
import numpy as np

from baytree.data.encoding import encode
from baytree.data.encoding.table import Table
from baytree.data.frames.raw import RawFrame
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.engine.aggregates import (
    Coding,
    CombinationCounts,
    CompleteRows,
    Detail,
    FeatureProducts,
    Marginals,
    NodeCells,
    NodeRows,
    SeveralForms,
    form_of,
)
from baytree.engine.partitions import LocalPartitions
from baytree.engine.representative import stretches
from baytree.engine.sql.cells import Cells
from baytree.engine.sql.column_codes import NodeExpression, bucket_cells, moment_cells, numeric_ends
from baytree.engine.sql.expressions import double, ibis
from baytree.engine.sql.joint_cells import joint_table
from baytree.engine.sql.products import FeatureSums, Layout
from baytree.parallel.threads import S
from baytree.statistics.binning import cuts_of_counts

if TYPE_CHECKING:
    from baytree.engine.sql.frame import SqlFrame

T = TypeVar("T")

MAX_TABLE_VALUES = 1 << 26  # values of the representative rows: half a gigabyte


class RowsStayInDatabase(ValueError):
    """A model needs the rows themselves."""


class SqlPartitions:
    """Rows of a query under a schema; implements `Partitions` for observations with an aggregate form."""

    def __init__(self, frame: SqlFrame, schema: Schema, n_jobs: int | None):
        self.frame, self.schema, self.n_jobs = frame, schema, n_jobs
        self.n_rows, self.is_unweighted = frame.n_rows, frame.weight is None
        self._encoded: dict[int, tuple[Any, Cells]] = {}
        self._wide: dict[tuple[int, Detail], tuple[np.ndarray, Cells]] = {}

    def map_reduce(self, observe: Callable[[Table], S], rows_per_part: int | None = None) -> S:
        """Statistic of all rows, from aggregate queries."""
        form = form_of(observe)
        if isinstance(form, Marginals):
            return self._observe_marginals(form.observe or observe, form)
        if isinstance(form, CombinationCounts):
            table = joint_table(self, form.counts_rows)
            return LocalPartitions(table, self.n_jobs).map_reduce(form.observe or observe, None)
        if isinstance(form, FeatureProducts):
            return self._products(form)
        raise self.refusal()

    def submit(self, observe: Callable[[Table], S], rows_per_part: int | None = None) -> Callable[[], S]:
        """Function that runs `map_reduce(observe)` when called."""
        return partial(self.map_reduce, observe, rows_per_part)

    def gather(self, select: Callable[[Table], Table] | None = None) -> Table:
        """Refuse: rows stay in the database."""
        raise self.refusal()

    def stream(self) -> Iterator[Table]:
        """Refuse: rows stay in the database."""
        raise self.refusal()

    def persist(self) -> Self:
        """Return self: the rows are stored already."""
        return self

    def map_partitions(self, transform: Callable[[Table], Table]) -> SqlPartitions:
        """The same rows, if the transformation drops rows without any value and there are none; refuse all others."""
        summaries = [self.frame.summaries[name] for name in self.schema.sources]
        if isinstance(form_of(transform), CompleteRows) and any(summary.known == self.n_rows for summary in summaries):
            return self
        raise self.refusal()

    def apply(self, make: Callable[[Table], T], rows_per_part: int | None = None) -> Any:
        """Coded rows, if `make` declares that form."""
        form = form_of(make)
        if not isinstance(form, Coding):
            raise self.refusal()
        return CodedSqlRows(self, form)

    def apply_and_persist(self, make: Callable[[Table], Any], kind: type) -> Any:
        """Coded rows, if `make` declares that form; nothing is stored."""
        return self.apply(make)

    def refusal(self) -> RowsStayInDatabase:
        """Error that names the model and the remedy."""
        return RowsStayInDatabase(
            f"{self.frame.reader} needs the rows themselves, which stay in the database: export them and use "
            "bt.scan('export.parquet'), or use a model that trains from aggregates: NaiveBayesClassifier, GaussianNB, "
            "CategoricalNB, JointDistribution, CHAIDClassifier, DecisionTreeClassifier, LinearDiscriminantAnalysis, "
            "QuadraticDiscriminantAnalysis or LinearRegression"
        )

    # --- columns ------------------------------------------------------------------------------------------------------

    def is_counted(self, column: int) -> bool:
        """Whether all values of a column are counted."""
        return self.schema.columns[column].source in self.frame.cells

    def encode(self, column: int, values: Any) -> Any:
        """Encoded values of a column, given as the database returned them."""
        return encode_values(self.frame, self.schema.columns[column], values)

    def counted(self, column: int) -> tuple[Any, Cells]:
        """Encoded values of the cells of a counted column, and the cells."""
        if column not in self._encoded:
            cells = self.frame.cells[self.schema.columns[column].source]
            self._encoded[column] = (self.encode(column, cells.value), cells)
        return self._encoded[column]

    def numeric_ends(self, columns: Sequence[int], max_distinct: int, n_quantiles: int) -> list[tuple[np.ndarray, bool]]:
        """Upper bounds of the codes of numeric columns: their values if all are counted, else quantiles."""
        return [self._ends(j, max_distinct, n_quantiles) for j in columns]

    def quantile_edges(self, columns: Sequence[int], n_bins: int) -> list[np.ndarray]:
        """Upper edges of bins of similar weight of each column, without the last."""
        return [self._edges(j, n_bins) for j in columns]

    def _edges(self, column: int, n_bins: int) -> np.ndarray:
        if not self.is_counted(column):
            return numeric_ends(self.frame, self.schema.columns[column].source, n_bins - 1)[:-1]
        values, cells = self.counted(column)
        known = ~np.isnan(values)
        value, index = np.unique(values[known], return_inverse=True)
        return cuts_of_counts(value, np.bincount(index, cells.weight[known], len(value)), n_bins)

    def _ends(self, column: int, max_distinct: int, n_quantiles: int) -> tuple[np.ndarray, bool]:
        if self.is_counted(column):
            values = self.counted(column)[0]
            known = np.unique(values[~np.isnan(values)])
            if len(known) <= max_distinct:
                return known, True
        return numeric_ends(self.frame, self.schema.columns[column].source, n_quantiles), False

    def representative(self, detail: Detail) -> LocalPartitions:
        """A few weighted rows with the same statistics by column and class, for what learns from single columns."""
        return LocalPartitions(self._table(range(len(self.schema)), (detail,) * len(self.schema)), self.n_jobs)

    def feature_sums(self, features: Any, centre: np.ndarray, scale: np.ndarray) -> FeatureSums:
        """Sums over features (raw − centre) / scale of a layout."""
        return FeatureSums(self, Layout(features, centre, scale))

    def is_class(self, label: Any, code: int) -> Any:
        """1 for rows of a class, else 0, as an expression."""
        return ibis.ifelse(label == self._label(code), double(1.0), double(0.0))

    def class_factor(self, label: Any, factor: np.ndarray) -> Any:
        """Factor of the class of a row, as an expression."""
        if (factor == 1).all():
            return double(1.0)
        branches = [(label == self._label(code), double(float(each))) for code, each in enumerate(factor)]
        return ibis.cases(*branches, else_=double(0.0))

    def probabilities(self, scores: Sequence[Any], largest: float) -> tuple[list[Any], Any]:
        """Probabilities of scores, and the logarithm of the sum of their exponentials; a single score is one against 0."""
        if len(scores) == 1:
            small = (-ibis.least(scores[0].abs(), double(largest))).exp()
            is_positive = scores[0] >= 0
            probability = ibis.ifelse(is_positive, double(1.0), small) / (double(1.0) + small)
            return [probability], ibis.ifelse(is_positive, scores[0], double(0.0)) + (double(1.0) + small).ln()
        top = ibis.greatest(*scores)
        each = [ibis.greatest(score - top, double(-largest)).exp() for score in scores]
        total = each[0]
        for other in each[1:]:
            total = total + other
        return [one / total for one in each], top + total.ln()

    def _label(self, code: int) -> Any:
        given = next(label for label, own in self.frame.codes.items() if own == code)
        return double(given) if not isinstance(given, str) else ibis.literal(given, "string")

    def middles(self, has_target: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Which columns have missing values, and the mean of each numeric column; 0 for others."""
        names = [column.source for column in self.schema.columns] + ([self.frame.target] if has_target else [])
        kinds = [column.kind for column in self.schema.columns] + [Kind.NUMERIC] * has_target
        missing = np.array([self.frame.summaries[name].known < self.n_rows for name in names])
        table = self.frame.table(names)
        means = {f"m{j}": table[f"c{j}"].mean() for j, kind in enumerate(kinds) if kind is Kind.NUMERIC}
        found = dict(zip(means, self.frame.run(table.aggregate(**means))[0], strict=True)) if means else {}
        return missing, np.array([float(found.get(f"m{j}") or 0.0) for j in range(len(names))])

    def _products(self, form: FeatureProducts) -> Any:
        missing, middle = self.middles(form.has_target)
        features = form.features(self.schema, missing, middle)
        pivot = np.where(features.level == -1, middle[features.source], 0.0)
        layout = Layout(features, pivot, np.ones(len(pivot)))
        summed = FeatureSums(self, layout, form.has_target).sums(
            lambda row: {"w": row.weight}, lambda staged: {"w": staged.w}, [], ["w"], ["w"], not form.has_target
        )
        weight = np.array([each.linear["w"][-1] for each in summed])
        sums = np.array([each.linear["w"][:-1] for each in summed])
        products = np.array([each.quadratic["w"][:-1, :-1] for each in summed])
        return form.finish(features, pivot, weight, sums, products)

    # --- marginals ----------------------------------------------------------------------------------------------------

    def _observe_marginals(self, observe: Callable[[Table], Any], form: Marginals) -> Any:
        if form.join is None:
            result = LocalPartitions(self._table(range(len(self.schema)), form.details), self.n_jobs).map_reduce(
                observe, None
            )
        else:
            result = form.join([observe(self._table([j], form.details)) for j in range(len(self.schema))])
        return result if form.finish is None else form.finish(result, self.n_rows)

    def _table(self, columns: Sequence[int], details: Sequence[Detail]) -> Table:
        """A few weighted rows with the counts of these columns by class."""
        schema = msgspec.structs.replace(self.schema, columns=tuple(self.schema.columns[j] for j in columns))
        encoded = [self._cells(j, details) for j in columns]
        if not self.frame.is_classification:
            encoded.append(self._target_cells())
        n_classes = max(len(self.schema.classes), 1)
        if sum(len(values) for values, _ in encoded) * len(columns) > MAX_TABLE_VALUES:
            raise ValueError(
                "the columns have too many distinct values to be counted together; round numbers in the query, or leave out "
                "columns of many levels"
            )
        weights, labels, values = [], [], [[] for _ in encoded]
        for k in range(n_classes):
            own = [np.flatnonzero(cells.label == k) for _, cells in encoded]
            weight, index = stretches([cells.weight[rows] for (_, cells), rows in zip(encoded, own, strict=True)])
            weights.append(weight)
            labels.append(np.full(len(weight), k, np.int32))
            for at, ((column_values, _), rows, chosen) in enumerate(zip(encoded, own, index, strict=True)):
                values[at].append(column_values[rows[chosen]] if len(rows) else column_values[:0])
        table_values = tuple(np.concatenate(parts) for parts in values)
        weight = np.concatenate(weights).astype(np.float64)
        if self.frame.is_classification:
            return Table(schema, table_values, weight, np.concatenate(labels), False)
        return Table(schema, table_values[:-1], weight, table_values[-1], False)

    def _target_cells(self) -> tuple[np.ndarray, Cells]:
        """Values of a numeric target, in buckets if there are too many."""
        name = self.frame.target
        cells = self.frame.cells.get(name) or bucket_cells(self.frame, name)
        return np.asarray(cells.value), cells

    def _cells(self, column: int, details: Sequence[Detail]) -> tuple[Any, Cells]:
        """Encoded values and cells of a column, all missing if it is not read."""
        detail = details[column] if column < len(details) else Detail.NOTHING
        if detail is Detail.NOTHING:
            return self._unread(column)
        if self.is_counted(column):
            return self.counted(column)
        key = (column, detail)
        if key not in self._wide:
            self._wide[key] = self._wide_cells(column, detail)
        return self._wide[key]

    def _unread(self, column: int) -> tuple[np.ndarray, Cells]:
        weight, rows = self.frame.class_weights, self.frame.class_rows
        is_number = self.schema.columns[column].kind is Kind.NUMERIC
        values = np.full(len(weight), np.nan) if is_number else np.full(len(weight), -1, np.int32)
        return values, Cells(values, np.zeros(len(weight), np.int64), np.arange(len(weight), dtype=np.int32), rows, weight)

    def _wide_cells(self, column: int, detail: Detail) -> tuple[np.ndarray, Cells]:
        name = self.schema.columns[column].source
        if detail is Detail.VALUES:
            raise ValueError(
                f"column {name!r} has more distinct values than a database can return, and {self.frame.reader} needs them "
                "all with these parameters; round it in the query, use numeric='gaussian', or use bt.scan of an export"
            )
        cells = moment_cells(self.frame, name) if detail is Detail.MOMENTS else bucket_cells(self.frame, name)
        return np.asarray(cells.value), cells


class CodedSqlRows:
    """Rows as column codes, which only exist as expressions; answers counts by node of a tree."""

    def __init__(self, rows: SqlPartitions, coding: Coding):
        self.rows, self.coding = rows, coding
        self.expressions = NodeExpression(rows, coding)

    def map_reduce(self, observe: Callable[[Any], Any]) -> Any:
        """Statistic of the coded rows, from one query of each type of column."""
        return self._answer(form_of(observe))

    def _answer(self, form: Any) -> Any:
        if isinstance(form, SeveralForms):
            return form.finish([self._answer(each) for each in form.forms])
        if isinstance(form, NodeCells):
            return form.finish(*self.expressions.counts(form))
        if isinstance(form, NodeRows):
            return form.finish(self.expressions.rows_of_nodes(form))
        raise self.rows.refusal()


def encode_values(frame: SqlFrame, column: Column, values: Any) -> Any:
    """Encoded values of a column of the schema."""
    name = column.source
    raw = frame.raw(name, values)
    schema = Schema((column,), inputs=(name,))
    return encode.encode_partition(RawFrame({name: raw}, len(raw)), schema, True)[0]
