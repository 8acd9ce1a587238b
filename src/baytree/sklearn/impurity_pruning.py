"""Cost-complexity pruning by impurity, as scikit-learn has it: the risk of a node is its share of the criterion."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.tree.model.structure import Tree
from baytree.tree.prune.cost_complexity import kept, path, with_complexity


def impurity_path(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """The penalties at which splits go, rising from 0, and the impurity of the leaves that are left at each."""
    found = path(_by_impurity(tree))
    alphas, impurities = (found.cp * found.root)[::-1], (found.risk * (found.root or 1.0))[::-1]
    if len(alphas) == 0 or alphas[0] > 0:
        alphas, impurities = np.append(0.0, alphas), np.append(_leaves_impurity(tree), impurities)
    return alphas, impurities


def prune_by_impurity(tree: Tree, alpha: float) -> Tree:
    """The tree without the splits that are worth no more than a penalty per leaf."""
    if alpha <= 0:
        return tree
    valued = _by_impurity(tree)
    return kept(tree, valued.complexity * float(valued.risk[0]) > alpha)


def _by_impurity(tree: Tree) -> Tree:
    return with_complexity(msgspec.structs.replace(tree, risk=tree.impurity * tree.weight / tree.weight[0]))


def _leaves_impurity(tree: Tree) -> float:
    return float((tree.impurity * tree.weight)[tree.column < 0].sum() / tree.weight[0])
