"""Labels of rows and operations on them: recode, select, declared class order; scaling of extreme sample weights.

Labels are class codes with the classes, or float64 for regression. `read_target` creates them from user input.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from baytree._typing import TargetLike
from baytree.data.encoding.table import Table
from baytree.data.inference.level_matching import similar_levels
from baytree.data.parsing.string_format import is_missing_token
from baytree.data.schema.notes import Note
from baytree.data.schema.schema import Schema, SchemaLike, Target


class Labels(msgspec.Struct, frozen=True):
    """Labels of rows: class codes with their classes, or numbers; −1 or NaN where the label is missing."""

    values: np.ndarray  # int32 codes or float64 [n_rows]
    target: Target

    @property
    def missing(self) -> np.ndarray:
        """Rows without a label: bool [n_rows]."""
        return np.isnan(self.values) if self.values.dtype == np.float64 else self.values < 0

    @property
    def has_missing(self) -> bool:
        """Whether any row has no label."""
        smallest = self.values.min(initial=0)  # the minimum is NaN if any number is NaN
        return bool(np.isnan(smallest)) if self.values.dtype == np.float64 else bool(smallest < 0)


def without_words_for_none(labels: Labels) -> Labels:
    """Make labels that are missing tokens, such as `NA`, missing; declared classes are not changed."""
    classes = labels.target.classes or ()
    missing = [k for k, label in enumerate(classes) if isinstance(label, str) and is_missing_token(label)]
    if not missing or labels.target.declared:
        return labels
    values = np.where(np.isin(labels.values, missing), -1, labels.values)
    return take(Labels(values, labels.target), np.arange(len(values)))


def notes(target: Target) -> tuple[Note, ...]:
    """Return a note on classes that differ only in case or blanks."""
    groups = similar_levels(target.classes or ())
    if not groups:
        return ()
    pairs = "; ".join(" and ".join(map(repr, group)) for group in groups[:3])
    message = (
        f"classes that differ only in case or blanks are treated as different: {pairs}; "
        "correct the table if they are the same"
    )
    return (Note(target.name, message, 0, is_doubtful=True),)


def rare_notes(target: Target, n_rows: int) -> tuple[Note, ...]:
    """Return a note if there are nearly as many classes as rows."""
    n_classes = len(target.classes or ())
    if n_rows < 10 or 2 * n_classes <= n_rows:
        return ()
    message = f"{n_classes:,} classes in {n_rows:,} rows: too few rows per class to learn much"
    return (Note(target.name, message, 0, is_doubtful=True),)


def refuse_one_class(target: Target) -> None:
    """Raise a ValueError if the target has only one class."""
    if target.classes is not None and len(target.classes) == 1:
        raise ValueError(f"the target {target.name!r} has only one class, {target.classes[0]!r}: there is nothing to learn")


def recode(labels: Labels, target: Target) -> np.ndarray:
    """Return the codes of the labels under the classes of another target; raise a ValueError for an unknown class."""
    if labels.target.classes == target.classes:
        return labels.values
    code_of = {label: code for code, label in enumerate(target.classes or ())}
    for label in labels.target.classes or ():
        if label not in code_of:
            raise ValueError(f"class {label!r} is not among the classes {list(target.classes or ())}")
    codes = np.array([*(code_of[label] for label in labels.target.classes or ()), -1], np.int32)
    return codes[labels.values]


def take(labels: Labels, rows: np.ndarray) -> Labels:
    """Return the labels of these rows (indices or a mask); classes that do not occur in them are dropped."""
    values = labels.values[rows]
    classes = labels.target.classes
    if classes is None:
        return Labels(values, labels.target)
    used = np.unique(values[values >= 0])
    new_code = np.full(len(classes) + 1, -1, np.int32)
    new_code[used] = np.arange(len(used))
    used_classes = tuple(classes[code] for code in used)
    return Labels(new_code[values], msgspec.structs.replace(labels.target, classes=used_classes))


def declared(labels: Labels, order: Sequence[Any]) -> Labels:
    """Return the labels with classes in this order; raise a ValueError if a class is absent from it."""
    for label in labels.target.classes or ():
        if label not in order:
            raise ValueError(
                f"the target {labels.target.name!r} has the class {label!r} that schema does not declare; "
                f"it names {', '.join(map(repr, order))}"
            )
    occurring = set(labels.target.classes or ())
    classes = tuple(label for label in order if label in occurring)
    target = msgspec.structs.replace(labels.target, classes=classes, declared=True, order=tuple(order))
    return Labels(recode(labels, target), target)


def in_declared_order(labels: Labels, schema: SchemaLike) -> Labels:
    """Return the labels with classes in the order that the user's `schema` declares for the target, if any."""
    order = declared_order(schema, labels.target.name)
    return labels if order is None else declared(labels, order)


def name_apart(y: TargetLike, columns: Collection[str]) -> str:
    """Return the name of separately given labels: their own name or "y", changed if a column has the same name."""
    name = str(getattr(y, "name", None) or "y")
    return f"{name} (target)" if name in columns else name


def declared_order(schema: SchemaLike, target: str) -> Sequence[Any] | None:
    """Return the class order that the user's `schema` declares for the target, or None."""
    if isinstance(schema, Schema):
        return schema.target.order or None if schema.target.name == target else None
    order = schema.get(target) if isinstance(schema, Mapping) else None
    return order if isinstance(order, (list, tuple)) else None


def classes_array(target: Target) -> np.ndarray:
    """Return the classes as the array that users see, with the dtype of the given labels."""
    classes = target.classes or ()
    if target.dtype != "object":
        return np.array(classes, dtype=target.dtype)
    array = np.empty(len(classes), object)
    array[:] = classes
    return array


_MAX_WEIGHT, _MIN_WEIGHT = 1e200, 1e-200  # beyond these, sums of products of weights may leave float64


def within_doubles(table: Table) -> Table:
    """Scale weights beyond 1e±200 by 2^±400, so that sums of products of weights stay within float64.

    A power of two is exact. The factor is fixed, so that partitions stay comparable: next to ordinary weights, extreme ones
    still dominate or vanish.
    """
    largest = float(table.weight.max(initial=0.0))
    if _MIN_WEIGHT < largest < _MAX_WEIGHT or not largest:
        return table
    return times_power(table, -400 if largest >= _MAX_WEIGHT else 400)


def times_power(table: Table, exponent: int) -> Table:
    """Return the table with weights multiplied by 2**exponent."""
    return msgspec.structs.replace(table, weight=np.ldexp(table.weight, exponent))
