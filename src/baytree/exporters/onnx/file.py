"""Formulas as ONNX: strings and doubles in, `prediction` and `probabilities` out; all arithmetic on doubles.

The error function is the one operator that runtimes have only for floats: models with it are exact to 1e-7.
A row that `predict` would refuse has NaN as its probabilities and "" as its class.
"""

from __future__ import annotations

import numpy as np

from baytree.data.schema.column import Kind
from baytree.exporters.onnx.expressions import OnnxExpressions
from baytree.exporters.onnx.graph import ML, Graph
from baytree.formula import Formula
from baytree.formula.builder import required_steps
from baytree.formula.expressions import Expression, Named, Pick
from baytree.version import __version__

IR_VERSION, OPSET, ML_OPSET = 10, 20, 5


def model(formula: Formula) -> bytes:
    """One file; an input for each column, named as the column, of shape [N, 1]."""
    from onnx import TensorProto, helper

    _refuse(formula)
    given = {c.given: TensorProto.DOUBLE if c.part else _type(c.kind) for c in formula.columns}
    graph = Graph()
    written = OnnxExpressions(formula, graph)
    formula = written.formula
    for k in required_steps(formula):
        written.step(k)
    n_classes = len(formula.classes or (1,))
    answers = written.for_each_row(written.value(formula.answers), n_classes)
    refused = written.refused()
    if refused is not None:
        answers = graph.op("Where", refused, graph.number(float("nan")), answers)
    if formula.choice is None:
        graph.nodes.append(helper.make_node("Squeeze", [answers, graph.constant(np.array([1], np.int64))], ["prediction"]))
        outputs = [helper.make_tensor_value_info("prediction", TensorProto.DOUBLE, [None])]
    else:
        _name_class(formula, written, refused)
        graph.nodes.append(helper.make_node("Identity", [answers], ["probabilities"]))
        outputs = [
            helper.make_tensor_value_info("prediction", TensorProto.STRING, [None]),
            helper.make_tensor_value_info("probabilities", TensorProto.DOUBLE, [None, n_classes]),
        ]
    inputs = [helper.make_tensor_value_info(name, kind, [None, 1]) for name, kind in given.items()]
    made = helper.make_graph(graph.nodes, "baytree", inputs, outputs, graph.constants)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(ML, ML_OPSET)]
    whole = helper.make_model(made, opset_imports=opsets, ir_version=IR_VERSION, producer_name="baytree")
    whole.producer_version = __version__
    return whole.SerializeToString(deterministic=True)


def _type(kind: Kind) -> int:
    from onnx import TensorProto

    return TensorProto.DOUBLE if kind is Kind.NUMERIC else TensorProto.STRING


def _name_class(formula: Formula, written: OnnxExpressions, refused: str | None) -> None:
    from onnx import helper

    graph, (value, names) = written.graph, _choice(formula, is_direct=refused is None)
    place = written.for_each_row(written.value(value), 1)
    if refused is not None:
        place = graph.op("Where", refused, graph.number(-1.0), place)
    named = {"keys_int64s": list(range(len(names))), "values_strings": names, "default_string": ""}
    graph.nodes.append(helper.make_node("LabelEncoder", [graph.to_int64(place)], ["prediction"], domain=ML, **named))


def _choice(formula: Formula, is_direct: bool) -> tuple[Expression | None, list[str]]:
    """A place, and the name of the class at each place: a tree's leaves are named themselves, without a table between."""
    value, classes = formula.choice, list(formula.classes or ())
    while isinstance(value, Named):
        value = formula.steps[value.step].value
    if is_direct and isinstance(value, Pick) and len(value.table[0]) == 1:
        return value.of, [classes[int(place)] for (place,) in value.table]
    return formula.choice, classes


def _refuse(formula: Formula) -> None:
    for column in formula.columns:
        if column.kind is Kind.TEXT:
            raise ValueError(
                f"column {column.name!r} is text: ONNX has no operator that parts a text into words as Python does; "
                "export to C, Python or JavaScript"
            )
        if column.given in ("", "prediction", "probabilities") or column.given.startswith("baytree:"):
            raise ValueError(f"column {column.name!r}: ONNX needs this name for itself; rename the column")
    names = [
        *(c.name for c in formula.columns),
        *(formula.classes or ()),
        *(str(v) for c in formula.columns for v in c.levels),
    ]
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{name!r} is no text that ONNX can hold: it has half a character; rename it") from None
