"""A tree of this library as scikit-learn's: the same nodes in depth-first order, under its names.

`plot_tree`, `export_text`, `decision_path` and SHAP's explainer of trees read nothing else.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from baytree.tree.model.links import depths, parents, preorder
from baytree.tree.model.places import SPREAD
from baytree.tree.model.structure import Tree

_LEAF, _UNUSED = -1, -2  # of children, and of columns and cuts


def places_in_order(tree: Tree) -> np.ndarray:
    """int64 [n_nodes]: the place of each node in depth-first order."""
    place = np.empty(len(tree), np.int64)
    place[np.fromiter(preorder(tree), np.int64, len(tree))] = np.arange(len(tree))
    return place


def is_of_cuts(tree: Tree) -> bool:
    """Whether every test is one cut with two branches, which is all that scikit-learn's arrays can say."""
    is_cut = (tree.branches == 2) & (tree.levels == 0) & (tree.missing != SPREAD)
    return bool(is_cut[tree.column >= 0].all())


def sklearn_tree(tree: Tree, n_features: int) -> Any:
    """scikit-learn's own `Tree` with these nodes."""
    if not is_of_cuts(tree):
        raise AttributeError(
            "tree_ has scikit-learn's arrays, which know cuts of numbers only, and this tree tests levels; use nodes(), "
            "rules() or model_"
        )
    order, place = np.fromiter(preorder(tree), np.int64, len(tree)), places_in_order(tree)
    column, inner = tree.column[order], tree.column[order] >= 0
    kind, dtype = _kind_and_dtype()
    nodes = np.zeros(len(tree), dtype)
    nodes["left_child"] = np.where(inner, place[tree.first[order]], _LEAF)
    nodes["right_child"] = np.where(inner, place[np.minimum(tree.first[order] + 1, len(tree) - 1)], _LEAF)
    nodes["feature"] = np.where(inner, column, _UNUSED)
    nodes["threshold"] = np.where(inner, tree.cut[order], float(_UNUSED))
    nodes["impurity"] = tree.impurity[order]
    nodes["n_node_samples"] = tree.rows[order]
    nodes["weighted_n_node_samples"] = tree.weight[order]
    nodes["missing_go_to_left"] = inner & (tree.missing[order] == 0)
    made = kind(n_features, np.array([max(tree.n_classes, 1)], np.intp), 1)
    values = np.ascontiguousarray(tree.value[order][:, None, :])
    made.__setstate__({"max_depth": int(depths(tree).max()), "node_count": len(tree), "nodes": nodes, "values": values})
    return made


@cache
def _kind_and_dtype() -> tuple[type, np.dtype]:
    """The class of scikit-learn's `tree_`, and the type of its nodes, as a fitted tree has them."""
    fitted = DecisionTreeRegressor().fit([[0.0]], [0.0]).tree_
    return type(fitted), fitted.__getstate__()["nodes"].dtype


def ways(tree: Tree) -> Any:
    """Which nodes lie on the way to each, in depth-first order: a sparse matrix [n_nodes, n_nodes] of 1."""
    from scipy.sparse import csr_matrix

    place, above = places_in_order(tree), parents(tree)
    order = np.argsort(place)
    on_the_way: list[list[int]] = [[]] * len(tree)
    for node in order.tolist():
        mine = [] if node == 0 else on_the_way[place[above[node]]]
        on_the_way[place[node]] = [*mine, int(place[node])]
    ends = np.concatenate([[0], np.cumsum([len(each) for each in on_the_way])])
    indices = np.array([node for each in on_the_way for node in each], np.int64)
    return csr_matrix((np.ones(len(indices), np.int64), indices, ends), shape=(len(tree), len(tree)))
