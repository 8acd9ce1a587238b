"""Splines that follow columns: each piece of a column's function between two knots may not fall, or not rise.

Of terms of one column each, the slope of every piece is a sum of coefficients, so the wish is a cone {c: S c ≥ 0}. Least
squares within it is solved by its dual: multipliers of the pieces by non-negative least squares (Lawson and Hanson 1974).
"""

from __future__ import annotations

import numpy as np

from baytree.linear.design.feature_layout import VALUE
from baytree.linear.splines.basis import FALLING, LINEAR, RISING, Hinge, Term
from baytree.linear.splines.features import Features
from baytree.table.schema import Schema

_ROUNDING = 1e-13  # of what a term adds at most: a coefficient below it is none


def pieces_of(terms: list[Term], features: Features, schema: Schema, followed: tuple[tuple[str, int], ...]) -> np.ndarray:
    """S: the slope of each piece of each followed column, in its direction, by coefficient. [n_pieces, n_terms]"""
    rows = [np.zeros((0, len(terms)))]
    for name, way in followed:
        own = np.flatnonzero((features.layout.source == schema.names.index(name)) & (features.layout.level == VALUE))
        rows += [way * _slopes(terms, int(feature)) for feature in own]
    return np.concatenate(rows)


def _slopes(terms: list[Term], feature: int) -> np.ndarray:
    """The slope of each piece of one feature's function, from the least to the greatest value. [n_pieces, n_terms]"""
    own = {k: term[0] for k, term in enumerate(terms) if term and term[0].feature == feature}
    cuts = np.unique([hinge.cut for hinge in own.values() if hinge.side != LINEAR])
    below = np.append(-np.inf, cuts)  # where each piece begins
    slopes = np.zeros((len(below), len(terms)))
    for k, hinge in own.items():
        slopes[:, k] = _slope(hinge, below)
    return slopes[slopes.any(axis=1)]


def _slope(hinge: Hinge, below: np.ndarray) -> np.ndarray:
    """The slope of a hinge on each piece."""
    if hinge.side == RISING:
        return (below >= hinge.cut).astype(float)
    return np.where(below < hinge.cut, -1.0, 0.0) if hinge.side == FALLING else np.ones(len(below))


def least_squares_within(r: np.ndarray, z: np.ndarray, pieces: np.ndarray) -> np.ndarray:
    """The c of least |z − R c|² where S c ≥ 0; the free one where that is within. r [n, n], z [n], pieces [m, n]"""
    free = np.linalg.solve(r, z)
    if not len(pieces) or (pieces @ free >= 0).all():
        return free
    from scipy.optimize import nnls

    dual = np.linalg.solve(r.T, pieces.T)  # [n, m]
    size = np.sqrt(np.square(dual).sum(axis=0))
    multiplier, _ = nnls(dual / size, -z)
    found = np.linalg.solve(r, z + (dual / size) @ multiplier)
    return _settled(found, r, pieces)


def _settled(found: np.ndarray, r: np.ndarray, pieces: np.ndarray) -> np.ndarray:
    """The coefficients without what rounding has left of those that are 0."""
    is_followed = pieces.any(axis=0)
    adds = np.abs(found) * np.sqrt(np.square(r).sum(axis=0))
    return np.where(is_followed & (adds <= _ROUNDING * adds.max(initial=0.0)), 0.0, found)
