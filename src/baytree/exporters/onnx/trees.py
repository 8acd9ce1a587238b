"""Decision trees in ONNX: the operator TreeEnsemble of ai.onnx.ml 5, whose leaf values are node indices, on doubles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from onnx import numpy_helper

from baytree.exporters.onnx.graph import ML, Graph
from baytree.formula.inputs import FormulaNode, FormulaTest, in_depth, n_branches
from baytree.summary.tree import SPREAD, STOP

LEQ, LT, MEMBER = 0, 1, 6  # node modes of the operator

MAX_TREE_DEPTH = 1_000  # runtimes parse trees recursively, so deeper ones may exhaust their stack

Read = Callable[
    [int], tuple[str, bool]
]  # of a column: its tensor (level codes start at 1, 0 is missing), and whether it is numeric


@dataclass
class _Binary:
    """Binary tree in the operator's layout: children are nodes or leaves."""

    places: Sequence[int]
    features: list[int] = field(default_factory=list)
    modes: list[int] = field(default_factory=list)
    splits: list[float] = field(default_factory=list)
    missing_true: list[int] = field(default_factory=list)
    children: list[list[tuple[bool, int]]] = field(default_factory=list)
    leaves: list[float] = field(default_factory=list)
    members: list[list[float]] = field(default_factory=list)


def routed(graph: Graph, nodes: Sequence[FormulaNode], leaf_rows: Sequence[int], read: Read) -> str:
    """Index of the node in which a row ends. [n_rows, 1]"""
    if not nodes[0].tests:
        return graph.number(float(leaf_rows[0]))
    check_depth(nodes)
    columns: dict[str, int] = {}
    binary = _Binary(leaf_rows)
    _grow(graph, nodes, read, binary, columns)
    features = graph.op("Concat", *columns, axis=1) if len(columns) > 1 else next(iter(columns))
    return graph.op("TreeEnsemble", features, domain=ML, **_attributes(binary))


def check_depth(nodes: Sequence[FormulaNode]) -> None:
    """Raise ValueError for a tree that is too deep for ONNX runtimes."""
    depth = [0] * len(nodes)
    for n, node in enumerate(nodes):
        for b in range(n_branches(node)):
            depth[node.first + b] = depth[n] + 1
    if max(depth) > MAX_TREE_DEPTH:
        raise ValueError(
            f"ONNX: a tree of {max(depth):,} levels is deeper than the {MAX_TREE_DEPTH:,} that runtimes can read; "
            "prune it, or export to Python, JavaScript, C or SQL"
        )


def branch(graph: Graph, node: FormulaNode, read: Read) -> str:
    """Branch of a row as a double: by the first test that is not missing, else the branch of missing values, else −1."""
    result = graph.number(float(max(node.missing, -1)))
    for test in reversed(node.tests):
        selected = _selected_branch(graph, test, read)
        is_known = graph.op("GreaterOrEqual", selected, graph.number(0.0))
        result = graph.op("Where", is_known, selected, result)
    return result


def weights(graph: Graph, nodes: Sequence[FormulaNode], read: Read) -> list[tuple[int, str]]:
    """Nodes in which fractions of a row may end, each with the fraction. [n_rows, 1]"""
    fraction, ends_in = {0: graph.number(1.0)}, []
    for n, node in enumerate(nodes):
        if not node.tests:
            ends_in.append((n, fraction[n]))
            continue
        ends = [*range(node.first, node.first + n_branches(node)), *([n] if node.missing == STOP else [])]
        fractions = graph.columns(graph.op("Mul", fraction[n], _branch_fractions(graph, node, read)), len(ends))
        if node.missing == STOP:
            ends_in.append((n, fractions.pop()))
        fraction.update(zip(ends, fractions, strict=False))
    rank = {n: k for k, n in enumerate(in_depth(nodes))}
    return sorted(
        ends_in, key=lambda item: rank[item[0]]
    )  # same order of summation as in other languages: ties must not differ


def _branch_fractions(graph: Graph, node: FormulaNode, read: Read) -> str:
    """Fraction of a row that each branch takes, then the node itself if rows may stop there. [n_rows, n_ends]"""
    indicator = np.eye(n_branches(node) + (node.missing == STOP))
    unplaced = np.array(node.shares, np.float64) if node.missing == SPREAD else indicator[max(node.missing, -1)]
    if len(node.tests) == 1 and not read(node.tests[0].column)[1]:  # one lookup by level
        of_level = [unplaced if b < 0 else indicator[b] for b in node.tests[0].branches]
        return graph.op(
            "Gather", graph.constant(np.array([unplaced, *of_level])), graph.to_int64(read(node.tests[0].column)[0])
        )
    position = graph.op("Add", branch(graph, node, read), graph.number(1.0))
    return graph.op("Gather", graph.constant(np.array([unplaced, *indicator])), graph.to_int64(position))


