"""JSON encoding of records, arrays and parameters of model files.

An array is its dtype, its shape, and its numbers or, if it is large, its bytes in base64. A parameter that JSON cannot
express is an object with one key that names its type. `RECORDS` lists the records that a file may hold by their tag; a new
model family adds a line for its model and one for its statistic.
"""

from __future__ import annotations

import base64
from importlib import import_module
from typing import Any, TypeVar

import msgspec
import numpy as np

from baytree.data.schema.column import Column, Text
from baytree.data.schema.schema import Schema
from baytree.storage.files import ModelFileError

T = TypeVar("T")

_DTYPES = ("<f8", "<i8", "<i4", "<i2", "|i1", "|u1", "|b1")

_MAX_LISTED_ENTRIES = 32  # arrays up to this size are written as numbers, so that a person can read them; others as base64

_MAX_DIMENSIONS = 4  # of a stored array

# numpy stores every string of an array with the width of the longest, 4 bytes per character: one long name among many
# short ones, or a long class name in many predictions, would take gigabytes.
_MAX_STRING_CHARACTERS = 10_000

_MAX_ARRAY_CHARACTERS = 1 << 24  # of all strings of an array, at the width of the longest: 64 MB


def encode(value: object) -> msgspec.Raw:
    """Encode a record, or any plain value, as JSON."""
    try:
        return msgspec.Raw(msgspec.json.encode(value, enc_hook=_array_to))
    except UnicodeEncodeError as error:
        raise ValueError(f"{error.object[:40]!r} is not valid Unicode text and cannot be saved; correct that name") from None


def decode(raw: msgspec.Raw, kind: type[T]) -> T:
    """Decode a record of class `kind` from JSON; its arrays are read-only."""
    return msgspec.json.decode(raw, type=kind, dec_hook=_array_from)


def check_strings(count: int, width: int) -> None:
    """Raise ValueError if an array of `count` strings of up to `width` characters would be too large."""
    if width > _MAX_STRING_CHARACTERS or count * width > _MAX_ARRAY_CHARACTERS:
        raise ValueError(f"an array of {count:,} strings of up to {width:,} characters is too large; use shorter names")


def _array_to(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{value!r} of type {type(value).__name__} cannot be saved")
    array = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
    if array.dtype.str not in _DTYPES:
        raise TypeError(f"an array of dtype {value.dtype} cannot be saved")
    head = {"dtype": array.dtype.str, "shape": list(value.shape)}
    if array.size <= _MAX_LISTED_ENTRIES and (array.dtype.kind != "f" or np.isfinite(array).all()):
        return {**head, "values": array.ravel().tolist()}
    return {**head, "base64": base64.b64encode(array.tobytes()).decode()}


def _array_from(kind: type, value: object) -> np.ndarray:
    if kind is not np.ndarray:
        raise TypeError(f"a record cannot contain a {kind}")
    if not isinstance(value, dict) or value.keys() - {"values", "base64"} != {"dtype", "shape"} or len(value) != 3:
        raise ValueError("an array has a dtype, a shape, and values or base64")
    shape, dtype = value["shape"], value["dtype"]
    if dtype not in _DTYPES:
        raise ValueError(f"an array cannot have the dtype {dtype!r}")
    if not isinstance(shape, list) or len(shape) > _MAX_DIMENSIONS or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"an array cannot have the shape {shape!r}")
    return _filled(value, shape, np.dtype(dtype))


def _filled(value: dict, shape: list[int], dtype: np.dtype) -> np.ndarray:
    size = int(np.prod([int(n) for n in shape], dtype=object)) if shape else 1
    if "values" in value:
        numbers = value["values"]
        if not isinstance(numbers, list) or len(numbers) != size or not all(type(n) in (int, float, bool) for n in numbers):
            raise ValueError("the values of an array do not fit its shape")
        array = np.array(numbers, dtype=dtype)
    else:
        content = base64.b64decode(value["base64"], validate=True)
        if len(content) != size * dtype.itemsize:
            raise ValueError("the content of an array does not fit its shape")
        array = np.frombuffer(content, dtype)
        if dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
            raise ValueError("a boolean array contains other values")
    array = array.reshape(shape)
    array.flags.writeable = False
    return array


