"""Pruning by error where the rows are: leaves by what came to each node, raising by what would come to another way.

A node may give its place to its heaviest branch. What that branch would get wrong with all rows of the node is one round
more, and a round a level where rows miss values; nodes of equal height are asked together. Small nodes are pruned in memory.
"""

from __future__ import annotations

from functools import partial

import msgspec
import numpy as np

from baytree.table.table import Table
from baytree.tree.grow import fractional
from baytree.tree.grow.fractional import PROGRAMS
from baytree.tree.grow.policy import Collapse, ErrorBased
from baytree.tree.grow.rounds.fractional_growth import FractionalGrowth, cases_brought
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
from baytree.tree.grow.rounds.questions import Ask, Growing, together
from baytree.tree.prune.error_pruning import Pessimism, pessimism, prune_by_estimate

_COLLAPSE_SLACK, _PRUNING_SLACK = 1e-3, 0.1  # those of the core


def pruned(growth: FractionalGrowth, root: FractionalNode) -> Growing[None]:
    """The pruning of a policy, one step after the other; nodes that are settled have been pruned already."""
    for step in growth.policy.pruning:
        if isinstance(step, Collapse):
            _collapse(growth, root)
        elif isinstance(step, ErrorBased):
            yield from _Pruning(growth, root, step, pessimism(growth.policy.arithmetic, step.confidence)).errors(root)


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

    def errors(self, node: FractionalNode) -> Growing[float]:
        """What is left of a node and all below it is feared to get so much wrong."""
        if node.is_settled:
            return node.errors
        if node.is_moved and node.rows <= self.growth.small:
            yield from self._pruned_here(node)
            return node.errors
        as_leaf = self._as_leaf(node)
        if node.is_leaf:
            return as_leaf
        reached = [child for child in node.children if child.rows]
        parts = yield from together([self.errors(child) for child in reached])
        as_tree = _summed(parts, self.growth.units.real)
        twin = node if not self.step.raising else (yield from self._raised(node))
        as_branch = as_tree if twin is node else self._as_tree(twin)
        if as_leaf <= as_branch + _PRUNING_SLACK and as_leaf <= as_tree + _PRUNING_SLACK:
            node.become_leaf()
            return as_leaf
        if twin is node or as_branch > as_tree + _PRUNING_SLACK:
            return as_tree
        node.become(twin)
        self._relabel(node)
        return (yield from self.errors(node))

    def _as_leaf(self, node: FractionalNode) -> float:
        real, label = self.growth.units.real, _label(node)
        wrong = float(real(node.weight) - real(node.counts[label]))
        return float(real(self.estimate(node.weight, wrong))) if node.weight > 0 else 0.0

    def _as_tree(self, node: FractionalNode) -> float:
        """The errors of a subtree as it is."""
        if node.is_leaf:
            return self._as_leaf(node)
        return _summed([self._as_tree(child) for child in node.children if child.rows], self.growth.units.real)

    def _raised(self, node: FractionalNode) -> Growing[FractionalNode]:
        """The heaviest branch of a node, with all its rows."""
        known, best = [child.known for child in node.children], 0
        for b in range(1, len(known)):
            if known[b] >= known[best] - PROGRAMS[self.growth.policy.arithmetic].tolerance:
                best = b
        twin = node.children[best].in_place_of(node)
        yield from self._recount(node, twin)
        return twin

    def _recount(self, node: FractionalNode, twin: FractionalNode) -> Growing[None]:
        """Counts what comes to another in the place of a node; the shares of each level follow from the level above."""
        units, inside = self.growth.units, {id(each) for each in below(twin)}
        opened = inside | {id(each) for each in node.path()[1:]}
        is_settled = False
        while not is_settled:
            way, nodes = way_to(self.root, units, opened, {id(node): twin})
            passed: Passed = yield Ask(partial(Passed.of, way))
            at = np.array([k for k, each in enumerate(nodes) if id(each) in inside])
            remember_all([nodes[k] for k in at], passed.at(at), units)
            changed = [k for k in at if nodes[k].children and nodes[k].share_out(units)]
            is_settled = not any(passed.is_spread(way, k) for k in changed)

    def _relabel(self, node: FractionalNode) -> None:
        """Labels by the rows that are here now; what no row reaches keeps its class only."""
        for each in below(node):
            if each.rows:
                each.label = _label(each)
            else:
                each.become_leaf()

    def _pruned_here(self, node: FractionalNode) -> Growing[None]:
        """Brings the rows of a node here, and prunes it as in memory."""
        opened = {id(each) for each in node.path()[1:]}
        way, nodes = way_to(self.root, self.growth.units, opened)
        place = next(k for k, each in enumerate(nodes) if each is node)
        yield from cases_brought(way, [place], partial(self._prune_cases, node))

    def _prune_cases(self, node: FractionalNode, _: int, table: Table) -> None:
        nodes, before = growth_below(node)
        grown = fractional.Growth(nodes, [], self.growth.units.is_single)
        rows = self.growth.rows_of(table, frozenset())
        prune_by_estimate(grown, self.growth.policy.arithmetic, self.step, rows)
        relink(nodes, before)
        for each in below(node):
            each.is_settled = True


def _label(node: FractionalNode) -> int:
    largest = heaviest(node.counts)
    return largest if node.counts[largest] > node.counts[node.label] else node.label


def _summed(errors: list[float], real: type[np.floating]) -> float:
    return float(np.cumsum(errors, dtype=real)[-1]) if errors else 0.0
