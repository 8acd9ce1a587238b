"""MARS models as `Formula` objects, for export: each feature once, then the effect of each group of terms in the model's
order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema
from baytree.formula import Formula
from baytree.formula.builder import Effects, FormulaBuilder, classification_formula, constant, matrix, number, numbers
from baytree.formula.expressions import (
    Case,
    Expression,
    Greatest,
    Known,
    Lookup,
    Named,
    Number,
    Product,
    Quotient,
    Smallest,
    Softmax,
    Sum,
    When,
)
from baytree.linear.design.feature_layout import MISSING, VALUE
from baytree.linear.formula import log_sigmoid
from baytree.linear.mars.features import MAX_ABS_VALUE, SplineFeatures
from baytree.linear.mars.model import LINEAR, RISING, Hinge

if TYPE_CHECKING:
    from baytree.linear.mars.model import MarsModel


def formula_of(model: MarsModel, schema: Schema) -> Formula:
    """start + Σ effects, then the probabilities; the number itself for a regression."""
    steps = FormulaBuilder(schema)
    features = {int(f): steps.add_step(_feature(model.features, int(f), schema)) for f in np.unique(model.terms.feature)}
    coefficient = model.per_class(model.coefficient)
    effects: Effects = []
    for columns, terms in model.groups():
        value = Sum(tuple(_term(model.terms[k], coefficient[:, k], features) for k in terms))
        effects.append((columns[0] if len(columns) == 1 else None, value))
    scores = steps.scores(coefficient[:, 0], effects)
    if model.link == "identity":
        return number("MARS", steps, scores)
    return classification_formula("MARS", steps, Softmax(log_sigmoid(scores, steps) if model.link == "ovr" else scores))


def _term(term: tuple[Hinge, ...], coefficient: np.ndarray, features: dict[int, Named]) -> Expression:
    return Product((*(_hinge(hinge, features[hinge.feature]) for hinge in term), constant(coefficient)))


def _hinge(hinge: Hinge, x: Named) -> Expression:
    if hinge.side == LINEAR:
        return x
    if hinge.side == RISING:
        return Greatest((constant(0.0), Sum((x, constant(-hinge.cut)))))
    return Greatest((constant(0.0), Sum((constant(hinge.cut), Product((constant(-1.0), x))))))


def _feature(features: SplineFeatures, f: int, schema: Schema) -> Expression:
    """Expression of a feature in its unit, missing values imputed."""
    layout = features.layout
    j, level, unit = int(layout.source[f]), int(layout.level[f]), float(features.unit[f])
    column = schema.columns[j]
    if column.kind is Kind.NUMERIC:
        known = _within(Number(j), unit) if level == VALUE else constant(0.0)
        return Case((When(Known(j), known),), constant(_clipped(layout.fill[j], unit) if level == VALUE else 1.0 / unit))
    code = np.arange(len(column.levels) + 1)
    is_missing_row = code == len(column.levels)
    if level == VALUE:
        raw = np.where(is_missing_row, layout.fill[j], code)
    else:
        raw = is_missing_row if level == MISSING else np.where(is_missing_row, layout.mode[j], code) == level
    rows = np.clip(np.asarray(raw, np.float64) / unit, -MAX_ABS_VALUE, MAX_ABS_VALUE)
    return Lookup(j, matrix(rows[:-1]), numbers(rows[-1:]))


def _within(x: Expression, unit: float) -> Expression:
    scaled = x if unit == 1 else Quotient(x, constant(unit))
    return Smallest((Greatest((scaled, constant(-MAX_ABS_VALUE))), constant(MAX_ABS_VALUE)))


def _clipped(value: float, unit: float) -> float:
    return float(np.clip(value / unit, -MAX_ABS_VALUE, MAX_ABS_VALUE))
