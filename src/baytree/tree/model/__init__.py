"""Decision tree model: flat node arrays, branch conditions, routing of rows, predictions, intervals and formula."""

from __future__ import annotations

from baytree.tree.model.traversal import bounds, depths, parents, preorder
from baytree.tree.model.tree import CandidateTests, Surrogates, Tree

__all__ = ["CandidateTests", "Surrogates", "Tree", "bounds", "depths", "parents", "preorder"]
