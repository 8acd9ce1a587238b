"""Traces: the candidate test of every column at every node of a tree.

Gains are per row of the node and in the unit of the criterion: bits for entropy, squares of the target for regression; for a
significance test they are its statistic or −ln p.
For sorted searches, `candidates` grows a stump per column on the rows of each node. Fractional and counted searches
record their candidates while growing; `trace_of` and `describe_candidates` format them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import msgspec
import numpy as np

from baytree.data.encoding.table import Table, is_missing
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema
from baytree.tree.inspection.node_records import groups
from baytree.tree.model.linear_combinations import describe_combination, terms_of
from baytree.tree.model.routing import leaves
from baytree.tree.model.traversal import parents
from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import ClassCosts
from baytree.tree.policy.impurity import gain_of, impurity_of
from baytree.tree.policy.policy import SUITS, Criterion, Missing, Policy, ReferenceProgram
from baytree.tree.pruning.cost_complexity import places_kept
from baytree.tree.search.fractional import CandidateTraces, FractionalNodes


def candidates(
    tree: Tree, table: Table, policy: Policy, costs: ClassCosts, grow: Callable[[Table, Policy], Tree]
) -> list[dict[str, Any]]:
    """One dict per node and column that can split it, and per linear combination that does: gain, threshold or groups.

    `is_taken` says whether the tree uses the column at the node.
    """
    stopping = msgspec.structs.replace(policy.stopping, max_depth=1, max_leaves=None, min_gain=0.0, alpha=None)
    stump_policy = msgspec.structs.replace(policy, stopping=stopping)
    traces = []
    for node, rows in enumerate(_rows_of(tree, table)):
        node_rows = table.take(rows)
        for column in range(len(table.schema)):
            stump = grow(node_rows.select([column]), stump_policy)
            if stump.column[0] >= 0:
                is_taken = bool(tree.column[node] == column)
                gain = _gain_per_row(stump, node_rows.select([column]), policy, costs)
                test = _threshold_or_groups(stump, node_rows, column)
                traces.append({"node": node, "column": table.schema.names[column], **gain, **test, "is_taken": is_taken})
        if terms := terms_of(tree, int(tree.column[node])):
            gain = float(tree.gain[node]) / _weight(tree, node, policy, costs)
            test = {"column": describe_combination(terms, table.schema.names), "gain": gain}
            traces.append({"node": node, **test, "threshold": float(tree.cut[node]), "is_taken": True})
    return traces


def _gain_per_row(stump: Tree, rows: Table, policy: Policy, costs: ClassCosts) -> dict[str, float]:
    """Gain of a stump per row of its node; with gain ratio also the ratio."""
    gain = float(stump.gain[0]) / _weight(stump, 0, policy, costs)
    if policy.arithmetic is ReferenceProgram.RPART and policy.criterion is Criterion.ENTROPY:
        return {"gain": gain / log(2)}  # rpart computes in nats
    if policy.criterion is not Criterion.GAIN_RATIO:
        return {"gain": gain}
    branch = leaves(stump, rows)
    if policy.missing in (Missing.LARGEST, Missing.SURROGATE):  # the column is scored on its known rows
        branch = branch[~is_missing(rows.values[0])]
        rows = rows.take(~is_missing(rows.values[0]))
    scale = costs.scale[rows.label] if rows.n_classes else 1.0
    info = float(impurity_of(np.bincount(branch, rows.weight * scale, len(stump))[None], Criterion.ENTROPY)[0])
    return {"gain": gain * info, "ratio": gain}


def _weight(tree: Tree, node: int, policy: Policy, costs: ClassCosts) -> float:
    """Weight in which the gain of a node's test is measured; 1 for a significance test."""
    if policy.criterion in (Criterion.CHI2, Criterion.LIKELIHOOD_RATIO):
        return 1.0
    return float(costs.scale @ tree.counts[node] if tree.n_classes else tree.weight[node])


def _threshold_or_groups(stump: Tree, here: Table, column: int) -> dict[str, Any]:
    if here.schema.columns[column].kind is Kind.NUMERIC:
        return {"threshold": float(stump.cut[0])}
    return {"groups": groups(stump, here.select([column]).schema, 0)}


def gains_of_groups(counts: np.ndarray, criterion: Criterion) -> dict[str, float]:
    """Gain per row of branches [n_branches, n_classes] by a criterion; with gain ratio also the ratio."""
    weight = float(counts.sum())
    if not SUITS[criterion].by_ratio:
        return {"gain": gain_of(counts, criterion) / weight}
    return {"gain": gain_of(counts, Criterion.ENTROPY) / weight, "ratio": gain_of(counts, criterion) / weight}


def _rows_of(tree: Tree, table: Table) -> list[np.ndarray]:
    """Indices of the training rows that pass each node."""
    leaf, parent = leaves(tree, table), parents(tree)
    order = np.argsort(leaf, kind="stable")
    bounds = np.searchsorted(leaf[order], np.arange(len(tree) + 1))
    rows = [order[bounds[i] : bounds[i + 1]] for i in range(len(tree))]
    for node in range(len(tree) - 1, 0, -1):
        rows[parent[node]] = np.concatenate([rows[parent[node]], rows[node]])
    return [np.sort(each) for each in rows]


def trace_of(growth: FractionalNodes, schema: Schema) -> list[dict[str, Any]]:
    """One dict per candidate: its gain, penalty, split information and gain ratio.

    `node` is the node's id in the final tree, None if pruning removed the node.
    """
    origin = growth.nodes.compact().arrays()["origin"]
    final = {int(old_node): position for position, old_node in enumerate(origin)}
    return describe_candidates([(final.get(test[0], -1), *test[1:]) for test in growth.candidates], schema)


def trace_of_splits(trace: list[dict[str, Any]], tree: Tree, is_split: np.ndarray) -> list[dict[str, Any]]:
    """Trace of the nodes that remain if only these splits do, with their new ids; no test of a new leaf is taken."""
    new_id, traces = places_kept(tree, is_split), []
    for test in trace:
        node = test["node"]
        if node is None or new_id[node] >= 0:
            selected = {"is_taken": test["is_taken"] and bool(is_split[node])} if "is_taken" in test else {}
            traces.append({**test, "node": None if node is None else int(new_id[node]), **selected})
    return traces


def describe_candidates(candidates: CandidateTraces, schema: Schema) -> list[dict[str, Any]]:
    """The same for tests whose nodes have their final id, −1 if they have none."""
    return [
        {
            "node": node if node >= 0 else None,
            "column": schema.columns[column].name,
            "gain": gain,
            "penalty": raw_gain - gain,
            "info": info,
            "ratio": gain / info if info > 0 else 0.0,
            "cuts": cuts,
        }
        for node, column, gain, raw_gain, info, cuts in candidates
        if np.isfinite(gain)
    ]
