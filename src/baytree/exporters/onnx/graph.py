"""A graph of ONNX that is written node by node; a value is the name of a tensor [n_rows, n_classes] or [n_rows, 1].

Functions and densities in ONNX, written out of operators on doubles.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log, pi
from typing import Any

import numpy as np

from baytree.formula.expressions import LogDensity

try:
    from onnx import NodeProto, TensorProto, helper, numpy_helper
except ModuleNotFoundError as error:  # an extra
    raise ModuleNotFoundError("ONNX files are written by onnx; pip install 'baytree[export]'", name="onnx") from error

ML = "ai.onnx.ml"


class Graph:
    """Nodes and constants, each under a name of its own."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self._by_content: dict[tuple, str] = {}
        self._whole: dict[str, str] = {}
        self._known: set[str] = set()
        self._n_named = 0

    def name(self) -> str:
        """A name that no column is called by: columns' names are checked for it."""
        self._n_named += 1
        return f"baytree:{self._n_named}"

    def constant(self, values: np.ndarray) -> str:
        """A tensor that is known; equal ones are held once."""
        key = (values.dtype.str, values.shape, values.tobytes())
        if key not in self._by_content:
            self._by_content[key] = self.name()
            self.constants.append(numpy_helper.from_array(values, self._by_content[key]))
            self._known.add(self._by_content[key])
        return self._by_content[key]

    def number(self, value: float) -> str:
        """A double."""
        return self.constant(np.array([[value]], np.float64))

    def row(self, values: Sequence[float] | np.ndarray) -> str:
        """A double for each class."""
        return self.constant(np.array([values], np.float64))

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """The output of a node."""
        out = self.name()
        self.nodes.append(helper.make_node(kind, inputs, [out], domain=domain, **attributes))
        if self._known.issuperset(inputs):
            self._known.add(out)
        return out

    def columns(self, value: str, count: int) -> list[str]:
        """Each column of a tensor. [n_rows, 1]"""
        if count == 1:
            return [value]
        out = [self.name() for _ in range(count)]
        self.nodes.append(helper.make_node("Split", [value, self.constant(np.ones(count, np.int64))], out, axis=1))
        return out

    def is_known(self, value: str) -> bool:
        """Whether a value depends on no column."""
        return value in self._known

    def fold(self, kind: str, values: Sequence[str]) -> str:
        """A node of two inputs over several, from the left."""
        first, *rest = values
        for other in rest:
            first = self.op(kind, first, other)
        return first

    def to_int64(self, value: str) -> str:
        """Whole numbers, one for each row; asked for twice, they are made once. [n_rows]"""
        if value not in self._whole:
            whole = self.op("Cast", value, to=TensorProto.INT64)
            self._whole[value] = self.op("Reshape", whole, self.constant(np.array([-1], np.int64)))
        return self._whole[value]

    def to_double(self, value: str) -> str:
        """The same as doubles."""
        return self.op("Cast", value, to=TensorProto.DOUBLE)

    def column(self, value: str) -> str:
        """One value for each row, as a column. [n_rows, 1]"""
        return self.op("Reshape", value, self.constant(np.array([-1, 1], np.int64)))


_OPERATORS = {"exp": "Exp", "log": "Log", "sqrt": "Sqrt", "abs": "Abs", "round": "Round"}


def softmax(graph: Graph, scores: str) -> str:
    """Scores in logarithms as shares."""
    op, axis = graph.op, graph.constant(np.array([1], np.int64))
    parts = op("Exp", op("Sub", scores, op("ReduceMax", scores, axis, keepdims=1)))
    return op("Div", parts, op("ReduceSum", parts, axis, keepdims=1))


def applied(graph: Graph, function: str, x: str) -> str:
    """A function of one number."""
    if function == "log1p":
        return log1p(graph, x)
    if function == "erfc":
        raise ValueError("ONNX: runtimes have the error function of floats only, 1e-5 off; use Python, C or SQL")
    return graph.op(_OPERATORS[function], x)


def log1p(graph: Graph, x: str) -> str:
    """log(1 + x) · x / ((1 + x) − 1), which is right to the last bits also of small x."""
    op, one = graph.op, graph.number(1.0)
    more = op("Add", x, one)
    exact = op("Div", op("Mul", op("Log", more), x), op("Sub", more, one))
    return op("Where", op("Equal", more, one), x, exact)


def log_density(graph: Graph, density: LogDensity, x: str) -> str:
    """The densities of all classes, normal or Student's. [n_rows, n_classes]"""
    op, number, row = graph.op, graph.number, graph.row
    mean, scale, degrees = (np.array(values) for values in (density.mean, density.scale, density.degrees))
    half = op("Sub", op("Div", x, number(2.0)), row(mean / 2))
    gap = op("Sub", x, row(mean))
    z = op("Where", op("IsInf", gap), op("Div", half, row(scale / 2)), op("Div", gap, row(scale)))
    distance = op("Add", op("Log", op("Abs", half)), row(log(2.0) - np.log(scale)))
    is_near = op("LessOrEqual", op("Abs", z), number(2.0**500))
    near = _near(graph, z, degrees, density.constant)
    return op("Where", is_near, near, _far(graph, distance, degrees, density.constant))


