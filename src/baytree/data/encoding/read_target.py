"""The target column as it comes: classes of any kind to codes, numbers as doubles.

The weights of rows as they come: one finite number for each, none negative, not all zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from baytree import _warnings
from baytree._typing import TargetLike, WeightsLike
from baytree.data.encoding.labels import Labels, in_declared_order
from baytree.data.frames import read_column
from baytree.data.frames.numbers import Codes, Numbers, factorise_fixed
from baytree.data.frames.raw import Raw, RawFrame, Strings, without_masked
from baytree.data.inference.infer import TableProfile, level_counts
from baytree.data.parsing.string_format import numbers
from baytree.data.schema.column import sorted_levels
from baytree.data.schema.schema import SchemaLike, Target


def read_classes(y: TargetLike, name: str = "y") -> Labels:
    """Class labels: any hashables; the classes that occur, sorted (in their own order where that was declared)."""
    array = _one_dimensional(y)
    if isinstance(array, np.ndarray) and array.dtype.kind in "iuUSb" and array.dtype.itemsize:
        codes, distinct = factorise_fixed(array)
        return _sorted_labels(codes, distinct.tolist(), name, array.dtype.str)
    if isinstance(array, np.ndarray) and array.dtype.kind == "f":
        return _whole_floats(array, name)
    raw = read_column(array, name)
    if isinstance(raw, Numbers):
        labels = _whole_floats(raw.values, name)
        return labels if not raw.is_whole else _as_integers(labels)
    _refuse_mixed(array, name)
    codes = raw.factorise() if isinstance(raw, Strings) else raw
    return _coded(codes, name)


def read_in_order(read: Callable[[TargetLike, str], Labels], schema: SchemaLike, y: TargetLike, name: str) -> Labels:
    """Labels, their classes in the order that a user's `schema` declares for the target."""
    return in_declared_order(read(y, name), schema)


def read_numbers(y: TargetLike, name: str = "y") -> Labels:
    """Labels of a regression: finite numbers."""
    raw = read_column(_one_dimensional(y), name)
    raw = as_numbers(raw, name)
    if not isinstance(raw, Numbers):
        raise ValueError(f"the target {name!r} holds categories; a regression needs numbers: use a classifier")
    if np.isinf(raw.values).any():
        raise ValueError(f"Input y contains infinity: the target {name!r} must be finite")
    return Labels(np.ascontiguousarray(raw.values), Target(name))


def as_numbers(raw: Raw, name: str) -> Raw:
    """Strings that are numbers as a person writes them, as numbers; any other column as it is."""
    if not isinstance(raw, Strings) or raw.is_category:
        return raw
    column = next(iter(TableProfile.of(RawFrame({name: raw}, len(raw)), {name: "keep"}).schema().columns), None)
    if column is None or column.form is None or column.form.kind != "number":
        return raw
    codes = raw.factorise()
    return Numbers.of(np.array([*numbers(codes.levels, column.form), np.nan])[codes.codes], name)


def _one_dimensional(y: TargetLike) -> Any:
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None: name the target column, or give y")
    if isinstance(y, (str, bytes)) or not (hasattr(y, "__len__") or hasattr(y, "__array__")):
        raise ValueError(f"y should be a 1d array or the name of a column, got {y!r}")
    if np.ma.isMaskedArray(y):
        return without_masked(y)
    if type(y).__module__.split(".")[0] in ("pandas", "polars", "pyarrow") and getattr(y, "ndim", 1) == 1:
        return y
    return _flat(np.asarray(y)) if hasattr(y, "__array__") or hasattr(y, "__array_namespace__") else y


def _flat(array: np.ndarray) -> np.ndarray:
    if array.ndim == 2 and array.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        message = "A column-vector y was passed when a 1d array was expected; give y.ravel()"
        _warnings.warn(message, DataConversionWarning)
        return array.ravel()
    if array.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {array.shape} instead")
    return array


def _whole_floats(values: np.ndarray, name: str) -> Labels:
    known = values[~np.isnan(values)]
    if np.isinf(known).any():
        raise ValueError(f"Input y contains infinity: the target {name!r} must hold classes")
    if (known != np.floor(known)).any():
        first = float(known[known != np.floor(known)][0])
        raise ValueError(
            f"Unknown label type: continuous. The target {name!r} holds numbers like {first!r}, not classes; "
            "use a regressor, or convert the target to strings"
        )
    codes, distinct = factorise_fixed(known + 0.0)  # −0.0 is 0.0
    all_codes = np.full(len(values), -1, np.int32)
    all_codes[~np.isnan(values)] = codes
    return _sorted_labels(all_codes, distinct.tolist(), name, values.dtype.str)


