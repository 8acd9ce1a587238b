"""Curves with few pieces: neighbouring bins share a value as long as it is within their standard errors."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.additive.model import AdditiveModel, AdditiveTerm
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema


def with_few_pieces(
    model: AdditiveModel, n_errors: float, schema: Schema, monotone: tuple[tuple[str, int], ...]
) -> AdditiveModel:
    """Model whose curves of numbers and ranks have the fewest pieces that stay within `n_errors` standard errors."""
    intercept, terms, directions = model.intercept.copy(), [], dict(monotone)
    for term in model.terms:
        column = schema.columns[term.axes[0].column]
        if len(term.axes) == 2 or column.kind is Kind.NOMINAL:
            terms.append(term)
            continue
        values, known, direction = term.values.copy(), slice(0, len(term.values) - 1), directions.get(column.name, 0)
        for k in range(values.shape[1]):
            few = pieces(term.values[known, k], n_errors * term.errors[known, k], term.weight[known])
            values[known, k] = direction * np.maximum.accumulate(direction * few) if direction else few
        mean = term.weight @ values / max(term.weight.sum(), 1e-300)
        intercept = intercept + mean
        terms.append(AdditiveTerm(term.axes, values - mean, term.errors, term.weight))
    return msgspec.structs.replace(model, intercept=intercept, terms=tuple(terms))


def pieces(values: np.ndarray, margin: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Piecewise constant values within the margins, with the fewest pieces.

    Each piece is as long as the intervals value ± margin have a point in common, which is optimal.

    >>> pieces(np.array([0.0, 0.1, 0.2, 1.0]), np.full(4, 0.15), np.ones(4)).round(3).tolist()
    [0.1, 0.1, 0.1, 1.0]
    """
    low, high = values - margin, values + margin
    result, start = values.copy(), 0
    while start < len(values):
        lowest, highest = np.maximum.accumulate(low[start:]), np.minimum.accumulate(high[start:])
        apart = np.flatnonzero(lowest > highest)
        end = start + (int(apart[0]) if len(apart) else len(values) - start)
        own = slice(start, end)
        total = weight[own].sum()
        mean = weight[own] @ values[own] / total if total > 0 else values[own].mean()
        result[own] = np.clip(mean, lowest[end - start - 1], highest[end - start - 1])
        start = end
    return result
