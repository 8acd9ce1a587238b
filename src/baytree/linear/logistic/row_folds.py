"""Folds made from the rows themselves: neither their order nor writing a row twice instead of giving it weight 2 matters.

Within each class, rows stand in the order of a number made from their features and are dealt to the folds in turn, one unit
of weight at a time. So many equal rows are in all folds alike, as chance would have them: kept together, they would hold
out all that is known of one combination of values. One row stands for equal ones in each fold.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.blas import chunks, in_order
from baytree.linear.logistic.rows import DenseRows, SparseRows

_MIX = np.uint64(0x9E3779B97F4A7C15)


class Groups(msgspec.Struct, frozen=True):
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


def with_folds(rows: DenseRows | SparseRows, total: float, n_folds: int) -> tuple[DenseRows | SparseRows, np.ndarray]:
    """The rows, equal ones as one per fold, and the fold of each. `total` is the sum of the weights. int64 [n]"""
    groups = _groups(rows, total, n_folds)
    is_split = groups.length > 1 + 1e-9
    alone = ~is_split[groups.of_row]
    whole, own = groups.order[alone], np.floor(groups.start % n_folds + 1e-9)[groups.of_row[alone]].astype(np.int64)
    if not is_split.any():
        fold = np.empty(len(whole), np.int64)
        fold[whole] = own
        return rows, (fold + groups.turn[rows.label]) % n_folds
    split = np.flatnonzero(is_split)
    dealt = _dealt(groups.start[split] + groups.length[split], n_folds) - _dealt(groups.start[split], n_folds)
    which, fold = np.nonzero(dealt > 1e-9)
    weight = dealt[which, fold] * groups.unit[split[which]]
    index = np.concatenate([whole, groups.order[groups.first[split[which]]]])
    some = rows.take(index).with_weight(np.concatenate([rows.weight[whole], weight]))
    return some, (np.concatenate([own, fold]) + groups.turn[some.label]) % n_folds


def _groups(rows: DenseRows | SparseRows, total: float, n_folds: int) -> Groups:
    key = _hashes(rows)
    order = np.lexsort((key, rows.label))
    label, weight = rows.label[order], rows.weight[order]
    first = np.flatnonzero(np.concatenate([[True], (np.diff(key[order]) != 0) | (np.diff(label) != 0)]))
    of_class = np.bincount(rows.label, rows.weight)
    before = (np.cumsum(weight) - weight)[first] - (np.cumsum(of_class) - of_class)[label[first]]
    unit = np.minimum(1 / total, of_class / n_folds)[label[first]]  # a row; less where a class has too few for the folds
    turn = np.zeros(len(of_class), np.int64)  # made from the rows, too: the names of the classes do not matter
    turn[label[first][::-1]] = (key[order][first] % np.uint64(n_folds))[::-1]  # the first row of each class says it
    return Groups(order, first, np.maximum(before / unit, 0.0), np.add.reduceat(weight, first) / unit, unit, turn)


def _dealt(amount: np.ndarray, n_folds: int) -> np.ndarray:
    """How much each fold has when this much was dealt. [n, n_folds]"""
    rounds = np.floor(amount / n_folds)
    return rounds[:, None] + np.clip((amount - n_folds * rounds)[:, None] - np.arange(n_folds), 0.0, 1.0)


def _hashes(rows: DenseRows | SparseRows) -> np.ndarray:
    """A number made from each row's features, whatever their order. uint64 [n_rows]"""
    if isinstance(rows, SparseRows):
        entry = _mixed(rows.x.value) ^ (rows.x.code.astype(np.uint64) * _MIX)
        return np.add.reduceat(entry * _MIX, rows.x.start[:-1])  # a row has at least its constant
    key = np.empty(len(rows.x), np.uint64)
    in_order(lambda own: _core.row_hashes(rows.x[own], rows.centre, rows.scale, key[own]), chunks(len(key)))
    return key


def _mixed(values: np.ndarray) -> np.ndarray:
    bits = np.round(values, 9).view(np.uint64) * _MIX  # rounded: sums over repeated rows differ in the last bits
    bits ^= bits >> np.uint64(29)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    return bits ^ (bits >> np.uint64(32))
