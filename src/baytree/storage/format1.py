"""Reader of model files of format 1 (baytree 0.1): conversion of parameters and trees to the current records.

In format 1 a CHAID tree was a record of its own: tests over codes, the edges of the bins that coded numbers, and the trials
of the columns. In format 2 it is a `Tree` whose tests have several thresholds.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from baytree.storage.records import decode
from baytree.tree.model.tree import ExtraThresholds, Significance, Tree

RENAMED = {"CARTClassifier": {"prune": "pruning"}, "CARTRegressor": {"prune": "pruning"}}


def parameters(estimator: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of an estimator under their current names."""
    names = RENAMED.get(estimator, {})
    return {names.get(name, name): value for name, value in given.items()}


class Bins(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="bins"):
    """Bin edges of the numeric columns: bin k contains edge[k − 1] < x ≤ edge[k]."""

    edges: np.ndarray  # float64 [n_edges], concatenated over columns
    start: np.ndarray  # int64 [n_columns + 1]
    is_cut: np.ndarray  # bool [n_columns], True for numeric columns

    def of(self, column: int) -> np.ndarray:
        """Return the bin edges of a column."""
        return self.edges[self.start[column] : self.start[column + 1]]


class Trial(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="trial"):
    """Result of the CHAID test of one column at a node."""

    node: int
    column: int
    group_of: np.ndarray  # int32 [n_codes]
    floating: int  # group of missing values, −1 if the node had none
    n_groups: int
    log_p: float
    log_multiplier: float
    log_adjusted: float


class Chaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="chaid"):
    """A tree whose tests are over codes: levels, or bins of numbers."""

    tree: Tree
    bins: Bins
    trials: tuple[Trial, ...] = ()


def chaid(raw: msgspec.Raw) -> Tree:
    """Convert a format 1 CHAID record to a tree with thresholds."""
    old = decode(raw, Chaid)
    tree = old.tree
    _check(tree, old.bins)
    is_binned = (tree.column >= 0) & old.bins.is_cut[tree.column]
    thresholds = {int(k): _cuts(tree, old.bins, int(k)) for k in np.flatnonzero(is_binned)}
    first = tree.cut.copy()
    for node, each in thresholds.items():
        first[node] = each[0] if len(each) else np.inf
    extra = [(node, cut) for node, each in thresholds.items() for cut in each[1:]]
    return msgspec.structs.replace(
        _without_maps(tree, is_binned),
        cut=first,
        more_cuts=ExtraThresholds(
            np.array([node for node, _ in extra], np.int32), np.array([cut for _, cut in extra], float)
        ),
        significance=_significance(tree, old.trials),
    )


def _check(tree: Tree, bins: Bins) -> None:
    start, n = bins.start, len(bins.is_cut)
    if start.shape != (n + 1,) or start[0] != 0 or start[-1] != len(bins.edges) or np.any(np.diff(start) < 0):
        raise ValueError("the layout of the bin edges is invalid")
    if tree.column.max(initial=-1) >= n or np.any((tree.column >= 0) & (tree.levels == 0)):
        raise ValueError("a test does not match the bins of its column")
    for node in np.flatnonzero((tree.column >= 0) & bins.is_cut[tree.column]):
        branches = tree.branch_of[tree.start[node] : tree.start[node] + tree.levels[node]]
        if tree.levels[node] != len(bins.of(tree.column[node])) + 1 or not set(np.diff(branches).tolist()) <= {0, 1}:
            raise ValueError("a test does not match the bins of its column")


def _cuts(tree: Tree, bins: Bins, node: int) -> np.ndarray:
    """Return the edges between bins that go to different branches."""
    branches = tree.branch_of[tree.start[node] : tree.start[node] + tree.levels[node]]
    return bins.of(tree.column[node])[np.flatnonzero(np.diff(branches))]


def _without_maps(tree: Tree, is_binned: np.ndarray) -> Tree:
    """Return the tree without the maps from bins to branches; their thresholds are infinity for now."""
    levels = np.where(is_binned, 0, tree.levels).astype(np.int32)
    branch_maps = [tree.branch_of[s : s + n] for s, n in zip(tree.start.tolist(), levels.tolist(), strict=True)]
    start = (np.cumsum(levels) - levels).astype(np.int32)
    cut = np.where(is_binned, np.inf, tree.cut)
    branch_of = np.concatenate([np.zeros(0, np.int32), *branch_maps])
    return msgspec.structs.replace(tree, cut=cut, levels=levels, start=start, branch_of=branch_of)


def _significance(tree: Tree, trials: tuple[Trial, ...]) -> Significance:
    """Return the significance of the trials that became splits."""
    splits = [t for t in trials if 0 <= t.node < len(tree) and tree.column[t.node] == t.column]
    splits.sort(key=lambda trial: trial.node)
    return Significance(
        np.array([trial.node for trial in splits], np.int32),
        np.array([trial.log_p for trial in splits], float),
        np.array([trial.log_multiplier for trial in splits], float),
        np.array([trial.floating >= 0 for trial in splits], bool),
    )
