"""Rows drawn from a discriminant model: a class by its prior, features by its Gaussian, columns by their kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree.linear.design.design import Design
from baytree.linear.design.feature_layout import MISSING, VALUE
from baytree.linear.discriminant.model import UNSEEN, LinearDiscriminant, QuadraticDiscriminant
from baytree.show.results import frame_of
from baytree.table.schema import Column, Schema


def sample(model: LinearDiscriminant | QuadraticDiscriminant, schema: Schema, n: int, random: np.random.Generator) -> Any:
    """A frame of n rows with their classes."""
    label = random.choice(len(model.prior), size=n, p=model.prior)
    x = np.empty((n, len(model.design)))
    for k in np.unique(label):
        own = np.flatnonzero(label == k)
        noise = random.standard_normal((len(own), x.shape[1]))
        x[own] = model.mean[k] + noise @ _root(model, int(k)).T
    x = x * model.design.scale + model.design.centre
    columns = {c.name: _column(x, model.design, j, c) for j, c in enumerate(schema.columns)}
    columns[schema.target.name] = np.array(schema.classes, dtype=object)[label]
    return frame_of(columns)


def _root(model: LinearDiscriminant | QuadraticDiscriminant, k: int) -> np.ndarray:
    """A square root of the class's covariance in standard units."""
    if isinstance(model, QuadraticDiscriminant):
        varies = model.whiten[k].diagonal() > UNSEEN
        return np.where(varies[:, None], np.linalg.inv(model.whiten[k]), 0.0)
    root, vector = np.linalg.eigh(model.correlation)
    return vector * np.sqrt(np.maximum(root, 0.0))


def _column(x: np.ndarray, design: Design, j: int, column: Column) -> np.ndarray:
    """The column that these features come from: a number, the nearest rank, or the level with the largest mark."""
    own = design.layout.of_column(j)
    level = design.layout.level[own]
    x = x[:, own]
    if (level == VALUE).any():
        number = x[:, level == VALUE][:, 0]
        values = number if not column.levels else _named(np.clip(np.rint(number), 0, len(column.levels) - 1), column)
    else:
        marks = np.flatnonzero(level >= 0)
        rest = 1 - x[:, marks].sum(axis=1, keepdims=True)
        codes = np.append(design.reference[j], level[marks])
        values = _named(codes[np.hstack([rest, x[:, marks]]).argmax(axis=1)], column)
    gap = (x[:, level == MISSING] > 0.5).any(axis=1)
    values = values.copy()
    values[gap] = np.nan if values.dtype.kind == "f" else None
    return values


def _named(codes: np.ndarray, column: Column) -> np.ndarray:
    return np.array(column.levels, dtype=object)[codes.astype(int)]
