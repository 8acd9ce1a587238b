"""The parameters of trees as users give them, checked and named in their words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from baytree.table.schema import Target

MANY = 2**31 - 1  # more than any tree has of anything


def one_of(name: str, value: Any, choices: tuple[str, ...] | list[str]) -> str:
    """The value, if it is one of the choices."""
    if value not in choices:
        raise ValueError(f"{name}={value!r}: give {', '.join(map(repr, choices))}")
    return value


def number(name: str, value: Any, least: float, most: float = np.inf) -> float:
    """The value as a number between two bounds."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number or not least <= value <= most:
        upper = "" if most == np.inf else f" and at most {most:g}"
        raise ValueError(f"{name}={value!r}: give a number of at least {least:g}{upper}")
    return float(value)


def whole(name: str, value: Any, least: int) -> int:
    """The value as a whole number of at least `least`."""
    given = number(name, value, least)
    if not np.isfinite(given) or given != int(given):
        raise ValueError(f"{name}={value!r}: give a whole number")
    return min(int(given), MANY)


def whole_or_none(name: str, value: Any, least: int) -> int | None:
    """The same, or None for no limit."""
    return None if value is None else whole(name, value, least)


def priors_of(priors: Any, target: Target) -> np.ndarray | None:
    """float64 [n_classes]: priors in the order of the classes, from a vector or a dict by label; they sum to 1."""
    if priors is None:
        return None
    classes = target.classes or ()
    given = _by_label("priors", priors, classes) if isinstance(priors, Mapping) else np.asarray(priors, float)
    if given.shape != (len(classes),):
        raise ValueError(f"priors: {given.size} numbers for {len(classes)} classes {list(classes)!r}")
    whole_sum = sum(priors.values()) if isinstance(priors, Mapping) else given.sum()
    if not np.all(np.isfinite(given)) or (given < 0).any() or abs(whole_sum - 1) > 1e-6:
        raise ValueError(f"priors={priors!r}: give probabilities that sum to 1")
    if not given.any():
        raise ValueError(f"priors={priors!r}: every class of the table has probability 0")
    return given / whole_sum


def costs_of(costs: Any, target: Target) -> np.ndarray | None:
    """float64 [n_classes, n_classes]: costs[i, j] is what predicting j costs when i is true."""
    if costs is None:
        return None
    classes = target.classes or ()
    if isinstance(costs, Mapping):
        missing = [c for c in classes if _find(costs, c) is None]
        if missing:
            raise ValueError(f"costs: no row for class {missing[0]!r}; the classes are {list(classes)!r}")
        given = np.array([_by_label(f"costs[{c!r}]", _find(costs, c), classes, own=c) for c in classes])
    else:
        given = np.asarray(costs, float)
    if given.shape != (len(classes), len(classes)):
        raise ValueError(f"costs: shape {given.shape} for {len(classes)} classes {list(classes)!r}")
    if not np.all(np.isfinite(given)) or (given < 0).any():
        raise ValueError("costs: give finite costs of at least 0")
    if np.any(np.diag(given) != 0):
        raise ValueError("costs: the right class costs nothing; put 0 on the diagonal")
    if len(classes) > 1 and not given.any(axis=1).all():
        free = classes[int(np.argmin(given.any(axis=1)))]
        raise ValueError(f"costs: mistaking class {free!r} costs nothing, so it would never be predicted; give a cost")
    return given


def _by_label(name: str, given: Mapping, classes: tuple, own: Any = None) -> np.ndarray:
    found = [0.0 if c == own and _find(given, c) is None else _find(given, c) for c in classes]
    missing = [c for c, value in zip(classes, found, strict=True) if value is None]
    if missing:
        raise ValueError(f"{name}: nothing for class {missing[0]!r}; the classes are {list(classes)!r}")
    return np.array(found, float)


def _find(given: Mapping, label: Any) -> Any:
    """The entry of a label, also where the label was written as text."""
    return given.get(label, given.get(str(label)))
