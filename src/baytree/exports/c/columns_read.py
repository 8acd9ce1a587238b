"""Which columns C reads before it computes anything."""

from __future__ import annotations

from baytree.exports.c.trees import is_nested
from baytree.exports.resting_places import records
from baytree.formula import Formula
from baytree.formula.expressions import Known, Lookup, Matching, Number
from baytree.formula.inputs import Input
from baytree.table.schema import Kind


def columns_read(formula: Formula) -> frozenset[int]:
    """The columns that are read before anything is computed; conditions of trees read numbers themselves."""
    found = {j for j, column in enumerate(formula.columns) if column.domain != "any" or formula.unseen == "error"}
    for record in records(formula):
        match record:
            case Number(j) | Known(j) | Lookup(column=j):
                found.add(j)
            case Matching(columns=columns):
                found.update(columns)
    for nodes in formula.trees:
        tested = {test.column for node in nodes for test in node.tests}
        has_conditions = is_nested(nodes)
        found.update(j for j in tested if not has_conditions or not _is_read_off_the_row(formula.tested[j]))
    found.update(j for made in formula.made for j in made.columns if formula.columns[j].part)
    return frozenset(found)


def _is_read_off_the_row(column: Input) -> bool:
    return column.kind is Kind.NUMERIC and not column.part