def _as_integers(labels: Labels) -> Labels:
    classes = tuple(int(label) for label in labels.target.classes or ())
    for label in classes:
        if not -(2**63) <= label < 2**63:
            name = labels.target.name
            raise ValueError(f"the target {name!r} holds {label}, beyond 64 bits; give its classes as strings")
    return Labels(labels.values, Target(labels.target.name, classes, np.dtype(np.int64).str))


def _coded(codes: Codes, name: str) -> Labels:
    values = np.asarray(codes.codes)
    used = np.flatnonzero(level_counts(codes))
    levels = [codes.levels[code] for code in used]
    _refuse_look_alikes(levels, name)
    place = np.full(len(codes.levels) + 1, -1, np.int32)
    place[used] = np.arange(len(used))
    dtype = np.dtype(bool).str if levels and all(isinstance(level, bool) for level in levels) else "object"
    if codes.is_declared:
        return Labels(place[values], Target(name, tuple(levels), dtype, True, tuple(codes.levels)))
    return _sorted_labels(place[values], levels, name, dtype)


def _sorted_labels(codes: np.ndarray, levels: list, name: str, dtype: str) -> Labels:
    classes = sorted_levels(levels)
    if classes == tuple(levels):
        return Labels(codes, Target(name, classes, dtype))
    place = {label: code for code, label in enumerate(classes)}
    recode = np.array([*(place[level] for level in levels), -1], np.int32)
    return Labels(np.take(recode, codes, mode="wrap"), Target(name, classes, dtype))  # −1, missing, is the last entry


def _refuse_mixed(array: Any, name: str) -> None:
    """Refuses labels of which some are strings and some are not."""
    if isinstance(array, list) or str(getattr(array, "dtype", "")) == "object":
        first = {type(label): label for label in array if label is not None and label == label}
        _refuse_look_alikes(list(first.values()), name)


def _refuse_look_alikes(levels: list, name: str) -> None:
    texts: dict[str, Any] = {}
    for level in levels:
        other = texts.setdefault(str(level), level)
        if type(other) is not type(level):
            raise ValueError(f"the target {name!r} mixes {other!r} and {level!r}; convert the classes to one type")
    kinds = {isinstance(level, str) for level in levels}
    if len(kinds) > 1:
        text = next(level for level in levels if isinstance(level, str))
        other = next(level for level in levels if not isinstance(level, str))
        raise ValueError(f"the target {name!r} mixes {text!r} and {other!r}; convert the classes to one type")


def read_weights(given: WeightsLike, n_rows: int) -> tuple[np.ndarray, bool]:
    """The weights of the rows and whether all are 1: finite, none negative, not all zero."""
    weight, is_unweighted = read_part_weights(given, n_rows)
    if not is_unweighted and not weight.any():
        raise ValueError(
            "Sample weights are all zero: no row counts; sample_weight must contain at least one non-zero number"
        )
    return weight, is_unweighted


def read_part_weights(given: WeightsLike, n_rows: int) -> tuple[np.ndarray, bool]:
    """The weights of the rows of one part, which may all be zero, and whether all are 1."""
    if given is None:
        return np.ones(n_rows), True
    weight = np.asarray(given, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weight.shape}; give one weight for each of the {n_rows} rows")
    for is_wrong, what in ((np.isnan(weight), "NaN"), (np.isinf(weight), "infinite"), (weight < 0, "negative")):
        if is_wrong.any():
            row = int(np.argmax(is_wrong))
            raise ValueError(f"sample_weight, row {row}: {weight[row]} is {what}; weights are finite and not negative")
    return weight, bool((weight == 1).all())


def weight_column(frame: RawFrame, name: str) -> np.ndarray:
    """The weights in a column of this name."""
    raw = frame.columns.get(name) if frame.is_named else None
    if not isinstance(raw, Numbers):
        what = "is no column" if raw is None else "holds no numbers"
        raise ValueError(f"sample_weight={name!r} {what}; give the name of a column of numbers, or the weights")
    return raw.values
