"""Incremental trees: a stream state in the core is updated row by row and yields an ordinary tree at any time.

`StreamLearner` implements the incremental learner protocol (start, update, model); `grown_tree` converts the core's
nodes to a `Tree` with the codes of the schema; `StreamStatistic` is the stored state. As in Hoeffding trees (Domingos and
Hulten 2000) a node splits when the evidence suffices, and as in Hoeffding anytime trees (Manapragada, Webb and Salehi
2018) inner nodes may revise their tests. The evidence is the gain in bits less the bits that encode the test, instead of
Hoeffding's bound.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import msgspec
import numpy as np

from baytree import _core
from baytree.base.learner import FitResult
from baytree.base.model import Model
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import Partitions
from baytree.tree.model.arrays import LEAF, STOP
from baytree.tree.model.builder import build
from baytree.tree.model.tree import Tree
from baytree.tree.policy.impurity import impurity_of
from baytree.tree.policy.policy import Criterion
from baytree.tree.pruning.cost_complexity import with_complexity

_MAX_DEPTH = 2**31 - 1


class StreamLearner(msgspec.Struct, frozen=True):
    """Learner of an incremental tree that splits a node when the evidence suffices."""

    criterion: Criterion
    revises: bool
    confidence: float
    grace: float
    tie: float
    max_depth: int | None
    max_bins: int
    asks_bayes: ClassVar[bool] = False  # whether nodes predict each row, by counts and by naive Bayes, before they learn it

    def learn(self, rows: Partitions) -> FitResult:
        """Learn the tree of these rows in their order, a few at a time."""
        stream = self.start(rows.schema)
        for table in rows.stream():
            stream = self.update(stream, table)
        return FitResult(self.model(stream), stream)

    def start(self, schema: Schema) -> _core.TreeStream:
        """Stream state before the first row."""
        nothing = np.zeros(0, np.int32)
        stream = _core.TreeStream(self.settings, kinds(schema))
        return stream.with_codes(nothing, len(schema.classes), [nothing] * len(schema), n_levels(schema))

    def update(self, stream: _core.TreeStream, table: Table) -> _core.TreeStream:
        """Stream state after these rows, whose schema must be its own; the argument is not modified."""
        label = np.ascontiguousarray(table.label, np.int32)
        return stream.learnt(self.settings, list(table.values), label, np.ascontiguousarray(table.weight, np.float64))

    def model(self, stream: _core.TreeStream) -> Model:
        """Tree that the stream has grown so far."""
        return grown_tree(stream.tree(), self.criterion)

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the core."""
        return {
            "revises": self.revises,
            "by_gini": self.criterion is Criterion.GINI,
            "asks_bayes": self.asks_bayes,
            "bits": float(-np.log2(self.confidence)),
            "grace": self.grace,
            "tie": self.tie,
            "max_depth": _MAX_DEPTH if self.max_depth is None else self.max_depth,
            "max_bins": self.max_bins,
        }


def under(stream: _core.TreeStream, old: Schema, new: Schema) -> _core.TreeStream:
    """The stream under a schema with more levels or classes."""
    if old.classes == new.classes and all(a.levels == b.levels for a, b in zip(old, new, strict=True)):
        return stream
    of_level = [_new_codes(was.levels, new[was.name].levels) for was in old]
    return stream.with_codes(_new_codes(old.classes, new.classes), len(new.classes), of_level, n_levels(new))


def _new_codes(old: tuple, new: tuple) -> np.ndarray:
    """New code of each old code, int32 [n_old]."""
    code_of = {level: code for code, level in enumerate(new)}
    return np.array([code_of[level] for level in old], np.int32)


def grown_tree(found: dict[str, Any], criterion: Criterion) -> Tree:
    """Tree of the core's nodes. The counts of an inner node are the sums of its leaves."""
    column, is_leaf = found["column"], found["column"] < 0
    first = np.where(is_leaf, 0, found["first"]).astype(np.int32)
    counts = at_codes(found["counts"], found["classes"])
    weight, prediction = counts.sum(axis=1), counts.argmax(axis=1)
    impurity = impurity_of(counts, criterion)
    entries = _branches(found)
    tree = build(
        column=np.where(is_leaf, LEAF, column).astype(np.int32),
        first=first,
        branches=np.where(is_leaf, 0, 2).astype(np.int32),
        cut=found["cut"],
        strict=np.isfinite(found["cut"]),
        levels=np.array([len(entry) for entry in entries], np.int32),
        branch_of=np.concatenate([np.zeros(0, np.int32), *entries]),
        missing=np.where(is_leaf, STOP, found["missing"]).astype(np.int32),
        rows=np.rint(np.minimum(weight, 2.0**62)).astype(np.int64),
        weight=weight,
        counts=counts,
        value=counts / weight[:, None],
        prediction=prediction.astype(np.int32),
        impurity=impurity,
        risk=weight - counts[np.arange(len(counts)), prediction],
        gain=_gains(first, is_leaf, impurity * weight),
    )
    return with_complexity(tree)


def at_codes(values: np.ndarray, position: np.ndarray, of_strangers: np.ndarray | float = 0.0) -> np.ndarray:
    """Columns in the order of codes instead of arrival, float64 [n_rows, n_codes]; `of_strangers` fills unseen codes."""
    padded = np.column_stack([values, np.broadcast_to(of_strangers, len(values))])
    return np.ascontiguousarray(padded[:, position])  # index −1 is the fill column


