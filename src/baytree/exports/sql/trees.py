"""Trees in SQL: one CASE that follows the largest branch of each node, so that its depth is that of a logarithm.

The other branches of a node are conditions of the same CASE; a chain of 100,000 nodes is a flat list of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from baytree.exports.sql.terms import Term, all_of, any_of, case, is_null, multiplied
from baytree.formula.node_table import SPREAD, STOP, Node, Test, in_depth, n_branches

Read = Callable[[int], tuple[Term, bool]]  # of a column: its term, and whether it holds numbers


MOST_NODES = 20_000  # of a tree in one query


def routed(nodes: Sequence[Node], places: Sequence[int], read: Read) -> Term:
    """The place of the node where a row comes to rest."""
    if len(nodes) > MOST_NODES:
        raise ValueError(
            f"SQL: a tree of {len(nodes):,} nodes is more than the {MOST_NODES:,} that a query holds well; prune it, or "
            "export to Python, JavaScript or C"
        )
    sizes = _sizes(nodes)
    made: dict[int, Term] = {}
    for head in reversed(_heads(nodes, sizes)):  # light branches before the CASE that holds them
        made[head] = _path(head, nodes, sizes, read, made, places)
    return made[0]


def weights(
    nodes: Sequence[Node], read: Read, keep: Callable[[Term], Term], number: Callable[[float], Term]
) -> list[tuple[int, Term]]:
    """The nodes where parts of a row may rest, each with the part that does."""
    part: dict[int, Term] = {0: number(1.0)}
    resting: list[tuple[int, Term]] = []
    for n, node in enumerate(nodes):
        if not node.tests:
            resting.append((n, part[n]))
            continue
        branch = keep(_branch(node, read))
        for b in range(n_branches(node)):
            share = node.shares[b] if node.missing == SPREAD else 0.0
            taken = Term(exp.EQ(this=branch.sql, expression=exp.Literal.number(b)), branch.layer)
            spread = Term(exp.EQ(this=branch.sql, expression=exp.Literal.number(-1)), branch.layer)
            sides = [(taken, number(1.0)), *([(spread, number(share))] if share > 0 else [])]
            part[node.first + b] = keep(multiplied([part[n], case(sides, number(0.0))]))
        if node.missing == STOP:
            unplaced = Term(exp.EQ(this=branch.sql, expression=exp.Literal.number(-1)), branch.layer)
            resting.append((n, keep(multiplied([part[n], case([(unplaced, number(1.0))], number(0.0))]))))
    place = {n: k for k, n in enumerate(in_depth(nodes))}
    return sorted(resting, key=lambda item: place[item[0]])


def _path(
    head: int, nodes: Sequence[Node], sizes: list[int], read: Read, made: dict[int, Term], places: Sequence[int]
) -> Term:
    """The CASE of a node and its heaviest descendants, down to a leaf."""
    sides: list[tuple[Term, Term]] = []
    at = head
    while nodes[at].tests:
        node, heavy = nodes[at], _heaviest(nodes[at], sizes)
        if node.missing == STOP:
            sides.append((_goes(node, -1, read), _place(places[at])))
        sides += [(_goes(node, b, read), made[node.first + b]) for b in range(n_branches(node)) if b != heavy]
        at = node.first + heavy
    return case(sides, _place(places[at]))


def _place(n: int) -> Term:
    return Term(exp.Literal.number(n), 0)


def _heads(nodes: Sequence[Node], sizes: list[int]) -> list[int]:
    """The nodes at which a CASE begins: the root, and every branch that is not the heaviest of its node."""
    found = [0]
    for node in nodes:
        if node.tests:
            heavy = _heaviest(node, sizes)
            found += [node.first + b for b in range(n_branches(node)) if b != heavy]
    return sorted(found)


def _heaviest(node: Node, sizes: list[int]) -> int:
    """The branch that needs no condition: that of missing values where it is large enough, since NULL meets none."""
    heaviest = max(range(n_branches(node)), key=lambda b: sizes[node.first + b])
    is_large = node.missing >= 0 and 3 * sizes[node.first + node.missing] >= sizes[node.first + heaviest]
    return node.missing if is_large else heaviest


def _sizes(nodes: Sequence[Node]) -> list[int]:
    sizes = [1] * len(nodes)
    for k in range(len(nodes) - 1, -1, -1):
        sizes[k] += sum(sizes[nodes[k].first + b] for b in range(n_branches(nodes[k])))
    return sizes


def _goes(node: Node, branch: int, read: Read) -> Term:
    """Whether a row takes a branch; −1: whether no test can place it."""
    if len(node.tests) > 1:
        found = _branch(node, read)
        return Term(exp.EQ(this=found.sql, expression=_integer(branch)), found.layer)
    test = node.tests[0]
    told, untold = _tells(test, branch, read), None
    if branch in (-1, node.missing):
        untold = _tells(test, None, read)
    conditions = [each for each in (told, untold) if each is not None]
    if not conditions:
        return Term(exp.EQ(this=exp.Literal.number(1), expression=exp.Literal.number(0)), 0)
    return Term(any_of([each.sql for each in conditions]), max(each.layer for each in conditions))


def _branch(node: Node, read: Read) -> Term:
    """The branch of a row: by the first test that can tell, else that of a missing value, else −1."""
    sides = []
    for test in node.tests:
        for b in sorted({b for b in test.branches if b >= 0}):
            told = _tells(test, b, read)
            if told is not None:
                sides.append((told, Term(exp.Literal.number(b), 0)))
    return case(sides, Term(_integer(max(node.missing, -1)), 0))


def _integer(value: int) -> exp.Expression:
    return exp.Literal.number(value) if value >= 0 else exp.Paren(this=exp.Neg(this=exp.Literal.number(-value)))


def _tells(test: Test, branch: int | None, read: Read) -> Term | None:
    """The condition under which a test tells a branch; with None, that it cannot tell; None where that never happens."""
    x, is_number = read(test.column)
    if is_number:
        return Term(is_null(x.sql), x.layer) if branch is None else _between(test, branch, x)
    wanted = -1 if branch is None else branch
    codes = [code for code, b in enumerate(test.branches) if b == wanted]
    conditions: list[exp.Expression] = []
    if branch is None:
        conditions.append(is_null(x.sql))
    if codes:
        conditions.append(exp.In(this=x.sql, expressions=[exp.Literal.number(code) for code in codes]))
    return Term(any_of(conditions), x.layer) if conditions and branch != -1 else None


def _between(test: Test, branch: int, x: Term) -> Term | None:
    """The intervals of numbers that take a branch; a cut at infinity bounds nothing."""
    found = []
    for place, b in enumerate(test.branches):
        if b != branch or branch < 0:
            continue
        low = test.cuts[place - 1] if place > 0 else -float("inf")
        high = test.cuts[place] if place < len(test.cuts) else float("inf")
        if low == float("inf") or high == -float("inf"):
            continue
        found.append(_interval(x, low, high, test.is_strict))
    return Term(any_of(found), x.layer) if found else None


def _interval(x: Term, low: float, high: float, is_strict: bool) -> exp.Expression:
    bounds: list[exp.Expression] = []
    if low > -float("inf"):
        bounds.append((exp.GTE if is_strict else exp.GT)(this=x.sql, expression=_cut(low)))
    if high < float("inf"):
        bounds.append((exp.LT if is_strict else exp.LTE)(this=x.sql, expression=_cut(high)))
    return all_of(bounds) if bounds else exp.Not(this=is_null(x.sql))


def _cut(value: float) -> exp.Expression:
    """A cut as a double in every database; what is compared with it is one."""
    text = repr(abs(value))
    number = exp.Literal.number(text if "e" in text else f"{text}e0")
    made = exp.Paren(this=exp.Neg(this=number)) if value < 0 else number
    return exp.Cast(this=made, to=exp.DataType.build("double"))
