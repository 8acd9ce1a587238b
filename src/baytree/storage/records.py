"""Records of arrays as JSON: an array is its type, its shape, and its numbers or, where it is large, its bytes.

Parameters of estimators as JSON: what is richer than JSON is an object with one key that says what it is.

The records that a file may hold, by their tag. A family adds a line for its model and one for its statistics.
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

_LISTED = 32  # arrays up to this size are written out as numbers, so that a person can read them

_MOST_DIMENSIONS = 4

# An array of strings takes 4 bytes for each character of its longest one, in every entry: one long name and many short
# ones would take gigabytes, and so would many answers with a long name.
_MOST_WIDTH = 10_000

_MOST_CHARACTERS = 1 << 24


def encode(value: object) -> msgspec.Raw:
    """A record, or any plain value, as JSON."""
    try:
        return msgspec.Raw(msgspec.json.encode(value, enc_hook=_array_to))
    except UnicodeEncodeError as error:
        raise ValueError(f"{error.object[:40]!r} is not valid Unicode text and cannot be saved; correct that name") from None


def decode(raw: msgspec.Raw, kind: type[T]) -> T:
    """The record of a kind in JSON; its arrays cannot be written to."""
    return msgspec.json.decode(raw, type=kind, dec_hook=_array_from)


def check_strings(count: int, width: int) -> None:
    """Raise an error where an array of so many strings, the longest with so many characters, would be too large."""
    if width > _MOST_WIDTH or count * width > _MOST_CHARACTERS:
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
    if array.size <= _LISTED and (array.dtype.kind != "f" or np.isfinite(array).all()):
        return {**head, "values": array.ravel().tolist()}
    return {**head, "base64": base64.b64encode(array.tobytes()).decode()}


def _array_from(kind: type, value: object) -> np.ndarray:
    if kind is not np.ndarray:
        raise TypeError(f"no record holds a {kind}")
    if not isinstance(value, dict) or value.keys() - {"values", "base64"} != {"dtype", "shape"} or len(value) != 3:
        raise ValueError("an array has a dtype, a shape, and values or base64")
    shape, dtype = value["shape"], value["dtype"]
    if dtype not in _DTYPES:
        raise ValueError(f"an array cannot have the dtype {dtype!r}")
    if not isinstance(shape, list) or len(shape) > _MOST_DIMENSIONS or not all(type(n) is int and n >= 0 for n in shape):
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
            raise ValueError("a boolean array holds something else")
    array = array.reshape(shape)
    array.flags.writeable = False
    return array


_MARK = "$"


def plain(value: object, name: str) -> object:
    """A parameter as JSON can hold it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return {_MARK + "array": [plain(item, name) for item in value.tolist()]}
    if isinstance(value, float) and not np.isfinite(value):
        return {_MARK + "float": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, tuple) and not isinstance(value, msgspec.Struct):
        return {_MARK + "tuple": [plain(item, name) for item in value]}
    if isinstance(value, list):
        return [plain(item, name) for item in value]
    if isinstance(value, dict):
        return {_MARK + "dict": [[plain(key, name), plain(item, name)] for key, item in value.items()]}
    for kind, tag in ((Text, "text"), (Column, "column"), (Schema, "schema")):
        if isinstance(value, kind):
            return {_MARK + tag: value}
    raise ValueError(f"the parameter {name}={value!r} of type {type(value).__name__} cannot be saved")


def restored(value: Any) -> Any:
    """The parameter that was written."""
    if isinstance(value, list):
        return [restored(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise ValueError("a parameter of several parts has one key that says what it is")
    ((tag, content),) = value.items()
    makers = {
        "$array": lambda: _array([restored(item) for item in content]),
        "$float": lambda: float(content),
        "$tuple": lambda: tuple(restored(item) for item in content),
        "$dict": lambda: {restored(key): restored(item) for key, item in content},
        "$text": lambda: msgspec.convert(content, Text),
        "$column": lambda: msgspec.convert(content, Column),
        "$schema": lambda: msgspec.convert(content, Schema),
    }
    if tag not in makers:
        raise ValueError(f"a parameter cannot be a {tag!r}")
    return makers[tag]()


def _array(items: list[Any]) -> np.ndarray:
    objects = np.array(items, dtype=object)
    check_strings(objects.size, max((len(item) for item in objects.flat if isinstance(item, str)), default=0))
    return np.array(items)


RECORDS = {
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
    "scatter": "linear.scatter.scatter:Scatter",
    "rule_trials": "tree.boosting.rule_votes:RuleTrials",
    "splines": "linear.mars.model:MarsModel",
    "stream_seen": "tree.streaming.learner:StreamStatistic",
    "tree": "tree.model.tree:Tree",
    "tree_trials": "tree.boosting.tree_votes:TreeTrials",
}


def record(raw: msgspec.Raw, version: int) -> Any:
    """The record of a file of this format; None where it holds none."""
    if bytes(raw) == b"null":
        return None
    tag = decode(raw, _Tagged).type
    if version == 1 and tag == "chaid":
        from baytree.storage import format1

        return format1.chaid(raw)
    if tag not in RECORDS:
        raise ModelFileError(f"holds a record {tag!r}, which this version of baytree does not know")
    module, _, name = RECORDS[tag].partition(":")
    return decode(raw, getattr(import_module(f"baytree.{module}"), name))


class _Tagged(msgspec.Struct):
    type: str
