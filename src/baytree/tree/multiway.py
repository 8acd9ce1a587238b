"""The open tree where levels have a branch each, or rows without a value go down every branch: by the fractional machine."""

from __future__ import annotations

from baytree.table import Table
from baytree.tree.fractional import MISSING, Rules, grow, ripen, rows_of
from baytree.tree.policy import Branching, Criterion, Policy
from baytree.tree.structure import Tree

_MEASURES = {
    Criterion.ENTROPY: "entropy",
    Criterion.GAIN_RATIO: "entropy",
    Criterion.GINI: "gini",
    Criterion.ERROR: "error",
    Criterion.CHI2: "chi2",
}


def multiway(table: Table, policy: Policy, threads: int) -> Tree:
    """The tree of a policy with a branch per level, or with fractional cases."""
    _refuse_what_it_cannot(policy)
    stop, measure = policy.stopping, _MEASURES[policy.criterion]
    is_root_only = stop.max_depth == 0 or stop.max_leaves == 1
    rules = Rules(
        measure=measure,
        missing=policy.missing.value,
        by_ratio=policy.criterion is Criterion.GAIN_RATIO,
        binary=policy.branching is Branching.BINARY,
        mdl=False,
        midpoint=True,
        quinlan_sides=False,
        zero_ratio_wins=False,
        gated=False,
        tolerance=1e-10,  # fractions of rows are sums of rounded shares: ties must not hang on their order
        min_side=stop.min_leaf,
        min_gain=stop.min_gain,
        min_split=float("inf") if is_root_only else stop.min_split,
        min_impurity=stop.min_impurity,
        max_depth=stop.max_depth or 0,
        max_leaves=stop.max_leaves or 0,
    )
    return ripen(grow(rows_of(table), table.n_classes, rules, threads=threads), empty="parent", measure=measure)


def _refuse_what_it_cannot(policy: Policy) -> None:
    wanted = f"branching={policy.branching.value!r} with missing={policy.missing.value!r}"
    if policy.criterion not in _MEASURES:
        raise ValueError(f"criterion={policy.criterion.value!r}: {wanted} knows {', '.join(c.value for c in _MEASURES)}")
    if policy.missing.value not in MISSING:
        raise ValueError(f"{wanted}: surrogates imitate two branches; use branching='binary', or missing='fractional'")
    if policy.stopping.alpha is not None:
        raise ValueError(f"alpha={policy.stopping.alpha}: {wanted} has no test of significance; use CHAIDClassifier")
