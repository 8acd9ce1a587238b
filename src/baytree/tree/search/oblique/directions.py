"""Sums of two or three columns that may part two groups of classes: Fisher's directions, from the scatter at a node.

Everything is computed in spreads, so that a column in another unit gives the same direction (to the last bit where units
differ by a power of two). A value that is missing counts as the mean of its class.

What a test costs to tell, and what it saves of telling the classes: minimum description length at a node.

A test of k of p columns that parts n rows is told by log2 C(p, k) bits for its columns, log2(n − 1) for its cut, and for
each weight but the first its sign, its size and its leading digits in base 2. It saves n·H(node) − Σ n·H(branch), in bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb, log2

import msgspec
import numpy as np

from baytree.tree.model.linear_combinations import Terms

MOST_COLUMNS = 24  # whose scatter is taken: those that part the groups best, one by one

MOST_SUMS = 4  # that are tried of each pair of groups

_COLLINEAR = 1e-6

_OCTAVES_APART = 64  # of weights: a sum beyond it would be one of its columns


class NodeScatter(msgspec.Struct, frozen=True):
    """Means and products about them of some columns, by class; a statistic of the rows of a node."""

    column: np.ndarray  # int64 [n_kept]
    weight: np.ndarray  # float64 [n_classes]
    mean: np.ndarray  # float64 [n_classes, n_kept]
    products: np.ndarray  # float64 [n_kept, n_kept], within classes


def near_one(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns [n_rows, n_columns] in units of a power of two in which squares neither over- nor underflow; its exponents."""
    largest = np.abs(np.where(np.isfinite(values), values, 0.0)).max(axis=0, initial=0.0)
    unit = np.frexp(largest)[1]
    return np.ldexp(values, -unit), unit


def scatter_of(values: np.ndarray, label: np.ndarray, weight: np.ndarray, n_classes: int) -> NodeScatter:
    """The scatter of the columns that differ most between classes; `values` [n_rows, n_columns] with NaN."""
    member = np.zeros((len(label), n_classes))
    member[np.arange(len(label)), label] = weight
    size = member.sum(axis=0)
    mean, gap = _about_means(values, member, label, size)
    spread = np.sqrt(np.einsum("i,ij,ij->j", weight, gap, gap))
    ratio = np.divide(np.abs(mean - _mixed(mean, size)).max(axis=0), spread, out=np.zeros(len(spread)), where=spread > 0)
    kept = np.sort(np.argsort(-ratio, kind="stable")[:MOST_COLUMNS])
    kept = kept[(spread[kept] > 0) & np.isfinite(spread[kept])]
    inside = gap[:, kept]
    return NodeScatter(kept, size, mean[:, kept], inside.T @ (inside * weight[:, None]))


