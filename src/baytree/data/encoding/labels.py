"""The target column: classes of any kind to codes and back as they were, numbers as doubles.

Weights: a column that holds them, and a unit in which sums and products of them stay within the doubles.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from baytree._typing import TargetLike
from baytree.data.encoding.table import Table
from baytree.data.inference.level_matching import look_alikes
from baytree.data.parsing.string_format import is_missing_token
from baytree.data.schema.notes import Note
from baytree.data.schema.schema import Schema, SchemaLike, Target


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


def without_words_for_none(labels: Labels) -> Labels:
    """The labels of a named column: a word for no value, such as `NA`, is a missing label."""
    classes = labels.target.classes or ()
    gone = [k for k, label in enumerate(classes) if isinstance(label, str) and is_missing_token(label)]
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


def rare_notes(target: Target, n_rows: int) -> tuple[Note, ...]:
    """What is told of classes that are nearly as many as the rows."""
    n_classes = len(target.classes or ())
    if n_rows < 10 or 2 * n_classes <= n_rows:
        return ()
    done = f"{n_classes:,} classes in {n_rows:,} rows: hardly one is there twice, so little can be learnt"
    return (Note(target.name, done, 0, is_doubtful=True),)


def refuse_one_class(target: Target) -> None:
    """Refuses a target with nothing to tell apart."""
    if target.classes is not None and len(target.classes) == 1:
        raise ValueError(f"the target {target.name!r} has one class only, {target.classes[0]!r}: there is nothing to learn")


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


_HEAVY, _LIGHT = 1e200, 1e-200


def within_doubles(table: Table) -> Table:
    """The table, weights beyond 1e±200 in units of 2^±400, which rounds none: sums of products might leave the doubles.

    The unit is fixed, so that parts stay comparable: beside ordinary weights, extreme ones are still as good as everything,
    or as nothing.
    """
    largest = float(table.weight.max(initial=0.0))
    if _LIGHT < largest < _HEAVY or not largest:
        return table
    return times_power(table, -400 if largest >= _HEAVY else 400)


def times_power(table: Table, exponent: int) -> Table:
    """The table with weights times a power of two."""
    return msgspec.structs.replace(table, weight=np.ldexp(table.weight, exponent))
