"""A tree on a page: what its script draws, and its rules; both from the records of the summary."""

from __future__ import annotations

from base64 import b64encode
from math import isfinite
from typing import Any

import msgspec
import numpy as np

from baytree.show.report.records.model_views import DrawingView, RulesView, RuleView, TreeView
from baytree.show.tree.condition_text import label, sentence
from baytree.show.tree.node_cards import drawing_of_summary, parent_places
from baytree.show.tree.svg import to_svg
from baytree.summary.tree import NamedCondition, Node, TreeSummary
from baytree.table.schema import Schema

MOST_RULES = 200
MOST_STEPS = 200
NAMED_LEVELS = 6
STILL_LEVELS = 4  # of a tree that stands still


def tree_view(summary: TreeSummary, n_steps: int) -> TreeView:
    """The tree, to be drawn by the page."""
    return TreeView(len(summary.nodes), n_steps, bool(summary.classes))


def drawing_view(summary: TreeSummary) -> DrawingView:
    """The tree, or its upper levels, as a picture that stands still."""
    picture = to_svg(drawing_of_summary(summary, STILL_LEVELS)).encode("utf-8")
    is_cut = any(node.depth > STILL_LEVELS for node in summary.nodes)
    return DrawingView(f"data:image/svg+xml;base64,{b64encode(picture).decode('ascii')}", is_cut)


def tree_payload(summary: TreeSummary, schema: Schema) -> dict[str, Any]:
    """The nodes in the order of the text, and the trees of the cost-complexity sequence, the smallest first."""
    parents = parent_places(summary.nodes)
    columns = {column.name: (j, _codes(column.levels)) for j, column in enumerate(schema.columns)}
    sums = summary.sums or ()
    places = columns | {each.name: (len(columns) + k, {}) for k, each in enumerate(sums)}
    nodes = [_node(node, parent, places) for node, parent in zip(summary.nodes, parents, strict=True)]
    whole = {"nodes": nodes, "path": sequence(summary.nodes, parents)}
    return whole | {"sums": [{"name": each.name, "terms": each.terms} for each in sums]} if sums else whole


def sequence(nodes: tuple[Node, ...], parents: list[int]) -> list[list[Any]]:
    """Penalty, leaves, risk over the root's and no further error of each pruned tree; empty where splits have no penalty."""
    splits = [place for place, node in enumerate(nodes) if node.branches]
    levels = sorted({nodes[place].complexity for place in splits}, reverse=True)
    if len(levels) < 2:
        return []
    below = np.zeros(len(nodes))
    np.add.at(below, parents[1:], [node.risk for node in nodes[1:]])
    saved = {place: nodes[place].risk - below[place] for place in splits}
    root = nodes[0].risk or 1.0
    penalties = [*levels, -1.0]
    if len(penalties) > MOST_STEPS:
        penalties = [penalties[k] for k in np.unique(np.linspace(0, len(penalties) - 1, MOST_STEPS).astype(int))]
    order = sorted(splits, key=lambda place: -nodes[place].complexity)
    found, taken, leaves, risk = [], 0, 1, nodes[0].risk
    for penalty in penalties:
        while taken < len(order) and nodes[order[taken]].complexity > penalty:
            leaves, risk, taken = leaves + nodes[order[taken]].branches - 1, risk - saved[order[taken]], taken + 1
        found.append([penalty, leaves, risk / root, None])
    return found


def rules_view(summary: TreeSummary) -> RulesView:
    """One rule for each leaf, the one that covers most first."""
    parents, nodes = parent_places(summary.nodes), summary.nodes
    leaves = sorted((k for k, node in enumerate(nodes) if not node.branches), key=lambda k: -nodes[k].weight)
    whole = nodes[0].weight or 1.0
    rules = [_rule(summary, k, _way(nodes, parents, k), whole) for k in leaves[:MOST_RULES]]
    return RulesView(tuple(rules), max(len(leaves) - MOST_RULES, 0))


def _rule(summary: TreeSummary, place: int, way: list[NamedCondition], whole: float) -> RuleView:
    node = summary.nodes[place]
    answer = summary.classes[node.prediction] if summary.classes else f"{node.value:.5g}"
    sure = node.value if summary.classes else None
    tests = tuple(sentence(each, NAMED_LEVELS) for each in way)
    return RuleView(tests, answer, node.prediction, sure, node.weight, node.weight / whole)


def _way(nodes: tuple[Node, ...], parents: list[int], place: int) -> list[NamedCondition]:
    """What a leaf asks of each column, in the order in which columns are first asked for."""
    asked: dict[str, NamedCondition] = {}
    steps: list[NamedCondition] = []
    while (condition := nodes[place].condition) is not None:
        steps.append(condition)
        place = parents[place]
    for each in reversed(steps):
        asked[each.column] = _met(asked[each.column], each) if each.column in asked else each
    return list(asked.values())


def _met(first: NamedCondition, second: NamedCondition) -> NamedCondition:
    """What both ask; the second one stands below the first."""
    if second.levels is not None:
        return second
    low = first if second.low is None else second
    high = first if second.high is None else second
    return msgspec.structs.replace(second, low=low.low, from_low=low.from_low, high=high.high, below_high=high.below_high)


def _node(node: Node, parent: int, columns: dict[str, tuple[int, dict[str, int]]]) -> list[Any]:
    branch = label(node.condition, NAMED_LEVELS) if node.condition else ""
    asked = columns[node.column][0] if node.branches else None
    counts = [[code, weight] for code, weight in node.counts]
    told = [node.id, parent, branch, node.rows, node.weight, node.prediction, node.value, counts, asked]
    told += [_finite(node.complexity) or 0.0, node.risk, _condition(node.condition, columns)]
    surrogates = [[_condition(each.first, columns), _condition(each.second, columns)] for each in node.surrogates]
    return [*told, node.missing, surrogates] if surrogates else [*told, node.missing] if node.branches else told


def _condition(condition: NamedCondition | None, columns: dict[str, tuple[int, dict[str, int]]]) -> list[Any] | None:
    if condition is None:
        return None
    column, codes = columns[condition.column]
    levels = None if condition.levels is None else [codes[level] for level in condition.levels]
    low, high = _finite(condition.low), _finite(condition.high)
    return [column, low, high, condition.from_low, condition.below_high, levels, condition.missing]


def _codes(levels: tuple[Any, ...]) -> dict[str, int]:
    return {str(level): code for code, level in enumerate(levels)}


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None
