"""Coefficient tables of linear models: estimates in original units with Wald standard errors, z, p and confidence intervals.

`coefficient_table` builds the table of a classifier; `regression/model.py` has the one with Student's t. Standard errors
exist only for unpenalised fits. `FeatureTable` is the base class of all tables with one row per feature.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from baytree.data.schema.schema import Schema
from baytree.display.results import frame_of
from baytree.rendering.linear_text import coefficient_lines
from baytree.summary.linear import Coefficient, LinearSummary

if TYPE_CHECKING:
    from baytree.linear.linear_model import LinearModel


class FeatureTable(msgspec.Struct, frozen=True):
    """One record per feature; iterable, and convertible to dicts or a data frame."""

    rows: tuple[Any, ...]  # records of one type
    references: tuple[tuple[str, str], ...] = ()  # (column, reference level) of each nominal column

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict per row."""
        return [msgspec.structs.asdict(row) for row in self.rows]

    def to_frame(self) -> Any:
        """A data frame of the library in use."""
        return frame_of({name: [getattr(row, name) for row in self] for name in self.rows[0].__struct_fields__})


class CoefficientTable(FeatureTable, frozen=True):
    """Coefficients of a linear classifier; prints as a table."""

    base: object = None  # baseline class of the log-odds, if there is one

    def summary(self, title: str, target: str, axes: tuple[float, ...] = ()) -> LinearSummary:
        """The table as a `LinearSummary`, with class labels as strings."""
        rows = tuple(msgspec.structs.replace(row, label=str(row.label)) for row in self.rows)
        base = None if self.base is None else str(self.base)
        return LinearSummary(title, target, rows, base, self.references, axes)

    def __str__(self) -> str:
        return "\n".join(coefficient_lines(self.summary("", "")))


def coefficient_table(
    model: LinearModel, covariance: np.ndarray, schema: Schema, level: float = 0.95, is_bound: np.ndarray | None = None
) -> CoefficientTable:
    """Coefficient table of a linear model, with the intercept of each class first.

    `covariance` is that of the coefficients in standard units, or empty. `is_bound` (bool [n_features]) flags coefficients
    that are 0 because of a sign constraint.
    """
    classes = schema.classes
    names = ["(intercept)", *model.design.names(schema.columns)]
    columns = ["", *(schema.columns[j].name for j in model.design.source)]
    estimate, importance, base = _estimates(model, has_errors=bool(covariance.size), classes=classes)
    error = standard_errors(model, covariance, estimate.shape)
    labels = classes[1:] if base is not None else classes
    rows = [
        _line(label, names[f], columns[f], estimate[c, f], importance[c, f], error[c, f], level)
        for c, label in enumerate(labels)
        for f in range(len(names))
    ]
    if is_bound is not None and is_bound.any():
        bound_flags = np.tile(np.append(False, is_bound), len(labels))
        rows = [msgspec.structs.replace(row, is_bound=bool(at)) for row, at in zip(rows, bound_flags, strict=True)]
    return CoefficientTable(tuple(rows), references_of(model, schema), base)


def _estimates(model: LinearModel, has_errors: bool, classes: tuple) -> tuple[np.ndarray, np.ndarray, object]:
    """Coefficients (intercept first) in original units, the same in standard units, and the baseline class.

    If a multinomial model has standard errors, its coefficients are differences from the first class, as the errors are.
    """
    raw_coefficient, intercept = model.in_original_units()
    estimate = np.column_stack([intercept, raw_coefficient])
    importance = np.column_stack([model.intercept, model.weight])
    if model.link == "sigmoid":
        return estimate, importance, classes[0]
    if has_errors and model.link == "softmax":
        return estimate[1:] - estimate[0], importance[1:] - importance[0], classes[0]
    return estimate, importance, None


def standard_errors(model: LinearModel, covariance: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Standard errors in original units, intercept first; NaN without a covariance. float64 [n_scores, n_features + 1]"""
    if not covariance.size:
        return np.full(shape, np.nan)
    design, q = model.design, shape[1]
    to_raw = np.zeros((q, q))  # rows: intercept, features; columns: features, the constant
    to_raw[0, -1] = 1.0
    to_raw[0, : design.n_dense] = -design.centre / design.scale[: design.n_dense]
    with np.errstate(over="ignore"):
        to_raw[1:, :-1] = np.diag(np.minimum(1 / design.scale, 1e150))  # squared errors must not overflow
    blocks = [covariance[c * q : (c + 1) * q, c * q : (c + 1) * q] for c in range(shape[0])]
    variance = np.array([np.einsum("ij,jk,ik->i", to_raw, block, to_raw) for block in blocks])
    return np.sqrt(np.maximum(variance, 0.0))


def _line(
    label: object, feature: str, column: str, estimate: float, importance: float, error: float, level: float
) -> Coefficient:
    odds = math.exp(min(float(estimate), 709.0))
    line = Coefficient(label, feature, column, float(estimate), odds, float(importance))
    if not error > 0:
        return line
    z = float(estimate / error)
    half_width = NormalDist().inv_cdf((1 + level) / 2) * float(error)
    return msgspec.structs.replace(
        line,
        standard_error=float(error),
        z=z,
        p=math.erfc(abs(z) / math.sqrt(2)),
        interval=(float(estimate) - half_width, float(estimate) + half_width),
    )


def references_of(model: LinearModel, schema: Schema) -> tuple[tuple[str, str], ...]:
    """(column, reference level) of each nominal column that has a reference level."""
    return tuple(
        (schema.columns[j].name, schema.columns[j].show(int(level)))
        for j, level in enumerate(model.design.reference)
        if level >= 0
    )