def log_rising(graph: Graph, shape: np.ndarray, x: str) -> str:
    """Stirling's series after shapes are shifted to 15 or more."""
    op = graph.op
    a, shift = _shifted(graph, np.where(shape == 0, 1.0, shape), x)
    more = op("Add", x, graph.row(a))
    ratio = log1p(graph, op("Div", x, graph.row(a)))
    logs = op("Add", op("Mul", x, op("Log", more)), op("Mul", graph.row(a - 0.5), ratio))
    rest = op("Sub", op("Sub", _stirling(graph, more), graph.row(_stirling_of(a))), shift)
    value = op("Add", op("Sub", logs, x), rest)
    value = op("Where", graph.constant((shape == 0)[None]), graph.number(-inf), value)
    return op("Where", op("Equal", x, graph.number(0.0)), graph.number(0.0), value)


def kernel_sum(graph: Graph, x: str, centre: np.ndarray, weight: np.ndarray, width: float) -> str:
    """The logarithm of a sum of normal bumps, taken from the nearest one. [n_rows, 1]"""
    op, number, axis = graph.op, graph.number, graph.constant(np.array([1], np.int64))
    apart = op("Sub", op("Div", x, number(2 * width)), graph.row(centre / (2 * width)))
    z = op("Mul", number(2.0), op("Abs", apart))
    least = op("ReduceMin", z, axis, keepdims=1)
    gap = op("Mul", op("Mul", number(0.5), op("Sub", z, least)), op("Add", z, least))
    bells = op("Exp", op("Neg", op("Min", gap, number(745.0))))
    total = op("ReduceSum", op("Mul", bells, graph.row(weight)), axis, keepdims=1)
    size = log(float(weight.sum())) + log(width) + 0.5 * log(2 * pi)
    near = op("Sub", op("Sub", op("Log", total), number(size)), op("Mul", op("Mul", number(0.5), least), least))
    share = op("Div", op("Log", op("Min", least, number(1.797693e308))), number(2048.0))
    far = op("Mul", number(-(2.0**990)), op("Add", number(1.0), share))
    return op("Where", op("Less", least, number(2.0**500)), near, far)


def _near(graph: Graph, z: str, degrees: np.ndarray, constant: Sequence[float]) -> str:
    op, is_normal = graph.op, np.isinf(degrees)
    finite = np.where(is_normal, 1.0, degrees)
    normal = op("Mul", op("Mul", graph.number(-0.5), z), z)
    logs = log1p(graph, op("Mul", op("Div", z, graph.row(finite)), z))
    student = op("Mul", graph.row(-0.5 * (finite + 1)), logs)
    return op("Add", graph.row(constant), op("Where", graph.constant(is_normal[None]), normal, student))


def _far(graph: Graph, distance: str, degrees: np.ndarray, constant: Sequence[float]) -> str:
    op, is_normal = graph.op, np.isinf(degrees)
    finite = np.where(is_normal, 1.0, degrees)
    share = op("Add", graph.number(1.0), op("Div", distance, graph.number(2048.0)))
    normal = op("Mul", graph.number(-(2.0**990)), share)
    rest = op("Mul", graph.row(-(finite + 1)), op("Sub", distance, graph.row(0.5 * np.log(finite))))
    return op("Where", graph.constant(is_normal[None]), normal, op("Add", graph.row(constant), rest))


def _shifted(graph: Graph, a: np.ndarray, x: str) -> tuple[np.ndarray, str]:
    """Shapes of 15 or more, and the sum of log(1 + x / a) on the way there."""
    shift = graph.number(0.0)
    while (is_small := a < 15).any():
        term = log1p(graph, graph.op("Div", x, graph.row(np.where(is_small, a, 1.0))))
        shift = graph.op("Add", shift, graph.op("Mul", graph.row(is_small.astype(float)), term))
        a = np.where(is_small, a + 1, a)
    return a, shift


def _stirling(graph: Graph, x: str) -> str:
    op, number = graph.op, graph.number
    r = op("Div", number(1.0), op("Mul", x, x))
    inner = number(1 / 1680)
    for factor in (1 / 1260, 1 / 360, 1 / 12):
        inner = op("Sub", number(factor), op("Mul", r, inner))
    return op("Div", inner, x)


def _stirling_of(x: np.ndarray) -> np.ndarray:
    r = 1 / (x * x)
    return (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r / 1680))) / x
