"""Builder of ONNX graphs, and functions and densities composed of ONNX operators on doubles.

A value is represented by the name of its tensor, of shape [n_rows, n_classes] or [n_rows, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log, pi
from typing import Any

import numpy as np

from baytree.formula.expressions import LogDensity

try:
    from onnx import NodeProto, TensorProto, helper, numpy_helper
except ModuleNotFoundError as error:  # optional dependency
    raise ModuleNotFoundError("ONNX files are written by onnx; pip install 'baytree[export]'", name="onnx") from error

ML = "ai.onnx.ml"


class Graph:
    """Nodes and constants of a graph, each under a unique name."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self._by_content: dict[tuple, str] = {}
        self._whole: dict[str, str] = {}
        self._known: set[str] = set()
        self._n_named = 0

    def name(self) -> str:
        """A new tensor name; column names with its prefix are refused."""
        self._n_named += 1
        return f"baytree:{self._n_named}"

    def constant(self, values: np.ndarray) -> str:
        """Constant tensor; equal constants are stored once."""
        key = (values.dtype.str, values.shape, values.tobytes())
        if key not in self._by_content:
            self._by_content[key] = self.name()
            self.constants.append(numpy_helper.from_array(values, self._by_content[key]))
            self._known.add(self._by_content[key])
        return self._by_content[key]

    def number(self, value: float) -> str:
        """Constant double. [1, 1]"""
        return self.constant(np.array([[value]], np.float64))

    def row(self, values: Sequence[float] | np.ndarray) -> str:
        """Constant double per class. [1, n_classes]"""
        return self.constant(np.array([values], np.float64))

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node; return the name of its output."""
        out = self.name()
        self.nodes.append(helper.make_node(kind, inputs, [out], domain=domain, **attributes))
        if self._known.issuperset(inputs):
            self._known.add(out)
        return out

    def columns(self, value: str, count: int) -> list[str]:
        """Split a tensor into its columns. [n_rows, 1] each"""
        if count == 1:
            return [value]
        out = [self.name() for _ in range(count)]
        self.nodes.append(helper.make_node("Split", [value, self.constant(np.ones(count, np.int64))], out, axis=1))
        return out

    def is_known(self, value: str) -> bool:
        """Whether a value is constant, that is, depends on no column."""
        return value in self._known

    def fold(self, kind: str, values: Sequence[str]) -> str:
        """Left fold of a binary operator over several values."""
        first, *rest = values
        for other in rest:
            first = self.op(kind, first, other)
        return first

    def to_int64(self, value: str) -> str:
        """Integer per row; cached. [n_rows]"""
        if value not in self._whole:
            integer = self.op("Cast", value, to=TensorProto.INT64)
            self._whole[value] = self.op("Reshape", integer, self.constant(np.array([-1], np.int64)))
        return self._whole[value]

    def to_double(self, value: str) -> str:
        """Cast to double."""
        return self.op("Cast", value, to=TensorProto.DOUBLE)

    def column(self, value: str) -> str:
        """Reshape one value per row to a column. [n_rows, 1]"""
        return self.op("Reshape", value, self.constant(np.array([-1, 1], np.int64)))


_OPERATORS = {"exp": "Exp", "log": "Log", "sqrt": "Sqrt", "abs": "Abs", "round": "Round"}


def softmax(graph: Graph, scores: str) -> str:
    """Softmax of log scores: probabilities. [n_rows, n_classes]"""
    op, axis = graph.op, graph.constant(np.array([1], np.int64))
    parts = op("Exp", op("Sub", scores, op("ReduceMax", scores, axis, keepdims=1)))
    return op("Div", parts, op("ReduceSum", parts, axis, keepdims=1))


def applied(graph: Graph, function: str, x: str) -> str:
    """Apply a function of one number."""
    if function == "log1p":
        return log1p(graph, x)
    if function == "erfc":
        raise ValueError(
            "ONNX: runtimes have the error function only for 32-bit floats (errors of 1e-5); export to Python, C or SQL"
        )
    return graph.op(_OPERATORS[function], x)


def log1p(graph: Graph, x: str) -> str:
    """log(1 + x) as log(1 + x) · x / ((1 + x) − 1), which is accurate for small x, too (W. Kahan's formula)."""
    op, one = graph.op, graph.number(1.0)
    one_plus_x = op("Add", x, one)
    quotient = op("Div", op("Mul", op("Log", one_plus_x), x), op("Sub", one_plus_x, one))
    return op("Where", op("Equal", one_plus_x, one), x, quotient)


def log_density(graph: Graph, density: LogDensity, x: str) -> str:
    """Log densities of all classes, normal or Student's t. [n_rows, n_classes]"""
    op, number, row = graph.op, graph.number, graph.row
    mean, scale, degrees = (np.array(values) for values in (density.mean, density.scale, density.degrees))
    half = op("Sub", op("Div", x, number(2.0)), row(mean / 2))
    difference = op("Sub", x, row(mean))
    z = op("Where", op("IsInf", difference), op("Div", half, row(scale / 2)), op("Div", difference, row(scale)))
    distance = op("Add", op("Log", op("Abs", half)), row(log(2.0) - np.log(scale)))
    is_near = op("LessOrEqual", op("Abs", z), number(2.0**500))
    inside = _inside(graph, z, degrees, density.constant)
    return op("Where", is_near, inside, _outside(graph, distance, degrees, density.constant))


def log_rising(graph: Graph, shape: np.ndarray, x: str) -> str:
    """log Γ(shape + x) − log Γ(shape) by Stirling's series, after shifting the shapes to 15 or more."""
    op = graph.op
    a, shift = _shifted(graph, np.where(shape == 0, 1.0, shape), x)
    total = op("Add", x, graph.row(a))
    ratio = log1p(graph, op("Div", x, graph.row(a)))
    logs = op("Add", op("Mul", x, op("Log", total)), op("Mul", graph.row(a - 0.5), ratio))
    rest = op("Sub", op("Sub", _stirling(graph, total), graph.row(_stirling_of(a))), shift)
    value = op("Add", op("Sub", logs, x), rest)
    value = op("Where", graph.constant((shape == 0)[None]), graph.number(-inf), value)
    return op("Where", op("Equal", x, graph.number(0.0)), graph.number(0.0), value)


def kernel_sum(graph: Graph, x: str, centre: np.ndarray, weight: np.ndarray, width: float) -> str:
    """Log of a kernel density, computed relative to the nearest kernel to avoid underflow. [n_rows, 1]"""
    op, number, axis = graph.op, graph.number, graph.constant(np.array([1], np.int64))
    half_distance = op("Sub", op("Div", x, number(2 * width)), graph.row(centre / (2 * width)))
    z = op("Mul", number(2.0), op("Abs", half_distance))
    nearest = op("ReduceMin", z, axis, keepdims=1)
    exponent = op("Mul", op("Mul", number(0.5), op("Sub", z, nearest)), op("Add", z, nearest))
    kernels = op("Exp", op("Neg", op("Min", exponent, number(745.0))))
    total = op("ReduceSum", op("Mul", kernels, graph.row(weight)), axis, keepdims=1)
    log_norm = log(float(weight.sum())) + log(width) + 0.5 * log(2 * pi)
    inside = op("Sub", op("Sub", op("Log", total), number(log_norm)), op("Mul", op("Mul", number(0.5), nearest), nearest))
    log_term = op("Div", op("Log", op("Min", nearest, number(1.797693e308))), number(2048.0))
    outside = op("Mul", number(-(2.0**990)), op("Add", number(1.0), log_term))
    return op("Where", op("Less", nearest, number(2.0**500)), inside, outside)


def _inside(graph: Graph, z: str, degrees: np.ndarray, constant: Sequence[float]) -> str:
    op, is_normal = graph.op, np.isinf(degrees)
    finite = np.where(is_normal, 1.0, degrees)
    normal = op("Mul", op("Mul", graph.number(-0.5), z), z)
    logs = log1p(graph, op("Mul", op("Div", z, graph.row(finite)), z))
    student = op("Mul", graph.row(-0.5 * (finite + 1)), logs)
    return op("Add", graph.row(constant), op("Where", graph.constant(is_normal[None]), normal, student))


def _outside(graph: Graph, distance: str, degrees: np.ndarray, constant: Sequence[float]) -> str:
    op, is_normal = graph.op, np.isinf(degrees)
    finite = np.where(is_normal, 1.0, degrees)
    scaled = op("Add", graph.number(1.0), op("Div", distance, graph.number(2048.0)))
    normal = op("Mul", graph.number(-(2.0**990)), scaled)
    rest = op("Mul", graph.row(-(finite + 1)), op("Sub", distance, graph.row(0.5 * np.log(finite))))
    return op("Where", graph.constant(is_normal[None]), normal, op("Add", graph.row(constant), rest))


def _shifted(graph: Graph, a: np.ndarray, x: str) -> tuple[np.ndarray, str]:
    """Shapes shifted to 15 or more, and the sum of log(1 + x / a) over the shifts."""
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