def _selected_branch(graph: Graph, test: FormulaTest, read: Read) -> str:
    """Branch that a test selects, −1 if the value is missing."""
    x, is_number = read(test.column)
    if is_number:
        compare = "GreaterOrEqual" if test.is_strict else "Greater"
        is_above = graph.op("Cast", graph.op(compare, x, graph.row(test.cuts)), to=7)
        interval = graph.op("ReduceSum", is_above, graph.constant(np.array([1], np.int64)), keepdims=0)
        known = graph.column(graph.op("Gather", graph.constant(np.array(test.branches, np.float64)), interval))
        return graph.op("Where", graph.op("IsNaN", x), graph.number(-1.0), known)
    table = np.array([-1.0, *test.branches], np.float64)
    return graph.column(graph.op("Gather", graph.constant(table), graph.to_int64(x)))


def _grow(graph: Graph, nodes: Sequence[FormulaNode], read: Read, binary: _Binary, columns: dict[str, int]) -> None:
    """Write the nodes iteratively, with a stack of the branches that are still to be written."""
    stack: list[tuple[int, list[tuple[bool, int]] | None, int]] = [(0, None, 0)]
    while stack:
        n, parent, side = stack.pop()
        node = nodes[n]
        if not node.tests:
            assert parent is not None
            parent[side] = _leaf(binary, n)
            continue
        ends = _tested(graph, node, read, binary, columns, parent, side)
        for children, at, b in ends:
            if b < 0:
                children[at] = _leaf(binary, n)
            else:
                stack.append((node.first + b, children, at))


Ends = list[tuple[list[tuple[bool, int]], int, int]]


def _tested(
    graph: Graph,
    node: FormulaNode,
    read: Read,
    binary: _Binary,
    columns: dict[str, int],
    parent: list[tuple[bool, int]] | None,
    side: int,
) -> Ends:
    """Binary nodes of one node, and the slots to which its branches (−1: the node itself) attach."""
    test = node.tests[0]
    x, is_number = read(test.column)
    is_plain = len(node.tests) == 1 and (
        not is_number or (len(test.cuts) == 1 and node.missing in test.branches and set(test.branches) == {0, 1})
    )
    if not is_plain:
        selected = branch(graph, node, read)
        feature, n_sides = columns.setdefault(selected, len(columns)), n_branches(node)
        thresholds = [(LEQ, b + 0.5, b, 0) for b in range(-1 if node.missing == STOP else 0, n_sides - 1)]
        return _chain(binary, feature, thresholds, n_sides - 1, parent, side)
    feature = columns.setdefault(x, len(columns))
    if is_number:
        below, above = test.branches
        is_true = int(node.missing == below)
        return _chain(binary, feature, [(LT if test.is_strict else LEQ, test.cuts[0], below, is_true)], above, parent, side)
    groups = {b: [float(code + 1) for code, to in enumerate(test.branches) if to == b] for b in range(n_branches(node))}
    last = max(node.missing, -1)
    sets = [(MEMBER, codes, b, 0) for b, codes in groups.items() if codes and b != last]
    return _chain(binary, feature, sets, last, parent, side)


def _chain(
    binary: _Binary,
    feature: int,
    branch_tests: Sequence[tuple],
    otherwise: int,
    parent: list[tuple[bool, int]] | None,
    side: int,
) -> Ends:
    ends: Ends = []
    for mode, split, b, missing_true in branch_tests:
        index = len(binary.features)
        children: list[tuple[bool, int]] = [(False, -1), (False, -1)]
        if parent is not None:
            parent[side] = (False, index)
        binary.features.append(feature)
        binary.modes.append(mode)
        binary.splits.append(0.0 if mode == MEMBER else split)
        binary.missing_true.append(missing_true)
        binary.children.append(children)
        if mode == MEMBER:
            binary.members.append(split)
        ends.append((children, 0, b))
        parent, side = children, 1
    assert parent is not None
    return [*ends, (parent, side, otherwise)]


def _leaf(binary: _Binary, n: int) -> tuple[bool, int]:
    binary.leaves.append(float(binary.places[n]))
    return True, len(binary.leaves) - 1


def _attributes(binary: _Binary) -> dict[str, object]:
    """Attributes of the operator; set members are in the order of the nodes that test them, each set terminated by a NaN."""
    members = [value for codes in binary.members for value in (*codes, float("nan"))]
    sides = [[child[k] for child in binary.children] for k in (0, 1)]
    attributes: dict[str, object] = {
        "nodes_featureids": binary.features,
        "nodes_modes": numpy_helper.from_array(np.array(binary.modes, np.uint8), "nodes_modes"),
        "nodes_splits": numpy_helper.from_array(np.array(binary.splits, np.float64), "nodes_splits"),
        "nodes_missing_value_tracks_true": binary.missing_true,
        "nodes_truenodeids": [position for _, position in sides[0]],
        "nodes_trueleafs": [int(is_leaf) for is_leaf, _ in sides[0]],
        "nodes_falsenodeids": [position for _, position in sides[1]],
        "nodes_falseleafs": [int(is_leaf) for is_leaf, _ in sides[1]],
        "leaf_targetids": [0] * len(binary.leaves),
        "leaf_weights": numpy_helper.from_array(np.array(binary.leaves, np.float64), "leaf_weights"),
        "tree_roots": [0],
        "n_targets": 1,
        "post_transform": 0,
        "aggregate_function": 1,
    }
    if members:
        attributes["membership_values"] = numpy_helper.from_array(np.array(members, np.float64), "membership_values")
    return attributes
