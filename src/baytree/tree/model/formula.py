"""Decision trees as formulas, the expressions that exporters print.

A tree becomes a table of nodes, a routing step, and the values of the node where a row ends. Trees with fractional rows
average the values of all nodes that a row reaches.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.formula import Formula
from baytree.formula.builder import FormulaBuilder, matrix
from baytree.formula.expressions import Expression, FirstHighest, Pick, Route, Spread
from baytree.formula.inputs import FormulaNode, FormulaTest, WeightedSum, class_names, inputs
from baytree.tree.model import traversal
from baytree.tree.model.arrays import SPREAD
from baytree.tree.model.linear_combinations import describe_combination, tested_columns
from baytree.tree.model.tree import Surrogates, Tree, without_smoothing


def decision_tree(tree: Tree, schema: Schema) -> Formula:
    """Formula of a tree: class proportions or mean of a row's leaf; with fractional rows, the weighted average over
    leaves.
    """
    steps = FormulaBuilder(schema)
    values, choice = _spread(tree, steps) if _may_spread(tree) else _routed(tree, steps)
    classes, nodes = class_names(schema), nodes_of(tree, schema)
    columns, decision = inputs(schema, "any"), None if classes is None else choice
    formula = Formula("decision tree", columns, schema.target.name, classes, values, decision, tuple(steps.done), (nodes,))
    return formula if not tree.sums else msgspec.structs.replace(formula, sums=_sums(tree, schema))


def _sums(tree: Tree, schema: Schema) -> tuple[WeightedSum, ...]:
    """Linear combinations that tests read, each with a unique name."""
    selected, found = {*schema.names}, []
    for terms in tree.sums.terms() if tree.sums else ():
        name = describe_combination(terms, schema.names)
        while name in selected:
            name = f"({name})"
        selected.add(name)
        columns, weights = zip(*terms, strict=True)
        found.append(WeightedSum(name, columns, weights))
    return tuple(found)


def _may_spread(tree: Tree) -> bool:
    return bool(np.any(tree.missing[tree.column >= 0] == SPREAD))


def _routed(tree: Tree, steps: FormulaBuilder) -> tuple[Expression, Expression]:
    """Value and class of the node where a row ends."""
    node = steps.add_step(Route(0))
    return steps.add_step(Pick(node, matrix(tree.value))), Pick(node, matrix(tree.prediction))


def _spread(tree: Tree, steps: FormulaBuilder) -> tuple[Expression, Expression]:
    """Weighted average over the nodes that a row reaches. Smoothing changes the probabilities but never the class."""
    plain = without_smoothing(tree)
    values = steps.add_step(Spread(0, matrix(tree.value)))
    votes = values if plain is tree else steps.add_step(Spread(0, matrix(plain.value)))
    return values, FirstHighest(votes)


def nodes_of(tree: Tree, schema: Schema) -> tuple[FormulaNode, ...]:
    start = traversal.bounds(tree, tree.surrogates).tolist() if tree.uses_surrogates else [0] * (len(tree) + 1)
    tests = _Tests(tree, schema)
    return tuple(_node(tree, k, tests, range(start[k], start[k + 1])) for k in range(len(tree)))


def _node(tree: Tree, k: int, tests: _Tests, surrogates: range) -> FormulaNode:
    if tree.column[k] < 0:
        return FormulaNode()
    first, missing = int(tree.first[k]), int(tree.missing[k])
    proportions = tree.share[first : first + tree.branches[k]].tolist() if missing == SPREAD else ()
    own = tests.of(tree, k)
    return FormulaNode((own, *(tests.of(tree.surrogates, s) for s in surrogates)), first, missing, tuple(proportions))


class _Tests:
    """Reads the tests of nodes and surrogates from the arrays; the only place here that knows their layout."""

    def __init__(self, tree: Tree, schema: Schema) -> None:
        self.columns = tested_columns(tree, schema)
        self.by_several_cuts = set(tree.more_cuts.node.tolist())

    def of(self, record: Tree | Surrogates, k: int) -> FormulaTest:
        """Test k of the tree or of its surrogates."""
        j, levels, first = int(record.column[k]), int(record.levels[k]), int(record.start[k])
        column, branches = self.columns[j], record.branch_of[first : first + levels].tolist()
        if levels:
            return FormulaTest(j, tuple(branches))
        if isinstance(record, Tree) and k in self.by_several_cuts:
            return _cuts(j, column, traversal.cuts(record, k))
        is_flipped = isinstance(record, Surrogates) and bool(record.flipped[k])
        return _cut(j, column, float(record.cut[k]), bool(record.strict[k]), is_flipped)


def _cut(j: int, column: Column, cut: float, is_strict: bool, is_flipped: bool) -> FormulaTest:
    sides = (1, 0) if is_flipped else (0, 1)
    if column.kind is Kind.NUMERIC:
        return FormulaTest(j, sides, (cut,), is_strict)
    return FormulaTest(j, tuple(sides[not (code < cut if is_strict else code <= cut)] for code in range(len(column.levels))))


def _cuts(j: int, column: Column, cuts: np.ndarray) -> FormulaTest:
    """Test with several thresholds: one branch per interval."""
    if column.kind is Kind.NUMERIC:
        return FormulaTest(j, tuple(range(len(cuts) + 1)), tuple(cuts.tolist()))
    return FormulaTest(j, tuple(np.searchsorted(cuts, np.arange(len(column.levels))).tolist()))
