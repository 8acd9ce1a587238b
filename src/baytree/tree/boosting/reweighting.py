"""Between two trials of boosting: rows that were wrong weigh more, and rows whose class is settled are dropped.

C5.0's winnowing: a tree of half of the rows tells which columns do no good on the other half.

What costs make of C5.0's rows: of two classes, the one whose mistakes cost more weighs more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.tree.policy.class_costs import ClassWeighting
from baytree.tree.search.c50 import C50Workspace, restored, trial_settings

_FEW = np.float32(0.001)  # the least that a row which was right weighs

_MANY_ROWS = 4001  # of more rows, the lightest are left out of growing

_SINGLE = np.float32


def abandoned(n_found: int, n_wanted: int) -> bool:
    """Whether so few trials are left that the first answers alone."""
    return n_wanted > 1 and n_found <= 2


class NextWeights(NamedTuple):
    """What the rows weigh in the next trial, and which of them it grows from."""

    is_last: bool  # there is no next trial
    is_discarded: bool = False  # the trial itself does not count
    weight: np.ndarray = np.zeros(0, _SINGLE)  # float32 [n_rows]
    grows: np.ndarray = np.zeros(0, bool)  # bool [n_rows]


class BoostingState:
    """The votes of the trials so far."""

    def __init__(self, label: np.ndarray, n_classes: int, n_trials: int, stops_early: bool) -> None:
        self.label, self.n_trials, self.stops_early = label, n_trials, stops_early
        self.votes = np.zeros((len(label), n_classes), _SINGLE)
        self.leader = np.zeros(len(label), np.int64)
        self.is_dropped = np.zeros(len(label), bool)
        self.lightest = 1.0  # what a row weighs by now that was right from the beginning
        self.n_done = 0

    def after(self, answers: tuple[np.ndarray, np.ndarray], weight: np.ndarray, is_mute: bool) -> NextWeights:
        """What follows from a trial; `is_mute`: it says the same of every row."""
        choice, confidence = answers
        self.n_done += 1
        self._count(choice, confidence)
        if 2 * self.n_done > self.n_trials:
            self._drop()
        weight = np.where(self.is_dropped, _SINGLE(0), weight)
        counts = weight > 0
        wrong = counts & (choice != self.label)
        right = counts & ~wrong
        w_wrong, w_right = float(weight[wrong].sum(dtype=float)), float(weight[right].sum(dtype=float))
        if self.stops_early and w_wrong < 0.1:
            return NextWeights(True)
        if self.stops_early and (w_wrong / max(counts.sum(), 1) >= 0.49 or (is_mute and self.n_done > 1)):
            return NextWeights(True, True)
        return self._reweighed(weight, wrong, right, w_wrong, w_right)

    def _count(self, choice: np.ndarray, confidence: np.ndarray) -> None:
        rows = np.flatnonzero(~self.is_dropped)
        self.votes[rows, choice[rows]] += confidence[rows].astype(_SINGLE)
        leads = self.votes[rows, choice[rows]] > self.votes[rows, self.leader[rows]]
        self.leader[rows[leads]] = choice[rows[leads]]

    def _drop(self) -> None:
        """Rows that the trials to come cannot win back are dropped for good."""
        rows = np.arange(len(self.label))
        left = _SINGLE(self.n_trials - self.n_done)
        self.is_dropped |= self.votes[rows, self.leader] > self.votes[rows, self.label] + left

    def _reweighed(
        self, weight: np.ndarray, wrong: np.ndarray, right: np.ndarray, w_wrong: float, w_right: float
    ) -> NextWeights:
        """Half-way to equal weight of right and wrong rows, the same amount for each wrong row."""
        shift, scale = (w_right - w_wrong) / 4, (wrong.sum() + right.sum()) / max(w_right + w_wrong, 1e-30)
        after = weight.copy()
        after[wrong] = (scale * (weight[wrong] + shift / max(wrong.sum(), 1))).astype(_SINGLE)
        falls = scale * (w_right - shift) / max(w_right, 1e-30)
        after[right] = np.maximum((weight[right] * falls).astype(_SINGLE), _FEW)
        self.lightest *= falls
        grows = after > 0
        if len(weight) > _MANY_ROWS and self.lightest <= 0.2:
            grows &= after > self.lightest + 0.001
        return NextWeights(False, False, after, grows)


def select_useful_columns(bench: C50Workspace, table: Table, costs: np.ndarray | None) -> tuple[str, ...]:
    """Takes columns out of use, and names them."""
    inside, outside = halves(table.label, table.n_classes)
    before = np.array(bench.rows.used())
    trial_settings(bench)
    used = _worthwhile(bench, inside, outside, costs, before)
    restored(bench)
    bench.rows.use(used.tolist())
    return tuple(name for name, was, remains in zip(table.schema.names, before, used, strict=True) if was and not remains)


def halves(label: np.ndarray, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """int32, twice: of each class every other row from the front, the others from the back; the first half learns."""
    place = np.empty(len(label), np.int64)
    for code in range(n_classes):
        rows = np.flatnonzero(label == code)
        place[rows] = np.arange(len(rows))
    front, back = np.flatnonzero(place % 2 == 0), np.flatnonzero(place % 2 == 1)[::-1]
    order = np.concatenate([front, back]).astype(np.int32)
    return order[: len(label) // 2], order[len(label) // 2 :]


def _worthwhile(
    bench: C50Workspace, inside: np.ndarray, outside: np.ndarray, costs: np.ndarray | None, used: np.ndarray
) -> np.ndarray:
    """bool [n_columns]: the columns that stay in use."""
    price = np.zeros(0) if costs is None else np.ascontiguousarray(costs).ravel()
    seen, tree = _columns(_grown(bench, inside, prunes=False), len(used)), _grown(bench, inside)
    base = bench.rows.cost_of_mistakes(tree, outside, price, -1)
    harmful = np.zeros(len(used), bool)
    for j in np.flatnonzero(_columns(tree, len(used))):
        harmful[j] = bench.rows.cost_of_mistakes(tree, outside, price, int(j)) < base
    if harmful.any():
        bench.rows.use((used & ~harmful).tolist())
        if bench.rows.cost_of_mistakes(_grown(bench, inside), outside, price, -1) > base:
            harmful[:] = False
        bench.rows.use(used.tolist())
    return used & seen & ~harmful


def _grown(bench: C50Workspace, rows: np.ndarray, prunes: bool = True) -> _core.Growth:
    """A tree of these rows, any gain being enough."""
    rows = np.sort(rows)
    weight = bench.rows.weights()
    grown = bench.rows.grow(rows, rows, 0.0, 0.0, 0.0, prunes, True)
    bench.rows.weigh(weight)
    return grown


def _columns(tree: _core.Growth, n_columns: int) -> np.ndarray:
    return np.isin(np.arange(n_columns), tree.arrays()["column"])


def cost_table(weighing: ClassWeighting, table: Table) -> np.ndarray | None:
    """float64 [n_classes (predicted), n_classes (true)]: no mistake costs less than 1; None where all cost the same."""
    if weighing.costs is None:
        return None
    costs = np.maximum(weighing.costs.of(table.schema.classes).T, 1.0)
    np.fill_diagonal(costs, 0.0)
    return costs


def class_multipliers(costs: np.ndarray | None, table: Table) -> np.ndarray | None:
    """float64 [2]: what a row of each of two classes weighs, 1 on average; None where rows keep their weight."""
    if costs is None or table.n_classes != 2:
        return None
    cost = np.array([costs[1, 0], costs[0, 1]])
    weight = np.bincount(table.label, table.weight, 2)
    return cost / ((weight @ cost) / weight.sum())
