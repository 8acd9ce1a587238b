"""A tree whose branches are groups of levels that do not differ: CHAID's merging under any criterion of several branches."""

from __future__ import annotations

from math import inf

import msgspec
import numpy as np

from baytree.engine.parts import Parts
from baytree.tree.grow.chaid_growth import Grown, Growth, grow
from baytree.tree.grow.merging import Rules
from baytree.tree.grow.policy import Criterion, Missing, Policy
from baytree.tree.grow.trial import Choice
from baytree.tree.prune.cost_complexity import to_leaves, with_complexity

TESTS = {Criterion.CHI2: "pearson", Criterion.LIKELIHOOD_RATIO: "likelihood_ratio", Criterion.SSE: "mean"}  # by adjusted p
GAINS = (Criterion.ERROR, Criterion.ENTROPY, Criterion.GINI, Criterion.GAIN_RATIO)  # these merge by Pearson's test
_ALPHA = 0.05  # levels merge above it where no other was asked for


def grow_merged(rows: Parts, policy: Policy) -> Grown:
    """The tree of a policy in which levels, ranks and tenths of a numeric column merge while they do not differ.

    Levels differ where the p-value of their classes is at most `alpha` (0.05 if none is given); the merged columns then
    compete by the criterion. With `alpha` a split must be significant too, adjusted for the number of ways to merge.
    """
    _refuse(policy)
    stop = policy.stopping
    weight = float(rows.gather().weight.sum())
    alpha = _ALPHA if stop.alpha is None else stop.alpha
    growth = Growth(
        rules=Rules(test=TESTS.get(policy.criterion, "pearson"), alpha_merge=alpha, min_leaf=stop.min_leaf, min_prob=1.0),
        choice=Choice(
            alpha_split=inf if stop.alpha is None else stop.alpha,
            criterion=None if policy.criterion in TESTS else policy.criterion.value,
            min_gain=stop.min_gain * weight,
        ),
        min_split=stop.min_split,
        max_depth=stop.max_depth,
        min_impurity=stop.min_impurity,
    )
    grown = grow(rows, growth)
    tree = with_complexity(grown.tree)
    if stop.max_leaves is None:
        return msgspec.structs.replace(grown, tree=tree)
    return _with_leaves(msgspec.structs.replace(grown, tree=tree), stop.max_leaves)


def _with_leaves(grown: Grown, max_leaves: int) -> Grown:
    """The tree cut back to so many leaves, the trials at the nodes that are left."""
    before = grown.tree
    numbered = msgspec.structs.replace(before, rows=np.arange(len(before)))  # to know the nodes again
    tree = to_leaves(numbered, max_leaves)
    place = {int(k): now for now, k in enumerate(tree.rows)}
    tried = [msgspec.structs.replace(trial, node=place[trial.node]) for trial in grown.tried if trial.node in place]
    return msgspec.structs.replace(grown, tree=msgspec.structs.replace(tree, rows=before.rows[tree.rows]), tried=tried)


def _refuse(policy: Policy) -> None:
    if policy.criterion not in TESTS and policy.criterion not in GAINS:
        known = ", ".join(repr(c.value) for c in (*TESTS, *GAINS) if c is not Criterion.SSE)
        raise ValueError(f"criterion={policy.criterion.value!r} compares two branches; with branching='merge' give {known}")
    if policy.missing not in (Missing.LEARNED, Missing.CATEGORY):
        raise ValueError(
            f"missing={policy.missing.value!r} does not go with branching='merge', where missing values are a level that "
            "merges like the others; give 'learned' or 'category'"
        )
