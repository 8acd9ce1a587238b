"""The Open Inference Protocol, version 2, as KServe and others speak it: named tensors in, named tensors out."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np

from baytree.base.model import predict_with_codes
from baytree.data.schema.column import Column, Kind
from baytree.serve.cell_values import from_json
from baytree.serve.json_body import Columns, Value, check_size, decoded
from baytree.serve.limits import MOST_ROWS, RequestError, named
from baytree.serve.models import Served
from baytree.serve.request_body import encoded
from baytree.serve.responses import unanswered
from baytree.version import __version__

_SHAPE = 'send {"inputs": [{"name", "shape": [rows], "datatype", "data": [values]}]}, a tensor for each column'

Datatype = Literal[
    "BOOL", "BYTES", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "FP16", "FP32", "FP64"
]


class Tensor(msgspec.Struct):
    """The values of one column; null where one is missing."""

    name: str
    shape: list[int]
    datatype: Datatype
    data: list[Value | list[Value]]


class Infer(msgspec.Struct):
    """What is asked: a tensor for each column, an identity that comes back with the answer."""

    inputs: list[Tensor]
    id: str | None = None


_infer = msgspec.json.Decoder(Infer)


def infer(served: Served, body: bytes) -> tuple[dict[str, Any], int]:
    """The answer to an inference request, and of how many rows it is."""
    check_size(body, MOST_ROWS)
    asked = decoded(body, _infer, _SHAPE)
    assert isinstance(asked, Infer)
    if asked.id is not None and len(asked.id) > 200:
        raise RequestError(422, "the id is longer than 200 letters")
    columns = _columns(asked.inputs)
    told = {"model_name": served.name, "model_version": served.version, **({} if asked.id is None else {"id": asked.id})}
    return told | {"outputs": _outputs(served, columns)}, columns.n_rows


def server() -> dict[str, Any]:
    """What this server is."""
    return {"name": "baytree", "version": __version__, "extensions": []}


def model(served: Served) -> dict[str, Any]:
    """The tensors of a model."""
    inputs = [{"name": c.source, "datatype": _datatype(c), "shape": [-1]} for c in served.predictor.schema.columns]
    outputs: list[dict[str, Any]] = [{"name": "prediction", "datatype": _label_type(served), "shape": [-1]}]
    if served.is_classifier:
        outputs.append({"name": "probability", "datatype": "FP64", "shape": [-1, len(served.class_names)]})
    told = {"name": served.name, "versions": [served.version], "platform": "baytree"}
    return told | {"inputs": list({each["name"]: each for each in inputs}.values()), "outputs": outputs}


def _columns(tensors: list[Tensor]) -> Columns:
    columns: dict[str, list[Value]] = {}
    for tensor in tensors:
        values = _flat(tensor)
        if tensor.name in columns:
            raise RequestError(422, f"column {named(tensor.name)} comes twice")
        columns[tensor.name] = values
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1:
        raise RequestError(422, "the tensors differ in their number of rows, or there is none")
    n_rows = lengths.pop()
    if n_rows > MOST_ROWS:
        raise RequestError(413, f"there are more than {MOST_ROWS:,} rows; send them in several requests")
    return Columns(dict(columns), n_rows)


def _flat(tensor: Tensor) -> list[Value]:
    values: list[Value] = []
    for each in tensor.data:
        values.extend(each if isinstance(each, list) else (each,))
    if tensor.shape not in ([len(values)], [len(values), 1]):
        raise RequestError(422, f"column {named(tensor.name)}: its shape is [rows] or [rows, 1], and its data is as long")
    allowed = (bool,) if tensor.datatype == "BOOL" else (str,) if tensor.datatype == "BYTES" else (int, float)
    if not all(value is None or type(value) in allowed for value in values):
        raise RequestError(422, f"column {named(tensor.name)}: its data is not of its datatype")
    return values


def _outputs(served: Served, columns: Columns) -> list[dict[str, Any]]:
    n, classes = columns.n_rows, served.predictor.schema.classes
    if not n:
        return [{"name": "prediction", "datatype": _label_type(served), "shape": [0], "data": []}]
    table = encoded(served.predictor, from_json(served.wanted, columns))
    answers, choice = predict_with_codes(served.predictor.model, table)
    labels = answers[:, 0].tolist() if choice is None else [classes[code] for code in choice.tolist()]
    if choice is not None and served.least is not None:  # a tensor has no place for nothing but an empty text
        labels = ["" if no else label for label, no in zip(labels, unanswered(served, answers, choice), strict=True)]
    data = [str(label) for label in labels] if _label_type(served) == "BYTES" else labels
    outputs = [{"name": "prediction", "datatype": _label_type(served), "shape": [n], "data": data}]
    if choice is not None:
        shape = [n, len(classes)]
        outputs.append({"name": "probability", "datatype": "FP64", "shape": shape, "data": np.ravel(answers).tolist()})
    return outputs


def _label_type(served: Served) -> str:
    if not served.is_classifier:
        return "FP64"
    return _type_of(served.predictor.schema.classes) if served.least is None else "BYTES"


def _datatype(column: Column) -> str:
    if column.kind is Kind.NUMERIC:
        return "BYTES" if column.unit is not None or column.form is not None else "FP64"
    return _type_of(column.levels)


def _type_of(levels: tuple[Any, ...]) -> str:
    kinds = {type(level) for level in levels}
    if kinds == {bool}:
        return "BOOL"
    return "INT64" if kinds == {int} else "FP64" if kinds and kinds <= {int, float} else "BYTES"
