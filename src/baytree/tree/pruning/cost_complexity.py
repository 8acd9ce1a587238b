"""Cost-complexity pruning (Breiman et al. 1984) and other pruners: each is a function from a tree to a tree.

`with_complexity` computes the penalty at which each split is pruned; `path` lists the nested trees of all penalties, with
cross-validated errors if they were computed; `prune_to` removes any set of splits and renumbers the arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np

from baytree import _core
from baytree.display.results import TextResult, frame_of
from baytree.param_validation import number, one_of
from baytree.rendering.complexity_table import ComplexityTable, complexity_lines, complexity_notes, complexity_rows
from baytree.tree.model.arrays import LEAF
from baytree.tree.model.linear_combinations import only_used
from baytree.tree.model.traversal import parents
from baytree.tree.model.tree import Averaging, ExtraThresholds, Significance, Surrogates, Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Entries = TypeVar("Entries", Surrogates, ExtraThresholds, Significance, Averaging)


class PruningPath(TextResult, msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="path"):
    """Nested trees of cost-complexity pruning, the smallest first.

    Tree i keeps the splits whose complexity is above `cp[i]`; penalties and risks are in units of the root's risk.
    Cross-validated errors are empty unless they were requested.
    """

    cp: np.ndarray  # float64 [n_trees], decreasing
    splits: np.ndarray  # int64 [n_trees]
    risk: np.ndarray  # float64 [n_trees], on the training rows
    error: np.ndarray  # float64 [n_trees] or [0], cross-validated
    deviation: np.ndarray  # float64 [n_trees] or [0], its standard error
    root: float = 0.0  # risk of a tree without a split
    weight: float = 0.0  # of all rows

    @property
    def alpha(self) -> np.ndarray:
        """The penalties `cp` in units of risk per row: errors, or squared errors. float64 [n_trees]"""
        return self.cp * (self.root / self.weight if self.weight else 0.0)

    def __str__(self) -> str:
        return "\n".join(complexity_lines(self.table()))

    def table(self) -> ComplexityTable:
        """Table record of the path."""
        cp, splits, risk = (tuple(each.tolist()) for each in (self.cp, self.splits, self.risk))
        error, deviation = (tuple(each.tolist()) if len(each) else None for each in (self.error, self.deviation))
        return ComplexityTable(cp, splits, risk, error, deviation, self.root, self.weight)

    def to_frame(self) -> Any:
        """Data frame of the library in use, one row per tree."""
        names = ("cp", "splits", "risk", *(("error", "deviation") if len(self.error) else ()))
        return frame_of({name: getattr(self, name) for name in names})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the errors against the number of splits with matplotlib; return the axes."""
        from baytree.rendering.plots.importance_plots import complexity_plot

        return complexity_plot(self.table(), ax)

    def _repr_html_(self) -> str:
        from baytree.display.results import table  # imported on demand

        head, *rows = complexity_rows(self.table())
        return table("cost-complexity pruning", head, rows, complexity_notes(self.table()))


def prune_to(tree: Tree, is_split: np.ndarray) -> Tree:
    """Tree in which only these splits remain: bool [n_nodes]. The certificate of optimality is dropped."""
    is_split = is_split & (tree.column >= 0)
    if np.array_equal(is_split, tree.column >= 0):
        return tree
    retained = _is_retained(tree, is_split)
    is_split = is_split[retained]
    new_id = np.cumsum(retained) - 1
    arrays = {name: getattr(tree, name)[retained] for name in _PER_NODE}
    arrays["column"] = np.where(is_split, arrays["column"], LEAF).astype(np.int32)
    arrays["first"] = np.where(is_split, new_id[arrays["first"]], 0).astype(np.int32)
    arrays["branches"] = np.where(is_split, arrays["branches"], 0).astype(np.int32)
    arrays["cut"] = np.where(is_split, arrays["cut"], np.nan)
    arrays["gain"] = np.where(is_split, arrays["gain"], 0.0)
    for flag in ("strict", "mirrored"):
        arrays[flag] = arrays[flag] & is_split
    arrays["missing"] = np.where(is_split, arrays["missing"], -1).astype(np.int32)
    arrays["levels"] = np.where(is_split, arrays["levels"], 0).astype(np.int32)
    arrays["start"], branch_of = _packed(arrays["start"], arrays["levels"], tree.branch_of)
    is_inner = np.zeros(len(retained), np.bool_)
    is_inner[retained] = is_split
    records = {name: getattr(tree, name) for name in _BY_ENTRY}
    entries = {name: _entries_of(record, is_inner, new_id) for name, record in records.items() if record}
    if tree.sums:
        arrays["column"], entries["sums"] = only_used(arrays["column"], tree.sums)
    return msgspec.structs.replace(tree, **arrays, branch_of=branch_of, certificate=msgspec.UNSET, **entries)


