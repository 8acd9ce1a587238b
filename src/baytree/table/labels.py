"""The target column: classes of any kind to codes and back as they were, numbers as doubles."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from baytree import notices
from baytree.given import TargetLike
from baytree.table.frames import Codes, Numbers, Raw, RawFrame, Strings, factorise_fixed, read_column, without_masked
from baytree.table.infer import Census
from baytree.table.notes import Note
from baytree.table.reading.forms import is_nothing, numbers
from baytree.table.reading.words_seen import look_alikes
from baytree.table.schema import Schema, SchemaLike, Target, sorted_levels


class Labels(msgspec.Struct, frozen=True):
    """The labels of rows: class codes and classes, or numbers; −1 or NaN where the label is missing."""

    values: np.ndarray  # int32 codes or float64
    target: Target

    @property
    def missing(self) -> np.ndarray:
        """Which rows have no label."""
        return np.isnan(self.values) if self.values.dtype == np.float64 else self.values < 0

    @property
    def has_missing(self) -> bool:
        """Whether any row has no label."""
        least = self.values.min(initial=0)  # NaN where one is among the numbers
        return bool(np.isnan(least)) if self.values.dtype == np.float64 else bool(least < 0)


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


def read_numbers(y: TargetLike, name: str = "y") -> Labels:
    """Labels of a regression: finite numbers."""
    raw = read_column(_one_dimensional(y), name)
    raw = as_numbers(raw, name)
    if not isinstance(raw, Numbers):
        raise ValueError(f"the target {name!r} holds categories; a regression needs numbers: use a classifier")
    if np.isinf(raw.values).any():
        raise ValueError(f"Input y contains infinity: the target {name!r} must be finite")
    return Labels(np.ascontiguousarray(raw.values), Target(name))


def without_words_for_none(labels: Labels) -> Labels:
    """The labels of a named column: a word for no value, such as `NA`, is a missing label."""
    classes = labels.target.classes or ()
    gone = [k for k, label in enumerate(classes) if isinstance(label, str) and is_nothing(label)]
    if not gone or labels.target.declared:
        return labels
    values = np.where(np.isin(labels.values, gone), -1, labels.values)
    return take(Labels(values, labels.target), np.arange(len(values)))


def notes(target: Target) -> tuple[Note, ...]:
    """What is told of the classes: those that differ only in case or blanks."""
    alike = look_alikes(target.classes or ())
    if not alike:
        return ()
    pairs = "; ".join(" and ".join(map(repr, group)) for group in alike[:3])
    done = f"classes that differ only in case or blanks are kept apart: {pairs}; correct them in the table if they are one"
    return (Note(target.name, done, 0, is_doubtful=True),)


def rare_notes(label: Labels) -> tuple[Note, ...]:
    """What is told of classes that are nearly as many as the rows."""
    n_classes, n_rows = len(label.target.classes or ()), len(label.values)
    if n_rows < 10 or 2 * n_classes <= n_rows:
        return ()
    done = f"{n_classes:,} classes in {n_rows:,} rows: hardly one is there twice, so little can be learnt"
    return (Note(label.target.name, done, 0, is_doubtful=True),)


def refuse_one_class(target: Target, remedy: str = "") -> None:
    """Refuses a target with nothing to tell apart."""
    if target.classes is not None and len(target.classes) == 1:
        only = f"the target {target.name!r} has one class only, {target.classes[0]!r}"
        raise ValueError(f"{only}: there is nothing to learn{remedy}")


def recode(labels: Labels, target: Target) -> np.ndarray:
    """The codes of labels under another target's classes; a class that it does not know is an error."""
    if labels.target.classes == target.classes:
        return labels.values
    place = {label: code for code, label in enumerate(target.classes or ())}
    for label in labels.target.classes or ():
        if label not in place:
            raise ValueError(f"class {label!r} is not among the classes {list(target.classes or ())}")
    codes = np.array([*(place[label] for label in labels.target.classes or ()), -1], np.int32)
    return codes[labels.values]


def take(labels: Labels, rows: np.ndarray) -> Labels:
    """The labels of these rows (indices or a mask); classes that none of them has are dropped."""
    values = labels.values[rows]
    classes = labels.target.classes
    if classes is None:
        return Labels(values, labels.target)
    used = np.unique(values[values >= 0])
    place = np.full(len(classes) + 1, -1, np.int32)
    place[used] = np.arange(len(used))
    kept = tuple(classes[code] for code in used)
    return Labels(place[values], msgspec.structs.replace(labels.target, classes=kept))


def declared(labels: Labels, order: Sequence[Any]) -> Labels:
    """The labels with their classes in this order, which must name each of them."""
    for label in labels.target.classes or ():
        if label not in order:
            raise ValueError(
                f"the target {labels.target.name!r} has the class {label!r}, which schema does not name; "
                f"it names {', '.join(map(repr, order))}"
            )
    occurring = set(labels.target.classes or ())
    classes = tuple(label for label in order if label in occurring)
    target = msgspec.structs.replace(labels.target, classes=classes, declared=True, order=tuple(order))
    return Labels(recode(labels, target), target)


def in_declared_order(labels: Labels, schema: SchemaLike) -> Labels:
    """The labels, their classes in the order that a user's `schema` declares for the target."""
    order = declared_order(schema, labels.target.name)
    return labels if order is None else declared(labels, order)


def name_apart(y: TargetLike, columns: Collection[str]) -> str:
    """The name of labels that come apart from their columns: their own, or y, told from a column of that name."""
    name = str(getattr(y, "name", None) or "y")
    return f"{name} (target)" if name in columns else name


def declared_order(schema: SchemaLike, target: str) -> Sequence[Any] | None:
    """The order of the classes that a user's `schema` declares for the target; None where it says nothing."""
    if isinstance(schema, Schema):
        return schema.target.order or None if schema.target.name == target else None
    given = schema.get(target) if isinstance(schema, Mapping) else None
    return given if isinstance(given, (list, tuple)) else None


def classes_array(target: Target) -> np.ndarray:
    """The classes as the array that users see, in the type in which they came."""
    classes = target.classes or ()
    if target.dtype != "object":
        return np.array(classes, dtype=target.dtype)
    array = np.empty(len(classes), object)
    array[:] = classes
    return array


def as_numbers(raw: Raw, name: str) -> Raw:
    """Strings that are numbers as a person writes them, as numbers; any other column as it is."""
    if not isinstance(raw, Strings) or raw.is_category:
        return raw
    column = next(iter(Census.of(RawFrame({name: raw}, len(raw)), {name: "keep"}).schema().columns), None)
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
        notices.warn(message, DataConversionWarning)
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
    return Labels(labels.values, Target(labels.target.name, classes, np.dtype(np.int64).str))


def _coded(codes: Codes, name: str) -> Labels:
    values = np.asarray(codes.codes)
    used = np.unique(values[values >= 0])
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
