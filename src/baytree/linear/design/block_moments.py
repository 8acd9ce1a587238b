"""Moments of blocks of rows: weight, mean and squares about the mean, about a pivot and in a unit."""

from __future__ import annotations

from itertools import chain

import msgspec
import numpy as np

from baytree.engine.blas import chunks, in_order
from baytree.linear.design.feature_layout import Layout
from baytree.table.table import Table

ROWS = 1024  # of a block


class Blocks(msgspec.Struct, frozen=True):
    """Weight, mean and squares about the mean of blocks of rows, in their order."""

    totals: list[float]
    means: list[np.ndarray]
    squares: list[np.ndarray]

    def __add__(self, other: Blocks) -> Blocks:
        return Blocks(self.totals + other.totals, self.means + other.means, self.squares + other.squares)


def blocks_of(table: Table, layout: Layout, whole: np.ndarray | None, frame: tuple[np.ndarray, np.ndarray]) -> Blocks:
    """The blocks of a table's rows, read from one matrix where they lie in one; a frame is a pivot and a unit."""
    runs = in_order(lambda rows: _of_run(table, layout, whole, frame, rows), chunks(len(table)))
    return Blocks(*(list(chain.from_iterable(lists)) for lists in zip(*runs, strict=True)))


def _of_run(
    table: Table, layout: Layout, whole: np.ndarray | None, frame: tuple[np.ndarray, np.ndarray], rows: slice
) -> tuple[list, list, list]:
    """Weight, mean and sum of squares about it, of each block of a run of rows, about a pivot and in a unit."""
    pivot, unit = frame
    is_plain = bool((unit == 1).all())
    totals, means, squares = [], [], []
    for first in range(rows.start, rows.stop, ROWS):
        own = slice(first, min(first + ROWS, rows.stop))
        weight = table.weight[own]
        total = weight.sum()
        x = whole[own] if whole is not None else layout.matrix(table, own)
        with np.errstate(over="ignore", invalid="ignore"):
            x = x - pivot if is_plain else x / unit - pivot / unit
            mean = weight @ x / total if total > 0 else np.zeros(len(layout))
            x -= mean
            totals.append(total)
            means.append(mean)
            squares.append(weight @ np.square(x, out=x))
    return totals, means, squares
