"""Trees as formulas: the table of nodes, the node where a row comes to rest, and what stands there."""

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
    """The shares, or the mean, where a row comes to rest; of a row in parts, those of its parts by their shares."""
    steps = FormulaBuilder(schema)
    answers, choice = _spread(tree, steps) if _may_spread(tree) else _routed(tree, steps)
    classes, nodes = class_names(schema), nodes_of(tree, schema)
    columns, decided = inputs(schema, "any"), None if classes is None else choice
    whole = Formula("decision tree", columns, schema.target.name, classes, answers, decided, tuple(steps.done), (nodes,))
    return whole if not tree.sums else msgspec.structs.replace(whole, sums=_sums(tree, schema))


def _sums(tree: Tree, schema: Schema) -> tuple[WeightedSum, ...]:
    """The sums that tests read, each under a name of its own."""
    taken, found = {*schema.names}, []
    for terms in tree.sums.terms() if tree.sums else ():
        name = describe_combination(terms, schema.names)
        while name in taken:
            name = f"({name})"
        taken.add(name)
        columns, weights = zip(*terms, strict=True)
        found.append(WeightedSum(name, columns, weights))
    return tuple(found)


def _may_spread(tree: Tree) -> bool:
    return bool(np.any(tree.missing[tree.column >= 0] == SPREAD))


def _routed(tree: Tree, steps: FormulaBuilder) -> tuple[Expression, Expression]:
    """The row of the node where a row of the table rests, and the class of that node."""
    node = steps.add_step(Route(0))
    return steps.add_step(Pick(node, matrix(tree.value))), Pick(node, matrix(tree.prediction))


def _spread(tree: Tree, steps: FormulaBuilder) -> tuple[Expression, Expression]:
    """The mixture of all nodes that parts of the row reach; smoothing changes how sure the answer is, never the class."""
    plain = without_smoothing(tree)
    answers = steps.add_step(Spread(0, matrix(tree.value)))
    votes = answers if plain is tree else steps.add_step(Spread(0, matrix(plain.value)))
    return answers, FirstHighest(votes)


def nodes_of(tree: Tree, schema: Schema) -> tuple[FormulaNode, ...]:
    start = traversal.bounds(tree, tree.surrogates).tolist() if tree.uses_surrogates else [0] * (len(tree) + 1)
    tests = _Tests(tree, schema)
    return tuple(_node(tree, k, tests, range(start[k], start[k + 1])) for k in range(len(tree)))


def _node(tree: Tree, k: int, tests: _Tests, surrogates: range) -> FormulaNode:
    if tree.column[k] < 0:
        return FormulaNode()
    first, missing = int(tree.first[k]), int(tree.missing[k])
    shares = tree.share[first : first + tree.branches[k]].tolist() if missing == SPREAD else ()
    own = tests.of(tree, k)
    return FormulaNode((own, *(tests.of(tree.surrogates, s) for s in surrogates)), first, missing, tuple(shares))


class _Tests:
    """Reads the tests of a tree and of its surrogates: the one place that knows how a tree keeps them."""

    def __init__(self, tree: Tree, schema: Schema) -> None:
        self.columns = tested_columns(tree, schema)
        self.by_several_cuts = set(tree.more_cuts.node.tolist())

    def of(self, record: Tree | Surrogates, k: int) -> FormulaTest:
        """Test k of a record."""
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
    """A branch for each interval between several cuts."""
    if column.kind is Kind.NUMERIC:
        return FormulaTest(j, tuple(range(len(cuts) + 1)), tuple(cuts.tolist()))
    return FormulaTest(j, tuple(np.searchsorted(cuts, np.arange(len(column.levels))).tolist()))
