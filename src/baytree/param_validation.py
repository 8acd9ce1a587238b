"""Validation of estimator parameters: each function checks one type of parameter and returns it as learners use it.

Scalar checks (`one_of`, `flag`, `number`, `integer` ...) return the value or raise a ValueError that names parameter,
value and remedy. Class-wise parameters (`priors`, `costs`, `class_weights`) become records indexed by label, because a
fold may contain fewer classes than the whole table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from math import isfinite
from numbers import Real
from typing import Any, TypeGuard, TypeVar

import msgspec
import numpy as np

from baytree._warnings import did_you_mean
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema
from baytree.param_synonyms import value_hint

T = TypeVar("T")

MAX_INTEGER = 2**31 - 1  # largest integer of the core's 32-bit settings; larger parameters are clipped to it


def one_of(name: str, value: T, choices: Iterable[object]) -> T:
    """Return the value if it is one of the choices, else raise a ValueError.

    >>> one_of("penalty", "l3", ("l1", "l2", None))
    Traceback (most recent call last):
    ValueError: penalty='l3': give one of 'l1', 'l2', None
    """
    choices = tuple(choices)
    if not any(value is choice or (isinstance(value, type(choice)) and value == choice) for choice in choices):
        hint = value_hint(name, value, choices)
        raise ValueError(f"{name}={value!r}: {hint}give one of {', '.join(repr(_plain(choice)) for choice in choices)}")
    return value


def flag(name: str, value: object) -> bool:
    """Return the value as bool; raise a ValueError unless it is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}={value!r}: give True or False")
    return bool(value)


def number(name: str, value: object, minimum: float = -np.inf, maximum: float = np.inf) -> float:
    """Return the value as float; raise a ValueError outside the closed interval [minimum, maximum]."""
    if not _is_number(value) or not minimum <= value <= maximum:
        raise ValueError(f"{name}={value!r}: give a number{_between(minimum, maximum)}")
    return float(value)


def open_interval(name: str, value: object, lower: float = 0.0, upper: float = 1.0) -> float:
    """Return the value as float; raise a ValueError outside the open interval (lower, upper)."""
    if not _is_number(value) or not lower < value < upper:
        raise ValueError(f"{name}={value!r}: give a number above {lower:g} and below {upper:g}")
    return float(value)


def finite(name: str, value: object, minimum: float = -np.inf) -> float:
    """Return the value as float; raise a ValueError unless it is finite and at least `minimum`."""
    if not _is_number(value) or not (isfinite(value) and value >= minimum):
        raise ValueError(f"{name}={value!r}: give a finite number{_between(minimum, np.inf)}")
    return float(value)


def positive(name: str, value: object) -> float:
    """Return the value as float; raise a ValueError unless it is above 0. Infinity is allowed."""
    if not _is_number(value) or not value > 0:
        raise ValueError(f"{name}={value!r}: give a number above 0")
    return float(value)


def integer(name: str, value: object, minimum: int, maximum: int = MAX_INTEGER) -> int:
    """Return the value as int; raise a ValueError unless it is whole and within [minimum, maximum].

    Without an explicit `maximum`, values above `MAX_INTEGER` (also large floats) are clipped to it.
    """
    is_valid = _is_number(value) and isfinite(value) and value == int(value) and value >= minimum
    if not is_valid or (maximum < MAX_INTEGER and value > maximum):
        upper = f" and at most {maximum:,}" if maximum < MAX_INTEGER else ""
        raise ValueError(f"{name}={value!r}: give a whole number of at least {minimum}{upper}")
    return min(int(value), maximum)


def whole_or_none(name: str, value: object, minimum: int) -> int | None:
    """Return the value as `integer` does, or None (no limit)."""
    return None if value is None else integer(name, value, minimum)


def check_schema_parameter(value: object) -> None:
    """Raise a ValueError if `schema` is neither None, a mapping nor a Schema."""
    if value is not None and not isinstance(value, (Mapping, Schema)):
        raise ValueError(f"schema={value!r}: give a dict by the names of columns, such as {{'zip': 'nominal'}}, or a Schema")


