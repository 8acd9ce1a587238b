"""Scorecards as `Formula` objects: a lookup of points per column, their sum, and the odds that follow from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from baytree.data.schema.schema import Schema
from baytree.formula import Formula
from baytree.formula.builder import Effects, FormulaBuilder, classification_formula, constant, matrix, numbers
from baytree.formula.expressions import Lookup, Product, Softmax, Sum

if TYPE_CHECKING:
    from baytree.scorecard.model import CardColumn, ScorecardModel


def formula_of(model: ScorecardModel, schema: Schema) -> Formula:
    """Points of the good class, and 0 for the other class, as effects; then the probabilities."""
    steps, is_good = FormulaBuilder(schema), np.eye(2)[model.good]
    effects: Effects = [(each.axis.column, _lookup(each, is_good)) for each in model.columns]
    scores = steps.scores(model.start * is_good, effects)
    log_odds = Sum((Product((scores, constant(model.scale.per_point))), constant(model.scale.shift * is_good)))
    return classification_formula("scorecard", steps, Softmax(log_odds))


def _lookup(each: CardColumn, is_good: np.ndarray) -> Lookup:
    values = each.points[:, None] * is_good
    axis = each.axis
    if len(axis.bin_of_level):
        return Lookup(axis.column, matrix(values[axis.bin_of_level]), numbers(values[-1]))
    return Lookup(axis.column, matrix(values[:-1]), numbers(values[-1]), numbers(axis.cuts))
