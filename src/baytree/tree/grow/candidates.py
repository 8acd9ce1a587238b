"""What every column could have done at every node of a grown tree: a stump per column on the rows of the node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from baytree.table.schema import Kind
from baytree.table.table import Table
from baytree.tree.grow.policy import Policy
from baytree.tree.model.links import parents
from baytree.tree.model.routing import leaves
from baytree.tree.model.structure import Tree
from baytree.tree.model.sums import in_words, terms_of
from baytree.tree.view.nodes import groups


def candidates(tree: Tree, table: Table, policy: Policy, grow: Callable[[Table, Policy], Tree]) -> list[dict[str, Any]]:
    """One dict per node and column that can split it, and per sum that does: gain, cut or groups, whether it was taken."""
    stopping = msgspec.structs.replace(policy.stopping, max_depth=1, max_leaves=None, min_gain=0.0, alpha=None)
    once = msgspec.structs.replace(policy, stopping=stopping)
    found = []
    for node, rows in enumerate(_rows_of(tree, table)):
        here = table.take(rows)
        for column in range(len(table.schema)):
            stump = grow(here.select([column]), once)
            if stump.column[0] >= 0:
                is_taken = bool(tree.column[node] == column)
                found.append({"node": node, **_candidate(stump, here, column), "is_taken": is_taken})
        if terms := terms_of(tree, int(tree.column[node])):
            test = {"column": in_words(terms, table.schema.names), "gain": float(tree.gain[node])}
            found.append({"node": node, **test, "threshold": float(tree.cut[node]), "is_taken": True})
    return found


def _candidate(stump: Tree, here: Table, column: int) -> dict[str, Any]:
    described = here.schema.columns[column]
    test: dict[str, Any] = {"column": described.name, "gain": float(stump.gain[0])}
    if described.kind is Kind.NUMERIC:
        return test | {"threshold": float(stump.cut[0])}
    return test | {"groups": groups(stump, here.select([column]).schema, 0)}


def _rows_of(tree: Tree, table: Table) -> list[np.ndarray]:
    """The training rows that pass each node."""
    rest, above = leaves(tree, table), parents(tree)
    order = np.argsort(rest, kind="stable")
    place = np.searchsorted(rest[order], np.arange(len(tree) + 1))
    rows = [order[place[i] : place[i + 1]] for i in range(len(tree))]
    for node in range(len(tree) - 1, 0, -1):
        rows[above[node]] = np.concatenate([rows[above[node]], rows[node]])
    return [np.sort(each) for each in rows]
