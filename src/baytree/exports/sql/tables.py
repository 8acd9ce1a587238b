"""Tables in SQL: levels and bins by CASE, combinations of a joint table, and the nodes that parts of a row reach."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from baytree.exports.sql import terms
from baytree.exports.sql.terms import Keeper, Term
from baytree.exports.sql.trees import Read, weights
from baytree.formula.expressions import Matching, Numbers
from baytree.formula.node_table import Node

MOST_TERMS = 4_000  # combinations of a joint table
MOST_PARTS = 4_000  # nodes of a tree that rows pass in parts


def by_level(kept: Keeper, x: Term, values: Sequence[float], missing: float) -> Term:
    """The number of each level."""
    codes = [(terms.equal(x, code), kept.number(value)) for code, value in enumerate(values) if value != missing]
    return terms.case(codes, kept.number(missing))


def by_bin(kept: Keeper, x: Term, values: Sequence[float], missing: float, cuts: Sequence[float]) -> Term:
    """The number of the bin that a value lies in."""
    bounds = [(terms.compared(x, "<=", kept.number(cut)), kept.number(v)) for cut, v in zip(cuts, values, strict=False)]
    unknown = Term(terms.is_null(x.sql), x.layer)
    return terms.case([(unknown, kept.number(missing)), *bounds], kept.number(values[-1]))


def picked(place: Term, values: Sequence[float], kept: Keeper) -> Term:
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


def listed(place: Term, values: Sequence[float], kept: Keeper) -> Term:
    """The number at a place of a list, which DuckDB reads at once."""
    if len(set(values)) == 1:
        return kept.number(values[0])
    numbers = exp.Array(expressions=[kept.number(value).sql for value in values])
    following = exp.Add(this=place.sql, expression=exp.Literal.number(1))
    return Term(exp.Anonymous(this="LIST_EXTRACT", expressions=[numbers, following]), place.layer)


def matched(kept: Keeper, matching: Matching, x: Sequence[Term]) -> list[Term]:
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


def spread(kept: Keeper, nodes: Sequence[Node], table: Sequence[Numbers], read: Read) -> list[Term]:
    """The mixture of the rows of the nodes that parts of a row reach."""
    if len(nodes) > MOST_PARTS:
        raise ValueError(
            f"SQL: rows pass this tree in parts, and {len(nodes):,} nodes are more than the {MOST_PARTS:,} that a query "
            "can hold; prune the tree, or export to Python, JavaScript or C"
        )
    parts = weights(nodes, read, kept.keep, kept.number)
    return [_mixed(kept, parts, [row[k] for row in table]) for k in range(len(table[0]))]


def _mixed(kept: Keeper, parts: list[tuple[int, Term]], values: list[float]) -> Term:
    """In the order of the runtime of other languages, so that ties are the same; adding nothing changes no bit."""
    shares = [terms.multiplied([part, kept.number(values[n])]) for n, part in parts if values[n] != 0]
    return terms.added_in_order(shares, kept.keep) if shares else kept.number(0.0)


def _agrees(x: Sequence[Term], codes: Sequence[int]) -> Term:
    conditions = [
        exp.Paren(this=exp.Or(this=terms.is_null(t.sql), expression=terms.equal(t, code).sql))
        for t, code in zip(x, codes, strict=True)
    ]
    return Term(terms.all_of(conditions), max((t.layer for t in x), default=0))
