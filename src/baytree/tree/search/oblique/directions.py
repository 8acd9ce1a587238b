"""Candidate directions of oblique splits: Fisher's discriminants of two or three columns, from the scatter at a node.

Columns are scaled by their standard deviations, so that a column in another unit gives the same direction (to the last
bit if units differ by a power of two). A missing value counts as the mean of its class.

`cost` is the description length of a test, in the minimum description length principle: a test of k of p columns on n
rows takes log2 C(p, k) bits for its columns, log2(n − 1) for its threshold, and for each weight but the first its sign,
exponent and leading binary digits. It saves n·H(node) − Σ n·H(branch) bits of the class labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb, log2

import msgspec
import numpy as np

from baytree.tree.model.linear_combinations import Terms

MAX_COLUMNS = 24  # columns whose scatter is computed, those that separate the classes best; bounds the number of triples

MAX_DIRECTIONS = 4  # pairs or triples of columns that are evaluated on the rows, per division of the classes

_MIN_DETERMINANT = 1e-6  # of the correlation matrix of a pair or triple; below it, columns count as collinear

_MAX_EXPONENT_RANGE = 64  # range of the weights' exponents; a sum beyond it would equal one of its columns


class NodeScatter(msgspec.Struct, frozen=True):
    """Class means and within-class products of some columns; a statistic of the rows of a node."""

    column: np.ndarray  # int64 [n_kept]
    weight: np.ndarray  # float64 [n_classes]
    mean: np.ndarray  # float64 [n_classes, n_kept]
    products: np.ndarray  # float64 [n_kept, n_kept], within classes


def scale_near_one(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns [n_rows, n_columns] scaled by powers of two, so that squares do not over- or underflow, and the exponents."""
    largest = np.abs(np.where(np.isfinite(values), values, 0.0)).max(axis=0, initial=0.0)
    unit = np.frexp(largest)[1]
    return np.ldexp(values, -unit), unit


def scatter_of(values: np.ndarray, label: np.ndarray, weight: np.ndarray, n_classes: int) -> NodeScatter:
    """Scatter of the columns that differ most between classes; `values` [n_rows, n_columns] with NaN."""
    indicator = np.zeros((len(label), n_classes))
    indicator[np.arange(len(label)), label] = weight
    size = indicator.sum(axis=0)
    mean, deviation = _center(values, indicator, label, size)
    deviation_norm = np.sqrt(np.einsum("i,ij,ij->j", weight, deviation, deviation))
    ratio = np.divide(
        np.abs(mean - _weighted_mean(mean, size)).max(axis=0),
        deviation_norm,
        out=np.zeros(len(deviation_norm)),
        where=deviation_norm > 0,
    )
    selected = np.sort(np.argsort(-ratio, kind="stable")[:MAX_COLUMNS])
    selected = selected[(deviation_norm[selected] > 0) & np.isfinite(deviation_norm[selected])]
    centred = deviation[:, selected]
    return NodeScatter(selected, size, mean[:, selected], centred.T @ (centred * weight[:, None]))


