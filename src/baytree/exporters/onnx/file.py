"""Export of formulas to an ONNX file: strings and doubles in, `prediction` and `probabilities` out, arithmetic on doubles.

The error function is the only operator that runtimes offer for floats alone: models with it are exact to 1e-7. For a row
that `predict` would refuse, the probabilities are NaN and the class is "".
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
    """Serialized ONNX model; it has one input per column, named as the column, of shape [N, 1]."""
    from onnx import TensorProto, helper

    _refuse(formula)
    input_types = {c.given: TensorProto.DOUBLE if c.part else _type(c.kind) for c in formula.columns}
    graph = Graph()
    expressions = OnnxExpressions(formula, graph)
    formula = expressions.formula
    for k in required_steps(formula):
        expressions.step(k)
    n_classes = len(formula.classes or (1,))
    predictions = expressions.for_each_row(expressions.value(formula.answers), n_classes)
    refused = expressions.refused()
    if refused is not None:
        predictions = graph.op("Where", refused, graph.number(float("nan")), predictions)
    if formula.choice is None:
        graph.nodes.append(
            helper.make_node("Squeeze", [predictions, graph.constant(np.array([1], np.int64))], ["prediction"])
        )
        outputs = [helper.make_tensor_value_info("prediction", TensorProto.DOUBLE, [None])]
    else:
        _name_class(formula, expressions, refused)
        graph.nodes.append(helper.make_node("Identity", [predictions], ["probabilities"]))
        outputs = [
            helper.make_tensor_value_info("prediction", TensorProto.STRING, [None]),
            helper.make_tensor_value_info("probabilities", TensorProto.DOUBLE, [None, n_classes]),
        ]
    inputs = [helper.make_tensor_value_info(name, kind, [None, 1]) for name, kind in input_types.items()]
    onnx_graph = helper.make_graph(graph.nodes, "baytree", inputs, outputs, graph.constants)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(ML, ML_OPSET)]
    onnx_model = helper.make_model(onnx_graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="baytree")
    onnx_model.producer_version = __version__
    return onnx_model.SerializeToString(deterministic=True)


def _type(kind: Kind) -> int:
    from onnx import TensorProto

    return TensorProto.DOUBLE if kind is Kind.NUMERIC else TensorProto.STRING


def _name_class(formula: Formula, written: OnnxExpressions, refused: str | None) -> None:
    from onnx import helper

    graph, (value, names) = written.graph, _choice(formula, is_direct=refused is None)
    index = written.for_each_row(written.value(value), 1)
    if refused is not None:
        index = graph.op("Where", refused, graph.number(-1.0), index)
    mapping = {"keys_int64s": list(range(len(names))), "values_strings": names, "default_string": ""}
    graph.nodes.append(helper.make_node("LabelEncoder", [graph.to_int64(index)], ["prediction"], domain=ML, **mapping))


def _choice(formula: Formula, is_direct: bool) -> tuple[Expression | None, list[str]]:
    """Expression of an index, and the class name at each index; leaves of a single tree map to names directly."""
    value, classes = formula.choice, list(formula.classes or ())
    while isinstance(value, Named):
        value = formula.steps[value.step].value
    if is_direct and isinstance(value, Pick) and len(value.table[0]) == 1:
        return value.of, [classes[int(code)] for (code,) in value.table]
    return formula.choice, classes


def _refuse(formula: Formula) -> None:
    for column in formula.columns:
        if column.kind is Kind.TEXT:
            raise ValueError(
                f"column {column.name!r} is text: ONNX has no operator that splits text into words like Python; "
                "export to C, Python or JavaScript"
            )
        if column.given in ("", "prediction", "probabilities") or column.given.startswith("baytree:"):
            raise ValueError(f"column {column.name!r}: the name is reserved in ONNX exports; rename the column")
    names = [
        *(c.name for c in formula.columns),
        *(formula.classes or ()),
        *(str(v) for c in formula.columns for v in c.levels),
    ]
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{name!r} cannot be encoded for ONNX, since it contains a lone surrogate; rename it") from None
