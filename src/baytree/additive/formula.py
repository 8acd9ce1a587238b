"""Additive models as `Formula` objects, for export: a lookup per curve; of a surface, one per bin of its first
column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from baytree.additive.axis import Axis
from baytree.additive.curves import runs
from baytree.data.schema.schema import Schema
from baytree.formula import Formula
from baytree.formula.builder import Effects, FormulaBuilder, classification_formula, constant, matrix, number, numbers
from baytree.formula.expressions import Case, Compare, Expression, Lookup, Softmax, When

if TYPE_CHECKING:
    from baytree.additive.model import AdditiveModel, AdditiveTerm


def formula_of(model: AdditiveModel, schema: Schema) -> Formula:
    """start + Σ effects, then the probabilities; the number itself for a regression."""
    steps = FormulaBuilder(schema)
    effects: Effects = []
    for term in model.terms:
        values = model.per_class(term.values)
        if len(term.axes) == 1:
            effects.append((term.axes[0].column, _curve(term, values)))
        else:
            effects.append((None, _surface(term, values, steps)))
    scores = steps.scores(model.per_class(model.intercept), effects)
    if model.link == "identity":
        return number("additive model", steps, scores)
    return classification_formula("additive model", steps, Softmax(scores))


def _curve(term: AdditiveTerm, values: np.ndarray) -> Expression:
    """Lookup of a curve; neighbouring intervals of equal values are one row."""
    axis = term.axes[0]
    if len(axis.bin_of_level):
        return _lookup(axis, values)
    groups = runs(term)[:-1]
    cuts = axis.cuts[[group[-1] for group in groups[:-1]]]
    return Lookup(axis.column, matrix(values[[group[0] for group in groups]]), numbers(values[-1]), numbers(cuts))


def _surface(term: AdditiveTerm, values: np.ndarray, steps: FormulaBuilder) -> Expression:
    """For each bin of the first column, a lookup by the second."""
    first, second = term.axes
    rows = values.reshape(first.n_bins, second.n_bins, -1)
    at = steps.add_step(_lookup(first, np.arange(first.n_bins, dtype=np.float64)[:, None]))
    whens = [When(Compare(at, "==", constant(float(b))), _lookup(second, rows[b])) for b in range(first.n_known)]
    return Case(tuple(whens), _lookup(second, rows[-1]))


def _lookup(axis: Axis, values: np.ndarray) -> Expression:
    """Row of each bin, that of missing values last."""
    if len(axis.bin_of_level):
        return Lookup(axis.column, matrix(values[axis.bin_of_level]), numbers(values[-1]))
    return Lookup(axis.column, matrix(values[:-1]), numbers(values[-1]), numbers(axis.cuts))
