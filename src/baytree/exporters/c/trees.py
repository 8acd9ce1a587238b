"""Decision trees in C: nested conditions, which compilers optimise best.

Trees that are too deep or too large, have surrogates or split rows into fractions are written as tables and a loop instead
(`imperative.language`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from baytree.data.schema.column import Kind
from baytree.formula import Formula
from baytree.formula.inputs import FormulaNode, FormulaTest, Input, n_branches
from baytree.formula.limits import MAX_TREE_NODES
from baytree.summary.tree import STOP

MAX_NESTING = 100  # depth of nested statements; C99 guarantees 127, and functions and loops take a few


def is_nested(nodes: Sequence[FormulaNode]) -> bool:
    """Whether a tree is written as nested conditions: no surrogates, no fractional rows, not too deep or too large."""
    depth = [0] * len(nodes)
    for n, node in enumerate(nodes):
        for b in range(n_branches(node)):
            depth[node.first + b] = depth[n] + 1
    is_plain = all(len(node.tests) <= 1 and node.missing >= STOP for node in nodes)
    return is_plain and len(nodes) <= MAX_TREE_NODES and max(depth) <= MAX_NESTING


def nested(name: str, nodes: Sequence[FormulaNode], formula: Formula, leaf_rows: Sequence[int]) -> str:
    """C function that returns the index of the node in which a row ends; it reads numbers directly from the row."""
    lines: list[str] = []
    stack: list[int | str] = [0]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            lines.append(item)
        elif nodes[item].tests:
            stack += reversed([*_node(leaf_rows[item], nodes[item], formula)])
        else:
            lines.append(f"return {leaf_rows[item]};")
    head = f"static long {name}(const model_cell *row, const double *x) {{"
    return "\n".join([head, "(void)row, (void)x;", *lines, "}", ""])


def _node(position: int, node: FormulaNode, formula: Formula) -> Iterator[int | str]:
    """Branches of a node as conditions, each followed by the node that it leads to."""
    test, branches = node.tests[0], range(n_branches(node))
    column, is_sum = formula.tested[test.column], test.column >= len(formula.columns)
    x = number_of(formula, test.column) if column.kind is Kind.NUMERIC and not is_sum else f"x[{test.column}]"
    if node.missing == STOP:
        yield f"if ({_unplaced(x, test, column)}) return {position};"
    for b in branches[:-1]:
        yield f"if ({_takes(x, test, b, node.missing == b, column)}) {{"
        yield node.first + b
        yield "}"
    yield node.first + branches[-1]


def number_of(formula: Formula, j: int) -> str:
    """C expression of the number in a column: read from the row, unless the column is a part of a date."""
    return f"x[{j}]" if formula.columns[j].part else f"row[{formula.place(j)}].number"


def _unplaced(x: str, test: FormulaTest, column: Input) -> str:
    return f"{x} != {x}" if column.kind is Kind.NUMERIC else _among(x, test, -1, True)


def _takes(x: str, test: FormulaTest, branch: int, is_missing: bool, column: Input) -> str:
    """Condition that a row takes a branch, including the branch of missing values."""
    if column.kind is not Kind.NUMERIC:
        return _among(x, test, branch, is_missing)
    intervals = _intervals(test, branch)
    if is_missing and len(intervals) == 1 and (beyond := _beyond(x, *intervals[0], test.is_strict)):
        return f"!({beyond})"  # NaN compares as false: one comparison instead of two
    conditions = " || ".join(_between(x, low, high, test.is_strict) for low, high in intervals) or "0"
    return f"{x} != {x} || {conditions}" if is_missing else conditions


def _among(x: str, test: FormulaTest, branch: int, is_missing: bool) -> str:
    codes_taken = {branch, -1} if is_missing else {branch}
    conditions = [f"{x} == {code}" for code, b in enumerate(test.branches) if b in codes_taken]
    return " || ".join([f"{x} < 0", *conditions] if is_missing else conditions) or "0"


def _intervals(test: FormulaTest, branch: int) -> list[tuple[float, float]]:
    """Intervals of numbers that take a branch; a threshold at infinity bounds nothing."""
    ends = zip((-inf, *test.cuts), (*test.cuts, inf), test.branches, strict=True)
    return [(low, high) for low, high, b in ends if b == branch and low < inf and high > -inf]


def _beyond(x: str, low: float, high: float, is_strict: bool) -> str | None:
    """Condition that a number lies outside an interval with one finite end; None if both or neither end is finite."""
    if low == -inf and high < inf:
        return f"{x} {'>=' if is_strict else '>'} {high!r}"
    return f"{x} {'<' if is_strict else '<='} {low!r}" if low > -inf and high == inf else None


def _between(x: str, low: float, high: float, is_strict: bool) -> str:
    bounds = []
    if low > -inf:
        bounds.append(f"{x} {'>=' if is_strict else '>'} {low!r}")
    if high < inf:
        bounds.append(f"{x} {'<' if is_strict else '<='} {high!r}")
    return f"({' && '.join(bounds)})" if bounds else f"{x} == {x}"
