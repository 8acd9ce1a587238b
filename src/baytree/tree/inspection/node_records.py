"""Node records of a tree as dicts, with the names of columns, levels and classes instead of codes.

Also the records of significance-tested splits, and the drawing of a tree.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice, pairwise
from math import exp
from typing import Any

import numpy as np

from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.rendering.tree_layout import TreeDrawing, drawing_of
from baytree.rendering.tree_text import dates
from baytree.summary.tree import NamedCondition
from baytree.tree.model.arrays import SPREAD, STOP
from baytree.tree.model.linear_combinations import terms_of, tested_columns
from baytree.tree.model.summary import class_names, iter_nodes, probabilities
from baytree.tree.model.traversal import bounds, cuts, depths, parents, preorder
from baytree.tree.model.tree import Significance, Surrogates, Tree


def nodes(tree: Tree, schema: Schema) -> list[dict[str, Any]]:
    """One dict per node, depth first; its id is the index in the arrays, as `apply` returns it."""
    parent, depth, surrogate = parents(tree), depths(tree), bounds(tree, tree.surrogates)
    split_probability = probabilities(tree)
    return [
        _node(tree, schema, i)
        | {"parent": int(parent[i]) if i else None, "depth": int(depth[i])}
        | {"surrogates": [_surrogate(tree.surrogates, schema, k) for k in range(surrogate[i], surrogate[i + 1])]}
        | ({"probability": split_probability[i]} if i in split_probability else {})
        for i in preorder(tree)
    ]


def groups(tree: Tree, schema: Schema, node: int) -> list[list[Any]]:
    """Level names that take each branch of a node; for numeric columns, the text of each branch's interval."""
    column = tested_columns(tree, schema)[tree.column[node]]
    if column.kind is Kind.NUMERIC:
        texts = [[each] for each in intervals(column, cuts(tree, node))]
        return texts + [[] for _ in range(tree.branches[node] - len(texts))]
    if tree.levels[node]:
        branch = tree.branch_of[tree.start[node] : tree.start[node] + tree.levels[node]]
    else:
        branch = np.searchsorted(cuts(tree, node), np.arange(len(column.levels)), "right" if tree.strict[node] else "left")
    return [
        [level for level, selected in zip(column.levels, branch, strict=False) if selected == b]
        for b in range(tree.branches[node])
    ]


def intervals(column: Column, edges: np.ndarray) -> list[str]:
    """Texts of the intervals between edges, each closed above."""
    sides = [None, *edges.tolist(), None]
    return [_interval(column, low, high) for low, high in pairwise(sides)]


def _interval(column: Column, low: float | None, high: float | None) -> str:
    """Text of low < x ≤ high; None for an open side."""
    if column.unit and (low is not None or high is not None):
        return dates(NamedCondition(column.name, low, high, unit=column.unit))
    if low is None:
        return "any" if high is None else f"≤ {column.show(high)}"
    return f"> {column.show(low)}" if high is None else f"> {column.show(low)}, ≤ {column.show(high)}"


def children(tree: Tree, node: int) -> list[int]:
    """Ids of a node's children, in branch order."""
    return list(range(tree.first[node], tree.first[node] + tree.branches[node]))


def _node(tree: Tree, schema: Schema, i: int) -> dict[str, Any]:
    described = {"id": i, "n": int(tree.rows[i]), "weight": float(tree.weight[i]), **_outcome(tree, schema, i)}
    described |= {"impurity": float(tree.impurity[i]), "risk": float(tree.risk[i])}
    described |= {"complexity": float(tree.complexity[i]), "column": None, "children": [], "missing": None}
    return described if tree.column[i] < 0 else described | _split(tree, schema, i)


def _outcome(tree: Tree, schema: Schema, i: int) -> dict[str, Any]:
    if not tree.n_classes:
        return {"mean": float(tree.value[i, 0]), "prediction": float(tree.value[i, 0])}
    classes = schema.classes if schema.target and schema.classes else range(tree.n_classes)
    return {
        "counts": tree.counts[i].tolist(),
        "probabilities": tree.value[i].tolist(),
        "prediction": classes[tree.prediction[i]],
    }


def _split(tree: Tree, schema: Schema, i: int) -> dict[str, Any]:
    column = tested_columns(tree, schema)[tree.column[i]]
    described: dict[str, Any] = {"column": column.name, "gain": float(tree.gain[i]), "children": children(tree, i)}
    if terms := terms_of(tree, int(tree.column[i])):
        described["weights"] = {schema.names[j]: weight for j, weight in terms}
    described["missing"] = _missing_rule(tree, i)
    if column.kind is not Kind.NUMERIC:
        return described | {"groups": groups(tree, schema, i)}
    return described | _numeric_test(tree, schema, i)


