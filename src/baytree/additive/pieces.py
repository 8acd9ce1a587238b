"""Curves with few pieces: neighbouring bins share a value as long as it is within their standard errors."""

from __future__ import annotations

from itertools import pairwise

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
        few = pieces(term.values[known], n_errors * term.errors[known], term.weight[known])
        values[known] = direction * np.maximum.accumulate(direction * few, axis=0) if direction else few
        mean = term.weight @ values / max(term.weight.sum(), 1e-300)
        intercept = intercept + mean
        terms.append(AdditiveTerm(term.axes, values - mean, term.errors, term.weight))
    return msgspec.structs.replace(model, intercept=intercept, terms=tuple(terms))


def pieces(values: np.ndarray, margin: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Piecewise constant values within the margins, with the fewest pieces. [n_bins, n_scores]

    Each piece is as long as the intervals value ± margin have a point in common in every score, which is optimal.

    >>> pieces(np.array([[0.0], [0.1], [0.2], [1.0]]), np.full((4, 1), 0.15), np.ones(4)).ravel().round(3).tolist()
    [0.1, 0.1, 0.1, 1.0]
    """
    result, bounds = values.copy(), piece_bounds(values - margin, values + margin)
    for start, end in pairwise(bounds):
        own = slice(start, end)
        share = weight[own] if weight[own].sum() > 0 else np.ones(end - start)
        mean = share @ values[own] / share.sum()
        result[own] = np.clip(mean, (values - margin)[own].max(axis=0), (values + margin)[own].min(axis=0))
    return result


def piece_bounds(low: np.ndarray, high: np.ndarray) -> list[int]:
    """Boundaries, from 0, of the fewest pieces in which all intervals have a point in common. [n_bins, n_scores]"""
    bounds = [0]
    while bounds[-1] < len(low):
        start = bounds[-1]
        lowest, highest = np.maximum.accumulate(low[start:]), np.minimum.accumulate(high[start:])
        apart = np.flatnonzero((lowest > highest).any(axis=1))
        bounds.append(start + int(apart[0]) if len(apart) else len(low))
    return bounds
