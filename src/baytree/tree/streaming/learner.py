"""The learner of trees that go on: a stream begins with nothing, and further rows give a further stream and its tree.

The tree that a stream has grown, as an ordinary tree: codes are those of the schema again.

What a tree of a stream must know to go on, as arrays: those of the core, under a schema.
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

_DEEPEST = 2**31 - 1


class StreamLearner(msgspec.Struct, frozen=True):
    """A tree that splits when the evidence suffices."""

    criterion: Criterion
    revises: bool
    confidence: float
    grace: float
    tie: float
    max_depth: int | None
    max_bins: int
    asks_bayes: ClassVar[bool] = False  # whether nodes are asked, by counts and by naive Bayes, before they learn a row

    def learn(self, rows: Partitions) -> FitResult:
        """The tree of these rows in their order, which are all brought here."""
        table = rows.gather()
        stream = self.update(self.start(rows.schema), table)
        return FitResult(self.model(stream), stream)

    def start(self, schema: Schema) -> _core.TreeStream:
        """A stream before its first row."""
        nothing = np.zeros(0, np.int32)
        stream = _core.TreeStream(self.settings, kinds(schema))
        return stream.with_codes(nothing, len(schema.classes), [nothing] * len(schema), n_levels(schema))

    def update(self, stream: _core.TreeStream, table: Table) -> _core.TreeStream:
        """The stream after these rows, whose schema is its own; the one before stays as it is."""
        label = np.ascontiguousarray(table.label, np.int32)
        return stream.learnt(self.settings, list(table.values), label, np.ascontiguousarray(table.weight, np.float64))

    def model(self, stream: _core.TreeStream) -> Model:
        """The tree that the stream has grown so far."""
        return grown_tree(stream.tree(), self.criterion)

    @property
    def settings(self) -> dict[str, Any]:
        """What the core reads."""
        return {
            "revises": self.revises,
            "by_gini": self.criterion is Criterion.GINI,
            "asks_bayes": self.asks_bayes,
            "bits": float(-np.log2(self.confidence)),
            "grace": self.grace,
            "tie": self.tie,
            "max_depth": _DEEPEST if self.max_depth is None else self.max_depth,
            "max_bins": self.max_bins,
        }


def under(stream: _core.TreeStream, old: Schema, new: Schema) -> _core.TreeStream:
    """The same stream under a schema that knows more levels or classes."""
    if old.classes == new.classes and all(a.levels == b.levels for a, b in zip(old, new, strict=True)):
        return stream
    of_level = [_codes(was.levels, new[was.name].levels) for was in old]
    return stream.with_codes(_codes(old.classes, new.classes), len(new.classes), of_level, n_levels(new))


def _codes(old: tuple, new: tuple) -> np.ndarray:
    """int32 [n_old]: what each code has become."""
    place = {level: code for code, level in enumerate(new)}
    return np.array([place[level] for level in old], np.int32)


def grown_tree(found: dict[str, Any], criterion: Criterion) -> Tree:
    """The tree of the core's nodes. A node counts what the leaves below it have counted."""
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


def at_codes(values: np.ndarray, place: np.ndarray, of_strangers: np.ndarray | float = 0.0) -> np.ndarray:
    """float64 [n_rows, n_codes]: columns by code instead of by arrival; [n_rows] or one number for those that never came."""
    padded = np.column_stack([values, np.broadcast_to(of_strangers, len(values))])
    return np.ascontiguousarray(padded[:, place])  # −1 is the last


def _branches(found: dict[str, Any]) -> list[np.ndarray]:
    """For each node int32 [n_levels], the branch of each level by its code; none where its test is a cut."""
    ends, starts = np.cumsum(found["n_codes"]), np.cumsum(found["n_codes"]) - found["n_codes"]
    entries, at, none = [], 0, np.zeros(0, np.int32)
    for column, size in zip(found["column"].tolist(), found["n_branch_of"].tolist(), strict=True):
        if not size:
            entries.append(none)
            continue
        place = found["levels"][starts[column] : ends[column]]
        known = found["branch_of"][at : at + size]
        entries.append(np.where((place >= 0) & (place < size), known[np.clip(place, 0, size - 1)], -1).astype(np.int32))
        at += size
    return entries


def _gains(first: np.ndarray, is_leaf: np.ndarray, impurity: np.ndarray) -> np.ndarray:
    """float64 [n_nodes]: what each split takes of the impurity of its node; 0 at a leaf."""
    return np.where(
        is_leaf, 0.0, np.maximum(impurity - impurity[first] - impurity[np.minimum(first + 1, len(first) - 1)], 0.0)
    )


_KINDS = {Kind.NUMERIC: 0, Kind.NOMINAL: 1, Kind.ORDINAL: 2}


class StreamStatistic(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag="stream_seen"):
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