_TYPE_PREFIX = "$"


def plain(value: object, name: str) -> object:
    """Convert a parameter to what JSON can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return {_TYPE_PREFIX + "array": [plain(item, name) for item in value.tolist()]}
    if isinstance(value, float) and not np.isfinite(value):
        return {_TYPE_PREFIX + "float": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, tuple) and not isinstance(value, msgspec.Struct):
        return {_TYPE_PREFIX + "tuple": [plain(item, name) for item in value]}
    if isinstance(value, list):
        return [plain(item, name) for item in value]
    if isinstance(value, dict):
        return {_TYPE_PREFIX + "dict": [[plain(key, name), plain(item, name)] for key, item in value.items()]}
    for kind, tag in ((Text, "text"), (Column, "column"), (Schema, "schema")):
        if isinstance(value, kind):
            return {_TYPE_PREFIX + tag: value}
    raise ValueError(f"the parameter {name}={value!r} of type {type(value).__name__} cannot be saved")


def restored(value: Any) -> Any:
    """Convert a parameter from JSON back to its value."""
    if isinstance(value, list):
        return [restored(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise ValueError("a structured parameter must have one key, its type")
    ((tag, content),) = value.items()
    converters = {
        "$array": lambda: _array([restored(item) for item in content]),
        "$float": lambda: float(content),
        "$tuple": lambda: tuple(restored(item) for item in content),
        "$dict": lambda: {restored(key): restored(item) for key, item in content},
        "$text": lambda: msgspec.convert(content, Text),
        "$column": lambda: msgspec.convert(content, Column),
        "$schema": lambda: msgspec.convert(content, Schema),
    }
    if tag not in converters:
        raise ValueError(f"a parameter cannot have the type {tag!r}")
    return converters[tag]()


def _array(items: list[Any]) -> np.ndarray:
    objects = np.array(items, dtype=object)
    check_strings(objects.size, max((len(item) for item in objects.flat if isinstance(item, str)), default=0))
    return np.array(items)


RECORDS = {
    "additive": "additive.model:AdditiveModel",
    "bayes_tree": "hybrid.model:BayesTree",
    "linear_discriminant": "linear.discriminant.model:LinearDiscriminant",
    "logistic": "linear.logistic.model:LogisticModel",
    "combinations": "naive_bayes.joint_model:Combinations",
    "joint_table": "naive_bayes.joint_model:JointTable",
    "naive_bayes": "naive_bayes.model:NaiveBayes",
    "naive_bayes_seen": "naive_bayes.statistic:NaiveBayesStatistic",
    "quadratic_discriminant": "linear.discriminant.model:QuadraticDiscriminant",
    "products": "linear.regression.statistic:CrossProducts",
    "regression": "linear.regression.model:RegressionModel",
    "scorecard": "scorecard.model:ScorecardModel",
    "scatter": "linear.scatter.scatter:Scatter",
    "rule_trials": "tree.boosting.rule_votes:RuleTrials",
    "splines": "linear.mars.model:MarsModel",
    "stream_seen": "tree.streaming.learner:StreamStatistic",
    "tree": "tree.model.tree:Tree",
    "tree_trials": "tree.boosting.tree_votes:TreeTrials",
}


def record(raw: msgspec.Raw, version: int) -> Any:
    """Decode the record of a file of this format version; return None if it is null."""
    if bytes(raw) == b"null":
        return None
    tag = decode(raw, _Tagged).type
    if version == 1 and tag == "chaid":
        from baytree.storage import format1

        return format1.chaid(raw)
    if tag not in RECORDS:
        raise ModelFileError(f"contains a record {tag!r}, which this version of baytree does not know")
    module, _, name = RECORDS[tag].partition(":")
    return decode(raw, getattr(import_module(f"baytree.{module}"), name))


class _Tagged(msgspec.Struct):
    type: str
