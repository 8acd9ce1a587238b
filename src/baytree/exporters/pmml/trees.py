"""Decision trees in PMML: TreeModel with named tests, and the node weights of trees that split rows into fractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from xml.etree.ElementTree import Element

from baytree.data.schema.column import Kind
from baytree.exporters.pmml.elements import (
    added,
    apply,
    build_element,
    compared,
    field,
    holds,
    if_else,
    is_missing,
    joined,
    mapped,
    multiplied,
    number,
    text_of,
)
from baytree.exporters.pmml.functions import FieldCache
from baytree.formula.inputs import FormulaNode, FormulaTest, Input, in_depth, n_branches
from baytree.formula.limits import MAX_FRACTIONAL_NODES
from baytree.summary.tree import SPREAD, STOP

MAX_TREE_DEPTH = 300  # readers walk trees recursively, so deeper ones may exhaust their stack


Leaf = Callable[[int], tuple[str, list[Element]]]  # of a node: its score and its further child elements


def tree(nodes: Sequence[FormulaNode], columns: Sequence[Input], cache: FieldCache, leaf: Leaf) -> Element:
    """Root Node element of a tree with the content that `leaf` returns; a row that no child accepts stays in its node."""
    check_depth(nodes)
    elements: dict[int, Element] = {0: _node(0, build_element("True"), leaf)}
    for n, node in enumerate(nodes):
        for b, predicate in enumerate(_predicates(node, columns, cache)):
            elements[node.first + b] = _node(node.first + b, predicate, leaf)
            elements[n].append(elements[node.first + b])
    return elements[0]


def check_depth(nodes: Sequence[FormulaNode]) -> None:
    """Raise ValueError for a tree that is too deep for PMML readers."""
    depth = [0] * len(nodes)
    for n, node in enumerate(nodes):
        for b in range(n_branches(node)):
            depth[node.first + b] = depth[n] + 1
    if max(depth) > MAX_TREE_DEPTH:
        raise ValueError(
            f"PMML: a tree of {max(depth):,} levels is deeper than the {MAX_TREE_DEPTH} that PMML readers support; "
            "prune it, or export to Python, JavaScript, C or SQL"
        )


def mixed(
    nodes: Sequence[FormulaNode], table: Sequence[Sequence[float]], columns: Sequence[Input], cache: FieldCache
) -> list[Element]:
    """Σ fraction · table row over the nodes that fractions of a row reach, one sum per class."""
    if len(nodes) > MAX_FRACTIONAL_NODES:
        raise ValueError(
            f"PMML: this tree splits rows into fractions, and its {len(nodes):,} nodes exceed the limit of "
            f"{MAX_FRACTIONAL_NODES:,} for a file; prune the tree, or export to Python, JavaScript or C"
        )
    fractions = _node_fractions(nodes, columns, cache)
    return [added([multiplied([fraction, number(table[n][k])]) for n, fraction in fractions]) for k in range(len(table[0]))]


def _node(n: int, predicate: Element, leaf: Leaf) -> Element:
    score, content = leaf(n)
    return build_element("Node", (predicate, *content), id=str(n), score=score)


# --- predicates of branches -------------------------------------------------------------------------------------------


def _predicates(node: FormulaNode, columns: Sequence[Input], cache: FieldCache) -> list[Element]:
    """Predicate of each branch of a node."""
    if len(node.tests) > 1:
        branch = cache.store(_branch(node, columns)).get("field", "")
        return [holds(branch, "==", text_of(float(b))) for b in range(n_branches(node))]
    return [_takes(node, b, columns[node.tests[0].column]) for b in range(n_branches(node))]


def _takes(node: FormulaNode, branch: int, column: Input) -> Element:
    test, predicates = node.tests[0], []
    if column.kind is Kind.NUMERIC:
        predicates += [_between(column.name, low, high, test.is_strict) for low, high in _intervals(test, branch)]
    else:
        branches = {branch, -1} if node.missing == branch else {branch}
        predicates += [
            holds(column.name, "==", str(v)) for v, b in zip(column.levels, test.branches, strict=True) if b in branches
        ]
    if node.missing == branch:
        predicates.append(is_missing(column.name))
    return joined("or", predicates) if predicates else build_element("False")


def _intervals(test: FormulaTest, branch: int) -> list[tuple[float, float]]:
    """Intervals of numbers that take a branch; a threshold at infinity bounds nothing."""
    ends = zip((-inf, *test.cuts), (*test.cuts, inf), test.branches, strict=True)
    return [(low, high) for low, high, b in ends if b == branch and low < inf and high > -inf]


def _between(name: str, low: float, high: float, is_strict: bool) -> Element:
    bounds = []
    if low > -inf:
        bounds.append(holds(name, ">=" if is_strict else ">", text_of(low)))
    if high < inf:
        bounds.append(holds(name, "<" if is_strict else "<=", text_of(high)))
    return joined("and", bounds) if bounds else build_element("SimplePredicate", field=name, operator="isNotMissing")


# --- branches as numbers ----------------------------------------------------------------------------------------------


def _branch(node: FormulaNode, columns: Sequence[Input]) -> Element:
    """Branch of a row: by the first test that is not missing, else the branch of missing values, else −1."""
    result = number(float(max(node.missing, -1)))
    for test in reversed(node.tests):
        selected = _selected_branch(test, columns[test.column])
        result = if_else(compared(selected, ">=", number(0.0)), selected, result)
    return result


def _selected_branch(test: FormulaTest, column: Input) -> Element:
    """Branch that a test selects, −1 if the value is missing."""
    if column.kind is not Kind.NUMERIC:
        return mapped(column.name, {str(v): float(b) for v, b in zip(column.levels, test.branches, strict=True)}, -1.0)
    x = field(column.name)
    result = number(float(test.branches[-1]))
    for threshold, b in reversed([*zip(test.cuts, test.branches, strict=False)]):
        result = if_else(compared(x, "<" if test.is_strict else "<=", number(threshold)), number(float(b)), result)
    return if_else(apply("isMissing", x), number(-1.0), result)


def _node_fractions(nodes: Sequence[FormulaNode], columns: Sequence[Input], cache: FieldCache) -> list[tuple[int, Element]]:
    """Nodes in which fractions of a row may end, each with the fraction."""
    fraction, ends_in = {0: number(1.0)}, []
    for n, node in enumerate(nodes):
        if not node.tests:
            ends_in.append((n, fraction[n]))
            continue
        branch = cache.store(_branch(node, columns))
        unplaced = compared(branch, "==", number(-1.0))
        for b in range(n_branches(node)):
            missing_fraction = number(node.shares[b] if node.missing == SPREAD else 0.0)
            branch_fraction = if_else(
                compared(branch, "==", number(float(b))), number(1.0), if_else(unplaced, missing_fraction, number(0.0))
            )
            fraction[node.first + b] = cache.store(multiplied([fraction[n], branch_fraction]))
        if node.missing == STOP:
            ends_in.append((n, multiplied([fraction[n], if_else(unplaced, number(1.0), number(0.0))])))
    rank = {n: k for k, n in enumerate(in_depth(nodes))}
    return sorted(
        ends_in, key=lambda item: rank[item[0]]
    )  # same order of summation as in other languages: ties must not differ
