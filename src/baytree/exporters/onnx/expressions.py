"""Formula expressions as ONNX nodes: a vector is one tensor with a column per class."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from baytree.data.schema.column import Kind
from baytree.exporters.onnx import graph
from baytree.exporters.onnx.dates import part
from baytree.exporters.onnx.graph import ML, Graph
from baytree.exporters.onnx.trees import routed, weights
from baytree.formula import Formula
from baytree.formula.expressions import (
    Apply,
    Case,
    Compare,
    Constant,
    Expression,
    FirstHighest,
    Greatest,
    Highest,
    Kernels,
    Known,
    LogDensity,
    LogRising,
    Lookup,
    Matching,
    Named,
    Number,
    Pick,
    Product,
    Quotient,
    Route,
    Smallest,
    Softmax,
    Spread,
    Sum,
    Total,
)
from baytree.formula.inputs import PER_DAY, Input, in_cases
from baytree.formula.limits import MAX_FRACTIONAL_NODES
from baytree.formula.transforms import deduplicate_leaves

_COMPARE = {"<": "Less", "<=": "LessOrEqual", "==": "Equal", ">": "Greater", ">=": "GreaterOrEqual"}

_ARITHMETIC = {Sum: "Add", Product: "Mul", Smallest: "Min", Greatest: "Max"}


class OnnxExpressions:
    """Writes the expressions of a formula into a graph."""

    def __init__(self, formula: Formula, graph: Graph) -> None:
        self.formula, self.leaf_rows = deduplicate_leaves(formula)
        self.graph = graph
        self._steps: dict[int, str] = {}
        self._codes: dict[int, str] = {}
        self.formula = msgspec.structs.replace(self.formula, columns=tuple(map(self._column, range(len(formula.columns)))))

    def _column(self, j: int) -> Input:
        """Input under the name of its tensor; a part of a date is computed first."""
        column = self.formula.columns[j]
        if not column.part:
            return column
        computed = part(self.graph, column.given, PER_DAY[column.unit or "us"], column.part)
        if column.part == "weekday":
            self._codes[j] = computed
        return msgspec.structs.replace(column, name=computed)

    def step(self, k: int) -> None:
        """Compute step `k`."""
        self._steps[k] = self.value(self.formula.steps[k].value)

    def for_each_row(self, value: str, n: int) -> str:
        """Broadcast a value to all rows, also if it depends on no column. [n_rows, n]"""
        if not self.formula.columns:
            raise ValueError(
                "ONNX: a model without columns cannot be exported, since its input has no rows; fit it with a column"
            )
        if not self.graph.is_known(value):
            return value
        rows = self.graph.op("Shape", self.formula.columns[0].name, start=0, end=1)
        shape = self.graph.op("Concat", rows, self.graph.constant(np.array([n], np.int64)), axis=0)
        return self.graph.op("Expand", value, shape)

    def refused(self) -> str | None:
        """Boolean tensor of the rows that `predict` refuses; None if it refuses none. [n_rows, 1]"""
        op, conditions = self.graph.op, []
        for j, column in enumerate(self.formula.columns):
            if column.kind is Kind.NUMERIC and column.domain != "any":
                conditions.append(op("IsInf", column.name))
            if column.kind is Kind.NUMERIC and column.domain == "count":
                conditions.append(op("Less", column.name, self.graph.number(0.0)))
            if column.kind is not Kind.NUMERIC and not column.part and self.formula.unseen == "error":
                is_given = op("Not", op("Equal", column.name, self.graph.constant(np.array([[""]], object))))
                conditions.append(
                    op("And", is_given, op("Less", self.code(j), self.graph.constant(np.array([[0]], np.int64))))
                )
        return self.graph.fold("Or", conditions) if conditions else None

    def code(self, j: int) -> str:
        """Code of a level, −1 if it is missing or did not occur in training. [n_rows, 1] int64"""
        if j not in self._codes:
            column = self.formula.columns[j]
            texts = in_cases(column) if column.is_boolean else {str(v): code for code, v in enumerate(column.levels)}
            levels = [(text, code) for text, code in texts.items() if text] or [("\0", -1)]
            mapping = {"keys_strings": [text for text, _ in levels], "values_int64s": [code for _, code in levels]}
            self._codes[j] = self.graph.op("LabelEncoder", column.name, domain=ML, default_int64=-1, **mapping)
        return self._codes[j]

    def value(self, expression: Expression | None) -> str:
        """Name of the tensor of a value."""
        op = self.graph.op
        match expression:
            case Constant(values):
                return self.graph.row(values)
            case Named(step):
                return self._steps[step]
            case Number(column):
                return self.formula.columns[column].name
            case Sum(of) | Product(of) | Smallest(of) | Greatest(of):
                return self.graph.fold(_ARITHMETIC[type(expression)], [self.value(each) for each in of])
            case Quotient(above, below):
                return op("Div", self.value(above), self.value(below))
            case Case(whens, otherwise):
                found = self.value(otherwise)
                for when in reversed(whens):
                    found = op("Where", self._holds(when.condition), self.value(when.value), found)
                return found
            case Lookup(column, table, missing, thresholds):
                return op("Gather", self._table((*table, missing)), self._interval_index(column, thresholds))
            case Pick(of, table):
                return op("Gather", self._table(table), self.graph.to_int64(self.value(of)))
        return self._of_classes(expression)

    def _of_classes(self, expression: Expression | None) -> str:
        op = self.graph.op
        match expression:
            case Softmax(of):
                return graph.softmax(self.graph, self.value(of))
            case Total(of) | Highest(of):
                kind = "ReduceSum" if isinstance(expression, Total) else "ReduceMax"
                return op(kind, self.value(of), self.graph.constant(np.array([1], np.int64)), keepdims=1)
            case FirstHighest(of):
                return self.graph.to_double(op("ArgMax", self.value(of), axis=1, keepdims=1))
            case Route(tree):
                nodes = self.formula.trees[tree]
                return routed(self.graph, nodes, self.leaf_rows.get(tree, range(len(nodes))), self._read)
            case Spread(tree, table):
                return self._spread(tree, table)
            case Matching():
                return self._matched(expression)
        return self._call(expression)

    def _call(self, expression: Expression | None) -> str:
        match expression:
            case Apply(function, of):
                return graph.applied(self.graph, function, self.value(of))
            case LogDensity():
                return graph.log_density(self.graph, expression, self.value(expression.of))
            case LogRising(Constant(shape), amount):
                return graph.log_rising(self.graph, np.array(shape), self.value(amount))
            case Kernels(of, classes, None):
                x = self.value(of)
                of_class = ((np.array(c.centre), np.array(c.weight), c.width) for c in classes)
                columns = [graph.kernel_sum(self.graph, x, *kernels) for kernels in of_class]
                return self.graph.op("Concat", *columns, axis=1) if len(columns) > 1 else columns[0]
            case LogRising():
                raise ValueError(
                    "ONNX: a Dirichlet-multinomial whose concentrations depend on the row has no closed form; "
                    "export to Python or C"
                )
            case Kernels():
                raise ValueError(
                    "ONNX: Weka's kernel sum stops at negligible terms, which a graph cannot express; export to Python or C"
                )
        raise TypeError(f"ONNX has no {type(expression).__name__}")

    def _holds(self, condition: Known | Compare) -> str:
        op = self.graph.op
        if isinstance(condition, Compare):
            return op(_COMPARE[condition.relation], self.value(condition.left), self.value(condition.right))
        column = self.formula.columns[condition.column]
        if column.kind is Kind.NUMERIC:
            return op("Not", op("IsNaN", column.name))
        return op("GreaterOrEqual", self.code(condition.column), self.graph.constant(np.array([[0]], np.int64)))

    # --- tables -------------------------------------------------------------------------------------------------------

    def _table(self, rows: Sequence[Sequence[float]]) -> str:
        return self.graph.constant(np.array(rows, np.float64))

    def _interval_index(self, j: int, thresholds: Sequence[float]) -> str:
        """Row of a lookup table; −1, which is the last row, if the value is missing. [n_rows]"""
        op, column = self.graph.op, self.formula.columns[j]
        if column.kind is not Kind.NUMERIC:
            return self.graph.to_int64(self.code(j))
        if not thresholds:
            is_missing = op("Cast", op("IsNaN", column.name), to=7)
            return self.graph.to_int64(op("Neg", is_missing))
        is_above = op("Cast", op("Greater", column.name, self.graph.row(thresholds)), to=7)
        count = op("ReduceSum", is_above, self.graph.constant(np.array([1], np.int64)), keepdims=1)
        missing = self.graph.constant(np.array([[-1]], np.int64))
        return self.graph.to_int64(op("Where", op("IsNaN", column.name), missing, count))

    def _matched(self, matching: Matching) -> str:
        op, graph, codes = self.graph.op, self.graph, np.array(matching.codes, np.int64).reshape(-1, len(matching.columns))
        total, is_compatible = graph.number(matching.added), graph.constant(np.ones((1, len(codes)), bool))
        for k, j in enumerate(matching.columns):
            is_missing = op("Less", self.code(j), graph.constant(np.array([[0]], np.int64)))
            same = op("Equal", self.code(j), graph.constant(codes[None, :, k]))
            is_compatible = op("And", is_compatible, op("Or", is_missing, same))
            total = op("Mul", total, op("Where", is_missing, graph.number(float(matching.n_levels[k])), graph.number(1.0)))
        weight = np.zeros((len(codes), matching.n_classes))
        weight[np.arange(len(codes)), list(matching.classes)] = matching.weight
        return op("Add", total, op("MatMul", graph.to_double(is_compatible), graph.constant(weight)))

    # --- trees --------------------------------------------------------------------------------------------------------

    def _read(self, j: int) -> tuple[str, bool]:
        if j >= len(self.formula.columns):
            return self._sum(j), True
        column = self.formula.columns[j]
        if column.kind is Kind.NUMERIC:
            return column.name, True
        key = -1 - j
        if key not in self._codes:  # codes start at 1: the 0 of missing values is in no set
            self._codes[key] = self.graph.op("Add", self.graph.to_double(self.code(j)), self.graph.number(1.0))
        return self._codes[key], False

    def _sum(self, j: int) -> str:
        """Weighted sum of columns: NaN if one of them is missing."""
        if j not in self._codes:
            weighted_sum = self.formula.made[j - len(self.formula.columns)]
            terms = [
                (self.formula.columns[k].name, weight)
                for k, weight in zip(weighted_sum.columns, weighted_sum.weights, strict=True)
            ]
            parts = [self.graph.op("Mul", self.graph.number(weight), name) for name, weight in terms]
            self._codes[j] = self.graph.fold("Add", parts)
        return self._codes[j]

    def _spread(self, tree: int, table: Sequence[Sequence[float]]) -> str:
        nodes = self.formula.trees[tree]
        if len(nodes) > MAX_FRACTIONAL_NODES:
            raise ValueError(
                f"ONNX: this tree splits rows into fractions, and its {len(nodes):,} nodes exceed the limit of "
                f"{MAX_FRACTIONAL_NODES:,} for a graph; prune the tree, or export to Python, JavaScript or C"
            )
        parts = weights(self.graph, nodes, self._read)
        return self.graph.fold("Add", [self.graph.op("Mul", part, self.graph.row(table[n])) for n, part in parts])
