"""The learner of trees: a policy, what classes weigh, and whether every candidate is kept. It knows rows, but no frames."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from baytree.engine.parts import Parts
from baytree.engine.rounds.number_of_rows import as_rows
from baytree.learner import Learnt
from baytree.table.schema import Kind, Schema
from baytree.tree.grow.costs import EQUAL, Costs, Weighing, equal_costs
from baytree.tree.grow.grow import Grown, Search, grow
from baytree.tree.grow.label_unit import from_zero, in_range, in_unit, near_zero
from baytree.tree.grow.monotone import following
from baytree.tree.grow.policy import Arithmetic, Policy
from baytree.tree.grow.rounds.grown_in_rounds import grow_from_counts, grows_in_rounds
from baytree.tree.grow.unused import warn_of_unused_columns
from baytree.tree.model.structure import Tree
from baytree.tree.prune.all_prunings import VaryingColumns, averaged


class TreeLearner(msgspec.Struct, frozen=True):
    """A tree by a policy."""

    policy: Policy
    weighing: Weighing = EQUAL
    traces: bool = False
    averages: bool = False  # over all prunings

    def learn(self, rows: Parts) -> Learnt:
        """The tree of these rows."""
        tree, trace = self._tree(as_rows(rows))
        if self.averages:
            n_columns = rows.total(VaryingColumns.of, rows_per_part=None).count
            tree = averaged(tree, n_columns, self.costs(tree, rows.schema))
        if self.policy.monotone:
            tree = following(tree, _directions(self.policy, rows.schema), self.costs(tree, rows.schema))
        return Learnt(tree, told={"trace_": trace})

    def grown(self, rows: Parts) -> Tree:
        """The tree as it is grown and pruned, before anything is averaged."""
        return self._tree(as_rows(rows))[0]

    def costs(self, tree: Tree, schema: Schema) -> Costs:
        """What the classes of a tree weigh."""
        return equal_costs(0) if not tree.n_classes else self.weighing.of_counts(tree.counts[0], schema.classes)

    def _tree(self, rows: Parts) -> tuple[Tree, list[dict[str, Any]]]:
        """The tree as it was grown, and its trace."""
        warn_of_unused_columns(rows, self.policy)
        if rows.schema.target.classes is not None:
            grown = self._grown(rows)
            return grown.model, grown.trace
        rows, unit = in_range(rows)
        rows, origin = near_zero(rows) if self.policy.arithmetic is Arithmetic.RPART else (rows, 0.0)
        grown = self._grown(rows)
        return in_unit(from_zero(grown.model, origin), unit), grown.trace

    def _grown(self, rows: Parts) -> Grown:
        if not self.traces and grows_in_rounds(rows, self.policy):
            return Grown(grow_from_counts(rows, self.policy, self.weighing), Search.COUNTED, [])
        return grow(rows, self.policy, self.weighing, self.traces)


def _directions(policy: Policy, schema: Schema) -> np.ndarray:
    direction = dict(policy.monotone)
    return np.array([direction.get(name, 0) for name in schema.names], np.int64)


def refuse_text(schema: Schema) -> None:
    """Raises an error where a column is text, which trees do not split."""
    for column in schema:
        if column.kind is Kind.TEXT:
            raise ValueError(
                f"column {column.name!r} is text, which a tree cannot split; leave it out, declare it with "
                f"schema={{{column.name!r}: 'nominal'}}, or use NaiveBayesClassifier or LogisticRegression"
            )
