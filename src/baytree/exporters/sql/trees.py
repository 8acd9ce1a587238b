"""Decision trees and lookup tables in SQL.

A tree becomes one CASE that follows the largest branch of each node; the other branches are conditions of the same CASE that
contain a CASE of their own. So the nesting depth is logarithmic in the number of nodes, and a chain of 100,000 nodes is a
flat list. Levels and bins are looked up by CASE. `matched` writes joint tables, `spread` trees that split rows into
fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from baytree.exporters.sql import terms
from baytree.exporters.sql.terms import ColumnCache, Term, all_of, any_of, case, is_null, multiplied
from baytree.formula.expressions import Matching, Numbers
from baytree.formula.inputs import FormulaNode, FormulaTest, in_depth, n_branches
from baytree.formula.limits import MAX_JOINT_CELLS, MAX_TREE_NODES
from baytree.summary.tree import SPREAD, STOP

Read = Callable[[int], tuple[Term, bool]]  # of a column: its term, and whether it is numeric


def routed(nodes: Sequence[FormulaNode], leaf_rows: Sequence[int], read: Read) -> Term:
    """Index of the node in which a row ends."""
    if len(nodes) > MAX_TREE_NODES:
        raise ValueError(
            f"SQL: a tree of {len(nodes):,} nodes exceeds the limit of {MAX_TREE_NODES:,} for one query; prune it, or "
            "export to Python, JavaScript or C"
        )
    sizes = _subtree_sizes(nodes)
    terms_of_nodes: dict[int, Term] = {}
    for head in reversed(_case_roots(nodes, sizes)):  # light branches before the CASE that contains them
        terms_of_nodes[head] = _path(head, nodes, sizes, read, terms_of_nodes, leaf_rows)
    return terms_of_nodes[0]


def weights(
    nodes: Sequence[FormulaNode], read: Read, keep: Callable[[Term], Term], number: Callable[[float], Term]
) -> list[tuple[int, Term]]:
    """Nodes in which fractions of a row may end, each with the fraction."""
    fraction: dict[int, Term] = {0: number(1.0)}
    ends_in: list[tuple[int, Term]] = []
    for n, node in enumerate(nodes):
        if not node.tests:
            ends_in.append((n, fraction[n]))
            continue
        branch = keep(_branch(node, read))
        for b in range(n_branches(node)):
            missing_fraction = node.shares[b] if node.missing == SPREAD else 0.0
            is_taken = Term(exp.EQ(this=branch.sql, expression=exp.Literal.number(b)), branch.layer)
            is_missing = Term(exp.EQ(this=branch.sql, expression=exp.Literal.number(-1)), branch.layer)
            sides = [(is_taken, number(1.0)), *([(is_missing, number(missing_fraction))] if missing_fraction > 0 else [])]
            fraction[node.first + b] = keep(multiplied([fraction[n], case(sides, number(0.0))]))
        if node.missing == STOP:
            unplaced = Term(exp.EQ(this=branch.sql, expression=exp.Literal.number(-1)), branch.layer)
            ends_in.append((n, keep(multiplied([fraction[n], case([(unplaced, number(1.0))], number(0.0))]))))
    rank = {n: k for k, n in enumerate(in_depth(nodes))}
    return sorted(ends_in, key=lambda item: rank[item[0]])


def _path(
    head: int,
    nodes: Sequence[FormulaNode],
    sizes: list[int],
    read: Read,
    terms_by_node: dict[int, Term],
    leaf_rows: Sequence[int],
) -> Term:
    """CASE of a node and its largest descendants, down to a leaf."""
    sides: list[tuple[Term, Term]] = []
    n = head
    while nodes[n].tests:
        node, largest = nodes[n], _default_branch(nodes[n], sizes)
        if node.missing == STOP:
            sides.append((_takes_branch(node, -1, read), _leaf_row(leaf_rows[n])))
        sides += [
            (_takes_branch(node, b, read), terms_by_node[node.first + b]) for b in range(n_branches(node)) if b != largest
        ]
        n = node.first + largest
    return case(sides, _leaf_row(leaf_rows[n]))


def _leaf_row(n: int) -> Term:
    return Term(exp.Literal.number(n), 0)


def _case_roots(nodes: Sequence[FormulaNode], sizes: list[int]) -> list[int]:
    """Nodes at which a CASE begins: the root, and every branch that is not the largest of its node."""
    heads = [0]
    for node in nodes:
        if node.tests:
            largest = _default_branch(node, sizes)
            heads += [node.first + b for b in range(n_branches(node)) if b != largest]
    return sorted(heads)


def _default_branch(node: FormulaNode, sizes: list[int]) -> int:
    """Branch that needs no condition: that of missing values if it is large enough, since NULL meets no condition."""
    largest = max(range(n_branches(node)), key=lambda b: sizes[node.first + b])
    is_large = node.missing >= 0 and 3 * sizes[node.first + node.missing] >= sizes[node.first + largest]
    return node.missing if is_large else largest


def _subtree_sizes(nodes: Sequence[FormulaNode]) -> list[int]:
    sizes = [1] * len(nodes)
    for k in range(len(nodes) - 1, -1, -1):
        sizes[k] += sum(sizes[nodes[k].first + b] for b in range(n_branches(nodes[k])))
    return sizes


def _takes_branch(node: FormulaNode, branch: int, read: Read) -> Term:
    """Condition that a row takes a branch; for −1, that no test can place it."""
    if len(node.tests) > 1:
        selected = _branch(node, read)
        return Term(exp.EQ(this=selected.sql, expression=_integer(branch)), selected.layer)
    test = node.tests[0]
    is_selected, is_missing = _condition_of(test, branch, read), None
    if branch in (-1, node.missing):
        is_missing = _condition_of(test, None, read)
    conditions = [each for each in (is_selected, is_missing) if each is not None]
    if not conditions:
        return Term(exp.EQ(this=exp.Literal.number(1), expression=exp.Literal.number(0)), 0)
    return Term(any_of([each.sql for each in conditions]), max(each.layer for each in conditions))


def _branch(node: FormulaNode, read: Read) -> Term:
    """Branch of a row: by the first test that is not missing, else the branch of missing values, else −1."""
    sides = []
    for test in node.tests:
        for b in sorted({b for b in test.branches if b >= 0}):
            condition = _condition_of(test, b, read)
            if condition is not None:
                sides.append((condition, Term(exp.Literal.number(b), 0)))
    return case(sides, Term(_integer(max(node.missing, -1)), 0))


def _integer(value: int) -> exp.Expression:
    return exp.Literal.number(value) if value >= 0 else exp.Paren(this=exp.Neg(this=exp.Literal.number(-value)))


def _condition_of(test: FormulaTest, branch: int | None, read: Read) -> Term | None:
    """Condition that a test selects a branch, or for None that its value is missing; None if it can never hold."""
    x, is_number = read(test.column)
    if is_number:
        return Term(is_null(x.sql), x.layer) if branch is None else _between(test, branch, x)
    target_branch = -1 if branch is None else branch
    codes = [code for code, b in enumerate(test.branches) if b == target_branch]
    conditions: list[exp.Expression] = []
    if branch is None:
        conditions.append(is_null(x.sql))
    if codes:
        conditions.append(exp.In(this=x.sql, expressions=[exp.Literal.number(code) for code in codes]))
    return Term(any_of(conditions), x.layer) if conditions and branch != -1 else None


def _between(test: FormulaTest, branch: int, x: Term) -> Term | None:
    """Condition that a number is in one of the intervals of a branch; a threshold at infinity bounds nothing."""
    intervals = []
    for interval, b in enumerate(test.branches):
        if b != branch or branch < 0:
            continue
        low = test.cuts[interval - 1] if interval > 0 else -float("inf")
        high = test.cuts[interval] if interval < len(test.cuts) else float("inf")
        if low == float("inf") or high == -float("inf"):
            continue
        intervals.append(_interval(x, low, high, test.is_strict))
    return Term(any_of(intervals), x.layer) if intervals else None


def _interval(x: Term, low: float, high: float, is_strict: bool) -> exp.Expression:
    bounds: list[exp.Expression] = []
    if low > -float("inf"):
        bounds.append((exp.GTE if is_strict else exp.GT)(this=x.sql, expression=_threshold(low)))
    if high < float("inf"):
        bounds.append((exp.LT if is_strict else exp.LTE)(this=x.sql, expression=_threshold(high)))
    return all_of(bounds) if bounds else exp.Not(this=is_null(x.sql))


def _threshold(value: float) -> exp.Expression:
    """Threshold as a double in every database, like the numbers that are compared with it."""
    text = repr(abs(value))
    number = exp.Literal.number(text if "e" in text else f"{text}e0")
    literal = exp.Paren(this=exp.Neg(this=number)) if value < 0 else number
    return exp.Cast(this=literal, to=exp.DataType.build("double"))


# Nodes of a tree that splits rows into fractions; more than in a graph or a file (MAX_FRACTIONAL_NODES), since a query has
# one line per node.
MAX_SQL_FRACTIONAL_NODES = 4_000


def by_level(cache: ColumnCache, x: Term, values: Sequence[float], missing: float) -> Term:
    """Number of each level."""
    codes = [(terms.equal(x, code), cache.number(value)) for code, value in enumerate(values) if value != missing]
    return terms.case(codes, cache.number(missing))


def by_bin(cache: ColumnCache, x: Term, values: Sequence[float], missing: float, thresholds: Sequence[float]) -> Term:
    """Number of the bin that contains a value."""
    bounds = [
        (terms.compared(x, "<=", cache.number(threshold)), cache.number(v))
        for threshold, v in zip(thresholds, values, strict=False)
    ]
    is_missing = Term(terms.is_null(x.sql), x.layer)
    return terms.case([(is_missing, cache.number(missing)), *bounds], cache.number(values[-1]))


def picked(position: Term, values: Sequence[float], cache: ColumnCache) -> Term:
    """Number at an index, by bisection: nested CASEs of logarithmic depth."""
    level = [(n, cache.number(v).sql) for n, v in enumerate(values) if n == 0 or v != values[n - 1]]
    while len(level) > 1:
        merged = []
        for k in range(0, len(level) - 1, 2):
            (first, left), (second, right) = level[k : k + 2]
            below = exp.LT(this=position.sql, expression=exp.Literal.number(second))
            merged.append((first, exp.Case(ifs=[exp.If(this=below, true=left)], default=right)))
        level = [*merged, *level[2 * len(merged) :]]
    return Term(level[0][1], position.layer)


def listed(position: Term, values: Sequence[float], cache: ColumnCache) -> Term:
    """Number at an index of a list, which DuckDB reads in constant time."""
    if len(set(values)) == 1:
        return cache.number(values[0])
    numbers = exp.Array(expressions=[cache.number(value).sql for value in values])
    following = exp.Add(this=position.sql, expression=exp.Literal.number(1))
    return Term(exp.Anonymous(this="LIST_EXTRACT", expressions=[numbers, following]), position.layer)


def matched(cache: ColumnCache, matching: Matching, x: Sequence[Term]) -> list[Term]:
    """Weight of the combinations that agree with the columns `x`, one term per class."""
    if len(matching.codes) > MAX_JOINT_CELLS:
        raise ValueError(
            f"SQL: a joint table of more than {MAX_JOINT_CELLS:,} combinations makes the query too long; "
            "export to Python or C"
        )
    n_possible = [
        terms.case([(Term(terms.is_null(t.sql), t.layer), cache.number(float(n)))], cache.number(1.0))
        for t, n in zip(x, matching.n_levels, strict=True)
    ]
    initial = cache.store(terms.multiplied([cache.number(matching.added), *n_possible]))
    parts: list[list[Term]] = [[initial] for _ in range(matching.n_classes)]
    for codes, label, weight in zip(matching.codes, matching.classes, matching.weight, strict=True):
        parts[label].append(terms.case([(_agrees(x, codes), cache.number(weight))], cache.number(0.0)))
    return [terms.added(each) for each in parts]


def spread(cache: ColumnCache, nodes: Sequence[FormulaNode], table: Sequence[Numbers], read: Read) -> list[Term]:
    """Mixture of the table rows of the nodes that fractions of a row reach."""
    if len(nodes) > MAX_SQL_FRACTIONAL_NODES:
        raise ValueError(
            f"SQL: this tree splits rows into fractions, and its {len(nodes):,} nodes exceed the limit of "
            f"{MAX_SQL_FRACTIONAL_NODES:,} for a query; prune the tree, or export to Python, JavaScript or C"
        )
    fractions = weights(nodes, read, cache.store, cache.number)
    return [_mixed(cache, fractions, [row[k] for row in table]) for k in range(len(table[0]))]


def _mixed(cache: ColumnCache, parts: list[tuple[int, Term]], values: list[float]) -> Term:
    """Sum in the order of the other languages' runtimes, so that ties agree; zero terms change no bit and are omitted."""
    products = [terms.multiplied([part, cache.number(values[n])]) for n, part in parts if values[n] != 0]
    return terms.added_in_order(products, cache.store) if products else cache.number(0.0)


def _agrees(x: Sequence[Term], codes: Sequence[int]) -> Term:
    conditions = [
        exp.Paren(this=exp.Or(this=terms.is_null(t.sql), expression=terms.equal(t, code).sql))
        for t, code in zip(x, codes, strict=True)
    ]
    return Term(terms.all_of(conditions), max((t.layer for t in x), default=0))
