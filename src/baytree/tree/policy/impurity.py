"""Impurity of nodes and gain of splits, from class weights.

`ClassCells` stores only the non-zero cells of a table of class weights: with many classes, most do not occur in a node.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.tree.policy.policy import SUITS, Criterion


def impurity_of(counts: np.ndarray, criterion: Criterion) -> np.ndarray:
    """Impurity per unit of weight of class weights [n_nodes, n_classes], float64 [n_nodes]; bits for entropy. 0 if empty."""
    return impurity_of_cells(ClassCells.of(counts), criterion)


def impurity_of_cells(cells: ClassCells, criterion: Criterion) -> np.ndarray:
    """Impurity per unit of weight, from the non-zero cells, float64 [n_nodes]."""
    measure, total = SUITS[criterion].impurity, cells.sums(cells.weight)
    proportion = cells.weight / total[cells.node]
    if measure not in ("error", "gini"):
        return -cells.sums(proportion * np.log2(np.where(proportion > 0, proportion, 1.0)))
    remainder = 1 - (cells.largest(proportion) if measure == "error" else cells.sums(proportion**2))
    return np.where(total > 0, remainder, 0.0)


def gain_of(counts: np.ndarray, criterion: Criterion) -> float:
    """Gain of branches [n_branches, n_classes], in units of weight; for gain ratio, divided by the entropy of the
    branches.
    """
    weight, parent = counts.sum(axis=1), counts.sum(axis=0, keepdims=True)
    gain = float(weight.sum() * impurity_of(parent, criterion)[0] - weight @ impurity_of(counts, criterion))
    if not SUITS[criterion].by_ratio:
        return gain
    split_info = float(impurity_of(weight[None], Criterion.ENTROPY)[0])
    return gain / split_info if split_info > 0 else 0.0


_BLOCK_CELLS = 1 << 17  # cells added per block

_MAX_EXACT = 2.0**53  # doubles represent every integer up to here


class ClassCells(msgspec.Struct, frozen=True):
    """Non-zero cells of a table [n_nodes, n_classes], row by row."""

    shape: tuple[int, int]
    cell: np.ndarray  # int64 [n_cells], flat indices into the table
    weight: np.ndarray  # float64 [n_cells]

    @classmethod
    def of(cls, counts: np.ndarray, cell: np.ndarray | None = None) -> ClassCells:
        """Cells of a table; `cell` are their flat indices if they are known."""
        flat = np.ascontiguousarray(counts).ravel()
        cell = np.flatnonzero(flat) if cell is None else cell
        return cls((counts.shape[0], counts.shape[1]), cell, flat[cell])

    @property
    def node(self) -> np.ndarray:
        """Node of each cell, int64 [n_cells]."""
        return self.cell // self.shape[1]

    @property
    def label(self) -> np.ndarray:
        """Class of each cell, int64 [n_cells]."""
        return self.cell % self.shape[1]

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sum of the cell values of each row, float64 [n_nodes], added in the order of whole rows so that last bits
        agree.
        """
        total = np.bincount(self.node, values, self.shape[0])
        if np.array_equal(values, np.floor(values)) and values.sum() < _MAX_EXACT:  # exact in any order
            return total
        many = np.flatnonzero(np.bincount(self.node, minlength=self.shape[0]) > 2)  # so do two numbers
        step = max(_BLOCK_CELLS // self.shape[1], 1)
        for begin in range(0, len(many), step):
            rows = many[begin : begin + step]
            total[rows] = self._block(rows, values).sum(axis=1)
        return total

    def _block(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Some rows of the table with `values` as its cells, float64 [n_rows_chosen, n_classes]."""
        first, last = np.searchsorted(self.cell, (rows[0] * self.shape[1], (rows[-1] + 1) * self.shape[1]))
        node, label = np.divmod(self.cell[first:last], self.shape[1])
        index = np.searchsorted(rows, node)
        chosen = rows[index] == node
        block = np.zeros((len(rows), self.shape[1]))
        block[index[chosen], label[chosen]] = values[first:last][chosen]
        return block

    def largest(self, values: np.ndarray) -> np.ndarray:
        """Largest cell value of each row, float64 [n_nodes]; 0 if it has none."""
        maximum, node = np.zeros(self.shape[0]), self.node
        first = np.flatnonzero(np.diff(node, prepend=-1))
        maximum[node[first]] = np.maximum.reduceat(values, first) if len(first) else 0.0
        return maximum

    def table(self, values: np.ndarray) -> np.ndarray:
        """Dense table with `values` as its cells, 0 elsewhere, float64 [n_nodes, n_classes]."""
        filled = np.zeros(self.shape)
        filled.ravel()[self.cell] = values
        return filled
