"""Rows of a table as the exact search reads them: integer weights of decisions.

The search minimizes misclassified weight. Misclassification costs reduce to it. Let g[c, d] = max_e cost[c, e] − cost[c, d]
be the gain of decision d for class c, compared with the dearest one. Each row enters the search once per decision with a
gain, labelled by the decision and weighted by weight · gain. A leaf that decides for d then misclassifies the weight of all
other decisions, and over all leaves this sum is the cost of the decisions plus a constant:

    Σ_leaf (Σ_e w_e − w_d) = Σ_row weight · (Σ_e g[c, e] − max_e g[c, e]) + Σ_row weight · cost[c, d]

Without costs, g is the identity, every row enters once with its weight, and the constant is 0.

The minimum weight of a leaf must count rows, not gains. If it can exclude a leaf, the same amount is added to all gains of a
class, which changes the sum by a constant only, so that the gains of every class have one total. The weight of a leaf in the
search is then that total times the weight of its rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from baytree.data.encoding.table import Table

_MAX_INTEGER_SUM = 2.0**50  # up to here weights are added unchanged

_RESOLUTION = 2.0**52  # other weights are rounded to multiples of their sum divided by this

_MAX_COST_BITS = 56  # bits of the cost of misclassifying every row


class IntegerWeights(NamedTuple):
    """Weights as integers in a common unit."""

    units: np.ndarray  # int64 [n]
    per_weight: float  # units per weight of 1


class SearchRows(NamedTuple):
    """Rows of the search: one for each row of the table with weight and each decision with a gain."""

    row: np.ndarray  # int [n], index of the row in the table
    decision: np.ndarray  # int32 [n]
    units: np.ndarray  # int64 [n]
    total: float  # units of a cost of 1 for every row of the table
    constant: int  # units that every tree misclassifies, besides its cost
    least: int  # minimum units of a leaf

    @property
    def mistake(self) -> int:
        """Cost of misclassifying one unit."""
        return 1 << (_MAX_COST_BITS - int(self.units.sum()).bit_length())

    def leaf(self, penalty: float) -> int:
        """Cost of a leaf: the penalty, relative to the total weight, plus 1, so that of equal trees the smaller wins."""
        return round(min(penalty * self.total, float(self.units.sum())) * self.mistake) + 1

    def mean_cost(self, cost: int) -> float:
        """Cost of the search as a mean cost of the table's rows."""
        return (cost / self.mistake - self.constant) / self.total


def search_rows(table: Table, weights: IntegerWeights, loss: np.ndarray | None, min_leaf: float) -> SearchRows:
    """Rows of the search for misclassification costs [n_classes (true), n_classes (predicted)]; None: each costs 1."""
    row = np.flatnonzero(weights.units)
    label, weight = np.asarray(table.label, np.int32)[row], np.asarray(table.weight, np.float64)
    if loss is None:
        units = weights.units[row]
        return SearchRows(row, label, units, float(units.sum()), 0, _least(min_leaf, weights.per_weight, units))
    gains, least, scale = loss.max(axis=1, keepdims=True) - loss, 0.0, 1.0
    if min_leaf > weight[row].min():
        totals = gains.sum(axis=1, keepdims=True)
        scale = float(len(loss))  # so that whole costs remain whole
        gains, least = scale * gains + (totals.max() - totals), min_leaf * scale * float(totals.max())
    of_row = gains[label]  # [n_rows, n_decisions]
    place, decision = np.nonzero(of_row)
    units, per_weight = integer_weights(weight[row][place] * of_row[place, decision])
    place, decision, units = place[units > 0], decision[units > 0], units[units > 0]
    total, largest = np.zeros(len(row), np.int64), np.zeros(len(row), np.int64)
    np.add.at(total, place, units)
    np.maximum.at(largest, place, units)
    return SearchRows(
        row=row[place],
        decision=decision.astype(np.int32),
        units=units,
        total=float(weight.sum()) * scale * per_weight,
        constant=int((total - largest).sum()),
        least=_least(least, per_weight, units),
    )


def _least(min_leaf: float, units_per_weight: float, units: np.ndarray) -> int:
    """Minimum number of units in a leaf."""
    return int(min(max(1.0, np.ceil(min_leaf * units_per_weight * (1 - 1e-12))), float(units.sum()) + 1.0))


def integer_weights(weight: np.ndarray) -> IntegerWeights:
    """Integer weights: unchanged if integers, multiples of the smallest if it divides all, else rounded finely."""
    weight = np.asarray(weight, np.float64)
    total, smallest = float(weight.sum()), float(weight[weight > 0].min(initial=np.inf))
    for unit in (1.0, smallest):
        in_units = weight / unit
        rounded = np.rint(in_units)
        if total / unit <= _MAX_INTEGER_SUM and np.all(np.abs(in_units - rounded) <= 1e-12 * rounded):
            return IntegerWeights(rounded.astype(np.int64), 1 / unit)
    return IntegerWeights(np.rint(weight / total * _RESOLUTION).astype(np.int64), _RESOLUTION / total)
