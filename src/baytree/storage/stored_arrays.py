"""Records of arrays as JSON: an array is its type, its shape, and its numbers or, where it is large, its bytes."""

from __future__ import annotations

import base64
from typing import TypeVar

import msgspec
import numpy as np

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