def _center(values: np.ndarray, member: np.ndarray, label: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Class means [n_classes, n_columns], and the values about them; 0 where a value is missing or infinite."""
    is_finite = np.isfinite(values)
    is_complete = bool(is_finite.all())
    total = np.broadcast_to(size[:, None], (len(size), values.shape[1])) if is_complete else member.T @ is_finite
    finite_values = values if is_complete else np.where(is_finite, values, 0.0)
    mean = np.divide(member.T @ finite_values, total, out=np.zeros(total.shape), where=total > 0)
    deviation = finite_values - mean[label]
    return mean, deviation if is_complete else np.where(is_finite, deviation, 0.0)


def directions(
    scatter: NodeScatter, unit: np.ndarray, groups: list[np.ndarray], n_read: int, min_saving: float
) -> list[Terms]:
    """Sums of two or three columns that promise to save `min_saving` bits more than one column does, without duplicates.

    `unit` are the exponents of the columns' scales. A group is one side of a division of the classes: bool [n_classes].
    The promise is n/2 · log2 of the ratio of Wilks' lambdas.
    """
    unique_terms: dict[Terms, None] = {}
    for first in groups:
        separation = _group_separation(scatter, first)
        if separation is None or len(separation.difference) < n_read:
            continue
        for columns, coefficient in _pairs(separation, min_saving) if n_read == 2 else _triples(separation, min_saving):
            column_ids = scatter.column[columns]
            unique_terms |= dict.fromkeys(
                _round_weights(column_ids, coefficient, separation.standard_deviation[columns], unit[column_ids])
            )
    return list(unique_terms)


def neighbours(terms: Terms, k: int) -> list[Terms]:
    """The same sum with other weights of its k-th column, from half to twice as large, nearest first."""
    steps = 2**DIGITS
    weight = terms[k][1]
    digits, exponent = np.frexp(weight)
    position = round(abs(float(digits)) * 2 * steps) - steps  # 0 … steps − 1 within its octave
    variants = []
    for step in sorted(range(-steps, steps + 1), key=lambda step: (abs(step), step)):
        octave, digit = divmod(position + step, steps)
        size = np.ldexp(1 + digit / steps, int(exponent) - 1 + octave)
        variants.append(_normalize((*terms[:k], (terms[k][0], float(np.sign(weight) * size)), *terms[k + 1 :])))
    return variants


def _weighted_mean(mean: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return (mean * weight[:, None]).sum(axis=0) / weight.sum()


class GroupSeparation(msgspec.Struct, frozen=True):
    """Separation of two groups of classes: scaled mean difference, correlations and standard deviations within groups."""

    difference: np.ndarray  # float64 [n_kept]
    correlation: np.ndarray  # float64 [n_kept, n_kept]
    standard_deviation: np.ndarray  # float64 [n_kept]
    weights: tuple[float, float]  # of the groups

    def required_distance(self, bits: float) -> float:
        """Squared Mahalanobis distance d' R⁻¹ d of the group means that promises so many bits more than the best column."""
        first, second = self.weights
        total = first + second
        scale = first * second / total
        return ((1 + scale * float((self.difference**2).max())) * 2 ** (2 * bits / total) - 1) / scale


def _group_separation(scatter: NodeScatter, first: np.ndarray) -> GroupSeparation | None:
    sides = [scatter.weight * first, scatter.weight * ~first]
    weights = float(sides[0].sum()), float(sides[1].sum())
    if not min(weights) > 0:
        return None
    mean = [_weighted_mean(scatter.mean, side) for side in sides]
    products = scatter.products
    for side, centre in zip(sides, mean, strict=True):  # differences of classes within a group are within-group variation
        if np.count_nonzero(side) > 1:
            deviation = scatter.mean - centre
            products = products + deviation.T @ (deviation * side[:, None])
    standard_deviation = np.sqrt(np.diagonal(products))
    return GroupSeparation(
        (mean[0] - mean[1]) / standard_deviation,
        products / standard_deviation[:, None] / standard_deviation,
        standard_deviation,
        weights,
    )


ColumnCoefficients = list[tuple[np.ndarray, np.ndarray]]  # columns, and their coefficients in standardised units


def _pairs(separation: GroupSeparation, min_saving: float) -> ColumnCoefficients:
    """Pairs of columns that separate the groups best, and well enough."""
    difference, r = separation.difference, separation.correlation
    uncorrelated = 1 - r * r
    coefficient = difference[:, None] - r * difference  # of the first column of each pair
    distance = difference[:, None] * coefficient
    distance = np.divide(
        distance + distance.T, uncorrelated, out=np.full(r.shape, -1.0), where=uncorrelated > _MIN_DETERMINANT
    )
    pairs = _largest_distances(np.triu(distance, 1), separation.required_distance(min_saving))
    return [(np.array([i, j]), np.array([coefficient[i, j], coefficient[j, i]])) for i, j in pairs]


def _largest_distances(distance: np.ndarray, required: float) -> list[tuple[int, ...]]:
    if not distance.max() > required:
        return []
    order = np.argsort(-distance, axis=None, kind="stable")[:MAX_DIRECTIONS]
    indices = zip(*np.unravel_index(order, distance.shape), strict=True)
    return [tuple(map(int, index)) for index in indices if distance[index] > required]


def _triples(separation: GroupSeparation, min_saving: float) -> ColumnCoefficients:
    """The best pairs, which promise half as much, extended by each third column; d' R⁻¹ d by Cramer's rule."""
    columns = _extend_pairs(_pairs(separation, min_saving / 2), len(separation.difference))  # [n_sets, 3]
    if not len(columns):
        return []
    correlation, difference = (
        separation.correlation[columns[:, :, None], columns[:, None, :]],
        separation.difference[columns],
    )
    determinant, parts = _determinant(correlation), []
    for k in range(3):
        replaced = correlation.copy()
        replaced[:, :, k] = difference
        parts.append(_determinant(replaced))
    coefficient = np.stack(parts, axis=1) / np.where(determinant > _MIN_DETERMINANT, determinant, np.nan)[:, None]
    distance = np.nan_to_num((coefficient * difference).sum(axis=1), nan=-1.0)
    return [(columns[k], coefficient[k]) for (k,) in _largest_distances(distance, separation.required_distance(min_saving))]


def _determinant(matrix: np.ndarray) -> np.ndarray:
    """Determinants of matrices [n, 3, 3], term by term."""
    m = np.moveaxis(matrix, 0, 2)
    first = m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1]
    second = m[1, 0] * m[2, 2] - m[1, 2] * m[2, 0]
    third = m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0]
    return m[0, 0] * first - m[0, 1] * second + m[0, 2] * third


