"""What a test costs to tell, and what it saves of telling the classes: minimum description length at a node.

A test of k of p columns that parts n rows is told by log2 C(p, k) bits for its columns, log2(n − 1) for its cut, and for
each weight but the first its sign, its size and its leading digits in base 2. It saves n·H(node) − Σ n·H(branch), in bits.
"""

from __future__ import annotations

from math import comb, log2

import numpy as np

DIGITS = 3  # of a weight in base 2, after the first: 1, 1.125, 1.25, … 1.875
OCTAVES = 3  # a direction is taken where, in spreads, no weight is more than 2^3 times another
WEIGHT_BITS = 1 + DIGITS + log2(2 * (OCTAVES + 1) + 1)  # one octave more: weights are tried up and down


def cost(n_read: int, n_columns: int, weight: float) -> float:
    """The bits that tell a test of so many of the columns, at a node of this weight."""
    return log2(comb(n_columns, n_read)) + log2(max(weight - 1, 1)) + (n_read - 1) * WEIGHT_BITS


def class_bits(counts: np.ndarray) -> np.ndarray:
    """float64 [n_nodes]: n·H, the bits that tell the class of every row, of weights by class [n_nodes, n_classes]."""
    total = counts.sum(axis=1, keepdims=True)
    share = np.divide(counts, total, out=np.ones_like(counts), where=counts > 0)
    return -(counts * np.log2(share)).sum(axis=1)
