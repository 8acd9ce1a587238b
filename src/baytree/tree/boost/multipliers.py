"""What costs make of C5.0's rows: of two classes, the one whose mistakes cost more weighs more."""

from __future__ import annotations

import numpy as np

from baytree.table.table import Table
from baytree.tree.grow.costs import Weighing


def cost_table(weighing: Weighing, table: Table) -> np.ndarray | None:
    """float64 [n_classes (predicted), n_classes (true)]: no mistake costs less than 1; None where all cost the same."""
    if weighing.costs is None:
        return None
    costs = np.maximum(weighing.costs.of(table.schema.classes).T, 1.0)
    np.fill_diagonal(costs, 0.0)
    return costs


def class_multipliers(costs: np.ndarray | None, table: Table) -> np.ndarray | None:
    """float64 [2]: what a row of each of two classes weighs, 1 on average; None where rows keep their weight."""
    if costs is None or table.n_classes != 2:
        return None
    cost = np.array([costs[1, 0], costs[0, 1]])
    weight = np.bincount(table.label, table.weight, 2)
    return cost / ((weight @ cost) / weight.sum())
