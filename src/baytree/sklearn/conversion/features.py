"""Features of a fitted scikit-learn model in terms of the table's columns: numbers, ranks or levels.

Read from a ColumnTransformer with one-hot and ordinal encoders in front of the model, or from the model alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import numpy as np

from baytree._typing import EstimatorLike
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema, Target

VALUE = -1  # `Feature.level` if the feature is the column's number or rank


class Feature(NamedTuple):
    """Feature of the model: the value of a column, or an indicator of one of its levels."""

    column: int
    level: int = VALUE


class Features(msgspec.Struct, frozen=True):
    """Columns of the table, and the features computed from them, in the order of the model."""

    columns: tuple[Column, ...]
    inputs: tuple[str, ...]
    is_named: bool
    made: tuple[Feature, ...]

    @property
    def is_plain(self) -> bool:
        """Whether every feature is a number or a rank."""
        return all(feature.level == VALUE for feature in self.made)

    def schema(self, classes: np.ndarray | None) -> Schema:
        """Schema of the columns and of a target named "y", for which scikit-learn has no name."""
        if classes is None:
            return Schema(self.columns, Target("y"), self.inputs, self.is_named)
        dtype = classes.dtype.str if classes.dtype.kind in "iuUSbf" else "object"
        return Schema(self.columns, Target("y", tuple(classes.tolist()), dtype), self.inputs, self.is_named)


def features_of(model: EstimatorLike, encoder: EstimatorLike | None) -> Features:
    """Features of a fitted model, from a fitted ColumnTransformer or one per input column."""
    if encoder is not None:
        return _encoded(encoder)
    names = getattr(model, "feature_names_in_", None)
    inputs = tuple(f"x{j}" for j in range(model.n_features_in_)) if names is None else tuple(map(str, names))
    columns = tuple(Column(name, Kind.NUMERIC) for name in inputs)
    return Features(columns, inputs, names is not None, tuple(Feature(j) for j in range(len(columns))))


def with_levels(features: Features, n_levels: np.ndarray) -> Features:
    """Same features with numeric columns replaced by nominal ones with levels 0, 1, 2, …"""
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
    columns, features = {name: Column(name, Kind.NUMERIC) for name in inputs}, []
    for step, transformer, chosen in encoder.transformers_:
        names_of_step = _named(chosen, inputs)
        for name, column, levels in _step(step, transformer, names_of_step, columns):
            columns[name] = column
            features += [(name, level) for level in levels]
    used = {name for name, _ in features}
    used_names = [name for name in inputs if name in used]
    index_of = {name: j for j, name in enumerate(used_names)}
    return Features(
        tuple(columns[name] for name in used_names),
        inputs,
        True,
        tuple(Feature(index_of[name], level) for name, level in features),
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
    """Column and its features, for each column of a step of the ColumnTransformer."""
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
    raise ValueError(f"step {step!r} is a {kind}; one-hot and ordinal encoders, 'passthrough' and 'drop' can be converted")


def _one_hot(encoder: EstimatorLike, k: int, name: str) -> tuple[str, Column, list[int]]:
    if encoder.min_frequency is not None or encoder.max_categories is not None:
        raise ValueError(f"column {name!r}: a one-hot encoder that groups infrequent levels cannot be converted")
    levels = tuple(encoder.categories_[k].tolist())
    if any(level is None or level != level for level in levels):
        raise ValueError(f"column {name!r}: a one-hot encoder with a level for missing values cannot be converted")
    dropped = None if encoder.drop_idx_ is None else encoder.drop_idx_[k]
    return name, Column(name, Kind.NOMINAL, levels, True), [code for code in range(len(levels)) if code != dropped]