def _extend_pairs(pairs: ColumnCoefficients, n: int) -> np.ndarray:
    """Pairs with each third column, int64 [n_sets, 3]."""
    triples = {tuple(sorted((*columns.tolist(), k))) for columns, _ in pairs for k in range(n) if k not in columns}
    return np.array(sorted(triples), np.int64).reshape(-1, 3)


def _round_weights(
    columns: np.ndarray, coefficient: np.ndarray, standard_deviation: np.ndarray, unit: np.ndarray
) -> Iterator[Terms]:
    """Sum with weights rounded to few binary digits; nothing if a column hardly counts."""
    if np.abs(coefficient).min() * 2**MAX_WEIGHT_RATIO_LOG2 < np.abs(coefficient).max():
        return
    ratio = (coefficient / coefficient[0]) * (standard_deviation[0] / standard_deviation)
    digits, exponent = np.frexp(ratio)
    exponent = exponent - (unit - unit[0])
    if np.ptp(exponent) <= _MAX_EXPONENT_RANGE:
        weight = np.ldexp(np.round(digits * 2 ** (DIGITS + 1)), exponent - DIGITS - 1)
        yield _normalize(tuple(zip(columns.tolist(), weight.tolist(), strict=True)))


def _normalize(terms: Terms) -> Terms:
    """Sum scaled by a power of two such that its smallest weight is in [1, 2): all have at most three decimals."""
    smallest = min(abs(weight) for _, weight in terms)
    factor = float(np.ldexp(1.0, 1 - int(np.frexp(smallest)[1])))
    return tuple((j, weight * factor) for j, weight in terms)


DIGITS = 3  # of a weight in base 2, after the leading one: 1, 1.125, 1.25, … 1.875

MAX_WEIGHT_RATIO_LOG2 = (
    3  # in standardised units; a column with a smaller weight hardly counts, and the direction is dropped
)

WEIGHT_BITS = 1 + DIGITS + log2(2 * (MAX_WEIGHT_RATIO_LOG2 + 1) + 1)  # one octave more: weights are tried up and down


def cost(n_read: int, n_columns: int, weight: float) -> float:
    """Description length in bits of a test of `n_read` of the columns, at a node of this weight."""
    return log2(comb(n_columns, n_read)) + log2(max(weight - 1, 1)) + (n_read - 1) * WEIGHT_BITS


def label_bits(counts: np.ndarray) -> np.ndarray:
    """n·H, the bits that encode the class of every row, from class weights [n_nodes, n_classes], float64 [n_nodes]."""
    total = counts.sum(axis=1, keepdims=True)
    proportion = np.divide(counts, total, out=np.ones_like(counts), where=counts > 0)
    return -(counts * np.log2(proportion)).sum(axis=1)
