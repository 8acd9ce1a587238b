"""Class weights of nodes by the cells that are not 0: of many classes most never occur in a node."""

from __future__ import annotations

import msgspec
import numpy as np

_BLOCK = 1 << 16  # cells of a table that are added up at a time


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
        """float64 [n_nodes]: the values of the cells of each row, added up in the order of whole rows: it decides last bits."""
        n_rows, n_classes = self.shape
        step = max(_BLOCK // max(n_classes, 1), 1)
        ends = np.searchsorted(self.cell, np.arange(0, n_rows + step, step) * n_classes)
        total, block = np.empty(n_rows), np.zeros((min(step, n_rows), n_classes))
        for begin, first, last in zip(range(0, n_rows, step), ends[:-1], ends[1:], strict=False):
            place = self.cell[first:last] - begin * n_classes
            block.ravel()[place] = values[first:last]
            block[: n_rows - begin].sum(axis=1, out=total[begin : begin + step])
            block.ravel()[place] = 0.0
        return total

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
