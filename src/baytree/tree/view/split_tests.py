"""The splits of a tree that was grown by tests, with their p-values, in the words of the table."""

from __future__ import annotations

from math import exp
from typing import Any

from baytree.table.schema import Schema
from baytree.tree.model.structure import Significance, Tree
from baytree.tree.view.nodes import groups


def splits(tree: Tree, schema: Schema) -> list[dict[str, Any]]:
    """One dict per split, in the order of the nodes: its groups, p, Bonferroni's multiplier and the adjusted p."""
    tested = tree.significance
    return [] if tested is None else [_split(tree, tested, schema, k) for k in range(len(tested.node))]


def p_values(log_p: float, log_multiplier: float, log_adjusted: float) -> dict[str, float]:
    """p, Bonferroni's multiplier and the adjusted p, and their logarithms."""
    return {
        "p": exp(log_p),
        "multiplier": exp(min(log_multiplier, 700.0)),
        "adjusted_p": min(1.0, exp(min(log_adjusted, 0.0))),
        "log_p": log_p,
        "log_multiplier": log_multiplier,
        "log_adjusted_p": log_adjusted,
    }


def _split(tree: Tree, tested: Significance, schema: Schema, k: int) -> dict[str, Any]:
    node = int(tested.node[k])
    return {
        "node": node,
        "column": schema.columns[tree.column[node]].name,
        "groups": groups(tree, schema, node),
        "missing": int(tree.missing[node]) if tested.saw_missing[k] else None,
        **p_values(float(tested.log_p[k]), float(tested.log_multiplier[k]), float(tested.log_adjusted[k])),
    }