def _numeric_test(tree: Tree, schema: Schema, i: int) -> dict[str, Any]:
    """One threshold, or intervals if the test may have several."""
    described = {"strict": True} if tree.strict[i] else {}
    if tree.significance is None and not np.isin(i, tree.more_cuts.node):
        return {"threshold": float(tree.cut[i])} | described
    edges = cuts(tree, i)
    described |= {"threshold": float(edges[0])} if len(edges) == 1 else {"thresholds": edges.tolist()}
    return described | {"groups": groups(tree, schema, i)}


def _missing_rule(tree: Tree, i: int) -> int | str | None:
    """Child of rows with a missing value, "spread" for fractional rows, or None if they stop."""
    named = {STOP: None, SPREAD: "spread"}
    missing = int(tree.missing[i])
    return named[missing] if missing in named else int(tree.first[i]) + missing


def _surrogate(tests: Surrogates, schema: Schema, k: int) -> dict[str, Any]:
    column = schema.columns[tests.column[k]]
    described: dict[str, Any] = {"column": column.name, "agree": float(tests.agree[k])}
    described |= {"adjusted": float(tests.adjusted[k]), "count": int(tests.count[k])}
    if column.kind is Kind.NUMERIC:
        return described | {"threshold": float(tests.cut[k]), "flipped": bool(tests.flipped[k])}
    return described | {"groups": _surrogate_groups(tests, column, k)}


def _surrogate_groups(tests: Surrogates, column: Column, k: int) -> list[list[Any]]:
    if tests.levels[k]:
        branch = tests.branch_of[tests.start[k] : tests.start[k] + tests.levels[k]]
    else:
        branch = _by_cut(column, tests.cut[k], tests.strict[k]) ^ int(tests.flipped[k])
    return [[x for x, selected in zip(column.levels, branch, strict=False) if selected == b] for b in (0, 1)]


def _by_cut(column: Column, cut: float, is_strict: bool) -> np.ndarray:
    below: Callable[..., np.ndarray] = np.less if is_strict else np.less_equal
    return 1 - below(np.arange(len(column.levels)), cut).astype(np.int64)


def splits(tree: Tree, schema: Schema) -> list[dict[str, Any]]:
    """One dict per tested split, in node order: groups, p-value, Bonferroni multiplier and adjusted p-value."""
    tested = tree.significance
    return [] if tested is None else [_tested_split(tree, tested, schema, k) for k in range(len(tested.node))]


def p_values(log_p: float, log_multiplier: float, log_adjusted: float) -> dict[str, float]:
    """p-value, Bonferroni multiplier and adjusted p-value, and their logarithms."""
    return {
        "p": exp(log_p),
        "multiplier": exp(min(log_multiplier, 700.0)),
        "adjusted_p": min(1.0, exp(min(log_adjusted, 0.0))),
        "log_p": log_p,
        "log_multiplier": log_multiplier,
        "log_adjusted_p": log_adjusted,
    }


def _tested_split(tree: Tree, tested: Significance, schema: Schema, k: int) -> dict[str, Any]:
    node = int(tested.node[k])
    return {
        "node": node,
        "column": schema.columns[tree.column[node]].name,
        "groups": groups(tree, schema, node),
        "missing": int(tree.missing[node]) if tested.saw_missing[k] else None,
        **p_values(float(tested.log_p[k]), float(tested.log_multiplier[k]), float(tested.log_adjusted[k])),
    }


MAX_DRAWN_NODES = 2000  # nodes of a drawing; more can neither be read nor laid out quickly by a browser


def draw(tree: Tree, schema: Schema, max_depth: int | None = None) -> TreeDrawing:
    """Drawing of a tree down to a depth."""
    nodes = list(islice(iter_nodes(tree, schema, max_depth), MAX_DRAWN_NODES + 1))
    if len(nodes) > MAX_DRAWN_NODES:
        raise ValueError(f"the tree has more than {MAX_DRAWN_NODES} nodes to draw; give max_depth, for example max_depth=6")
    values = tree.value if tree.n_classes else _scaled_to_range(tree.value)
    proportions = [tuple(values[node.id].tolist()) for node in nodes]
    return drawing_of(nodes, schema.target.name, class_names(tree, schema), proportions)


def _scaled_to_range(mean: np.ndarray) -> np.ndarray:
    """Each node's mean scaled to [0, 1], [n_nodes, 1]; 1 if all are equal."""
    minimum, extent = mean.min(), mean.max() - mean.min()
    return (mean - minimum) / extent if extent > 0 else np.ones_like(mean)
