"""Trees in C: nested conditions, which compilers make the fastest of; tables and a loop where those would nest too deep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from baytree.data.schema.column import Kind
from baytree.formula import Formula
from baytree.formula.inputs import STOP, FormulaNode, FormulaTest, Input, n_branches

DEEPEST = 100  # levels; C99 promises 127

MOST_NODES = 20_000


def is_nested(nodes: Sequence[FormulaNode]) -> bool:
    """Whether a tree is written as conditions: no surrogates, no parts of rows, not too deep or too large."""
    depth = [0] * len(nodes)
    for n, node in enumerate(nodes):
        for b in range(n_branches(node)):
            depth[node.first + b] = depth[n] + 1
    is_plain = all(len(node.tests) <= 1 and node.missing >= STOP for node in nodes)
    return is_plain and len(nodes) <= MOST_NODES and max(depth) <= DEEPEST


def nested(name: str, nodes: Sequence[FormulaNode], formula: Formula, places: Sequence[int]) -> str:
    """A function that gives the place of the node where a row comes to rest; numbers are read off the row itself."""
    lines: list[str] = []
    waiting: list[int | str] = [0]
    while waiting:
        at = waiting.pop()
        if isinstance(at, str):
            lines.append(at)
        elif nodes[at].tests:
            waiting += reversed([*_node(places[at], nodes[at], formula)])
        else:
            lines.append(f"return {places[at]};")
    head = f"static long {name}(const model_cell *row, const double *x) {{"
    return "\n".join([head, "(void)row, (void)x;", *lines, "}", ""])


def _node(place: int, node: FormulaNode, formula: Formula) -> Iterator[int | str]:
    """The branches of a node as conditions, each with the node that it leads to."""
    test, branches = node.tests[0], range(n_branches(node))
    column, is_made = formula.tested[test.column], test.column >= len(formula.columns)
    x = number_of(formula, test.column) if column.kind is Kind.NUMERIC and not is_made else f"x[{test.column}]"
    if node.missing == STOP:
        yield f"if ({_unplaced(x, test, column)}) return {place};"
    for b in branches[:-1]:
        yield f"if ({_takes(x, test, b, node.missing == b, column)}) {{"
        yield node.first + b
        yield "}"
    yield node.first + branches[-1]


def number_of(formula: Formula, j: int) -> str:
    """The number of a column, read off the row itself unless it is a part of a date."""
    return f"x[{j}]" if formula.columns[j].part else f"row[{formula.place(j)}].number"


def _unplaced(x: str, test: FormulaTest, column: Input) -> str:
    return f"{x} != {x}" if column.kind is Kind.NUMERIC else _among(x, test, -1, True)


def _takes(x: str, test: FormulaTest, branch: int, is_missing: bool, column: Input) -> str:
    """Whether a row takes a branch, that of missing values included."""
    if column.kind is not Kind.NUMERIC:
        return _among(x, test, branch, is_missing)
    intervals = _intervals(test, branch)
    if is_missing and len(intervals) == 1 and (beyond := _beyond(x, *intervals[0], test.is_strict)):
        return f"!({beyond})"  # NAN compares as false: one comparison instead of two
    told = " || ".join(_between(x, low, high, test.is_strict) for low, high in intervals) or "0"
    return f"{x} != {x} || {told}" if is_missing else told


def _among(x: str, test: FormulaTest, branch: int, is_missing: bool) -> str:
    taken = {branch, -1} if is_missing else {branch}
    told = [f"{x} == {code}" for code, b in enumerate(test.branches) if b in taken]
    return " || ".join([f"{x} < 0", *told] if is_missing else told) or "0"


def _intervals(test: FormulaTest, branch: int) -> list[tuple[float, float]]:
    """The intervals of numbers that take a branch; a cut at infinity bounds nothing."""
    ends = zip((-inf, *test.cuts), (*test.cuts, inf), test.branches, strict=True)
    return [(low, high) for low, high, b in ends if b == branch and low < inf and high > -inf]


def _beyond(x: str, low: float, high: float, is_strict: bool) -> str | None:
    """Whether a number lies outside an interval that has one end only; None where it has two, or none."""
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
