"""A regression tree with a branch for each level: least squares, numbers and ranks cut in two, levels parted into all.

The core grows it: cuts by the sorted search, levels by the sums of those that occur at a node.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.table.schema import Kind
from baytree.table.table import Table
from baytree.tree.grow.costs import equal_costs
from baytree.tree.grow.policy import Branching, Missing, Policy
from baytree.tree.grow.sorted import grow_sorted, settings
from baytree.tree.model.build import build
from baytree.tree.model.routing import columns, level_counts
from baytree.tree.model.structure import Tree
from baytree.tree.prune.cost_complexity import to_leaves, with_complexity

WAYS = (Missing.LEARNED, Missing.CATEGORY, Missing.LARGEST)


def grow_multiway_numbers(table: Table, policy: Policy, threads: int = 1) -> Tree:
    """The tree of a policy. At least two branches of a split must hold `min_leaf`; an empty branch is not made.

    Rows without a level go where the sum of squares is least ("learned"), into a branch of their own ("category"), or
    with the heaviest branch ("largest", which judges a column by its known rows).
    """
    if policy.missing not in WAYS:
        known = ", ".join(repr(way.value) for way in WAYS)
        raise ValueError(f"missing={policy.missing.value!r} is for two branches; with 'multiway' give {known}")
    tree = _grow_levels(table, policy, threads) if _has_levels(table) else _grow_in_two(table, policy, threads)
    most = policy.stopping.max_leaves
    return with_complexity(tree) if most is None else to_leaves(with_complexity(tree), most)


def _has_levels(table: Table) -> bool:
    return any(column.kind is Kind.NOMINAL for column in table.schema)


def _grow_in_two(table: Table, policy: Policy, threads: int) -> Tree:
    """Without levels every split has two branches, and the whole tree is that of the sorted search."""
    return grow_sorted(table, msgspec.structs.replace(policy, branching=Branching.BINARY), equal_costs(0), threads)


def _grow_levels(table: Table, policy: Policy, threads: int) -> Tree:
    table = table if table.weight.all() else table.take(table.weight > 0)
    nodes = _core.grow_multiway(
        columns(table),
        level_counts(table.schema),
        np.ascontiguousarray(table.label, np.float64),
        None if table.is_unweighted else np.ascontiguousarray(table.weight, np.float64),
        settings(table, policy, equal_costs(0)),
        threads,
    )
    n, mean = len(nodes["column"]), nodes.pop("mean")
    return build(**nodes, counts=np.zeros((n, 0)), value=mean[:, None], prediction=np.zeros(n, np.int32))
