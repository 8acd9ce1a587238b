"""Between two boosting trials of C5.0: reweighting of the rows, winnowing of columns, and costs as class weights.

Misclassified rows gain weight, and rows whose vote is decided are dropped (`BoostingState`). Winnowing
(`select_useful_columns`) grows a tree on half of the rows and drops columns that do not help on the other half. With
two classes, costs multiply the weights of the class whose misclassification is more expensive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.tree.policy.class_costs import ClassWeighting
from baytree.tree.search.c50 import C50Workspace, restored, trial_settings

_MIN_WEIGHT = np.float32(0.001)  # minimum weight of a correctly classified row, as in C5.0

_MIN_SUBSET_ROWS = 4001  # with more rows than this, C5.0 leaves the lightest out of growing

_FLOAT32 = np.float32


def abandoned(n_trials_left: int, n_trials: int) -> bool:
    """Whether so few trials are left that the first one predicts alone."""
    return n_trials > 1 and n_trials_left <= 2


class NextWeights(NamedTuple):
    """Weights of the rows in the next trial, and which of them it grows from."""

    is_last: bool  # there is no next trial
    is_discarded: bool = False  # the trial itself is not used
    weight: np.ndarray = np.zeros(0, _FLOAT32)  # float32 [n_rows]
    grows: np.ndarray = np.zeros(0, bool)  # bool [n_rows]


class BoostingState:
    """Votes of the trials so far, and the rows that are dropped."""

    def __init__(self, label: np.ndarray, n_classes: int, n_trials: int, stops_early: bool) -> None:
        self.label, self.n_trials, self.stops_early = label, n_trials, stops_early
        self.votes = np.zeros((len(label), n_classes), _FLOAT32)
        self.leader = np.zeros(len(label), np.int64)
        self.is_dropped = np.zeros(len(label), bool)
        self.lightest = 1.0  # current weight of a row that was always classified correctly
        self.n_done = 0

    def next_weights(self, predictions: tuple[np.ndarray, np.ndarray], weight: np.ndarray, is_mute: bool) -> NextWeights:
        """Weights that follow from a trial; `is_mute`: it predicts the same class for every row."""
        choice, confidence = predictions
        self.n_done += 1
        self._count(choice, confidence)
        if 2 * self.n_done > self.n_trials:
            self._drop()
        weight = np.where(self.is_dropped, _FLOAT32(0), weight)
        counts = weight > 0
        is_wrong = counts & (choice != self.label)
        is_right = counts & ~is_wrong
        wrong_weight, right_weight = float(weight[is_wrong].sum(dtype=float)), float(weight[is_right].sum(dtype=float))
        if self.stops_early and wrong_weight < 0.1:
            return NextWeights(True)
        if self.stops_early and (wrong_weight / max(counts.sum(), 1) >= 0.49 or (is_mute and self.n_done > 1)):
            return NextWeights(True, True)
        return self._reweight(weight, is_wrong, is_right, wrong_weight, right_weight)

    def _count(self, choice: np.ndarray, confidence: np.ndarray) -> None:
        rows = np.flatnonzero(~self.is_dropped)
        self.votes[rows, choice[rows]] += confidence[rows].astype(_FLOAT32)
        leads = self.votes[rows, choice[rows]] > self.votes[rows, self.leader[rows]]
        self.leader[rows[leads]] = choice[rows[leads]]

    def _drop(self) -> None:
        """Drop rows that the remaining trials cannot win back."""
        rows = np.arange(len(self.label))
        votes_left = _FLOAT32(self.n_trials - self.n_done)
        self.is_dropped |= self.votes[rows, self.leader] > self.votes[rows, self.label] + votes_left

    def _reweight(
        self, weight: np.ndarray, is_wrong: np.ndarray, is_right: np.ndarray, wrong_weight: float, right_weight: float
    ) -> NextWeights:
        """Move half-way towards equal weight of correct and wrong rows, by the same amount for each wrong row."""
        transfer, scale = (
            (right_weight - wrong_weight) / 4,
            (is_wrong.sum() + is_right.sum()) / max(right_weight + wrong_weight, 1e-30),
        )
        new_weight = weight.copy()
        increment = float(_FLOAT32(transfer / max(is_wrong.sum(), 1)))  # in float32: it decides ties in pruning
        new_weight[is_wrong] = (scale * (weight[is_wrong].astype(float) + increment)).astype(_FLOAT32)
        factor = scale * (right_weight - transfer) / max(right_weight, 1e-30)
        new_weight[is_right] = np.maximum((weight[is_right] * factor).astype(_FLOAT32), _MIN_WEIGHT)
        self.lightest *= factor
        grows = new_weight > 0
        if len(weight) > _MIN_SUBSET_ROWS and self.lightest <= 0.2:
            grows &= new_weight > self.lightest + 0.001
        return NextWeights(False, False, new_weight, grows)


def select_useful_columns(bench: C50Workspace, table: Table, costs: np.ndarray | None) -> tuple[str, ...]:
    """Winnow: take useless columns out of use, and return their names."""
    train, test = halves(table.label, table.n_classes)
    used_before = np.array(bench.rows.used())
    trial_settings(bench)
    used = _useful_columns(bench, train, test, costs, used_before)
    restored(bench)
    bench.rows.use(used.tolist())
    return tuple(
        name for name, was, remains in zip(table.schema.names, used_before, used, strict=True) if was and not remains
    )


def halves(label: np.ndarray, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Two halves of the rows, int32 each: alternate rows of each class, the second half reversed; the first half trains."""
    rank = np.empty(len(label), np.int64)
    for code in range(n_classes):
        rows = np.flatnonzero(label == code)
        rank[rows] = np.arange(len(rows))
    training_half, test_half = np.flatnonzero(rank % 2 == 0), np.flatnonzero(rank % 2 == 1)[::-1]
    order = np.concatenate([training_half, test_half]).astype(np.int32)
    return order[: len(label) // 2], order[len(label) // 2 :]


def _useful_columns(
    bench: C50Workspace, inside: np.ndarray, outside: np.ndarray, costs: np.ndarray | None, used: np.ndarray
) -> np.ndarray:
    """Columns that remain in use, bool [n_columns]."""
    cost_vector = np.zeros(0) if costs is None else np.ascontiguousarray(costs).ravel()
    used_unpruned, tree = _columns(_grow(bench, inside, prunes=False), len(used)), _grow(bench, inside)
    base = bench.rows.cost_of_mistakes(tree, outside, cost_vector, -1)
    harmful = np.zeros(len(used), bool)
    for j in np.flatnonzero(_columns(tree, len(used))):
        harmful[j] = bench.rows.cost_of_mistakes(tree, outside, cost_vector, int(j)) < base
    if harmful.any():
        bench.rows.use((used & ~harmful).tolist())
        if bench.rows.cost_of_mistakes(_grow(bench, inside), outside, cost_vector, -1) > base:
            harmful[:] = False
        bench.rows.use(used.tolist())
    return used & used_unpruned & ~harmful


def _grow(bench: C50Workspace, rows: np.ndarray, prunes: bool = True) -> _core.Growth:
    """Grow a tree of these rows, in which any gain suffices."""
    rows = np.sort(rows)
    weight = bench.rows.weights()
    growth = bench.rows.grow(rows, rows, 0.0, 0.0, 0.0, prunes, True)
    bench.rows.weigh(weight)
    return growth


def _columns(tree: _core.Growth, n_columns: int) -> np.ndarray:
    return np.isin(np.arange(n_columns), tree.arrays()["column"])


def cost_table(weighing: ClassWeighting, table: Table) -> np.ndarray | None:
    """Costs, float64 [n_classes (predicted), n_classes (true)], at least 1 per error; None if all are equal."""
    if weighing.costs is None:
        return None
    costs = np.maximum(weighing.costs.of(table.schema.classes).T, 1.0)
    np.fill_diagonal(costs, 0.0)
    return costs


def class_multipliers(costs: np.ndarray | None, table: Table) -> np.ndarray | None:
    """Weight of a row of each of two classes, mean 1, float64 [2]; None if rows keep their weights."""
    if costs is None or table.n_classes != 2:
        return None
    cost = np.array([costs[1, 0], costs[0, 1]])
    weight = np.bincount(table.label, table.weight, 2)
    return cost / ((weight @ cost) / weight.sum())
