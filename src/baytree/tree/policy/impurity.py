"""What is left of a criterion in a node, and what branches gain of it.

Class weights of nodes by the cells that are not 0: of many classes most never occur in a node.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.tree.policy.policy import SUITS, Criterion


def impurity_of(counts: np.ndarray, criterion: Criterion) -> np.ndarray:
    """The criterion per unit of weight, of counts [n_nodes, n_classes]; bits for entropy. An empty node is pure."""
    return impurity_of_cells(ClassCells.of(counts), criterion)


def impurity_of_cells(cells: ClassCells, criterion: Criterion) -> np.ndarray:
    """The same of the classes that occur."""
    measure, total = SUITS[criterion].impurity, cells.sums(cells.weight)
    share = cells.weight / total[cells.node]
    if measure not in ("error", "gini"):
        return -cells.sums(share * np.log2(np.where(share > 0, share, 1.0)))
    left = 1 - (cells.largest(share) if measure == "error" else cells.sums(share**2))
    return np.where(total > 0, left, 0.0)


def gain_of(counts: np.ndarray, criterion: Criterion) -> float:
    """What branches [n_branches, n_classes] gain of a criterion, in units of weight; the ratio over their own entropy."""
    weight, whole = counts.sum(axis=1), counts.sum(axis=0, keepdims=True)
    gain = float(weight.sum() * impurity_of(whole, criterion)[0] - weight @ impurity_of(counts, criterion))
    if not SUITS[criterion].by_ratio:
        return gain
    info = float(impurity_of(weight[None], Criterion.ENTROPY)[0])
    return gain / info if info > 0 else 0.0


_BLOCK = 1 << 17  # cells of a table that are added up at a time

_EXACT = 2.0**53  # doubles hold every whole number up to here


class ClassCells(msgspec.Struct, frozen=True):
    """The cells of a table [n_nodes, n_classes] that are not 0, row by row."""

    shape: tuple[int, int]
    cell: np.ndarray  # int64 [n_cells], places in the table
    weight: np.ndarray  # float64 [n_cells]

    @classmethod
    def of(cls, counts: np.ndarray, cell: np.ndarray | None = None) -> ClassCells:
        """Those of a table; `cell` are their places where they are known."""
        flat = np.ascontiguousarray(counts).ravel()
        cell = np.flatnonzero(flat) if cell is None else cell
        return cls((counts.shape[0], counts.shape[1]), cell, flat[cell])

    @property
    def node(self) -> np.ndarray:
        """int64 [n_cells]."""
        return self.cell // self.shape[1]

    @property
    def label(self) -> np.ndarray:
        """int64 [n_cells]."""
        return self.cell % self.shape[1]

    def sums(self, values: np.ndarray) -> np.ndarray:
        """float64 [n_nodes]: the values of the cells of each row, added up as whole rows are: it decides last bits."""
        total = np.bincount(self.node, values, self.shape[0])
        if np.array_equal(values, np.floor(values)) and values.sum() < _EXACT:  # whole numbers: the same sums in any order
            return total
        many = np.flatnonzero(np.bincount(self.node, minlength=self.shape[0]) > 2)  # and so are those of two numbers
        step = max(_BLOCK // self.shape[1], 1)
        for begin in range(0, len(many), step):
            some = many[begin : begin + step]
            total[some] = self._block(some, values).sum(axis=1)
        return total

    def _block(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        """float64 [n_rows_chosen, n_classes]: some rows of the table, `values` in the place of the weights."""
        first, last = np.searchsorted(self.cell, (rows[0] * self.shape[1], (rows[-1] + 1) * self.shape[1]))
        node, label = np.divmod(self.cell[first:last], self.shape[1])
        place = np.searchsorted(rows, node)
        chosen = rows[place] == node
        block = np.zeros((len(rows), self.shape[1]))
        block[place[chosen], label[chosen]] = values[first:last][chosen]
        return block

    def largest(self, values: np.ndarray) -> np.ndarray:
        """float64 [n_nodes]: the largest value of the cells of each row; 0 where it has none."""
        most, node = np.zeros(self.shape[0]), self.node
        first = np.flatnonzero(np.diff(node, prepend=-1))
        most[node[first]] = np.maximum.reduceat(values, first) if len(first) else 0.0
        return most

    def table(self, values: np.ndarray) -> np.ndarray:
        """float64 [n_nodes, n_classes]: values in the place of the weights, 0 elsewhere."""
        filled = np.zeros(self.shape)
        filled.ravel()[self.cell] = values
        return filled
