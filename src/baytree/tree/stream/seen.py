"""What a tree of a stream must know to go on, as arrays: those of the core, under a schema."""

from __future__ import annotations

from typing import Any, Self

import msgspec
import numpy as np

from baytree import _core
from baytree.table.schema import Kind, Schema

_KINDS = {Kind.NUMERIC: 0, Kind.NOMINAL: 1, Kind.ORDINAL: 2}


class StreamSeen(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag="stream_seen"):
    """What was seen of a stream: for each node, level by level, its classes, its test, and what each column tells of the
    rows that came to it. Classes and levels stand in the order in which they came.

    A column of a node that still listens has numbers in bins of width 2^exponent (−1074: as they are) or levels, each with
    the weight of its classes, and the classes of rows without a value.
    """

    classes: np.ndarray  # int32 [n_classes], the place of each class in the order of arrival, −1 before it came
    levels: np.ndarray  # int32 [n_codes], the same of levels, column after column
    n_codes: np.ndarray  # int32 [n_columns]
    column: np.ndarray  # int32 [n_nodes], −1 at a leaf
    first: np.ndarray  # int32 [n_nodes], the first of two children, −1 at a leaf
    missing: np.ndarray  # int32 [n_nodes], the branch of rows without a value
    listens: np.ndarray  # int32 [n_nodes], whether it learns of the rows that pass
    n_branch_of: np.ndarray  # int32 [n_nodes]
    branch_of: np.ndarray  # int32 [n_entries], of each level in the order of arrival, −1 where it was not known
    cut: np.ndarray  # float64 [n_nodes], numbers below it take the first branch
    seen: np.ndarray  # float64 [n_nodes], the weight of the rows that it learnt of
    next: np.ndarray  # float64 [n_nodes], the weight at which it is judged next
    start: np.ndarray  # float64 [n_nodes · n_arrived], classes of the rows that its parent handed on with the split
    own: np.ndarray  # float64 [n_nodes · n_arrived], of the rows since
    exponent: np.ndarray  # int32 [n_told], of the columns of nodes that listen, node after node
    n_bins: np.ndarray  # int32 [n_told]
    n_levels: np.ndarray  # int32 [n_told]
    low: np.ndarray  # float64 [Σ n_bins], where each bin begins
    bin_mass: np.ndarray  # float64 [Σ n_bins · n_arrived]
    level_mass: np.ndarray  # float64 [Σ n_levels · n_arrived]
    gap: np.ndarray  # float64 [n_told · n_arrived]
    weight: float  # of all rows
    rows: int
    revisions: int  # splits that were taken back
    # float64 [n_nodes · 3], the weight of the rows whose class was named before they were learnt, since the node was split
    # last: by its counts, by naive Bayes, and until then by the better; None where nodes are not asked
    named: np.ndarray | None = None

    @classmethod
    def of(cls, stream: _core.TreeStream) -> Self:
        """What a stream knows."""
        arrays = stream.arrays()
        named = arrays.pop("named")
        return cls(**arrays, named=named if len(named) else None)

    def stream(self, settings: dict[str, Any], schema: Schema) -> _core.TreeStream:
        """The stream that goes on from here."""
        if len(self.classes) != len(schema.classes) or self.n_codes.tolist() != n_levels(schema).tolist():
            raise ValueError("what was learnt of the stream is damaged: its codes are not those of the schema")
        try:
            named = np.zeros(0) if self.named is None else self.named
            return _core.TreeStream.of(settings, kinds(schema), {**msgspec.structs.asdict(self), "named": named})
        except (TypeError, RuntimeError) as error:  # an array of another type
            raise ValueError(f"what was learnt of the stream is damaged: {error}") from None

    def check(self, schema: Schema) -> None:
        """Raises an error where arrays, read from a file, do not fit together or the schema."""
        self.stream(ANY_SETTINGS, schema)


ANY_SETTINGS = {
    "revises": True, "by_gini": False, "asks_bayes": False,
    "bits": 1.0, "grace": 1.0, "tie": 0.0, "max_depth": 1, "max_bins": 8,
}  # fmt: skip


def kinds(schema: Schema) -> np.ndarray:
    """int32 [n_columns]: numbers 0, names 1, ranks 2."""
    return np.array([_KINDS[column.kind] for column in schema], np.int32)


def n_levels(schema: Schema) -> np.ndarray:
    """int32 [n_columns]"""
    return np.array([len(column.levels) for column in schema], np.int32)
