"""Which trees grow in rounds over rows that are not in memory, and how each of them ends."""

from __future__ import annotations

from functools import partial
from typing import Self

import msgspec

from baytree.engine.elsewhere import Elsewhere
from baytree.engine.parts import Parts
from baytree.folds.contents import Repetition
from baytree.table.table import Table, is_missing
from baytree.tree.grow.costs import Costs, Weighing, equal_costs
from baytree.tree.grow.fractional import PROGRAMS, is_single
from baytree.tree.grow.fractional_tree import tree_of_nodes
from baytree.tree.grow.policy import Arithmetic, Branching, Collapse, ErrorBased, Missing, Policy
from baytree.tree.grow.rounds.class_growth import grow_in_rounds
from baytree.tree.grow.rounds.cross_validated_rounds import grow_validated
from baytree.tree.grow.rounds.cut_values import CutValues
from baytree.tree.grow.rounds.fractional_growth import FractionalGrowth
from baytree.tree.grow.rounds.fractional_nodes import FractionalNode, raw_of
from baytree.tree.grow.rounds.growth import MOST_CELLS, SMALL
from baytree.tree.grow.rounds.number_growth import grow_numbers_in_rounds
from baytree.tree.grow.rounds.placements import Units
from baytree.tree.grow.rounds.questions import Growing, answered
from baytree.tree.grow.rounds.raised_in_rounds import pruned
from baytree.tree.grow.rounds.value_codes import codes_of
from baytree.tree.model.structure import Tree
from baytree.tree.prune.cost_complexity import to_leaves, with_complexity
from baytree.tree.prune.cross_validated import with_values

_FRACTIONAL = (Arithmetic.C45, Arithmetic.J48, Arithmetic.ID3)


def grows_in_rounds(rows: Parts, policy: Policy) -> bool:
    """Whether the tree follows from counts that are made where the rows are.

    These are trees of classes: with two branches and no surrogates, and those of C4.5, J48 and ID3. Of the latter, memory
    adds up fractions of rows in their order where values are missing; so rows that fit are gathered then.
    """
    if not isinstance(rows, Elsewhere) or rows.n_rows <= SMALL:
        return False
    if not rows.schema.classes:
        return _are_numbers_in_rounds(rows, policy)
    if policy.arithmetic in _FRACTIONAL:
        return _is_fractional_in_rounds(policy) and not (rows.fits and rows.total(Gaps.of).is_found)
    return _is_pruned_in_rounds(policy) and _is_binary_in_rounds(rows, policy)


def _is_binary_in_rounds(rows: Elsewhere, policy: Policy) -> bool:
    if policy.branching is not Branching.BINARY:
        return False
    if policy.stopping.takes_no_gain or policy.columns_per_node is not None or policy.is_constrained:
        return False
    if policy.arithmetic is Arithmetic.OWN:
        return policy.missing is not Missing.SURROGATE
    has_surrogates = policy.missing is Missing.SURROGATE and policy.surrogates.most > 0
    return policy.arithmetic is Arithmetic.RPART and not has_surrogates and rows.encoding.is_unweighted


def _are_numbers_in_rounds(rows: Elsewhere, policy: Policy) -> bool:
    """Memory adds up targets in the order of the rows; so rows that fit are gathered."""
    is_plain = rows.encoding.is_unweighted and not policy.pruning and not policy.stopping.counts_rows
    return is_plain and not rows.fits and _is_binary_in_rounds(rows, policy)


class Gaps(msgspec.Struct, frozen=True):
    """Whether a value is missing."""

    is_found: bool

    @classmethod
    def of(cls, table: Table) -> Self:
        """In these rows."""
        return cls(any(bool(is_missing(values).any()) for values in table.values))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.is_found or other.is_found)


def _is_fractional_in_rounds(policy: Policy) -> bool:
    """Groups of levels, and pruning on rows that are held out, need all rows at once."""
    is_plain = policy.branching in (Branching.MULTIWAY, Branching.ONE_LEVEL) and policy.missing is Missing.FRACTIONAL
    is_pruned = all(isinstance(step, Collapse | ErrorBased) for step in policy.pruning)
    return is_plain and is_pruned and policy.stopping.max_leaves is None


def _is_pruned_in_rounds(policy: Policy) -> bool:
    """Whether nothing is pruned, or at a penalty that is chosen by folds of what is in the rows."""
    step = policy.cross_validated
    if step is None:
        return not policy.pruning
    return len(policy.pruning) == 1 and isinstance(step.cv, int) and not step.by_impurity


def grow_from_counts(rows: Parts, policy: Policy, weighing: Weighing) -> Tree:
    """The tree that a policy grows on rows that stay where they are."""
    if policy.arithmetic in _FRACTIONAL:
        return _grow_fractional(rows, policy)
    step = policy.cross_validated
    if step is not None:
        assert isinstance(rows, Elsewhere)
        return grow_validated(rows, policy, step, weighing)
    if policy.arithmetic is Arithmetic.RPART:
        cp = policy.stopping.cp
        fitted = rows.changed(partial(with_values, policy=policy))
        tree = (
            grow_in_rounds(fitted, policy, weighing.of, cp)
            if rows.schema.classes
            else grow_numbers_in_rounds(fitted, policy, cp)
        )
        return with_complexity(tree, cp, is_bounded=True)
    if rows.schema.classes:
        tree = with_complexity(grow_in_rounds(rows, policy, partial(_costs, weighing)))
    else:
        tree = with_complexity(grow_numbers_in_rounds(rows, policy))
    most = policy.stopping.max_leaves
    return tree if most is None else to_leaves(tree, most)


def _grow_fractional(rows: Parts, policy: Policy) -> Tree:
    weights = rows.total(Repetition.of, rows_per_part=None)
    single = PROGRAMS[policy.arithmetic].single and is_single(weights.total, weights.is_whole)
    units, codes = Units.of(weights.total, single), codes_of(rows)
    cuts = tuple(None if ends is None else CutValues.of(ends, single) for ends in codes.ends)
    growth = FractionalGrowth(rows.schema, policy, codes, cuts, units, weights.total, SMALL, MOST_CELLS, rows.n_jobs)
    (root,) = answered(rows, [_grown_and_pruned(growth)], [None])
    return with_complexity(tree_of_nodes(raw_of(root, len(rows.schema.classes)), policy))


def _grown_and_pruned(growth: FractionalGrowth) -> Growing[FractionalNode]:
    root = yield from growth.grown()
    yield from pruned(growth, root)
    return root


def _costs(weighing: Weighing, table: Table) -> Costs:
    return equal_costs(table.n_classes) if weighing.is_equal else weighing.of(table)
