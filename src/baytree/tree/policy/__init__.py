"""Tree policies: criterion, branching, missing-value rule, stopping and pruning of each algorithm, class costs, impurity."""

from __future__ import annotations

from baytree.tree.policy.algorithms import CART, CHAID, POLICIES
from baytree.tree.policy.impurity import ClassCells, impurity_of
from baytree.tree.policy.policy import Branching, Criterion, Missing, Policy, SplitSelection, Stopping

__all__ = [
    "CART",
    "CHAID",
    "POLICIES",
    "Branching",
    "ClassCells",
    "Criterion",
    "Missing",
    "Policy",
    "SplitSelection",
    "Stopping",
    "impurity_of",
]