def _about_means(
    values: np.ndarray, member: np.ndarray, label: np.ndarray, size: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The mean of each class [n_classes, n_columns], and the values about it; 0 where there is none, or an infinite one."""
    known = np.isfinite(values)
    is_whole = bool(known.all())
    total = np.broadcast_to(size[:, None], (len(size), values.shape[1])) if is_whole else member.T @ known
    filled = values if is_whole else np.where(known, values, 0.0)
    mean = np.divide(member.T @ filled, total, out=np.zeros(total.shape), where=total > 0)
    gap = filled - mean[label]
    return mean, gap if is_whole else np.where(known, gap, 0.0)


def directions(scatter: NodeScatter, unit: np.ndarray, groups: list[np.ndarray], n_read: int, least: float) -> list[Terms]:
    """Sums of two or three columns that promise to save this many bits more than one column does, each once.

    `unit` are the exponents of the columns' units. A group is a side of the classes: bool [n_classes]. What is promised is
    n/2 · log2 of the ratio of Wilks' lambdas.
    """
    found: dict[Terms, None] = {}
    for first in groups:
        apart = _apart(scatter, first)
        if apart is None or len(apart.gap) < n_read:
            continue
        for columns, slope in _pairs(apart, least) if n_read == 2 else _triples(apart, least):
            places = scatter.column[columns]
            found |= dict.fromkeys(_rounded(places, slope, apart.spread[columns], unit[places]))
    return list(found)


def neighbours(terms: Terms, k: int) -> list[Terms]:
    """The same sum with other weights of its column k, from half to twice as large, step by step from the middle."""
    steps = 2**DIGITS
    weight = terms[k][1]
    digits, exponent = np.frexp(weight)
    place = round(abs(float(digits)) * 2 * steps) - steps  # 0 … steps − 1 within its octave
    others = []
    for step in sorted(range(-steps, steps + 1), key=lambda step: (abs(step), step)):
        octave, inside = divmod(place + step, steps)
        size = np.ldexp(1 + inside / steps, int(exponent) - 1 + octave)
        others.append(_normal((*terms[:k], (terms[k][0], float(np.sign(weight) * size)), *terms[k + 1 :])))
    return others


def _mixed(mean: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return (mean * weight[:, None]).sum(axis=0) / weight.sum()


class GroupSeparation(msgspec.Struct, frozen=True):
    """Two groups of classes: the gap between their means in spreads, the correlations within them, and the spreads."""

    gap: np.ndarray  # float64 [n_kept]
    correlation: np.ndarray  # float64 [n_kept, n_kept]
    spread: np.ndarray  # float64 [n_kept]
    weights: tuple[float, float]  # of the groups

    def needed(self, bits: float) -> float:
        """The distance gap' R⁻¹ gap that promises so many bits more than the best column."""
        first, second = self.weights
        whole = first + second
        scale = first * second / whole
        return ((1 + scale * float((self.gap**2).max())) * 2 ** (2 * bits / whole) - 1) / scale


def _apart(scatter: NodeScatter, first: np.ndarray) -> GroupSeparation | None:
    sides = [scatter.weight * first, scatter.weight * ~first]
    weights = float(sides[0].sum()), float(sides[1].sum())
    if not min(weights) > 0:
        return None
    mean = [_mixed(scatter.mean, side) for side in sides]
    products = scatter.products
    for side, centre in zip(sides, mean, strict=True):  # what classes of one group differ by is within it
        if np.count_nonzero(side) > 1:
            off = scatter.mean - centre
            products = products + off.T @ (off * side[:, None])
    spread = np.sqrt(np.diagonal(products))
    return GroupSeparation((mean[0] - mean[1]) / spread, products / spread[:, None] / spread, spread, weights)


Chosen = list[tuple[np.ndarray, np.ndarray]]  # columns, and their slopes where all have one spread


def _pairs(apart: GroupSeparation, least: float) -> Chosen:
    """The pairs of columns that part the groups best and well enough."""
    gap, r = apart.gap, apart.correlation
    rest = 1 - r * r
    slope = gap[:, None] - r * gap  # of the first column of each pair
    distance = gap[:, None] * slope
    distance = np.divide(distance + distance.T, rest, out=np.full(r.shape, -1.0), where=rest > _COLLINEAR)
    found = _farthest(np.triu(distance, 1), apart.needed(least))
    return [(np.array([i, j]), np.array([slope[i, j], slope[j, i]])) for i, j in found]


def _farthest(distance: np.ndarray, needed: float) -> list[tuple[int, ...]]:
    if not distance.max() > needed:
        return []
    order = np.argsort(-distance, axis=None, kind="stable")[:MOST_SUMS]
    places = zip(*np.unravel_index(order, distance.shape), strict=True)
    return [tuple(map(int, place)) for place in places if distance[place] > needed]


def _triples(apart: GroupSeparation, least: float) -> Chosen:
    """The best pairs with each third column, where they promise half as much: gap' R⁻¹ gap by Cramer's rule."""
    columns = _extended(_pairs(apart, least / 2), len(apart.gap))  # [n_sets, 3]
    if not len(columns):
        return []
    inside, side = apart.correlation[columns[:, :, None], columns[:, None, :]], apart.gap[columns]
    whole, parts = _determinant(inside), []
    for k in range(3):
        replaced = inside.copy()
        replaced[:, :, k] = side
        parts.append(_determinant(replaced))
    slope = np.stack(parts, axis=1) / np.where(whole > _COLLINEAR, whole, np.nan)[:, None]
    distance = np.nan_to_num((slope * side).sum(axis=1), nan=-1.0)
    return [(columns[at], slope[at]) for (at,) in _farthest(distance, apart.needed(least))]


def _determinant(matrix: np.ndarray) -> np.ndarray:
    """Of matrices [n, 3, 3], term by term."""
    m = np.moveaxis(matrix, 0, 2)
    first = m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1]
    second = m[1, 0] * m[2, 2] - m[1, 2] * m[2, 0]
    third = m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0]
    return m[0, 0] * first - m[0, 1] * second + m[0, 2] * third


def _extended(pairs: Chosen, n: int) -> np.ndarray:
    """int64 [n_sets, 3]: the pairs with each third column."""
    found = {tuple(sorted((*columns.tolist(), k))) for columns, _ in pairs for k in range(n) if k not in columns}
    return np.array(sorted(found), np.int64).reshape(-1, 3)


def _rounded(columns: np.ndarray, slope: np.ndarray, spread: np.ndarray, unit: np.ndarray) -> Iterator[Terms]:
    """The sum with weights of few digits; none where a column hardly counts."""
    if np.abs(slope).min() * 2**OCTAVES < np.abs(slope).max():
        return
    ratio = (slope / slope[0]) * (spread[0] / spread)
    digits, exponent = np.frexp(ratio)
    exponent = exponent - (unit - unit[0])
    if np.ptp(exponent) <= _OCTAVES_APART:
        weight = np.ldexp(np.round(digits * 2 ** (DIGITS + 1)), exponent - DIGITS - 1)
        yield _normal(tuple(zip(columns.tolist(), weight.tolist(), strict=True)))


def _normal(terms: Terms) -> Terms:
    """The sum times the power of two that makes its least weight 1 or more, below 2: all have at most three decimals."""
    least = min(abs(weight) for _, weight in terms)
    factor = float(np.ldexp(1.0, 1 - int(np.frexp(least)[1])))
    return tuple((j, weight * factor) for j, weight in terms)


DIGITS = 3  # of a weight in base 2, after the first: 1, 1.125, 1.25, … 1.875

OCTAVES = 3  # a direction is taken where, in spreads, no weight is more than 2^3 times another

WEIGHT_BITS = 1 + DIGITS + log2(2 * (OCTAVES + 1) + 1)  # one octave more: weights are tried up and down


def cost(n_read: int, n_columns: int, weight: float) -> float:
    """The bits that tell a test of so many of the columns, at a node of this weight."""
    return log2(comb(n_columns, n_read)) + log2(max(weight - 1, 1)) + (n_read - 1) * WEIGHT_BITS


def class_bits(counts: np.ndarray) -> np.ndarray:
    """float64 [n_nodes]: n·H, the bits that tell the class of every row, of weights by class [n_nodes, n_classes]."""
    total = counts.sum(axis=1, keepdims=True)
    share = np.divide(counts, total, out=np.ones_like(counts), where=counts > 0)
    return -(counts * np.log2(share)).sum(axis=1)
