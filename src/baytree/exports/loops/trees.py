"""Trees as flat arrays of numbers, for languages whose runtime goes through them in a loop."""

from __future__ import annotations

from typing import NamedTuple

from baytree.formula.inputs import Input
from baytree.formula.node_table import Node, Test, n_branches
from baytree.table.schema import Kind

LEVELS, BELOW, STRICTLY_BELOW = 0, 1, 2  # how a test finds the place of a value


class TreeArrays(NamedTuple):
    """A tree as numbers.

    `nodes` has five for each node: the first test, the end of the tests, the first child, the branch of what no test can
    place (or STOP, SPREAD), its first share among all; and five more that say where the shares of the last one end.
    `tests` has five for each test: the column, how places are found, the first cut, the number of cuts or levels, the
    first branch.
    """

    nodes: list[int]
    tests: list[int]
    branches: list[int]
    cuts: list[float]


def arrays(nodes: tuple[Node, ...], columns: tuple[Input, ...]) -> TreeArrays:
    """A tree as numbers; no array is empty, since C has none of these."""
    found, n_shares = TreeArrays([], [], [], []), 0
    for node in nodes:
        first = len(found.tests) // 5
        for test in node.tests:
            _add_test(found, test, columns[test.column].kind)
        found.nodes.extend((first, len(found.tests) // 5, node.first, node.missing, n_shares))
        n_shares += len(node.shares)
    found.nodes.extend((0, 0, 0, 0, n_shares))
    return TreeArrays(found.nodes, found.tests or [0], found.branches or [0], found.cuts or [0.0])


def depth(nodes: tuple[Node, ...]) -> int:
    """The parts of a row that may wait at once while it goes through a tree: the branches beside one path, and itself."""
    waiting = [1] * len(nodes)
    for k, node in enumerate(nodes):
        for b in range(n_branches(node)):
            waiting[node.first + b] = waiting[k] + n_branches(node) - 1
    return max(waiting, default=1)


def _add_test(found: TreeArrays, test: Test, kind: Kind) -> None:
    how = LEVELS if kind is not Kind.NUMERIC else STRICTLY_BELOW if test.is_strict else BELOW
    size = len(test.branches) if how == LEVELS else len(test.cuts)
    found.tests.extend((test.column, how, len(found.cuts), size, len(found.branches)))
    found.cuts.extend(test.cuts)
    found.branches.extend(test.branches)
