"""Folds by what is in the rows, dealt one unit of weight at a time.

Within each class, rows stand in the order of their keys and are dealt to the folds in turn. So many equal rows are in all
folds alike, as chance would have them: kept together, they would hold out all that is known of one combination of values.
One row stands for equal ones in each fold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from baytree.folds.contents import shuffled


class Dealt(NamedTuple):
    """Rows in folds: which row each is, its weight, and its fold."""

    index: np.ndarray | None  # int64 [n]; None: every row once, as it is
    weight: np.ndarray  # float64 [n]
    fold: np.ndarray  # int64 [n]


def dealt_by_weight(key: np.ndarray, label: np.ndarray, weight: np.ndarray, row: float, n_folds: int) -> Dealt:
    """Rows in folds, equal ones as one per fold; `row` is the weight of one row of weight 1."""
    groups = _groups(key, label, weight, row, n_folds)
    is_split = groups.length > 1 + 1e-9
    alone = ~is_split[groups.of_row]
    whole, own = groups.order[alone], np.floor(groups.start % n_folds + 1e-9)[groups.of_row[alone]].astype(np.int64)
    if not is_split.any():
        fold = np.empty(len(whole), np.int64)
        fold[whole] = own
        return Dealt(None, weight, (fold + groups.turn[label]) % n_folds)
    split = np.flatnonzero(is_split)
    amount = _dealt(groups.start[split] + groups.length[split], n_folds) - _dealt(groups.start[split], n_folds)
    which, fold = np.nonzero(amount > 1e-9)
    index = np.concatenate([whole, groups.order[groups.first[split[which]]]])
    part = np.concatenate([weight[whole], amount[which, fold] * groups.unit[split[which]]])
    return Dealt(index, part, (np.concatenate([own, fold]) + groups.turn[label[index]]) % n_folds)


class _Groups(NamedTuple):
    """Equal rows of one class: where they lie in the order of the rows, and which stretch of the deal is theirs."""

    order: np.ndarray  # [n_rows]
    first: np.ndarray  # [n_groups], the place of each group's first row in the order
    start: np.ndarray  # [n_groups], how much of the class was dealt before
    length: np.ndarray  # [n_groups], how much of it they are
    unit: np.ndarray  # [n_groups], the weight that is dealt at a time
    turn: np.ndarray  # [n_classes], by how many folds a class is ahead: those of one row do not all fall into the first

    @property
    def of_row(self) -> np.ndarray:
        """The group of each row, in the order of the rows. [n_rows]"""
        return np.repeat(np.arange(len(self.first)), np.diff(np.append(self.first, len(self.order))))


def _groups(key: np.ndarray, label: np.ndarray, weight: np.ndarray, row: float, n_folds: int) -> _Groups:
    order = shuffled(key, label)
    of_class = np.bincount(label, weight)
    label, weight, key = label[order], weight[order], key[order]
    first = np.flatnonzero(np.concatenate([[True], (np.diff(key) != 0) | (np.diff(label) != 0)]))
    before = (np.cumsum(weight) - weight)[first] - (np.cumsum(of_class) - of_class)[label[first]]
    unit = np.minimum(row, of_class / n_folds)[label[first]]  # a row; less where a class has too few for the folds
    turn = np.zeros(len(of_class), np.int64)  # made from the rows, too: the names of the classes do not matter
    turn[label[first][::-1]] = (key[first] % np.uint64(n_folds))[::-1]  # the first row of each class says it
    return _Groups(order, first, np.maximum(before / unit, 0.0), np.add.reduceat(weight, first) / unit, unit, turn)


def _dealt(amount: np.ndarray, n_folds: int) -> np.ndarray:
    """How much each fold has when this much was dealt. [n, n_folds]"""
    rounds = np.floor(amount / n_folds)
    return rounds[:, None] + np.clip((amount - n_folds * rounds)[:, None] - np.arange(n_folds), 0.0, 1.0)
