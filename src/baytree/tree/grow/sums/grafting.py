"""Trees put together of others: a node of one is replaced by a stump, and the branches of that by whole trees."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.tree.model.structure import Tree
from baytree.tree.model.sums import Sums

_OF_NODES = (
    "column", "cut", "strict", "mirrored", "levels", "missing", "share", "rows", "weight", "counts", "value", "prediction",
    "impurity", "risk", "gain", "complexity", "branches",
)  # fmt: skip


class Piece(msgspec.Struct):
    """A tree, and what takes the place of some of its nodes: there, its stump and a piece for each branch."""

    tree: Tree
    grafts: dict[int, tuple[Tree, list[Piece]]]


def put_together(piece: Piece, sums: Sums) -> Tree:
    """One tree, its nodes level by level."""
    pieces, place = [piece], 0
    while place < len(pieces):
        pieces += [below for _, branches in pieces[place].grafts.values() for below in branches]
        place += 1
    stumps = [(id(each), node, stump) for each in pieces for node, (stump, _) in each.grafts.items()]
    trees = [*(each.tree for each in pieces), *(stump for _, _, stump in stumps)]
    offset = np.cumsum([0, *(len(tree) for tree in trees)])
    at_piece = {id(each): int(offset[k]) for k, each in enumerate(pieces)}
    at_stump = {(key, node): int(offset[len(pieces) + k]) for k, (key, node, _) in enumerate(stumps)}
    return _laid_out(piece, sums, trees, at_piece, at_stump)


def _laid_out(piece: Piece, sums: Sums, trees: list[Tree], at_piece: dict[int, int], at_stump: dict) -> Tree:
    """The nodes level by level, each by its place among those of all trees; a branch has the share that its stump gave."""
    order: list[int] = []
    share: list[int] = []
    first: list[int] = []
    open_nodes = [(piece, 0, at_piece[id(piece)])]
    for here, node, shared in open_nodes:  # grows while it is read
        graft = here.grafts.get(node)
        share.append(shared)
        if graft is None:
            order.append(at_piece[id(here)] + node)
            at, n = int(here.tree.first[node]), int(here.tree.branches[node])
            below = [(here, at + b, at_piece[id(here)] + at + b) for b in range(n)]
        else:
            stump = at_stump[id(here), node]
            order.append(stump)
            below = [(each, 0, stump + 1 + b) for b, each in enumerate(graft[1])]
        first.append(len(open_nodes) if below else 0)
        open_nodes += below
    arrays = {name: np.concatenate([getattr(tree, name) for tree in trees]) for name in _OF_NODES}
    found = {name: array[order] for name, array in arrays.items()} | {"share": arrays["share"][share]}
    start, branch_of = _branches_of(trees, np.array(order), found["levels"])
    nodes = found | {"first": np.array(first, np.int32), "start": start, "branch_of": branch_of}
    return msgspec.structs.replace(piece.tree, **nodes, sums=sums)


def _branches_of(trees: list[Tree], order: np.ndarray, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the entries of each node begin, and the entries in the order of the nodes."""
    shift = np.cumsum([0, *(len(tree.branch_of) for tree in trees)])
    old = np.concatenate([tree.start + shift[k] for k, tree in enumerate(trees)])[order]
    every = np.concatenate([tree.branch_of for tree in trees])
    start = (np.cumsum(levels) - levels).astype(np.int32)
    entry = np.arange(int(levels.sum())) + np.repeat(old - start, levels)
    return start, every[entry].astype(np.int32)
