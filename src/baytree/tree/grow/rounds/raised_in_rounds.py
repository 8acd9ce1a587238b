"""Pruning by error where the rows are: leaves by what came to each node, raising by what would come to another way.

A node may give its place to its heaviest branch. What that branch would get wrong with all rows of the node is one round
more, and a round a level where rows miss values. Nodes of equal height are apart, so one round leads the rows of them all.
Small nodes are pruned in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec
import numpy as np

from baytree.table.table import Table
from baytree.tree.grow import fractional
from baytree.tree.grow.fractional import PROGRAMS
from baytree.tree.grow.policy import Collapse, ErrorBased
from baytree.tree.grow.rounds.fractional_growth import FractionalGrowth, batches, cases_brought
from baytree.tree.grow.rounds.fractional_nodes import (
    FractionalNode,
    below,
    growth_below,
    heaviest,
    relink,
    remember_all,
    way_to,
)
from baytree.tree.grow.rounds.placements import Passed
from baytree.tree.grow.rounds.questions import Ask, Growing
from baytree.tree.prune.error_pruning import Pessimism, pessimism, prune_by_estimate

_COLLAPSE_SLACK, _PRUNING_SLACK = 1e-3, 0.1  # those of the core


def pruned(growth: FractionalGrowth, root: FractionalNode) -> Growing[None]:
    """The pruning of a policy, one step after the other; nodes that are settled have been pruned already."""
    for step in growth.policy.pruning:
        if isinstance(step, Collapse):
            _collapse(growth, root)
        elif isinstance(step, ErrorBased):
            yield from _Pruning(growth, root, step, pessimism(growth.policy.arithmetic, step.confidence)).settle([root])


def _collapse(growth: FractionalGrowth, root: FractionalNode) -> None:
    """Makes a leaf of every node whose subtree is no better on its training rows than a leaf."""
    real = growth.units.real
    for node in reversed(below(root)):
        if node.is_settled:
            continue
        as_leaf = float(real(node.weight - node.counts.max()))
        errors = _summed([child.collapsed for child in node.children], real)
        if node.is_leaf or errors >= as_leaf - _COLLAPSE_SLACK:
            node.become_leaf()
            errors = as_leaf if node.weight > 0 else 0.0
        node.collapsed = errors


class _Pruning(msgspec.Struct, frozen=True):
    growth: FractionalGrowth
    root: FractionalNode
    step: ErrorBased
    estimate: Pessimism

    def settle(self, tops: Sequence[FractionalNode]) -> Growing[None]:
        """Prunes nodes and all below them, the lowest first; `errors` is what is left of a node feared to get wrong."""
        small, levels = self._by_height(tops)
        yield from self._prune_here(small)
        for level in levels:
            inner = [node for node in level if not node.is_leaf]
            twins = (yield from self._raised(inner)) if self.step.raising else {}
            moved = [node for node in level if self._decide(node, twins.get(id(node)))]
            if moved:
                yield from self.settle(moved)

    def _by_height(self, tops: Sequence[FractionalNode]) -> tuple[list[FractionalNode], list[list[FractionalNode]]]:
        """What is small enough to be pruned here, and the other nodes that are not settled, by their height."""
        small, others = [], list(tops)
        for node in others:
            open_children = [child for child in node.children if child.rows and not child.is_settled]
            small += [child for child in open_children if self._is_small(child)]
            others += [child for child in open_children if not self._is_small(child)]
        height: dict[int, int] = {}
        for node in reversed(others):
            height[id(node)] = 1 + max((height.get(id(child), 0) for child in node.children), default=0)
        levels: list[list[FractionalNode]] = [[] for _ in range(max(height.values()))]
        for node in others:
            levels[height[id(node)] - 1].append(node)
        return small, levels

    def _is_small(self, node: FractionalNode) -> bool:
        return node.is_moved and node.rows <= self.growth.small

    def _decide(self, node: FractionalNode, twin: FractionalNode | None) -> bool:
        """Makes a node a leaf, leaves it, or gives its place to another; whether it does the latter."""
        as_leaf, as_tree = self._as_leaf(node), self._as_tree(node)
        as_branch = as_tree if twin is None else self._errors(twin)
        node.is_settled, node.errors = True, as_tree
        if node.is_leaf or as_leaf <= min(as_branch, as_tree) + _PRUNING_SLACK:
            node.become_leaf()
            node.errors = as_leaf
        elif twin is not None and as_branch <= as_tree + _PRUNING_SLACK:
            node.become(twin)
            _relabel(node)
            node.is_settled = False
        return not node.is_settled

    def _as_leaf(self, node: FractionalNode) -> float:
        real, label = self.growth.units.real, _label(node)
        wrong = float(real(node.weight) - real(node.counts[label]))
        return float(real(self.estimate(node.weight, wrong))) if node.weight > 0 else 0.0

    def _as_tree(self, node: FractionalNode) -> float:
        """The errors of the branches that rows reach."""
        return _summed([child.errors for child in node.children if child.rows], self.growth.units.real)

    def _errors(self, top: FractionalNode) -> float:
        """Those of a node and all below it as they are."""
        for node in reversed(below(top)):
            node.errors = self._as_leaf(node) if node.is_leaf else self._as_tree(node)
        return top.errors

    def _raised(self, nodes: Sequence[FractionalNode]) -> Growing[dict[int, FractionalNode]]:
        """The heaviest branches of nodes that are apart, each with all rows of its node."""
        twins = {id(node): node.children[self._heaviest(node)].in_place_of(node) for node in nodes}
        if not twins:
            return {}
        units, inside = self.growth.units, {id(each) for twin in twins.values() for each in below(twin)}
        opened = inside | {id(each) for node in nodes for each in node.path()[1:]}
        is_shared = False
        while not is_shared:  # the shares of each level follow from the level above
            way, found = way_to(self.root, units, opened, twins)
            passed: Passed = yield Ask(partial(Passed.of, way))
            at = np.array([k for k, each in enumerate(found) if id(each) in inside])
            remember_all([found[k] for k in at], passed.at(at), units)
            changed = [k for k in at if found[k].children and found[k].share_out(units)]
            is_shared = not any(passed.is_spread(way, k) for k in changed)
        return twins

    def _heaviest(self, node: FractionalNode) -> int:
        """The last of the branches that values lead most weight to."""
        known, best = [child.known for child in node.children], 0
        for b in range(1, len(known)):
            if known[b] >= known[best] - PROGRAMS[self.growth.policy.arithmetic].tolerance:
                best = b
        return best

    def _prune_here(self, nodes: list[FractionalNode]) -> Growing[None]:
        """Brings the rows of nodes here, and prunes these as in memory."""
        opened = {id(each) for node in nodes for each in node.path()[1:]}
        way, found = way_to(self.root, self.growth.units, opened)
        place = {id(each): k for k, each in enumerate(found)}
        for some in batches(nodes):
            yield from cases_brought(way, [place[id(node)] for node in some], partial(self._prune_cases, some))

    def _prune_cases(self, some: list[FractionalNode], k: int, table: Table) -> None:
        nodes, before = growth_below(some[k])
        grown = fractional.Growth(nodes, [], self.growth.units.is_single)
        rows = self.growth.rows_of(table, frozenset())
        prune_by_estimate(grown, self.growth.policy.arithmetic, self.step, rows)
        relink(nodes, before)
        for each in below(some[k]):
            each.is_settled = True


def _relabel(top: FractionalNode) -> None:
    """Labels by the rows that are here now; what no row reaches keeps its class only."""
    for node in below(top):
        if node.rows:
            node.label = _label(node)
        else:
            node.become_leaf()


def _label(node: FractionalNode) -> int:
    largest = heaviest(node.counts)
    return largest if node.counts[largest] > node.counts[node.label] else node.label


def _summed(errors: list[float], real: type[np.floating]) -> float:
    return float(np.cumsum(errors, dtype=real)[-1]) if errors else 0.0
