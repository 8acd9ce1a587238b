"""Which trees grow in rounds over rows that are not in memory, and how each of them ends."""

from __future__ import annotations

from functools import partial

from baytree.engine.elsewhere import Elsewhere
from baytree.engine.parts import Parts
from baytree.table.table import Table
from baytree.tree.grow.costs import Costs, Weighing, equal_costs
from baytree.tree.grow.policy import Arithmetic, Branching, Missing, Policy
from baytree.tree.grow.rounds.cross_validated_rounds import grow_validated
from baytree.tree.grow.rounds.growth import SMALL, grow_in_rounds
from baytree.tree.model.structure import Tree
from baytree.tree.prune.cost_complexity import to_leaves, with_complexity
from baytree.tree.prune.cross_validated import with_values


def grows_in_rounds(rows: Parts, policy: Policy) -> bool:
    """Whether the tree follows from counts that are made where the rows are: classes, two branches, no surrogates."""
    if not isinstance(rows, Elsewhere) or rows.n_rows <= SMALL or not rows.schema.classes:
        return False
    if policy.branching is not Branching.BINARY or not _is_pruned_in_rounds(policy):
        return False
    if policy.stopping.takes_no_gain or policy.columns_per_node is not None:
        return False
    if policy.arithmetic is Arithmetic.OWN:
        return policy.missing is not Missing.SURROGATE
    has_surrogates = policy.missing is Missing.SURROGATE and policy.surrogates.most > 0
    return policy.arithmetic is Arithmetic.RPART and not has_surrogates and rows.encoding.is_unweighted


def _is_pruned_in_rounds(policy: Policy) -> bool:
    """Whether nothing is pruned, or at a penalty that is chosen by folds of what is in the rows."""
    step = policy.cross_validated
    if step is None:
        return not policy.pruning
    return len(policy.pruning) == 1 and isinstance(step.cv, int) and not step.by_impurity


def grow_from_counts(rows: Parts, policy: Policy, weighing: Weighing) -> Tree:
    """The tree that a policy grows on rows that stay where they are."""
    step = policy.cross_validated
    if step is not None:
        assert isinstance(rows, Elsewhere)
        return grow_validated(rows, policy, step, weighing)
    if policy.arithmetic is Arithmetic.RPART:
        cp = policy.stopping.cp
        fitted = rows.changed(partial(with_values, policy=policy))
        return with_complexity(grow_in_rounds(fitted, policy, weighing.of, cp), cp, is_bounded=True)
    tree = with_complexity(grow_in_rounds(rows, policy, partial(_costs, weighing)))
    most = policy.stopping.max_leaves
    return tree if most is None else to_leaves(tree, most)


def _costs(weighing: Weighing, table: Table) -> Costs:
    return equal_costs(table.n_classes) if weighing.is_equal else weighing.of(table)
