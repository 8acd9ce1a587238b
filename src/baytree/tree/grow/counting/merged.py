"""A tree whose branches are groups of levels that do not differ: CHAID's merging under any criterion of several branches."""

from __future__ import annotations

from math import inf

import msgspec
import numpy as np

from baytree.engine.parts import Parts
from baytree.engine.rounds.number_of_rows import Weight
from baytree.tree.grow.counting.candidate import Rules
from baytree.tree.grow.counting.chaid_growth import Growth, Merged, grow
from baytree.tree.grow.counting.level_trials import Choice
from baytree.tree.grow.policy import SUITS, Choose, Missing, Policy
from baytree.tree.prune.cost_complexity import to_leaves, with_complexity

TESTS = {criterion: suits.test for criterion, suits in SUITS.items() if suits.test}  # by adjusted p
GAINS = tuple(criterion for criterion, suits in SUITS.items() if suits.merged and not suits.test)  # merge by Pearson's test


def grow_merged(rows: Parts, policy: Policy) -> Merged:
    """The tree of a policy in which levels, ranks and bins of a numeric column merge while they do not differ.

    The merged columns then compete by the criterion, or by their p-value, adjusted for the number of ways to merge. With
    `alpha` a split must be significant, so adjusted. CHAID's own trees know significance only, and no penalties.
    """
    _refuse(policy)
    stop = policy.stopping
    growth = Growth(
        rules=_rules(policy),
        choice=Choice(
            alpha_split=inf if stop.alpha is None else stop.alpha,
            criterion=None if policy.criterion in TESTS else policy.criterion,
            min_gain=stop.min_gain * rows.total(Weight.of, rows_per_part=None).total,
        ),
        min_split=stop.min_split,
        max_depth=stop.max_depth,
        bins=policy.merging.bins,
        min_impurity=stop.min_impurity,
    )
    merged = grow(rows, growth)
    if policy.choose is Choose.ADJUSTED_P:
        return merged
    merged = msgspec.structs.replace(merged, tree=with_complexity(merged.tree))
    return merged if stop.max_leaves is None else _with_leaves(merged, stop.max_leaves)


def _rules(policy: Policy) -> Rules:
    merging = policy.merging
    return Rules(
        test=TESTS.get(policy.criterion, "pearson"),
        alpha_merge=merging.alpha,
        alpha_resplit=merging.alpha_resplit,
        exhaustive=merging.exhaustive,
        min_leaf=policy.stopping.min_leaf,
        min_prob=merging.min_prob,
    )


def _with_leaves(merged: Merged, max_leaves: int) -> Merged:
    """The tree cut back to so many leaves, the trials at the nodes that are left."""
    before = merged.tree
    tree = to_leaves(msgspec.structs.replace(before, rows=np.arange(len(before))), max_leaves)  # to know the nodes again
    place = {int(k): now for now, k in enumerate(tree.rows)}
    tried = [msgspec.structs.replace(level, nodes=[place.get(k, -1) for k in level.nodes]) for level in merged.tried]
    return msgspec.structs.replace(merged, tree=msgspec.structs.replace(tree, rows=before.rows[tree.rows]), tried=tried)


def _refuse(policy: Policy) -> None:
    if policy.criterion not in TESTS and policy.criterion not in GAINS:
        known = ", ".join(repr(c.value) for c in (*TESTS, *GAINS) if SUITS[c].binary and not SUITS[c].numbers)
        raise ValueError(f"criterion={policy.criterion.value!r} compares two branches; with branching='merge' give {known}")
    if policy.missing not in (Missing.LEARNED, Missing.CATEGORY):
        raise ValueError(
            f"missing={policy.missing.value!r} does not go with branching='merge', where missing values are a level that "
            "merges like the others; give 'learned' or 'category'"
        )
