"""Parameters of estimators as JSON: what is richer than JSON is an object with one key that says what it is."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from baytree.storage.stored_arrays import check_strings
from baytree.table.schema import Column, Schema, Text

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
