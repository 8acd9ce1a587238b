"""The learner of trees that go on: a stream begins with nothing, and further rows give a further stream and its tree."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.parts import Parts
from baytree.learner import Learnt
from baytree.model import Model
from baytree.table.schema import Schema
from baytree.table.table import Table
from baytree.tree.grow.policy import Criterion
from baytree.tree.stream.grown_tree import grown_tree
from baytree.tree.stream.seen import kinds, n_levels

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

    def learn(self, rows: Parts) -> Learnt:
        """The tree of these rows in their order, which are all brought here."""
        table = rows.gather()
        stream = self.further(self.begun(rows.schema), table)
        return Learnt(self.model(stream), stream)

    def begun(self, schema: Schema) -> _core.TreeStream:
        """A stream before its first row."""
        nothing = np.zeros(0, np.int32)
        stream = _core.TreeStream(self.settings, kinds(schema))
        return stream.with_codes(nothing, len(schema.classes), [nothing] * len(schema), n_levels(schema))

    def further(self, stream: _core.TreeStream, table: Table) -> _core.TreeStream:
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
