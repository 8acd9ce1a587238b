"""What the features of a fitted scikit-learn model are, in terms of the columns of the table: numbers, ranks or levels.

Read from a ColumnTransformer with one-hot and ordinal encoders in front of the model, or from the model alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import numpy as np

from baytree._typing import EstimatorLike
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema, Target

VALUE = -1  # the feature is the column's number or rank


class Feature(NamedTuple):
    """A feature that the model sees: a column's value, or whether the column has a level."""

    column: int
    level: int = VALUE


class Features(msgspec.Struct, frozen=True):
    """The columns of the table, and the features made of them, in the order in which the model has them."""

    columns: tuple[Column, ...]
    inputs: tuple[str, ...]
    is_named: bool
    made: tuple[Feature, ...]

    @property
    def is_plain(self) -> bool:
        """Whether every feature is a number or a rank."""
        return all(feature.level == VALUE for feature in self.made)

    def schema(self, classes: np.ndarray | None) -> Schema:
        """The schema of rows of these columns, and of a target that scikit-learn has no name for."""
        if classes is None:
            return Schema(self.columns, Target("y"), self.inputs, self.is_named)
        dtype = classes.dtype.str if classes.dtype.kind in "iuUSbf" else "object"
        return Schema(self.columns, Target("y", tuple(classes.tolist()), dtype), self.inputs, self.is_named)


def features_of(model: EstimatorLike, encoder: EstimatorLike | None) -> Features:
    """The features of a fitted model, behind a fitted ColumnTransformer or as they come."""
    if encoder is not None:
        return _encoded(encoder)
    names = getattr(model, "feature_names_in_", None)
    inputs = tuple(f"x{j}" for j in range(model.n_features_in_)) if names is None else tuple(map(str, names))
    columns = tuple(Column(name, Kind.NUMERIC) for name in inputs)
    return Features(columns, inputs, names is not None, tuple(Feature(j) for j in range(len(columns))))


def with_levels(features: Features, n_levels: np.ndarray) -> Features:
    """The same features, whose numbers are codes 0, 1, 2, …"""
    columns = tuple(
        column if column.levels else Column(column.name, Kind.NOMINAL, tuple(range(int(n))), True)
        for column, n in zip(features.columns, n_levels, strict=True)
    )
    return msgspec.structs.replace(features, columns=columns)


def _encoded(encoder: EstimatorLike) -> Features:
    names = getattr(encoder, "feature_names_in_", None)
    if names is None:
        raise ValueError("the ColumnTransformer was fitted on an array; fit it on a data frame, whose columns have names")
    inputs = tuple(map(str, names))
    columns, made = {name: Column(name, Kind.NUMERIC) for name in inputs}, []
    for step, transformer, chosen in encoder.transformers_:
        own = _named(chosen, inputs)
        for name, column, levels in _step(step, transformer, own, columns):
            columns[name] = column
            made += [(name, level) for level in levels]
    used = {name for name, _ in made}
    kept = [name for name in inputs if name in used]
    place = {name: j for j, name in enumerate(kept)}
    return Features(
        tuple(columns[name] for name in kept), inputs, True, tuple(Feature(place[name], level) for name, level in made)
    )


def _named(chosen: Any, inputs: tuple[str, ...]) -> list[str]:
    if isinstance(chosen, str):
        return [chosen]
    if isinstance(chosen, slice):
        return list(inputs[chosen])
    array = np.asarray(chosen)
    if array.dtype.kind == "b":
        return [name for name, is_chosen in zip(inputs, array, strict=True) if is_chosen]
    return [inputs[each] if isinstance(each, (int, np.integer)) else str(each) for each in list(chosen)]


def _step(
    step: str, transformer: EstimatorLike, own: list[str], columns: dict[str, Column]
) -> list[tuple[str, Column, list[int]]]:
    """For each column of a step what it is, and the features made of it."""
    kind = transformer if isinstance(transformer, str) else type(transformer).__name__
    if kind == "drop":
        return []
    if kind in ("passthrough", "FunctionTransformer") and getattr(transformer, "func", None) is None:
        return [(name, columns[name], [VALUE]) for name in own]
    if kind == "OneHotEncoder":
        return [_one_hot(transformer, k, name) for k, name in enumerate(own)]
    if kind == "OrdinalEncoder":
        pairs = zip(own, transformer.categories_, strict=True)
        return [(name, Column(name, Kind.ORDINAL, tuple(levels.tolist()), True), [VALUE]) for name, levels in pairs]
    raise ValueError(f"step {step!r} is a {kind}; one-hot and ordinal encoders, 'passthrough' and 'drop' can be taken over")


def _one_hot(encoder: EstimatorLike, k: int, name: str) -> tuple[str, Column, list[int]]:
    if encoder.min_frequency is not None or encoder.max_categories is not None:
        raise ValueError(f"column {name!r}: a one-hot encoder that joins infrequent levels cannot be taken over")
    levels = tuple(encoder.categories_[k].tolist())
    if any(level is None or level != level for level in levels):
        raise ValueError(f"column {name!r}: a one-hot encoder with a level for missing values cannot be taken over")
    dropped = None if encoder.drop_idx_ is None else encoder.drop_idx_[k]
    return name, Column(name, Kind.NOMINAL, levels, True), [code for code in range(len(levels)) if code != dropped]
