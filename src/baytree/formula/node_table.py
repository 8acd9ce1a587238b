"""Trees in formulas: a flat table of nodes, the children of a node side by side and after it. Nothing recurses."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

STOP, SPREAD = -1, -2  # what a node does with a row that no test can place, unless that takes a branch


class Test(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question about a column, or a sum of several: its place, and the branch of each place, −1 where it cannot tell.

    The place of a level is its code. That of a number is the number of `cuts` below it; a number that equals a cut lies
    below it, or above where `is_strict` (the branch before is then x < cut).
    """

    __test__ = False  # no test of pytest's

    column: int
    branches: tuple[int, ...]
    cuts: tuple[float, ...] = ()
    is_strict: bool = False


class Node(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tests in order of preference, the first that can tell decides; none at a leaf.

    Branch b leads to node `first + b`. Where no test can tell, `missing` is a branch, STOP or SPREAD; `shares` are then the
    parts of the row that take each branch.
    """

    tests: tuple[Test, ...] = ()
    first: int = 0
    missing: int = STOP
    shares: tuple[float, ...] = ()


def n_branches(node: Node) -> int:
    """How many branches a node has."""
    if not node.tests:
        return 0
    return 1 + max(node.missing, len(node.shares) - 1, *(max(test.branches, default=-1) for test in node.tests))


def in_depth(nodes: Sequence[Node]) -> list[int]:
    """The nodes as a walk meets them that takes the first branch first."""
    found, waiting = [], [0]
    while waiting:
        n = waiting.pop()
        found.append(n)
        waiting += [nodes[n].first + b for b in reversed(range(n_branches(nodes[n])))]
    return found
