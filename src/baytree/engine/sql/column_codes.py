"""Codes, buckets and moments of columns in SQL, and the counts of column codes at the nodes of a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from baytree.data.schema.column import Kind
from baytree.engine.aggregates import Coding, NodeCells, NodeRows
from baytree.engine.sql import cells as grouping
from baytree.engine.sql import expressions
from baytree.engine.sql.cells import Cells
from baytree.engine.sql.expressions import double, ibis, whole

if TYPE_CHECKING:
    from baytree.engine.sql.frame import SqlFrame
    from baytree.engine.sql.partitions import SqlPartitions

N_BUCKETS = 1 << 10  # of a column in a profile, whose histogram has at most 256

N_GRID_CELLS = 1 << 14  # of a column, in which quantiles are looked for

_MAX_REFINEMENTS = 4  # further queries for quantiles, each of a grid inside of the full cells

_SPREAD = 1 << 10  # distance, in standard deviations, of the two values that carry a variance: rounding is divided by it

_LARGEST = 1e140  # squares of larger numbers overflow when they are added up


def bucket_cells(frame: SqlFrame, name: str) -> Cells:
    """Cells of a column by class, with numbers rounded down to a grid of a power of two."""
    summary = frame.summaries[name]
    width = _width(summary.low, summary.high, N_BUCKETS)
    table = frame.table([name])
    table = table if frame.is_classification else table.drop("y")
    found = grouping.grouped(frame, table, {0: (table.c0 / double(width)).floor().cast("float64")})[0]
    return Cells(np.asarray(found.value) * width, found.node, found.label, found.rows, found.weight)


def _width(low: float, high: float, n_buckets: int) -> float:
    """Power of two that divides a range into at most so many buckets."""
    half = high / 2 - low / 2
    return float(np.ldexp(1.0, int(np.frexp(half / n_buckets)[1]) + 1)) if half > 0 else 1.0


def moment_cells(frame: SqlFrame, name: str) -> Cells:
    """Three values in each class with the weight, mean and variance of a column; and the missing values.

    Sums are taken about the middle of the range first and then about the mean of each class, so that no digits cancel.
    """
    summary = frame.summaries[name]
    if max(abs(summary.low), abs(summary.high)) > _LARGEST:
        raise ValueError(
            f"column {name!r} holds numbers beyond ±{_LARGEST:g}, whose squares overflow; divide it in the query"
        )
    first = _sums(frame, name, {}, summary.low / 2 + summary.high / 2)
    means = {label: centre + s1 / weight for label, (weight, _, s1, _, centre) in first.items() if weight}
    second = _sums(frame, name, means, 0.0)
    parts = []
    for label, (weight, missing, s1, s2, centre) in sorted(second.items()):
        if weight:
            mean = centre + s1 / weight
            spread = _SPREAD * np.sqrt(max(s2 / weight - (s1 / weight) ** 2, 0.0))
            outer = weight / (2 * _SPREAD**2)
            parts += [(mean - spread, label, outer), (mean, label, weight - 2 * outer), (mean + spread, label, outer)]
        if missing:
            parts.append((np.nan, label, missing))
    value, code, amount = (np.array(each) for each in zip(*parts, strict=True))
    return Cells(value, np.zeros(len(value), np.int64), code.astype(np.int32), np.round(amount).astype(np.int64), amount)


def _sums(frame: SqlFrame, name: str, means: dict[int, float], default: float) -> dict[int, tuple]:
    """By class: weight of the known values, of the missing ones, sum and sum of squares about a centre, and the centre."""
    table = frame.table([name])
    keys = ["y"] if frame.is_classification else []
    labels = {code: label for label, code in frame.codes.items() if code >= 0}
    centre: Any = double(default)
    for code, mean in means.items():
        centre = ibis.ifelse(table.y == labels[code], double(mean), centre) if keys else double(mean)
    x = table.c0 - centre
    w = table.w if "w" in table.columns else double(1.0)
    known = ibis.ifelse(table.c0.notnull(), w, double(0.0))
    sums = {"known": known.sum(), "all": (w + double(0.0) * known).sum(), "s1": (w * x).sum(), "s2": (w * x * x).sum()}
    answer = frame.run(table.group_by(keys).aggregate(**sums) if keys else table.aggregate(**sums))
    found = {}
    for row in answer:
        code = frame.class_codes([row[0]])[0] if keys else 0
        weight, total, s1, s2 = (0.0 if value is None else float(value) for value in row[len(keys) :])
        if code >= 0:
            found[int(code)] = (weight, total - weight, s1, s2, means.get(int(code), default))
    return found


def numeric_ends(frame: SqlFrame, name: str, n_quantiles: int) -> np.ndarray:
    """Upper bounds of about equally many rows of a column, ascending; the last is its maximum.

    The rows are counted in a grid of its range, and again in a finer grid inside of those cells that hold too many.
    """
    summary = frame.summaries[name]
    full = max(summary.known / (4 * n_quantiles), 1)
    width = _width(summary.low, summary.high, N_GRID_CELLS)
    end, count = _grid(frame, name, width, None)
    for _ in range(_MAX_REFINEMENTS):
        heavy = np.flatnonzero(count > full)
        if not len(heavy) or len(heavy) > n_quantiles * 8:
            break
        finer = width / (1 << 8)
        if not np.all(np.abs(end[heavy]) < 2.0**52 * finer):
            break
        inner_end, inner_count = _grid(frame, name, finer, [(end[k] - width, end[k]) for k in heavy])
        keep = np.setdiff1d(np.arange(len(end)), heavy)
        end, count = np.concatenate([end[keep], inner_end]), np.concatenate([count[keep], inner_count])
        order = np.argsort(end)
        end, count, width = end[order], count[order], finer
    rank = np.arange(1, n_quantiles + 1) * count.sum() / (n_quantiles + 1)
    chosen = np.searchsorted(np.cumsum(count), rank, side="left")
    return np.unique(np.append(end[np.minimum(chosen, len(end) - 1)], summary.high))


def _grid(frame: SqlFrame, name: str, width: float, intervals: list[tuple[float, float]] | None) -> tuple:
    """Upper ends of the non-empty cells of a grid, and their rows; only inside of these intervals if given."""
    table = frame.table([name]).drop("y")
    table = table.filter(table.c0.notnull())
    if intervals is not None:
        table = table.filter(
            expressions.any_of([(table.c0 > double(low)) & (table.c0 <= double(high)) for low, high in intervals])
        )
    cell = (table.c0 / double(width)).ceil().cast("float64")
    answer = frame.run(table.group_by(k=cell).aggregate(n=table.count()))
    found = np.array(answer, np.float64).reshape(-1, 2)
    found = found[np.argsort(found[:, 0])]
    return found[:, 0] * width, found[:, 1]


class NodeExpression:
    """Counts of the codes of all columns at the nodes of a tree whose tests become a CASE expression."""

    def __init__(self, rows: SqlPartitions, coding: Coding):
        self.rows, self.coding, self.frame = rows, coding, rows.frame
        self.sources = tuple(column.source for column in rows.schema.columns)
        self.values = {j: self._values_of_codes(j) for j in range(len(rows.schema)) if rows.is_counted(j)}

    def counts(self, form: NodeCells) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """Counts of each column [n_nodes, n_codes, n_classes], and the rows of each node [n_nodes]."""
        table, n_classes = self._table(), max(len(self.rows.schema.classes), 1)
        index = np.full(len(form.column), -1)
        index[form.nodes] = np.arange(len(form.nodes))
        is_single = len(form.column) == 1
        node = None if is_single else self._node(table, form, index)
        columns = range(len(self.rows.schema))
        values = {j: self._grouping_value(table, j) for j in columns}
        self.frame.set_order(self.sources)
        found = grouping.grouped(self.frame, table, values, node)
        dtype = np.int64 if self.rows.is_unweighted else np.float64
        result = []
        for j in columns:
            cells = found[j]
            counts = np.zeros((len(form.nodes), self.coding.sizes[j], n_classes), dtype)
            amount = cells.rows if self.rows.is_unweighted else cells.weight
            np.add.at(counts, (cells.node, self._codes(j, cells), cells.label), amount)
            result.append(counts)
        n_rows = np.zeros(len(form.nodes), np.int64)
        np.add.at(n_rows, found[0].node, found[0].rows)
        return tuple(result), n_rows

    def rows_of_nodes(self, form: NodeRows) -> np.ndarray:
        """Number of rows that stop in each node. int64 [n_nodes]"""
        table = self._table()
        base = table.select(node=self._node(table, form, np.arange(len(form.column))))
        result = np.zeros(len(form.column), np.int64)
        for node, count in self.frame.run(base.group_by("node").aggregate(n=base.count())):
            if node >= 0:
                result[node] = count
        return result

    def _table(self) -> Any:
        return self.frame.table(self.sources)

    def _grouping_value(self, table: Any, column: int) -> Any:
        ends = self.coding.ends[column]
        if ends is None or not self._is_coded(column):
            return table[f"c{column}"]
        return expressions.code_of(table[f"c{column}"], ends)

    def _is_coded(self, column: int) -> bool:
        """Whether the query codes a numeric column, because its distinct values are more than its codes."""
        ends = self.coding.ends[column]
        return ends is not None and (not self.rows.is_counted(column) or len(ends) < len(self.values[column][1]) / 2)

    def _codes(self, column: int, cells: Cells) -> np.ndarray:
        """Codes of the values that were grouped by. int64 [n_cells]"""
        ends = self.coding.ends[column]
        if self._is_coded(column):
            return np.asarray(cells.value).astype(np.int64)
        encoded = self.rows.encode(column, cells.value)
        return _codes_of(encoded, ends)

    def _values_of_codes(self, column: int) -> tuple[np.ndarray, list[Any]]:
        """Code of each distinct value of a counted column, and the value."""
        cells = self.frame.cells[self.sources[column]]
        distinct = list(dict.fromkeys(value if value == value else None for value in list(cells.value)))
        given = [np.nan if value is None else value for value in distinct] if not self._is_string(column) else distinct
        return _codes_of(self.rows.encode(column, given), self.coding.ends[column]), distinct

    def _is_string(self, column: int) -> bool:
        return self.frame.is_string(self.sources[column])

    def _node(self, table: Any, form: Any, index: np.ndarray) -> Any:
        """Expression of the entry of `index` for the node where a row stops."""
        return self._below(table, form, index, 0)

    def _below(self, table: Any, form: Any, index: np.ndarray, node: int) -> Any:
        j = int(form.column[node])
        if j < 0:
            return whole(index[node])
        child = form.child[form.start[node] : form.start[node] + self.coding.sizes[j]]
        targets = {}
        for target in np.unique(child).tolist():
            targets[target] = whole(index[node]) if target < 0 else self._below(table, form, index, target)
        *conditional, default = sorted(targets, key=lambda target: int((child == target).sum()))
        expression = targets[default]
        for target in conditional:
            condition = self._has_code(table, j, np.flatnonzero(child == target))
            expression = ibis.ifelse(condition, targets[target], expression)
        return expression

    def _has_code(self, table: Any, column: int, codes: np.ndarray) -> Any:
        """Whether the column has one of these codes; never NULL."""
        value, ends = table[f"c{column}"], self.coding.ends[column]
        if ends is not None and self.rows.schema.columns[column].kind is Kind.NUMERIC:
            conditions = [value.isnull()] if codes[0] == 0 else []
            known = codes[codes > 0]
            if len(known):
                runs = np.split(known, np.flatnonzero(np.diff(known) > 1) + 1)
                inside = expressions.any_of([expressions.between(value, ends, int(run[0]), int(run[-1])) for run in runs])
                conditions.append(inside.fill_null(False))
            return expressions.any_of(conditions)
        code_of_value, distinct = self.values[column]
        chosen = [distinct[k] for k in np.flatnonzero(np.isin(code_of_value, codes))]
        conditions = [value.isnull()] if None in chosen else []
        known = [self._literal(column, each) for each in chosen if each is not None]
        if known:
            conditions.append(value.isin(known).fill_null(False))
        return expressions.any_of(conditions) if conditions else ibis.literal(False)

    def _literal(self, column: int, value: Any) -> Any:
        if self._is_string(column):
            return self.frame.rows.literal(self.sources[column], value)
        return double(value)


def _codes_of(encoded: np.ndarray, ends: np.ndarray | None) -> np.ndarray:
    """Codes of encoded values: 0 if missing. int64"""
    if ends is None or encoded.dtype.kind != "f":
        return encoded.astype(np.int64) + 1
    code = np.searchsorted(ends, encoded, side="left").astype(np.int64) + 1
    return np.where(np.isnan(encoded), 0, code)
