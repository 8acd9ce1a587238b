"""Additive models as `Formula` objects, for export: a lookup per curve; of a surface, the lookup of a cell's number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from baytree.additive.axis import Axis
from baytree.additive.curves import runs
from baytree.data.schema.schema import Schema
from baytree.formula import Formula
from baytree.formula.builder import Effects, FormulaBuilder, classification_formula, matrix, number, numbers
from baytree.formula.expressions import Expression, Lookup, Pick, Softmax, Sum

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
            effects.append((None, _surface(term, values)))
    scores = steps.scores(model.per_class(model.intercept), effects)
    if model.link == "identity":
        return number("additive model", steps, scores)
    return classification_formula("additive model", steps, Softmax(scores))


def _curve(term: AdditiveTerm, values: np.ndarray) -> Expression:
    """Lookup of a curve; neighbouring intervals of equal values are one row."""
    axis = term.axes[0]
    if len(axis.bin_of_level):
        return Lookup(axis.column, matrix(values[axis.bin_of_level]), numbers(values[-1]))
    groups = runs(term)[:-1]
    cuts = axis.cuts[[group[-1] for group in groups[:-1]]]
    return Lookup(axis.column, matrix(values[[group[0] for group in groups]]), numbers(values[-1]), numbers(cuts))


def _surface(term: AdditiveTerm, values: np.ndarray) -> Expression:
    """Row of the cell: bin of the first column times the number of bins of the second, plus the bin of the second."""
    first, second = term.axes
    return Pick(Sum((_bin(first, second.n_bins), _bin(second, 1))), matrix(values))


def _bin(axis: Axis, step: int) -> Expression:
    """Bin of a column times a step."""
    if len(axis.bin_of_level):
        return Lookup(axis.column, matrix(step * axis.bin_of_level.astype(np.float64)), (float(step * axis.n_known),))
    rows = matrix(step * np.arange(axis.n_known, dtype=np.float64))
    return Lookup(axis.column, rows, (float(step * axis.n_known),), numbers(axis.cuts))
