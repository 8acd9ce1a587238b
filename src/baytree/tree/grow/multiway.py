"""A tree with a branch for each level, for every criterion and every way with missing values that suit it."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from baytree.table.schema import Kind
from baytree.table.table import Table
from baytree.tree.grow.fractional import Rows, Rules, grow, ripen, rows_of
from baytree.tree.grow.policy import Branching, Choose, Criterion, Missing, Policy
from baytree.tree.model.structure import Tree
from baytree.tree.prune.cost_complexity import with_complexity

MEASURES = {
    Criterion.ERROR: "error",
    Criterion.ENTROPY: "entropy",
    Criterion.GINI: "gini",
    Criterion.GAIN_RATIO: "entropy",
    Criterion.CHI2: "chi2",
}
ROADS = (Missing.FRACTIONAL, Missing.CATEGORY, Missing.LARGEST, Missing.LEARNED)


def grow_multiway(table: Table, policy: Policy, threads: int = 1) -> Tree:
    """The tree of a policy in which nominal columns have a branch for each level (binary: one level against the rest).

    Numbers and ranks are cut in two, and may be cut again; a nominal column is asked once on a path. At least two branches
    must hold `min_leaf`. The columns of a node compete on the gain of their known rows, times the known share; chi² by its
    p-value, so that many branches pay for their degrees of freedom. An empty branch answers with its parent's distribution.
    """
    _refuse(policy)
    rows = _with_ranks_as_numbers(rows_of(table), table)
    growth = grow(rows, table.n_classes, _rules(policy), threads=threads)
    return with_complexity(ripen(growth, empty="parent", measure=MEASURES[policy.criterion]))


def _rules(policy: Policy) -> Rules:
    stop = policy.stopping
    is_chi2 = policy.criterion is Criterion.CHI2
    return Rules(
        measure=MEASURES[policy.criterion],
        missing=policy.missing.value,
        by_ratio=policy.criterion is Criterion.GAIN_RATIO,
        gated=policy.choose is Choose.AVERAGE_GAIN,
        binary=policy.branching is Branching.BINARY,
        tolerance=1e-10,  # fractions of rows are sums of rounded shares: ties must not hang on their order
        mdl=False,
        midpoint=True,
        quinlan_sides=False,
        zero_ratio_wins=False,
        min_side=stop.min_leaf,
        min_split=stop.min_split,
        min_impurity=stop.min_impurity,
        min_gain=-math.log(stop.alpha) if is_chi2 and stop.alpha else stop.min_gain,
        zero_gain=1e-12,
        max_depth=-1 if stop.max_depth is None else stop.max_depth,
        max_leaves=-1 if stop.max_leaves is None else stop.max_leaves,
    )


def _refuse(policy: Policy) -> None:
    if policy.criterion not in MEASURES:
        known = ", ".join(repr(c.value) for c in MEASURES)
        raise ValueError(f"criterion={policy.criterion.value!r} cannot compare many branches; with 'multiway' give {known}")
    if policy.missing not in ROADS:
        known = ", ".join(repr(road.value) for road in ROADS)
        raise ValueError(f"missing={policy.missing.value!r} is for two branches; with 'multiway' give {known}")
    if policy.stopping.alpha is not None and policy.criterion is not Criterion.CHI2:
        raise ValueError("alpha with branching='multiway' needs criterion='chi2'")


def _with_ranks_as_numbers(rows: Rows, table: Table) -> Rows:
    """Ordinal columns are cut by rank: their codes as numbers."""
    is_ordinal = [column.kind is Kind.ORDINAL for column in table.schema]
    columns = [_as_numbers(codes) if o else codes for codes, o in zip(rows.columns, is_ordinal, strict=True)]
    return msgspec.structs.replace(rows, columns=columns, levels=np.where(is_ordinal, 0, rows.levels).astype(np.int32))


def _as_numbers(codes: np.ndarray) -> np.ndarray:
    return np.where(codes < 0, np.nan, codes.astype(np.float64))
