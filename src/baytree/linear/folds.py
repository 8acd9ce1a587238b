"""Folds made from the rows themselves: neither their order nor writing a row twice instead of giving it weight 2 matters.

Within each class, rows stand in the order of a number made from their features, and are cut into runs of equal weight.
Equal rows stand together. Where they are many, a cut goes through them, as it would through a row of great weight: one
row stands for them on each side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
import numpy as np

from .. import _core
from .rows import DenseRows, SparseRows
from .threads import chunks, in_order

_MIX = np.uint64(0x9E3779B97F4A7C15)


class Groups(msgspec.Struct, frozen=True):
    """Equal rows: where each lies in the order of the rows, and which stretch of the folds it takes."""

    order: np.ndarray  # [n_rows]
    first: np.ndarray  # [n_groups], the place of each group's first row in the order
    start: np.ndarray  # [n_groups], in folds: 0 is the start of the first, 1 that of the second
    length: np.ndarray  # [n_groups], in folds
    weight: np.ndarray  # [n_groups]

    @property
    def of_row(self) -> np.ndarray:
        """The group of each row, in the order of the rows. [n_rows]"""
        return np.repeat(np.arange(len(self.first)), np.diff(np.append(self.first, len(self.order))))


def with_folds(rows: DenseRows | SparseRows, n_folds: int) -> tuple[DenseRows | SparseRows, np.ndarray]:
    """The rows, some of them cut in parts, and the fold of each. int64 [n]"""
    groups = _groups(rows, n_folds)
    is_cut = (groups.length > 0.5)[groups.of_row]
    whole = groups.order[~is_cut]
    own = np.minimum(np.floor(groups.start + 1e-9), n_folds - 1).astype(np.int64)[groups.of_row[~is_cut]]
    if not is_cut.any():
        fold = np.empty(len(whole), np.int64)
        fold[whole] = own
        return rows, (fold + rows.label) % n_folds  # classes of one row each do not all fall into the first fold
    parts = list(_parts(groups, n_folds))
    index = np.concatenate([whole, [row for row, _, _ in parts]]).astype(np.int64)
    fold = np.concatenate([own, [number for _, number, _ in parts]]).astype(np.int64)
    cut = rows.take(index).with_weight(np.concatenate([rows.weight[whole], [weight for _, _, weight in parts]]))
    return cut, (fold + cut.label) % n_folds


def fold_numbers(tests: Iterable[np.ndarray], n_rows: int) -> np.ndarray:
    """The number of the fold that holds each row out."""
    fold = np.full(n_rows, -1)
    for number, test in enumerate(tests):
        fold[test] = number
    if (fold < 0).any():
        raise ValueError(f"cv holds out no fold with row {int(np.argmax(fold < 0))}; every row must be held out once")
    return fold


def _groups(rows: DenseRows | SparseRows, n_folds: int) -> Groups:
    key = _hashes(rows)
    order = np.lexsort((key, rows.label))
    label, weight = rows.label[order], rows.weight[order]
    first = np.flatnonzero(np.concatenate([[True], (np.diff(key[order]) != 0) | (np.diff(label) != 0)]))
    total = np.bincount(rows.label, rows.weight)
    before = (np.cumsum(weight) - weight)[first] - (np.cumsum(total) - total)[label[first]]
    own = np.add.reduceat(weight, first)
    per_fold = total[label[first]] / n_folds
    return Groups(order, first, before / per_fold, own / per_fold, own)


def _parts(groups: Groups, n_folds: int) -> Iterator[tuple[int, int, float]]:
    """A row of each cut group, a fold, and the weight of the group in it."""
    for g in np.flatnonzero(groups.length > 0.5):
        start, end = groups.start[g], groups.start[g] + groups.length[g]
        for fold in range(n_folds):
            share = (min(end, fold + 1) - max(start, fold)) / groups.length[g]
            if share > 1e-9:
                yield int(groups.order[groups.first[g]]), fold, float(share * groups.weight[g])


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
