"""A part's rows of few numbers and many marks, of two classes: what `DensePiece` answers, by the marks that a row has.

A level or a gap is a feature that is 1 in some rows and 0 in the others. A row of fourteen columns has fourteen features
that are not 0, however many levels there are; side by side, all of them would be read and multiplied.
"""

from __future__ import annotations

from functools import cached_property

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.runs import Runs
from baytree.linear.logistic.rows.dense_piece import NO_FOLDS, DensePiece
from baytree.linear.logistic.rows.lessons import Lessons
from baytree.linear.logistic.rows.loss import Slope
from baytree.statistics.strung import every

_BLOCK = 8 * 1024  # few rows to a sum: rounding grows with their number


class MarkedPiece(msgspec.Struct, frozen=True, dict=True):
    """Numbers side by side, and of the marks those that each row has."""

    x: np.ndarray  # float64 [n_rows, n_numbers]
    mark: np.ndarray  # int32 [n_rows, n_slots], places among the marks, ascending, then their number
    order: np.ndarray  # int64 [q − 1], the features: those of the numbers, then those of the marks
    label: np.ndarray  # int32 [n_rows]
    weight: np.ndarray  # float64 [n_rows]; those of all pieces sum to 1
    first: int = 0  # rows before these
    fold: np.ndarray = NO_FOLDS  # int64 [n_rows], where rows are dealt
    k: int = 1  # scores: there are two classes

    def __len__(self) -> int:
        return len(self.x)

    @property
    def q(self) -> int:
        """The number of features, the constant included."""
        return len(self.order) + 1

    @property
    def n_marks(self) -> int:
        """The number of marks; as a place among them, none."""
        return len(self.order) - self.x.shape[1]

    @property
    def runs(self) -> Runs:
        """The rows in runs, over which what they say is added up."""
        return Runs(len(self.x))

    @cached_property
    def kernel(self) -> _core.MarkedRows:
        """The rows as the core reads them."""
        return _core.MarkedRows(self.x, self.mark, self.n_marks, self.label, self.weight)

    def every(self, step: int) -> MarkedPiece:
        """One row of every few."""
        own = np.arange(len(self))[every(step, self.first, len(self))]
        return msgspec.structs.replace(self.take(own), fold=NO_FOLDS)

    def take(self, index: np.ndarray) -> MarkedPiece:
        """These rows."""
        x, mark, label = self.x[index], self.mark[index], self.label[index]
        return msgspec.structs.replace(self, x=x, mark=mark, label=label, weight=self.weight[index])

    def columns(self, features: np.ndarray) -> DensePiece:
        """The rows with these features only, side by side; the constant, last, is always among them."""
        x = np.zeros((len(self), self.q))  # the last column takes the marks that are none
        x[np.arange(len(self))[:, None], self._with_none[self.mark]] = 1.0
        x[:, self.order[: self.x.shape[1]]] = self.x
        own = np.ascontiguousarray(x[:, features[:-1]])
        return DensePiece(own, self.label, self.weight, 1, self.first, self.fold)

    def keys(self, centre: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """A number made from each row's features in the design's units, as rows side by side have it. uint64 [n_rows]"""
        n = self.x.shape[1]
        centre, scale = centre[self.order], scale[self.order]
        key = np.empty(len(self), np.uint64)
        _core.row_hashes(self.x, centre[:n], scale[:n], key)
        absent, present = (_hashes((there - centre[n:]) / scale[n:]) for there in (0.0, 1.0))
        more = np.append(present - absent, np.uint64(0))
        return key + absent.sum(dtype=np.uint64) + more[self.mark].sum(axis=1, dtype=np.uint64)

    def moments(self, centre: np.ndarray) -> np.ndarray:
        """Weighted sums of each feature about a centre, and of their squares. [2, q − 1]"""
        n, about = self.x.shape[1], centre[self.order]
        sums, total = np.zeros((2, self.q - 1)), self.weight.sum()
        if len(self):
            _core.column_moments(self.x, self.weight, about[:n], 0, len(self), sums[0, :n], sums[1, :n])
        with_mark = self._weight_of_marks(self.weight)
        sums[0, n:] = with_mark - total * about[n:]
        sums[1, n:] = with_mark * (1 - about[n:]) ** 2 + (total - with_mark) * about[n:] ** 2
        return self._by_feature(sums)

    def scores(self, coefficient: np.ndarray, start: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """The scores of these rows. [n, k]"""
        n, own = self.x.shape[1], coefficient[:, self.order]
        of_mark = np.append(own[0, n:], 0.0)
        return self.x[rows] @ own[:, :n].T + of_mark[self.mark[rows]].sum(axis=1)[:, None] + start

    def weighted_sum(self, weight: np.ndarray) -> np.ndarray:
        """The sum of the rows, each times a number, and of these numbers. [q]"""
        own = np.concatenate([weight @ self.x, self._weight_of_marks(weight)])
        return np.append(self._by_feature(own), weight.sum())

    def slope(self, coefficient: np.ndarray, start: np.ndarray) -> Slope:
        """What all rows say at these coefficients, by the features as they lie here."""
        own, at = np.ascontiguousarray(coefficient[0, self.order]), float(start[0])
        said = self.runs.total(lambda rows: self._slope(own, at, rows))
        return Slope(said.loss, self._with_constant(said.gradient))

    def curvature(self, coefficient: np.ndarray, start: np.ndarray) -> np.ndarray:
        """The second derivatives of the mean loss, by the features as they lie here. [q, q]"""
        return self._curvatures(coefficient, start, np.zeros(len(self), np.int64), 1)[0]

    def curvatures(self, coefficient: np.ndarray, start: np.ndarray, n_folds: int) -> np.ndarray:
        """The second derivatives of the loss of each fold's rows. [n_folds, q, q]"""
        return self._curvatures(coefficient, start, self.fold, n_folds)

    def lessons(self, held_out: np.ndarray, coefficient: np.ndarray, start: np.ndarray) -> Lessons:
        """What all rows say about several problems at once, each with a fold that it holds out."""
        own = np.ascontiguousarray(np.vstack([coefficient[:, self.order].T, start]))
        said = self.runs.total(lambda rows: self._lessons(held_out, own, rows))
        return Lessons(said.train, said.held, self._with_constant(said.gradient.T))

    def _slope(self, coefficient: np.ndarray, start: float, rows: slice) -> Slope:
        loss, gradient = 0.0, np.zeros((1, self.q))
        for first in range(rows.start, rows.stop, _BLOCK):
            own = np.zeros(self.q)
            loss += self.kernel.slope(coefficient, start, first, min(first + _BLOCK, rows.stop), own)
            gradient += own
        return Slope(loss, gradient)

    def _curvatures(self, coefficient: np.ndarray, start: np.ndarray, fold: np.ndarray, n_folds: int) -> np.ndarray:
        own, at = np.ascontiguousarray(coefficient[0, self.order]), float(start[0])

        def lower(rows: slice) -> np.ndarray:
            out = np.zeros((n_folds, self.q, self.q))
            self.kernel.curvature(own, at, fold, rows.start, rows.stop, out)
            return out

        half = self.runs.total(lower)  # 0 above the diagonal
        whole = half + half.transpose(0, 2, 1)
        np.einsum("fjj->fj", whole)[:] /= 2
        place = np.append(np.argsort(self.order), self.q - 1)
        return np.ascontiguousarray(whole[:, place[:, None], place])

    def _lessons(self, held_out: np.ndarray, coefficient: np.ndarray, rows: slice) -> Lessons:
        m = len(held_out)
        train, held, gradient = np.zeros(m), np.zeros(m), np.zeros((self.q, m))
        for first in range(rows.start, rows.stop, _BLOCK):
            own = np.zeros_like(gradient)
            last = min(first + _BLOCK, rows.stop)
            self.kernel.problems(self.fold, held_out, coefficient, first, last, train, held, own)
            gradient += own
        return Lessons(train, held, gradient)

    @property
    def _with_none(self) -> np.ndarray:
        """The feature of each mark, and after them the one that none is: past the last."""
        return np.append(self.order[self.x.shape[1] :], len(self.order))

    def _weight_of_marks(self, weight: np.ndarray) -> np.ndarray:
        slots = np.repeat(weight, self.mark.shape[1])
        return np.bincount(self.mark.ravel(), slots, self.n_marks + 1)[:-1]

    def _by_feature(self, own: np.ndarray) -> np.ndarray:
        """The last axis in the order of the features."""
        out = np.empty_like(own)
        out[..., self.order] = own
        return out

    def _with_constant(self, own: np.ndarray) -> np.ndarray:
        """The same with the constant last."""
        return np.concatenate([self._by_feature(own[..., :-1]), own[..., -1:]], axis=-1)


def _hashes(values: np.ndarray) -> np.ndarray:
    """What each of these numbers adds to the key of a row. uint64 [n]"""
    key = np.empty(len(values), np.uint64)
    _core.row_hashes(np.ascontiguousarray(values)[:, None], np.zeros(1), np.ones(1), key)
    return key