def places_kept(tree: Tree, is_split: np.ndarray) -> np.ndarray:
    """New index of each node if only these splits remain, int32 [n_nodes]; −1 for removed nodes."""
    retained = _is_retained(tree, is_split & (tree.column >= 0))
    return np.where(retained, np.cumsum(retained) - 1, -1).astype(np.int32)


def _is_retained(tree: Tree, is_split: np.ndarray) -> np.ndarray:
    """Whether all splits above each node remain, bool [n_nodes]."""
    return _core.kept_nodes(tree.first, tree.branches, tree.mirrored, tree.risk, is_split.view(np.uint8)).view(np.bool_)


def cost_complexity(tree: Tree, cp: float | None = None, *, alpha: float | None = None, by: str = "risk") -> Tree:
    """Tree of the splits that are worth more than a penalty per leaf.

    `cp` is the penalty relative to the root's risk, `alpha` the same in units of risk per row. With ``by="impurity"`` the
    criterion takes the place of the risk.
    """
    if (cp is None) == (alpha is None):
        raise ValueError("prune('cost_complexity') needs a penalty per leaf: cp (relative to the root) or alpha (per row)")
    if one_of("by", by, ("risk", "impurity")) == "impurity":
        impure = msgspec.structs.replace(tree, risk=tree.impurity * tree.weight)
        score, root = complexities(impure), float(impure.risk[0])
    else:
        score, root = penalized(tree).complexity, float(tree.risk[0])
    if alpha is None:
        return prune_to(tree, score > number("cp", cp))
    return prune_to(tree, score * root > number("alpha", alpha) * float(tree.weight[0]))


def collapse(tree: Tree) -> Tree:
    """Remove splits below which every leaf predicts the same class or number."""
    outcome = tree.prediction.astype(float) if tree.n_classes else tree.value[:, 0].copy()
    is_split = tree.column >= 0
    is_uniform = ~is_split  # all leaves below predict the same
    for node in np.flatnonzero(is_split)[::-1]:
        children = slice(tree.first[node], tree.first[node] + tree.branches[node])
        if is_uniform[children].all() and np.all(outcome[children] == outcome[tree.first[node]]):
            is_uniform[node], outcome[node], is_split[node] = True, outcome[tree.first[node]], False
    return prune_to(tree, is_split)


def prune_to_n_leaves(tree: Tree, max_leaves: int) -> Tree:
    """Tree of at most `max_leaves` leaves, as grown best first: splits of largest gain are kept."""
    import heapq

    is_split, n_leaves = np.zeros(len(tree), np.bool_), 1
    open_nodes = [(-tree.gain[0], 0)] if tree.column[0] >= 0 else []
    while open_nodes:
        _, node = heapq.heappop(open_nodes)
        if n_leaves + tree.branches[node] - 1 > max_leaves:
            continue
        is_split[node], n_leaves = True, n_leaves + int(tree.branches[node]) - 1
        children = range(tree.first[node], tree.first[node] + tree.branches[node])
        for child in children:
            if tree.column[child] >= 0:
                heapq.heappush(open_nodes, (-tree.gain[child], child))
    return prune_to(tree, is_split)


def snip(tree: Tree, node: int) -> Tree:
    """Tree in which one node has become a leaf."""
    if not 0 <= node < len(tree):
        raise ValueError(f"no node {node}; nodes are numbered from 0 to {len(tree) - 1}")
    is_split = tree.column >= 0
    is_split[node] = False
    return prune_to(tree, is_split)


