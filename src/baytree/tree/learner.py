"""`TreeLearner`: grows, prunes and post-processes the tree of a policy. It works on encoded rows and knows no frames."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from baytree.base.learner import FitResult
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import LocalPartitions, Partitions, rescale_weights
from baytree.tree.growing import cart
from baytree.tree.growing.constraints import enforce_monotone, warn_unused_columns
from baytree.tree.growing.grow import GrowthResult, SearchKind, grow, unpruned, validated_path
from baytree.tree.growing.remote.grow import can_grow_remotely, grow_remotely
from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import EQUAL, ClassCosts, ClassWeighting, equal_costs
from baytree.tree.policy.policy import CrossValidated, Policy, ReferenceProgram
from baytree.tree.policy.target_scaling import from_zero, in_range, in_unit, near_zero
from baytree.tree.pruning.bayesian_averaging import VaryingColumns, average_prunings
from baytree.tree.pruning.cost_complexity import PruningPath

# of text columns, see `param_validation.reject_text_columns`
TEXT_REMEDY = "drop it, declare it with schema={{{column}: 'nominal'}}, or use NaiveBayesClassifier or LogisticRegression"


class TreeLearner(msgspec.Struct, frozen=True):
    """Learner of a decision tree: a policy, class weights, and options."""

    policy: Policy
    weighing: ClassWeighting = EQUAL
    traces: bool = False
    averages: bool = False  # predict with the average over all prunings

    def learn(self, rows: Partitions) -> FitResult:
        """Grow the tree of these rows; with `averages`, average over its prunings; with monotone columns, enforce them."""
        tree, trace = self._tree(rescale_weights(rows))
        if self.averages:
            n_columns = rows.map_reduce(VaryingColumns.of, rows_per_part=None).count
            tree = average_prunings(tree, n_columns, self.costs(tree, rows.schema))
        if self.policy.monotone:
            tree = enforce_monotone(tree, _directions(self.policy, rows.schema), self.costs(tree, rows.schema))
        return FitResult(tree, fitted_attributes={"trace_": trace})

    def validated_path(self, rows: Partitions, step: CrossValidated) -> PruningPath:
        """Pruning path of the tree of these rows, with cross-validated errors of its penalties by the folds of `step`."""
        rows = rescale_weights(rows)
        rows, unit = (rows, 1.0) if rows.schema.target.classes is not None else in_range(rows)
        table = rows.gather()
        if self.policy.arithmetic is ReferenceProgram.RPART:
            steps = cart.validated_path(table, self.policy, self.weighing, step, rows.n_jobs)
        else:
            tree = grow(LocalPartitions(table, rows.n_jobs), unpruned(self.policy), self.weighing).model
            steps = validated_path(table, tree, self.policy, self.weighing, step, rows.n_jobs)
        return msgspec.structs.replace(steps, root=steps.root * unit * unit)

    def grow_tree(self, rows: Partitions) -> Tree:
        """The tree as grown and pruned, before averaging and monotone constraints."""
        return self._tree(rescale_weights(rows))[0]

    def costs(self, tree: Tree, schema: Schema) -> ClassCosts:
        """Class scales for the classes of a tree."""
        return equal_costs(0) if not tree.n_classes else self.weighing.of_counts(tree.counts[0], schema.classes)

    def _tree(self, rows: Partitions) -> tuple[Tree, list[dict[str, Any]]]:
        """The tree as grown, and its trace. A numeric target is scaled into a safe range first and the tree scaled back."""
        warn_unused_columns(rows, self.policy)
        if rows.schema.target.classes is not None:
            growth = self._grow(rows)
            return growth.model, growth.trace
        rows, unit = in_range(rows)
        rows, origin = near_zero(rows) if self.policy.arithmetic is ReferenceProgram.RPART else (rows, 0.0)
        growth = self._grow(rows)
        return in_unit(from_zero(growth.model, origin), unit), growth.trace

    def _grow(self, rows: Partitions) -> GrowthResult:
        if not self.traces and can_grow_remotely(rows, self.policy):
            return GrowthResult(grow_remotely(rows, self.policy, self.weighing), SearchKind.COUNTED, [])
        return grow(rows, self.policy, self.weighing, self.traces)


def _directions(policy: Policy, schema: Schema) -> np.ndarray:
    direction = dict(policy.monotone)
    return np.array([direction.get(name, 0) for name in schema.names], np.int64)