def by_name(name: str, value: object, known: Sequence[Any], what: str = "columns") -> Mapping[Any, Any]:
    """Return a mapping by column name (or other known keys), empty for None; raise a ValueError for unknown keys."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(f"{name}={value!r}: give a dict by the names of {what}, such as {{{_example(known)}: …}}")
    for key in value:
        if key not in known:
            raise ValueError(f"{name} names {key!r}, but the {what} are {', '.join(map(repr, known))}")
    return value


class ClassAmounts(msgspec.Struct, frozen=True):
    """Numbers per class, or per pair of classes, by label: the rows of a fold may have fewer classes than the table."""

    labels: tuple[Any, ...]
    amounts: np.ndarray  # float64 [n_labels] or [n_labels, n_labels]

    def of(self, classes: Sequence[Any]) -> np.ndarray:
        """Return the amounts of these classes, in this order: float64 [n_classes] or [n_classes, n_classes]."""
        code_of = {label: code for code, label in enumerate(self.labels)}
        codes = np.array([code_of[label] for label in classes], int)
        return self.amounts[np.ix_(*[codes] * self.amounts.ndim)]

    def shares(self, classes: Sequence[Any]) -> np.ndarray:
        """Return the amounts of these classes divided by their sum; uniform if all are 0. float64 [n_classes]"""
        amounts = self.of(classes)
        total = amounts.sum()
        return amounts / total if total > 0 else np.full(len(classes), 1 / max(len(classes), 1))


def priors(name: str, value: object, classes: Sequence[Any]) -> ClassAmounts | None:
    """Return the class priors from a vector in class order or a dict by label; they need not sum to 1.

    >>> priors("priors", {"no": 3, "yes": 1}, ("no", "yes")).shares(("yes", "no")).tolist()
    [0.25, 0.75]
    >>> priors("priors", {"no": 3, "yse": 1}, ("no", "yes"))
    Traceback (most recent call last):
    ValueError: priors names 'yse', but the classes are 'no', 'yes'
    """
    if value is None:
        return None
    amounts = _by_class(name, value, classes)
    if amounts.shape != (len(classes),):
        raise ValueError(f"{name}: {amounts.size} numbers for the {len(classes)} classes {list(classes)!r}")
    if not (np.isfinite(amounts).all() and (amounts >= 0).all() and amounts.any()):
        raise ValueError(f"{name}={value!r}: give a probability for each of the classes {list(classes)!r}, not all 0")
    return ClassAmounts(tuple(classes), amounts)


def costs(value: object, classes: Sequence[Any]) -> ClassAmounts | None:
    """Return the misclassification costs from a matrix or a dict of dicts.

    `amounts[i, j]` is the cost of predicting class j for a row of class i. The diagonal must be 0, and every class must have
    a positive cost, otherwise it would never be predicted. Costs that were validated before are returned.

    >>> costs({"no": {"yes": 1}, "yes": {"no": 5}}, ("no", "yes")).amounts.tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    """
    if value is None or isinstance(value, ClassAmounts):
        return value
    if hasattr(value, "columns"):
        raise ValueError(
            "costs is a data frame, whose labels would be lost: give costs.to_dict('index'), a dict of dicts by label"
        )
    amounts = _cost_table(value, classes) if isinstance(value, Mapping) else _numbers("costs", value)
    if amounts.shape != (len(classes), len(classes)):
        raise ValueError(
            f"costs: shape {amounts.shape} for {len(classes)} classes {list(classes)!r}; give a row for each true class "
            "and a column for each predicted class, or a dict of dicts by label"
        )
    if not np.all(np.isfinite(amounts)) or (amounts < 0).any():
        raise ValueError("costs: give finite costs of at least 0")
    if np.any(np.diag(amounts) != 0):
        raise ValueError("costs: correct predictions cost nothing; put 0 on the diagonal")
    if len(classes) > 1 and not amounts.any(axis=1).all():
        free = classes[int(np.argmin(amounts.any(axis=1)))]
        raise ValueError(f"costs: misclassifying {free!r} costs nothing, so it would never be predicted; give a cost")
    return ClassAmounts(tuple(classes), amounts)


def column_or_none(name: str, value: object, schema: Schema) -> str | None:
    """Return the value if it is None or the name of a column of the schema; else raise a ValueError."""
    if value is None:
        return None
    if not isinstance(value, str) or value not in schema.names:
        raise ValueError(f"{name}: {did_you_mean('column', str(value), schema.names)}")
    return value


def monotone(value: object, schema: Schema) -> tuple[tuple[str, int], ...]:
    """Return the monotonicity constraints as pairs (column, 1 or −1), from a dict of 'up' and 'down' by column name."""
    if value is None:
        return ()
    if not isinstance(value, Mapping):
        raise ValueError(f"monotone={value!r}: give a dict of 'up' or 'down' by column, as in {{'age': 'up'}}")
    target = schema.target
    if len(schema.classes) > 2 and not target.declared and any(isinstance(label, str) for label in schema.classes):
        raise ValueError(
            f"monotone: the {len(schema.classes)} classes of {target.name!r} have no order; declare it, "
            f"as in schema={{{target.name!r}: {list(schema.classes)!r}}}"
        )
    return tuple((_ordered_column(name, schema), _direction(name, direction)) for name, direction in value.items())


def _ordered_column(name: object, schema: Schema) -> str:
    """Return the name of a numeric or ordinal column; raise a ValueError for other columns."""
    known = column_or_none("monotone", name, schema)
    if known is None or schema[known].kind in (Kind.NOMINAL, Kind.TEXT):
        raise ValueError(
            f"monotone: the levels of column {name!r} have no order; list them in order in schema={{{name!r}: …}}"
        )
    return known


def _direction(name: object, direction: object) -> int:
    return {"up": 1, "down": -1}[str(one_of(f"monotone[{name!r}]", direction, ("up", "down")))]


class ClassWeights(msgspec.Struct, frozen=True):
    """Weight of a row by class: 1, given weights, or weights that give all occurring classes the same total weight."""

    given: ClassAmounts | None = None
    is_balanced: bool = False

    def of(self, classes: Sequence[Any], weight: np.ndarray) -> np.ndarray:
        """Return the row weight of each class, float64 [n_classes]; `weight` is the total weight of each class."""
        if self.is_balanced:
            occurs = weight > 0
            return np.divide(weight.sum(), np.count_nonzero(occurs) * weight, out=np.zeros(len(classes)), where=occurs)
        return np.ones(len(classes)) if self.given is None else self.given.of(classes)


def class_weights(value: object, classes: Sequence[Any]) -> ClassWeights:
    """Return the class weights from None, "balanced" or a dict by label (1 for a class that is absent from it).

    >>> class_weights({"yes": 3}, ("no", "yes")).of(("no", "yes"), np.ones(2)).tolist()
    [1.0, 3.0]
    """
    if value is None:
        return ClassWeights()
    if isinstance(value, str) and value == "balanced":
        return ClassWeights(is_balanced=True)
    if not isinstance(value, Mapping):
        raise ValueError(f"class_weight={value!r}: give a dict of class to weight, 'balanced' or None")
    amounts = [finite(f"class_weight[{label!r}]", _find(value, label, 1.0), 0) for label in classes]
    return ClassWeights(ClassAmounts(tuple(classes), np.array(amounts)))


def _by_class(name: str, value: object, classes: Sequence[Any]) -> np.ndarray:
    if not isinstance(value, Mapping):
        return _numbers(name, value)
    _check_labels(name, value, classes)
    return _numbers(name, [_find(value, label, 0.0) for label in classes])


def _check_labels(name: str, value: Mapping, classes: Sequence[Any]) -> None:
    """Raise ValueError if a key is neither a class nor a class as string."""
    known = {*classes, *map(str, classes)}
    unknown = [label for label in value if label not in known]
    if unknown:
        raise ValueError(f"{name} names {unknown[0]!r}, but the classes are {', '.join(map(repr, classes))}")


def _cost_table(value: Mapping, classes: Sequence[Any]) -> np.ndarray:
    _check_labels("costs", value, classes)
    rows = [_find(value, label) for label in classes]
    for label, row in zip(classes, rows, strict=True):
        if not isinstance(row, Mapping):
            raise ValueError(f"costs: no row for class {label!r}; the classes are {list(classes)!r}")
        _check_labels(f"costs[{label!r}]", row, classes)
        absent = [other for other in classes if other != label and _find(row, other) is None]
        if absent:
            raise ValueError(f"costs[{label!r}]: no cost for class {absent[0]!r}; the classes are {list(classes)!r}")
    return _numbers("costs", [[_find(row, other, 0.0) for other in classes] for row in rows])


def _numbers(name: str, value: object) -> np.ndarray:
    try:
        return np.asarray(value, float)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={value!r}: give numbers, or a dict of numbers by class") from None


def _find(mapping: Mapping, label: object, default: object = None) -> Any:
    """Return the entry of a label, also if the key is the label as string."""
    return mapping.get(label, mapping.get(str(label), default))


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (Real, np.number)) and not isinstance(value, (bool, np.bool_))


def _between(minimum: float, maximum: float) -> str:
    bounds = [f"of at least {minimum:g}"] * (minimum > -np.inf) + [f"at most {maximum:g}"] * (maximum < np.inf)
    return f" {' and '.join(bounds)}" if bounds else ""


def _plain(choice: object) -> object:
    return choice.value if isinstance(choice, Enum) else choice


def _example(known: Sequence[Any]) -> str:
    return repr(known[0]) if known else "'age'"


def reject_text_columns(schema: Schema, algorithm: str, remedy: str = "leave it out") -> None:
    """Raise ValueError if a column is text, which the algorithm cannot use; `{column}` in the remedy is its name."""
    for column in schema.columns:
        if column.kind is Kind.TEXT:
            problem = f"column {column.name!r} is text, which {algorithm} cannot use"
            raise ValueError(f"{problem}; {remedy.format(column=repr(column.name))}")