def _branches(found: dict[str, Any]) -> list[np.ndarray]:
    """Branch of each level code of each node, int32 [n_levels] each; empty for thresholds."""
    ends, starts = np.cumsum(found["n_codes"]), np.cumsum(found["n_codes"]) - found["n_codes"]
    entries, position, empty = [], 0, np.zeros(0, np.int32)
    for column, size in zip(found["column"].tolist(), found["n_branch_of"].tolist(), strict=True):
        if not size:
            entries.append(empty)
            continue
        arrival = found["levels"][starts[column] : ends[column]]
        branch_of_arrival = found["branch_of"][position : position + size]
        entries.append(
            np.where((arrival >= 0) & (arrival < size), branch_of_arrival[np.clip(arrival, 0, size - 1)], -1).astype(
                np.int32
            )
        )
        position += size
    return entries


def _gains(first: np.ndarray, is_leaf: np.ndarray, impurity: np.ndarray) -> np.ndarray:
    """Decrease of impurity by each split, float64 [n_nodes]; 0 at a leaf."""
    return np.where(
        is_leaf, 0.0, np.maximum(impurity - impurity[first] - impurity[np.minimum(first + 1, len(first) - 1)], 0.0)
    )


_KINDS = {Kind.NUMERIC: 0, Kind.NOMINAL: 1, Kind.ORDINAL: 2}


class StreamStatistic(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag="stream_seen"):
    """Stored state of a stream: nodes, tests and statistics by column, level by level.

    Classes and levels are in order of arrival. Each column of an active node has numbers in bins of width 2^exponent
    (−1074: the numbers themselves) or levels, each with class weights, and the class weights of rows with a missing
    value.
    """

    classes: np.ndarray  # int32 [n_classes], arrival rank of each class, −1 if it has not occurred
    levels: np.ndarray  # int32 [n_codes], the same for levels, column after column
    n_codes: np.ndarray  # int32 [n_columns]
    column: np.ndarray  # int32 [n_nodes], −1 at a leaf
    first: np.ndarray  # int32 [n_nodes], first of two children, −1 at a leaf
    missing: np.ndarray  # int32 [n_nodes], branch of rows with a missing value
    listens: np.ndarray  # int32 [n_nodes], whether the node is active: it learns from rows that pass
    n_branch_of: np.ndarray  # int32 [n_nodes]
    branch_of: np.ndarray  # int32 [n_entries], branch of each level in order of arrival, −1 if unknown at the split
    cut: np.ndarray  # float64 [n_nodes], smaller numbers take the first branch
    seen: np.ndarray  # float64 [n_nodes], weight of the rows it learned from
    next: np.ndarray  # float64 [n_nodes], weight at which it is evaluated next
    start: np.ndarray  # float64 [n_nodes · n_arrived], class weights inherited from the parent's split
    own: np.ndarray  # float64 [n_nodes · n_arrived], class weights of the rows since
    exponent: np.ndarray  # int32 [n_told], of the columns of active nodes, node after node
    n_bins: np.ndarray  # int32 [n_told]
    n_levels: np.ndarray  # int32 [n_told]
    low: np.ndarray  # float64 [Σ n_bins], lower end of each bin
    bin_mass: np.ndarray  # float64 [Σ n_bins · n_arrived]
    level_mass: np.ndarray  # float64 [Σ n_levels · n_arrived]
    gap: np.ndarray  # float64 [n_told · n_arrived]
    weight: float  # of all rows
    rows: int
    revisions: int  # splits that were revoked
    # float64 [n_nodes · 3], weight of the rows that were predicted correctly before they were learned: since the node's
    # last split by its counts and by naive Bayes, and before that split by the better of both; None unless `asks_bayes`
    named: np.ndarray | None = None

    @classmethod
    def of(cls, stream: _core.TreeStream) -> Self:
        """State of a stream."""
        arrays = stream.arrays()
        named = arrays.pop("named")
        return cls(**arrays, named=named if len(named) else None)

    def stream(self, settings: dict[str, Any], schema: Schema) -> _core.TreeStream:
        """Stream that continues from this state."""
        if len(self.classes) != len(schema.classes) or self.n_codes.tolist() != n_levels(schema).tolist():
            raise ValueError("what was learnt of the stream is damaged: its codes are not those of the schema")
        try:
            named = np.zeros(0) if self.named is None else self.named
            return _core.TreeStream.of(settings, kinds(schema), {**msgspec.structs.asdict(self), "named": named})
        except (TypeError, RuntimeError) as error:  # an array of a wrong type
            raise ValueError(f"what was learnt of the stream is damaged: {error}") from None

    def check(self, schema: Schema) -> None:
        """Raise an error if arrays, read from a file, do not fit together or the schema."""
        self.stream(ANY_SETTINGS, schema)


ANY_SETTINGS = {
    "revises": True, "by_gini": False, "asks_bayes": False,
    "bits": 1.0, "grace": 1.0, "tie": 0.0, "max_depth": 1, "max_bins": 8,
}  # fmt: skip


def kinds(schema: Schema) -> np.ndarray:
    """Kind of each column, int32 [n_columns]: 0 numeric, 1 nominal, 2 ordinal."""
    return np.array([_KINDS[column.kind] for column in schema], np.int32)


def n_levels(schema: Schema) -> np.ndarray:
    """Number of levels of each column, int32 [n_columns]."""
    return np.array([len(column.levels) for column in schema], np.int32)
