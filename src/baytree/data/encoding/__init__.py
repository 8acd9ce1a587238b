"""Encoding of raw columns into a `Table`: numbers, level codes, bags of words, labels and weights."""

from __future__ import annotations

from baytree.data.encoding.encode import fit_encode
from baytree.data.encoding.table import DenseColumns, SparseColumns, Table, Tokens, refuse_infinite

__all__ = ["DenseColumns", "SparseColumns", "Table", "Tokens", "fit_encode", "refuse_infinite"]