PRUNERS: dict[str, Callable[..., Tree]] = {
    "cost_complexity": cost_complexity,
    "collapse": collapse,
    "max_leaves": prune_to_n_leaves,
    "snip": snip,
}


def with_complexity(tree: Tree, cp: float = 0.0, *, alpha: float | None = None, is_bounded: bool = False) -> Tree:
    """Tree with the penalty at which each split is pruned, without splits that are not worth `cp`.

    `alpha` is the same penalty in units of risk. With `is_bounded`, nodes that cannot pay are removed, as in rpart.
    """
    scaled, is_split = _complexities(tree, cp * float(tree.risk[0]) if alpha is None else alpha, is_bounded)
    valued = msgspec.structs.replace(tree, complexity=scaled)
    return prune_to(valued, is_split) if is_bounded else valued


def penalized(tree: Tree) -> Tree:
    """Tree with the penalty at which each split is pruned, which CHAID's trees are grown without."""
    return tree if tree.complexity.any() else with_complexity(tree)


def complexities(tree: Tree) -> np.ndarray:
    """Penalty at which each split is pruned, in units of the root's risk, float64 [n_nodes]."""
    return _complexities(tree, 0.0, is_bounded=False)[0]


def _complexities(tree: Tree, alpha: float, is_bounded: bool) -> tuple[np.ndarray, np.ndarray]:
    """Penalty at which each split is pruned, relative to the root's risk, and whether it is worth alpha, [n_nodes] each."""
    root = float(tree.risk[0])
    complexity, is_split = _core.complexities(tree.first, tree.branches, tree.mirrored, tree.risk, alpha, is_bounded)
    return complexity / root if root > 0 else np.zeros(len(tree)), is_split.view(np.bool_)


def path(tree: Tree, cp: float = 0.0) -> PruningPath:
    """Nested trees of cost-complexity pruning; `cp` is the penalty at which the tree itself was grown."""
    levels = np.unique(np.maximum(tree.complexity, cp))[::-1]
    inner = np.flatnonzero(tree.column >= 0)
    order = inner[np.argsort(-tree.complexity[inner], kind="stable")]
    n_kept = np.searchsorted(-tree.complexity[order], -levels, side="left")  # splits above each penalty
    # Penalties with no split in between give the same tree: the complexity of a leaf may be an ulp above `cp`.
    is_last = np.append(np.diff(n_kept) > 0, True)
    levels, n_kept = levels[is_last], n_kept[is_last]
    child_risk = np.bincount(parents(tree)[1:], tree.risk[1:], len(tree))[order] if len(order) else np.zeros(0)
    splits = np.concatenate([[0], np.cumsum(tree.branches[order].astype(np.int64) - 1)])[n_kept]
    risk = tree.risk[0] + np.concatenate([[0.0], np.cumsum(child_risk - tree.risk[order])])[n_kept]
    root, weight = float(tree.risk[0]), float(tree.weight[0])
    return PruningPath(levels, splits, risk / (root or 1.0), np.zeros(0), np.zeros(0), root, weight)


_BY_ENTRY = ("surrogates", "more_cuts", "significance", "averaging")

_PER_TREE = ("branch_of", "uses_surrogates", "certificate", "sums")

_PER_NODE = [name for name in Tree.__struct_fields__ if name not in (*_PER_TREE, *_BY_ENTRY)]


def _packed(start: np.ndarray, levels: np.ndarray, branch_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """New starts, and the entries of branch_of without those of removed tests."""
    size = levels.astype(np.int64)
    begin = np.cumsum(size) - size
    entry = np.repeat(start - begin, size) + np.arange(int(size.sum()))
    return begin.astype(np.int32), branch_of[entry]


def _entries_of(record: Entries, stays: np.ndarray, position: np.ndarray) -> Entries:
    """Entries of the nodes that remain split, renumbered."""
    chosen = stays[record.node]
    arrays = {name: getattr(record, name)[chosen] for name in record.__struct_fields__ if name != "branch_of"}
    arrays["node"] = position[arrays["node"]].astype(np.int32)
    if isinstance(record, Surrogates):
        arrays["start"], arrays["branch_of"] = _packed(arrays["start"], arrays["levels"], record.branch_of)
    return type(record)(**arrays)
