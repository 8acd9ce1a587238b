"""Trees in SQL: one CASE that follows the largest branch of each node, so that its depth is that of a logarithm.

The other branches of a node are conditions of the same CASE; a chain of 100,000 nodes is a flat list of them.

Tables in SQL: levels and bins by CASE, combinations of a joint table, and the nodes that parts of a row reach.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from baytree.exporters.sql import terms
from baytree.exporters.sql.terms import ColumnCache, Term, all_of, any_of, case, is_null, multiplied
from baytree.formula.expressions import Matching, Numbers
from baytree.formula.inputs import SPREAD, STOP, FormulaNode, FormulaTest, in_depth, n_branches

Read = Callable[[int], tuple[Term, bool]]  # of a column: its term, and whether it holds numbers

MOST_NODES = 20_000  # of a tree in one query


def routed(nodes: Sequence[FormulaNode], places: Sequence[int], read: Read) -> Term:
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
    nodes: Sequence[FormulaNode], read: Read, keep: Callable[[Term], Term], number: Callable[[float], Term]
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
    head: int, nodes: Sequence[FormulaNode], sizes: list[int], read: Read, made: dict[int, Term], places: Sequence[int]
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


def _heads(nodes: Sequence[FormulaNode], sizes: list[int]) -> list[int]:
    """The nodes at which a CASE begins: the root, and every branch that is not the heaviest of its node."""
    found = [0]
    for node in nodes:
        if node.tests:
            heavy = _heaviest(node, sizes)
            found += [node.first + b for b in range(n_branches(node)) if b != heavy]
    return sorted(found)


def _heaviest(node: FormulaNode, sizes: list[int]) -> int:
    """The branch that needs no condition: that of missing values where it is large enough, since NULL meets none."""
    heaviest = max(range(n_branches(node)), key=lambda b: sizes[node.first + b])
    is_large = node.missing >= 0 and 3 * sizes[node.first + node.missing] >= sizes[node.first + heaviest]
    return node.missing if is_large else heaviest


def _sizes(nodes: Sequence[FormulaNode]) -> list[int]:
    sizes = [1] * len(nodes)
    for k in range(len(nodes) - 1, -1, -1):
        sizes[k] += sum(sizes[nodes[k].first + b] for b in range(n_branches(nodes[k])))
    return sizes


def _goes(node: FormulaNode, branch: int, read: Read) -> Term:
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


def _branch(node: FormulaNode, read: Read) -> Term:
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


def _tells(test: FormulaTest, branch: int | None, read: Read) -> Term | None:
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


def _between(test: FormulaTest, branch: int, x: Term) -> Term | None:
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


MOST_TERMS = 4_000  # combinations of a joint table

MOST_PARTS = 4_000  # nodes of a tree that rows pass in parts


def by_level(kept: ColumnCache, x: Term, values: Sequence[float], missing: float) -> Term:
    """The number of each level."""
    codes = [(terms.equal(x, code), kept.number(value)) for code, value in enumerate(values) if value != missing]
    return terms.case(codes, kept.number(missing))


def by_bin(kept: ColumnCache, x: Term, values: Sequence[float], missing: float, cuts: Sequence[float]) -> Term:
    """The number of the bin that a value lies in."""
    bounds = [(terms.compared(x, "<=", kept.number(cut)), kept.number(v)) for cut, v in zip(cuts, values, strict=False)]
    unknown = Term(terms.is_null(x.sql), x.layer)
    return terms.case([(unknown, kept.number(missing)), *bounds], kept.number(values[-1]))


def picked(place: Term, values: Sequence[float], kept: ColumnCache) -> Term:
    """The number at a place: halves of halves, as deep as a logarithm."""
    level = [(n, kept.number(v).sql) for n, v in enumerate(values) if n == 0 or v != values[n - 1]]
    while len(level) > 1:
        paired = []
        for k in range(0, len(level) - 1, 2):
            (first, left), (second, right) = level[k : k + 2]
            below = exp.LT(this=place.sql, expression=exp.Literal.number(second))
            paired.append((first, exp.Case(ifs=[exp.If(this=below, true=left)], default=right)))
        level = [*paired, *level[2 * len(paired) :]]
    return Term(level[0][1], place.layer)


def listed(place: Term, values: Sequence[float], kept: ColumnCache) -> Term:
    """The number at a place of a list, which DuckDB reads at once."""
    if len(set(values)) == 1:
        return kept.number(values[0])
    numbers = exp.Array(expressions=[kept.number(value).sql for value in values])
    following = exp.Add(this=place.sql, expression=exp.Literal.number(1))
    return Term(exp.Anonymous(this="LIST_EXTRACT", expressions=[numbers, following]), place.layer)


def matched(kept: ColumnCache, matching: Matching, x: Sequence[Term]) -> list[Term]:
    """For each class the weight of the combinations that agree with the columns `x`."""
    if len(matching.codes) > MOST_TERMS:
        raise ValueError(
            f"SQL: a joint table of more than {MOST_TERMS:,} combinations makes too long a query; use Python or C"
        )
    free = [
        terms.case([(Term(terms.is_null(t.sql), t.layer), kept.number(float(n)))], kept.number(1.0))
        for t, n in zip(x, matching.n_levels, strict=True)
    ]
    start = kept.keep(terms.multiplied([kept.number(matching.added), *free]))
    parts: list[list[Term]] = [[start] for _ in range(matching.n_classes)]
    for codes, label, weight in zip(matching.codes, matching.classes, matching.weight, strict=True):
        parts[label].append(terms.case([(_agrees(x, codes), kept.number(weight))], kept.number(0.0)))
    return [terms.added(each) for each in parts]


def spread(kept: ColumnCache, nodes: Sequence[FormulaNode], table: Sequence[Numbers], read: Read) -> list[Term]:
    """The mixture of the rows of the nodes that parts of a row reach."""
    if len(nodes) > MOST_PARTS:
        raise ValueError(
            f"SQL: rows pass this tree in parts, and {len(nodes):,} nodes are more than the {MOST_PARTS:,} that a query "
            "can hold; prune the tree, or export to Python, JavaScript or C"
        )
    parts = weights(nodes, read, kept.keep, kept.number)
    return [_mixed(kept, parts, [row[k] for row in table]) for k in range(len(table[0]))]


def _mixed(kept: ColumnCache, parts: list[tuple[int, Term]], values: list[float]) -> Term:
    """In the order of the runtime of other languages, so that ties are the same; adding nothing changes no bit."""
    shares = [terms.multiplied([part, kept.number(values[n])]) for n, part in parts if values[n] != 0]
    return terms.added_in_order(shares, kept.keep) if shares else kept.number(0.0)


def _agrees(x: Sequence[Term], codes: Sequence[int]) -> Term:
    conditions = [
        exp.Paren(this=exp.Or(this=terms.is_null(t.sql), expression=terms.equal(t, code).sql))
        for t, code in zip(x, codes, strict=True)
    ]
    return Term(terms.all_of(conditions), max((t.layer for t in x), default=0))
