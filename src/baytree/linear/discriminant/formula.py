"""Quadratic discriminant analysis as a `Formula`, for export."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from baytree.data.schema.schema import Schema
from baytree.formula import Formula
from baytree.formula.builder import FormulaBuilder, classification_formula, constant
from baytree.formula.expressions import Expression, Named, Product, Quotient, Smallest, Softmax, Sum
from baytree.linear.formula import _features

if TYPE_CHECKING:
    from baytree.linear.discriminant.model import QuadraticDiscriminant

MAX_HALF_SQUARE = 1e300  # upper bound of half the squared distance to a class, as in the model


def quadratic(title: str, model: QuadraticDiscriminant, schema: Schema) -> Formula:
    """start − |W (x − mean)|² / 2 for each class, then softmax."""
    steps = FormulaBuilder(schema)
    differences = [
        steps.add_step(Sum((steps.add_step(feature), constant(-model.mean[:, f]))))
        for f, feature in enumerate(_features(model.design, schema))
    ]
    squares = [_square(steps, model.whiten[:, i], differences) for i in range(len(differences))]
    half = Smallest((Quotient(Sum(tuple(squares)), constant(2.0)), constant(MAX_HALF_SQUARE)))
    return classification_formula(
        title, steps, Softmax(steps.add_step(Sum((constant(model.start), Product((constant(-1.0), half))))))
    )


def _square(steps: FormulaBuilder, row: np.ndarray, apart: list[Named]) -> Expression:
    """Square of one whitened coordinate. row [n_classes, n_features]"""
    used = [f for f in range(len(apart)) if row[:, f].any()]
    z = steps.add_step(Sum(tuple(Product((constant(row[:, f]), apart[f])) for f in used)))
    return Product((z, z))
