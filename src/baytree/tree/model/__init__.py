"""Decision tree model: flat node arrays, branch conditions, routing of rows, predictions, intervals and formula."""

from __future__ import annotations

from baytree.tree.model.conditions import Condition, ValueRange
from baytree.tree.model.summary import class_names, export_text, iter_nodes
from baytree.tree.model.traversal import bounds, depths, parents, preorder
from baytree.tree.model.tree import CandidateTests, Surrogates, Tree

__all__ = [
    "CandidateTests",
    "Condition",
    "Surrogates",
    "Tree",
    "ValueRange",
    "bounds",
    "class_names",
    "depths",
    "export_text",
    "iter_nodes",
    "parents",
    "preorder",
]
