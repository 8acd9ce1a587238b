"""Construction of a `Tree` from the arrays that a search found, with defaults for the rest."""

from __future__ import annotations

import numpy as np

from baytree.tree.model.tree import ExtraThresholds, Significance, Surrogates, Tree


def build(
    *,
    column: np.ndarray,
    first: np.ndarray,
    branches: np.ndarray,
    cut: np.ndarray,
    levels: np.ndarray,
    branch_of: np.ndarray,
    missing: np.ndarray,
    rows: np.ndarray,
    weight: np.ndarray,
    counts: np.ndarray,
    value: np.ndarray,
    prediction: np.ndarray,
    impurity: np.ndarray,
    risk: np.ndarray,
    gain: np.ndarray,
    start: np.ndarray | None = None,
    strict: np.ndarray | None = None,
    mirrored: np.ndarray | None = None,
    share: np.ndarray | None = None,
    surrogates: Surrogates | None = None,
    uses_surrogates: bool = True,
    more_cuts: ExtraThresholds | None = None,
    significance: Significance | None = None,
) -> Tree:
    """Tree of these nodes; the arrays are those of `Tree`.

    By default, the entries of `branch_of` are in node order, no test is strict or mirrored, a node's share is its
    proportion of the weight of its siblings, there are no surrogates, and a test has one threshold.
    """
    n = len(column)
    return Tree(
        column=column, first=first, branches=branches, cut=cut, levels=levels, branch_of=branch_of, missing=missing,
        rows=rows, weight=weight, counts=counts, value=value, prediction=prediction,
        impurity=impurity, risk=risk, gain=gain, complexity=np.zeros(n),
        start=(np.cumsum(levels) - levels).astype(np.int32) if start is None else start,
        strict=np.zeros(n, bool) if strict is None else strict,
        mirrored=np.zeros(n, bool) if mirrored is None else mirrored,
        share=shares(column, first, branches, weight) if share is None else share,
        surrogates=Surrogates.none() if surrogates is None else surrogates,
        uses_surrogates=uses_surrogates,
        more_cuts=ExtraThresholds.none() if more_cuts is None else more_cuts,
        significance=significance,
    )  # fmt: skip


def shares(column: np.ndarray, first: np.ndarray, branches: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Proportion of each node in the weight of its siblings, float64 [n_nodes]; rows that stopped at the parent do not
    count.
    """
    inner = np.flatnonzero(column >= 0)
    count = branches[inner].astype(np.int64)
    parent = np.repeat(inner, count)
    child = np.repeat(first[inner] - np.cumsum(count) + count, count) + np.arange(len(parent))
    routed = np.bincount(parent, weight[child], len(column))[parent]
    share = np.ones(len(column))
    share[child] = np.divide(weight[child], routed, out=np.zeros(len(child)), where=routed > 0)
    return share
