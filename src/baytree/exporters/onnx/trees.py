"""Trees in ONNX: TreeEnsemble of ai.onnx.ml 5, whose leaves are the numbers of nodes, on doubles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from onnx import numpy_helper

from baytree.exporters.onnx.graph import ML, Graph
from baytree.formula.inputs import SPREAD, STOP, FormulaNode, FormulaTest, in_depth, n_branches

LEQ, LT, MEMBER = 0, 1, 6  # modes of the operator

DEEPEST = 1_000  # levels; runtimes read trees by recursion

Read = Callable[
    [int], tuple[str, bool]
]  # of a column: its tensor (codes from 1 on, 0 missing), and whether it holds numbers


@dataclass
class _Binary:
    """A tree of two branches a node, as the operator takes it: children are nodes, or leaves."""

    places: Sequence[int]
    features: list[int] = field(default_factory=list)
    modes: list[int] = field(default_factory=list)
    splits: list[float] = field(default_factory=list)
    missing_true: list[int] = field(default_factory=list)
    children: list[list[tuple[bool, int]]] = field(default_factory=list)
    leaves: list[float] = field(default_factory=list)
    members: list[list[float]] = field(default_factory=list)


def routed(graph: Graph, nodes: Sequence[FormulaNode], places: Sequence[int], read: Read) -> str:
    """The place of the node where a row comes to rest. [n_rows, 1]"""
    if not nodes[0].tests:
        return graph.number(float(places[0]))
    check_depth(nodes)
    columns: dict[str, int] = {}
    binary = _Binary(places)
    _grow(graph, nodes, read, binary, columns)
    features = graph.op("Concat", *columns, axis=1) if len(columns) > 1 else next(iter(columns))
    return graph.op("TreeEnsemble", features, domain=ML, **_attributes(binary))


def check_depth(nodes: Sequence[FormulaNode]) -> None:
    """Refuses trees that a runtime could not read."""
    depth = [0] * len(nodes)
    for n, node in enumerate(nodes):
        for b in range(n_branches(node)):
            depth[node.first + b] = depth[n] + 1
    if max(depth) > DEEPEST:
        raise ValueError(
            f"ONNX: a tree of {max(depth):,} levels is deeper than the {DEEPEST:,} that runtimes can read; prune it, or "
            "export to Python, JavaScript, C or SQL"
        )


def branch(graph: Graph, node: FormulaNode, read: Read) -> str:
    """The branch of a row as a double: by the first test that can tell, else that of a missing value, else −1."""
    found = graph.number(float(max(node.missing, -1)))
    for test in reversed(node.tests):
        told = _told(graph, test, read)
        can_tell = graph.op("GreaterOrEqual", told, graph.number(0.0))
        found = graph.op("Where", can_tell, told, found)
    return found


def weights(graph: Graph, nodes: Sequence[FormulaNode], read: Read) -> list[tuple[int, str]]:
    """The nodes where parts of a row may rest, each with the part that does. [n_rows, 1]"""
    part, resting = {0: graph.number(1.0)}, []
    for n, node in enumerate(nodes):
        if not node.tests:
            resting.append((n, part[n]))
            continue
        ends = [*range(node.first, node.first + n_branches(node)), *([n] if node.missing == STOP else [])]
        parts = graph.columns(graph.op("Mul", part[n], _shares(graph, node, read)), len(ends))
        if node.missing == STOP:
            resting.append((n, parts.pop()))
        part.update(zip(ends, parts, strict=False))
    place = {n: k for k, n in enumerate(in_depth(nodes))}
    return sorted(resting, key=lambda item: place[item[0]])  # as other languages add: ties must be the same


def _shares(graph: Graph, node: FormulaNode, read: Read) -> str:
    """What part of a row each branch takes, and after them the node itself where rows may rest. [n_rows, n_ends]"""
    one_branch = np.eye(n_branches(node) + (node.missing == STOP))
    lost = np.array(node.shares, np.float64) if node.missing == SPREAD else one_branch[max(node.missing, -1)]
    if len(node.tests) == 1 and not read(node.tests[0].column)[1]:  # by the level at once
        of_level = [lost if b < 0 else one_branch[b] for b in node.tests[0].branches]
        return graph.op("Gather", graph.constant(np.array([lost, *of_level])), graph.to_int64(read(node.tests[0].column)[0]))
    place = graph.op("Add", branch(graph, node, read), graph.number(1.0))
    return graph.op("Gather", graph.constant(np.array([lost, *one_branch])), graph.to_int64(place))


def _told(graph: Graph, test: FormulaTest, read: Read) -> str:
    """The branch that a test tells, −1 where it cannot."""
    x, is_number = read(test.column)
    if is_number:
        compare = "GreaterOrEqual" if test.is_strict else "Greater"
        above = graph.op("Cast", graph.op(compare, x, graph.row(test.cuts)), to=7)
        place = graph.op("ReduceSum", above, graph.constant(np.array([1], np.int64)), keepdims=0)
        known = graph.column(graph.op("Gather", graph.constant(np.array(test.branches, np.float64)), place))
        return graph.op("Where", graph.op("IsNaN", x), graph.number(-1.0), known)
    table = np.array([-1.0, *test.branches], np.float64)
    return graph.column(graph.op("Gather", graph.constant(table), graph.to_int64(x)))


def _grow(graph: Graph, nodes: Sequence[FormulaNode], read: Read, binary: _Binary, columns: dict[str, int]) -> None:
    """Writes the nodes one after the other; what a branch leads to is written when its turn comes."""
    waiting: list[tuple[int, list[tuple[bool, int]] | None, int]] = [(0, None, 0)]
    while waiting:
        n, parent, side = waiting.pop()
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
                waiting.append((node.first + b, children, at))


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
    """The binary nodes of a node, and where its branches (−1: the node itself) hang."""
    test = node.tests[0]
    x, is_number = read(test.column)
    is_plain = len(node.tests) == 1 and (
        not is_number or (len(test.cuts) == 1 and node.missing in test.branches and set(test.branches) == {0, 1})
    )
    if not is_plain:
        taken = branch(graph, node, read)
        feature, n_sides = columns.setdefault(taken, len(columns)), n_branches(node)
        cuts = [(LEQ, b + 0.5, b, 0) for b in range(-1 if node.missing == STOP else 0, n_sides - 1)]
        return _chain(binary, feature, cuts, n_sides - 1, parent, side)
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
    asked: Sequence[tuple],
    otherwise: int,
    parent: list[tuple[bool, int]] | None,
    side: int,
) -> Ends:
    ends: Ends = []
    for mode, split, b, missing_true in asked:
        place = len(binary.features)
        children: list[tuple[bool, int]] = [(False, -1), (False, -1)]
        if parent is not None:
            parent[side] = (False, place)
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
    """The operator's arrays; members are in the order of the nodes that ask for them, each set ended by a NaN."""
    members = [value for codes in binary.members for value in (*codes, float("nan"))]
    sides = [[child[k] for child in binary.children] for k in (0, 1)]
    found: dict[str, object] = {
        "nodes_featureids": binary.features,
        "nodes_modes": numpy_helper.from_array(np.array(binary.modes, np.uint8), "nodes_modes"),
        "nodes_splits": numpy_helper.from_array(np.array(binary.splits, np.float64), "nodes_splits"),
        "nodes_missing_value_tracks_true": binary.missing_true,
        "nodes_truenodeids": [place for _, place in sides[0]],
        "nodes_trueleafs": [int(is_leaf) for is_leaf, _ in sides[0]],
        "nodes_falsenodeids": [place for _, place in sides[1]],
        "nodes_falseleafs": [int(is_leaf) for is_leaf, _ in sides[1]],
        "leaf_targetids": [0] * len(binary.leaves),
        "leaf_weights": numpy_helper.from_array(np.array(binary.leaves, np.float64), "leaf_weights"),
        "tree_roots": [0],
        "n_targets": 1,
        "post_transform": 0,
        "aggregate_function": 1,
    }
    if members:
        found["membership_values"] = numpy_helper.from_array(np.array(members, np.float64), "membership_values")
    return found
