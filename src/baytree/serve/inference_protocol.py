"""Open Inference Protocol, version 2 (KServe and others): named tensors in, named tensors out."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np

from baytree.data.schema.column import Column, Kind
from baytree.serve.cell_values import from_json
from baytree.serve.json_body import Columns, Value, check_size, decoded
from baytree.serve.limits import MAX_ROWS, RequestError, shown_name
from baytree.serve.models import Served
from baytree.serve.request_body import encoded
from baytree.serve.responses import unanswered
from baytree.version import __version__

_SHAPE = 'send {"inputs": [{"name", "shape": [rows], "datatype", "data": [values]}]}, one tensor per column'

Datatype = Literal[
    "BOOL", "BYTES", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "FP16", "FP32", "FP64"
]


class Tensor(msgspec.Struct):
    """Values of one column; null if missing."""

    name: str
    shape: list[int]
    datatype: Datatype
    data: list[Value | list[Value]]


class Infer(msgspec.Struct):
    """An inference request: one tensor per column, and an optional id that is returned with the response."""

    inputs: list[Tensor]
    id: str | None = None


_infer = msgspec.json.Decoder(Infer)


def infer(served: Served, body: bytes) -> tuple[dict[str, Any], int]:
    """Return the response to an inference request, and its number of rows."""
    check_size(body, MAX_ROWS)
    request = decoded(body, _infer, _SHAPE)
    assert isinstance(request, Infer)
    if request.id is not None and len(request.id) > 200:
        raise RequestError(422, "the id is longer than 200 characters")
    columns = _columns(request.inputs)
    metadata = {
        "model_name": served.name,
        "model_version": served.version,
        **({} if request.id is None else {"id": request.id}),
    }
    return metadata | {"outputs": _outputs(served, columns)}, columns.n_rows


def server() -> dict[str, Any]:
    """Return the metadata of this server."""
    return {"name": "baytree", "version": __version__, "extensions": []}


def model(served: Served) -> dict[str, Any]:
    """Return the metadata of a model: its input and output tensors."""
    inputs = [{"name": c.source, "datatype": _datatype(c), "shape": [-1]} for c in served.predictor.schema.columns]
    outputs: list[dict[str, Any]] = [{"name": "prediction", "datatype": _label_type(served), "shape": [-1]}]
    if served.is_classifier:
        outputs.append({"name": "probability", "datatype": "FP64", "shape": [-1, len(served.class_names)]})
    metadata = {"name": served.name, "versions": [served.version], "platform": "baytree"}
    return metadata | {"inputs": list({tensor["name"]: tensor for tensor in inputs}.values()), "outputs": outputs}


def _columns(tensors: list[Tensor]) -> Columns:
    columns: dict[str, list[Value]] = {}
    for tensor in tensors:
        values = _flat(tensor)
        if tensor.name in columns:
            raise RequestError(422, f"column {shown_name(tensor.name)} occurs twice")
        columns[tensor.name] = values
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1:
        raise RequestError(422, "the tensors differ in their number of rows, or there are none")
    n_rows = lengths.pop()
    if n_rows > MAX_ROWS:
        raise RequestError(413, f"there are more than {MAX_ROWS:,} rows; send them in several requests")
    return Columns(dict(columns), n_rows)


def _flat(tensor: Tensor) -> list[Value]:
    values: list[Value] = []
    for entry in tensor.data:
        values.extend(entry if isinstance(entry, list) else (entry,))
    if tensor.shape not in ([len(values)], [len(values), 1]):
        raise RequestError(
            422, f"column {shown_name(tensor.name)}: its shape must be [rows] or [rows, 1] and match its data"
        )
    allowed = (bool,) if tensor.datatype == "BOOL" else (str,) if tensor.datatype == "BYTES" else (int, float)
    if not all(value is None or type(value) in allowed for value in values):
        raise RequestError(422, f"column {shown_name(tensor.name)}: its data does not match its datatype")
    return values


def _outputs(served: Served, columns: Columns) -> list[dict[str, Any]]:
    n, classes = columns.n_rows, served.predictor.schema.classes
    if not n:
        return [{"name": "prediction", "datatype": _label_type(served), "shape": [0], "data": []}]
    table = encoded(served.predictor, from_json(served.required, columns))
    prediction, choice = served.predictor.predict_with_codes(table)
    labels = prediction[:, 0].tolist() if choice is None else [classes[code] for code in choice.tolist()]
    # a tensor has no null, so a rejected prediction is an empty string
    if choice is not None and served.min_probability is not None:
        labels = ["" if no else label for label, no in zip(labels, unanswered(served, prediction, choice), strict=True)]
    data = [str(label) for label in labels] if _label_type(served) == "BYTES" else labels
    outputs = [{"name": "prediction", "datatype": _label_type(served), "shape": [n], "data": data}]
    if choice is not None:
        shape = [n, len(classes)]
        outputs.append({"name": "probability", "datatype": "FP64", "shape": shape, "data": np.ravel(prediction).tolist()})
    return outputs


def _label_type(served: Served) -> str:
    if not served.is_classifier:
        return "FP64"
    return _type_of(served.predictor.schema.classes) if served.min_probability is None else "BYTES"


def _datatype(column: Column) -> str:
    if column.kind is Kind.NUMERIC:
        return "BYTES" if column.unit is not None or column.form is not None else "FP64"
    return _type_of(column.levels)


def _type_of(levels: tuple[Any, ...]) -> str:
    kinds = {type(level) for level in levels}
    if kinds == {bool}:
        return "BOOL"
    return "INT64" if kinds == {int} else "FP64" if kinds and kinds <= {int, float} else "BYTES"
