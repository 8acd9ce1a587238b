"""Read targets and sample weights as users give them: labels to class codes or float64, weights validated.

Classes may be any hashables. They are sorted, unless a categorical or the schema declares their order.
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
    """Return class labels with the occurring classes, sorted or in their declared order."""
    array = _one_dimensional(y)
    if isinstance(array, np.ndarray) and array.dtype.kind in "iuUSb" and array.dtype.itemsize:
        codes, distinct = factorise_fixed(array)
        return _sorted_labels(codes, distinct.tolist(), name, array.dtype.str)
    if isinstance(array, np.ndarray) and array.dtype.kind == "f":
        return _integral_floats(array, name)
    raw = read_column(array, name)
    if isinstance(raw, Numbers):
        labels = _integral_floats(raw.values, name)
        return labels if not raw.is_whole else _as_integers(labels)
    _refuse_mixed(array, name)
    codes = raw.factorise() if isinstance(raw, Strings) else raw
    return _coded(codes, name)


def read_in_order(read: Callable[[TargetLike, str], Labels], schema: SchemaLike, y: TargetLike, name: str) -> Labels:
    """Read labels with classes in the order that the user's `schema` declares for the target."""
    return in_declared_order(read(y, name), schema)


def read_numbers(y: TargetLike, name: str = "y") -> Labels:
    """Return the labels of a regression, float64; raise a ValueError for categories and infinite numbers."""
    raw = read_column(_one_dimensional(y), name)
    raw = as_numbers(raw, name)
    if not isinstance(raw, Numbers):
        raise ValueError(f"the target {name!r} holds categories; a regression needs numbers: use a classifier")
    if np.isinf(raw.values).any():
        raise ValueError(f"Input y contains infinity: the target {name!r} must be finite")
    return Labels(np.ascontiguousarray(raw.values), Target(name))


def as_numbers(raw: Raw, name: str) -> Raw:
    """Convert a string column whose inferred format is a number to `Numbers`; return other columns unchanged."""
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


def _integral_floats(values: np.ndarray, name: str) -> Labels:
    present = values[~np.isnan(values)]
    if np.isinf(present).any():
        raise ValueError(f"Input y contains infinity: the target {name!r} must hold classes")
    if (present != np.floor(present)).any():
        first = float(present[present != np.floor(present)][0])
        raise ValueError(
            f"Unknown label type: continuous. The target {name!r} holds numbers like {first!r}, not classes; "
            "use a regressor, or convert the target to strings"
        )
    codes, distinct = factorise_fixed(present + 0.0)  # maps −0.0 to 0.0
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
    _refuse_similar_levels(levels, name)
    new_code = np.full(len(codes.levels) + 1, -1, np.int32)
    new_code[used] = np.arange(len(used))
    dtype = np.dtype(bool).str if levels and all(isinstance(level, bool) for level in levels) else "object"
    if codes.is_declared:
        return Labels(new_code[values], Target(name, tuple(levels), dtype, True, tuple(codes.levels)))
    return _sorted_labels(new_code[values], levels, name, dtype)


def _sorted_labels(codes: np.ndarray, levels: list, name: str, dtype: str) -> Labels:
    classes = sorted_levels(levels)
    if classes == tuple(levels):
        return Labels(codes, Target(name, classes, dtype))
    code_of = {label: code for code, label in enumerate(classes)}
    recode = np.array([*(code_of[level] for level in levels), -1], np.int32)
    # code −1 (missing) wraps to the last entry
    return Labels(np.take(recode, codes, mode="wrap"), Target(name, classes, dtype))


def _refuse_mixed(array: Any, name: str) -> None:
    """Raise a ValueError if some labels are strings and some are not."""
    if isinstance(array, list) or str(getattr(array, "dtype", "")) == "object":
        first = {type(label): label for label in array if label is not None and label == label}
        _refuse_similar_levels(list(first.values()), name)


def _refuse_similar_levels(levels: list, name: str) -> None:
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
    """Return the sample weights (float64 [n_rows], finite, non-negative, not all zero) and whether all are 1."""
    weight, is_unweighted = read_part_weights(given, n_rows)
    if not is_unweighted and not weight.any():
        raise ValueError(
            "Sample weights are all zero: no row counts; sample_weight must contain at least one non-zero number"
        )
    return weight, is_unweighted


def read_part_weights(given: WeightsLike, n_rows: int) -> tuple[np.ndarray, bool]:
    """Return the sample weights of one partition, which may all be zero, and whether all are 1."""
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
    """Return the weights in the column of this name; raise a ValueError if it is absent or not numeric."""
    raw = frame.columns.get(name) if frame.is_named else None
    if not isinstance(raw, Numbers):
        what = "is not a column" if raw is None else "is not numeric"
        raise ValueError(f"sample_weight={name!r} {what}; give the name of a column of numbers, or the weights")
    return raw.values
