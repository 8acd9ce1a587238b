"""A graph of ONNX that is written node by node; a value is the name of a tensor [n_rows, n_classes] or [n_rows, 1]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

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
