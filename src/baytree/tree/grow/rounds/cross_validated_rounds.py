"""CART's penalty by cross-validation where the rows are: the trees of all folds grow together, a level of all in one round.

A row's fold hangs on the rank of a number made from it among those of its class. Of each row that number comes here, the
fold goes back, and the rest of the row stays where it is.
"""

from __future__ import annotations

from functools import partial
from typing import Self, TypeVar

import msgspec
import numpy as np

from baytree.engine.elsewhere import SPACE, Elsewhere, refuse_more_than_fits
from baytree.folds.contents import dealt, row_keys
from baytree.statistics.strung import Strung
from baytree.table.table import Table
from baytree.tree.grow.costs import Costs, Weighing
from baytree.tree.grow.policy import CrossValidated, Policy
from baytree.tree.grow.rounds.class_growth import Planting, grow_together
from baytree.tree.grow.rounds.narrow_codes import CodedRows
from baytree.tree.grow.rounds.value_codes import Codes, codes_of
from baytree.tree.model.structure import Tree
from baytree.tree.prune.cost_complexity import Path, cost_complexity, path, with_complexity
from baytree.tree.prune.cross_validated import best_step, between_steps, has_value, losses, with_errors, with_values

R = TypeVar("R", Table, CodedRows)
BYTES_OF_A_KEY = 16  # of a row: its number, its class and its fold


def grow_validated(rows: Elsewhere, policy: Policy, step: CrossValidated, weighing: Weighing) -> Tree:
    """The tree at the penalty that cross-validation chooses."""
    cp = policy.stopping.cp
    fitted = rows.changed(partial(with_values, policy=policy))
    codes = codes_of(fitted)
    whole = Planting(policy, weighing.of, lambda risk: cp * risk)
    tree = with_complexity(grow_together(fitted, [whole], codes)[0], cp, is_bounded=True)
    if tree.column[0] < 0:
        return tree
    steps = _validated(rows, tree, policy, step, codes, weighing)
    return cost_complexity(tree, float(steps.cp[best_step(steps, step.rule)]))


def _validated(rows: Elsewhere, tree: Tree, policy: Policy, step: CrossValidated, codes: Codes, weighing: Weighing) -> Path:
    """The path of a tree with the errors that its penalties make on rows left out: one tree per fold."""
    steps, cp = path(tree, policy.stopping.cp), policy.stopping.cp
    fold = _folds(rows, policy, step)
    size = np.bincount(fold[fold >= 0])
    whole, root = float(size.sum()), float(tree.risk[0])
    costs = weighing.of_counts(tree.counts[0], rows.schema.classes)
    units = root * (whole - size) / whole  # risk that a penalty of 1 stands for in each fold
    plantings = [
        Planting(policy, lambda _: costs, partial(_least, cp * unit), partial(_inside, fold, out))
        for out, unit in enumerate(units.tolist())
    ]
    grown = grow_together(rows, plantings, codes)
    parts = [with_complexity(part, alpha=cp * unit, is_bounded=True) for part, unit in zip(grown, units, strict=True)]
    penalties = [between_steps(steps) * unit for unit in units]
    lost = rows.total(partial(Lost.of, parts, fold, costs, penalties), rows_per_part=None)
    return with_errors(steps, lost.total, lost.squares, root, whole)


class Lost(msgspec.Struct, frozen=True):
    """What is lost on rows left out at every penalty: sums of weight × loss and of weight × loss²."""

    total: np.ndarray  # [n_penalties]
    squares: np.ndarray  # [n_penalties]

    @classmethod
    def of(cls, trees: list[Tree], fold: np.ndarray, costs: Costs, penalties: list[np.ndarray], table: Table) -> Self:
        """On the rows of a part, each by the tree that has not seen it."""
        total = np.zeros((2, len(penalties[0])))
        own = fold[table.first : table.first + len(table)]
        for out, tree in enumerate(trees):
            if (own == out).any():
                total += np.array(losses(tree, table.take(own == out), costs, penalties[out]))
        return cls(*total)

    def __add__(self, other: Self) -> Self:
        return type(self)(self.total + other.total, self.squares + other.squares)


def _folds(rows: Elsewhere, policy: Policy, step: CrossValidated) -> np.ndarray:
    """int16 [n_rows]: the fold of each row, −1 where CART is not fitted to it."""
    refuse_more_than_fits(rows.n_rows * BYTES_OF_A_KEY * SPACE, rows.source)
    key, label, is_fitted = rows.total(partial(_keys, policy, step.seed), rows_per_part=None).arrays
    fold = np.full(len(key), -1, np.int16)
    assert isinstance(step.cv, int)
    fold[is_fitted] = dealt(key[is_fitted], label[is_fitted], min(step.cv, int(is_fitted.sum())))
    return fold


def _keys(policy: Policy, seed: int, table: Table) -> Strung:
    return Strung.of(table.first, row_keys(table, seed), table.label, has_value(table, policy))


def _least(risk: float, _root: float) -> float:
    return risk


def _inside(fold: np.ndarray, out: int, rows: R) -> R:
    own = fold[rows.first : rows.first + len(rows)]
    return rows.take((own >= 0) & (own != out))
