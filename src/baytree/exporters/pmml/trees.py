"""Trees in PMML: TreeModel with the tests by name, and the shares of rows that pass a tree in parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from xml.etree.ElementTree import Element

from baytree.data.schema.column import Kind
from baytree.exporters.pmml.elements import (
    added,
    apply,
    chosen,
    compared,
    field,
    holds,
    is_missing,
    joined,
    made,
    mapped,
    multiplied,
    number,
    text_of,
)
from baytree.exporters.pmml.functions import FieldCache
from baytree.formula.inputs import SPREAD, STOP, FormulaNode, FormulaTest, Input, in_depth, n_branches

DEEPEST = 300  # levels; readers go down by recursion

MOST_PARTS = 2_000  # nodes of a tree that rows pass in parts

Leaf = Callable[[int], tuple[str, list[Element]]]  # of a node: its score, and what stands in it besides


def tree(nodes: Sequence[FormulaNode], columns: Sequence[Input], kept: FieldCache, leaf: Leaf) -> Element:
    """The root of a tree whose nodes hold what `leaf` says; a row that no child takes stays where it is."""
    check_depth(nodes)
    made_of: dict[int, Element] = {0: _node(0, made("True"), leaf)}
    for n, node in enumerate(nodes):
        for b, predicate in enumerate(_predicates(node, columns, kept)):
            made_of[node.first + b] = _node(node.first + b, predicate, leaf)
            made_of[n].append(made_of[node.first + b])
    return made_of[0]


def check_depth(nodes: Sequence[FormulaNode]) -> None:
    """Refuses trees that a reader could not go down."""
    depth = [0] * len(nodes)
    for n, node in enumerate(nodes):
        for b in range(n_branches(node)):
            depth[node.first + b] = depth[n] + 1
    if max(depth) > DEEPEST:
        raise ValueError(
            f"PMML: a tree of {max(depth):,} levels is deeper than the {DEEPEST} that readers go down; prune it, or export "
            "to Python, JavaScript, C or SQL"
        )


def mixed(
    nodes: Sequence[FormulaNode], table: Sequence[Sequence[float]], columns: Sequence[Input], kept: FieldCache
) -> list[Element]:
    """Σ share · row over the nodes that parts of a row reach, a sum for each class."""
    if len(nodes) > MOST_PARTS:
        raise ValueError(
            f"PMML: rows pass this tree in parts, and {len(nodes):,} nodes are more than the {MOST_PARTS:,} that a file "
            "holds well; prune the tree, or export to Python, JavaScript or C"
        )
    parts = _weights(nodes, columns, kept)
    return [added([multiplied([part, number(table[n][k])]) for n, part in parts]) for k in range(len(table[0]))]


def _node(n: int, predicate: Element, leaf: Leaf) -> Element:
    score, inside = leaf(n)
    return made("Node", (predicate, *inside), id=str(n), score=score)


# --- which child a row goes to ----------------------------------------------------------------------------------------


def _predicates(node: FormulaNode, columns: Sequence[Input], kept: FieldCache) -> list[Element]:
    """The predicate of each branch."""
    if len(node.tests) > 1:
        branch = kept.keep(_branch(node, columns)).get("field", "")
        return [holds(branch, "==", text_of(float(b))) for b in range(n_branches(node))]
    return [_takes(node, b, columns[node.tests[0].column]) for b in range(n_branches(node))]


def _takes(node: FormulaNode, branch: int, column: Input) -> Element:
    test, told = node.tests[0], []
    if column.kind is Kind.NUMERIC:
        told += [_between(column.name, low, high, test.is_strict) for low, high in _intervals(test, branch)]
    else:
        taken = {branch, -1} if node.missing == branch else {branch}
        told += [holds(column.name, "==", str(v)) for v, b in zip(column.levels, test.branches, strict=True) if b in taken]
    if node.missing == branch:
        told.append(is_missing(column.name))
    return joined("or", told) if told else made("False")


def _intervals(test: FormulaTest, branch: int) -> list[tuple[float, float]]:
    """The intervals of numbers that take a branch; a cut at infinity bounds nothing."""
    ends = zip((-inf, *test.cuts), (*test.cuts, inf), test.branches, strict=True)
    return [(low, high) for low, high, b in ends if b == branch and low < inf and high > -inf]


def _between(name: str, low: float, high: float, is_strict: bool) -> Element:
    bounds = []
    if low > -inf:
        bounds.append(holds(name, ">=" if is_strict else ">", text_of(low)))
    if high < inf:
        bounds.append(holds(name, "<" if is_strict else "<=", text_of(high)))
    return joined("and", bounds) if bounds else made("SimplePredicate", field=name, operator="isNotMissing")


# --- the same as numbers ----------------------------------------------------------------------------------------------


def _branch(node: FormulaNode, columns: Sequence[Input]) -> Element:
    """The branch of a row: by the first test that can tell, else that of a missing value, else −1."""
    found = number(float(max(node.missing, -1)))
    for test in reversed(node.tests):
        told = _told(test, columns[test.column])
        found = chosen(compared(told, ">=", number(0.0)), told, found)
    return found


def _told(test: FormulaTest, column: Input) -> Element:
    """The branch that a test tells, −1 where it cannot."""
    if column.kind is not Kind.NUMERIC:
        return mapped(column.name, {str(v): float(b) for v, b in zip(column.levels, test.branches, strict=True)}, -1.0)
    x = field(column.name)
    found = number(float(test.branches[-1]))
    for cut, b in reversed([*zip(test.cuts, test.branches, strict=False)]):
        found = chosen(compared(x, "<" if test.is_strict else "<=", number(cut)), number(float(b)), found)
    return chosen(apply("isMissing", x), number(-1.0), found)


def _weights(nodes: Sequence[FormulaNode], columns: Sequence[Input], kept: FieldCache) -> list[tuple[int, Element]]:
    """The nodes where parts of a row may rest, each with the part that does."""
    part, resting = {0: number(1.0)}, []
    for n, node in enumerate(nodes):
        if not node.tests:
            resting.append((n, part[n]))
            continue
        branch = kept.keep(_branch(node, columns))
        unplaced = compared(branch, "==", number(-1.0))
        for b in range(n_branches(node)):
            share = number(node.shares[b] if node.missing == SPREAD else 0.0)
            whole = chosen(compared(branch, "==", number(float(b))), number(1.0), chosen(unplaced, share, number(0.0)))
            part[node.first + b] = kept.keep(multiplied([part[n], whole]))
        if node.missing == STOP:
            resting.append((n, multiplied([part[n], chosen(unplaced, number(1.0), number(0.0))])))
    place = {n: k for k, n in enumerate(in_depth(nodes))}
    return sorted(resting, key=lambda item: place[item[0]])  # as other languages add: ties must be the same
