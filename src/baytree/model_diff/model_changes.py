"""Differences of two models' summaries, and of two trees node by node.

Trees are compared from the root, as long as both nodes test the same column with the same number of branches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple, Self

import msgspec
import numpy as np

from baytree.base.predictor import Predictor
from baytree.display.terminal import counted, plain, quoted
from baytree.model_diff.changes import Change, Value, are_equal, changes_of, sorted_changes
from baytree.model_diff.facts import FACTS, bayes_leaves
from baytree.rendering.tree_text import label, sentence
from baytree.summary import Summary
from baytree.summary.tree import SPREAD, STOP, BayesTreeSummary, NamedCondition, Node, TreeSummary, TrialsSummary


def model_changes(old: Predictor, new: Predictor) -> tuple[Change, ...]:
    """Differences of the algorithm and the kind of model, or of the summaries of two models of one kind."""
    summaries = old.summary(), new.summary()
    old_kind, new_kind = map(_kind, summaries)
    changes = [] if old.name == new.name else [Change("model", "algorithm", old.name, new.name)]
    if (old_costs := _costs(old)) != (new_costs := _costs(new)):
        changes.append(Change("model", "costs", old_costs, new_costs))
    if old_kind != new_kind:
        return (*changes, Change("model", "kind", old_kind, new_kind))
    return (*changes, *_summary_changes(*summaries))


def _costs(model: Predictor) -> str | None:
    """Costs in words; None if all mistakes cost the same."""
    return model.costs.describe(model.schema.classes) if model.costs is not None and model.has_costs else None


def are_equal_records(old: Any, new: Any) -> bool:
    """Whether two records are recursively equal, NaN equal to NaN."""
    if isinstance(old, np.ndarray) or isinstance(new, np.ndarray):
        return _are_equal_arrays(np.asarray(old), np.asarray(new))
    if isinstance(old, msgspec.Struct):
        return type(old) is type(new) and all(
            are_equal_records(*pair) for pair in zip(_fields(old), _fields(new), strict=True)
        )
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return old.keys() == new.keys() and all(are_equal_records(old[key], new[key]) for key in old)
    if isinstance(old, Sequence) and not isinstance(old, str) and isinstance(new, Sequence):
        return len(old) == len(new) and all(are_equal_records(*pair) for pair in zip(old, new, strict=True))
    return bool(old == new or (old != old and new != new))


def _kind(summary: Summary | None) -> str | None:
    return None if summary is None else str(type(summary).__struct_config__.tag).replace("_", " ")


def _summary_changes(old: Summary, new: Summary) -> tuple[Change, ...]:
    if isinstance(old, TreeSummary) and isinstance(new, TreeSummary):
        return tree_changes(old, new)
    if isinstance(old, TrialsSummary) and isinstance(new, TrialsSummary):
        return _of_trials(old, new)
    if isinstance(old, BayesTreeSummary) and isinstance(new, BayesTreeSummary):
        return sorted_changes([*tree_changes(old.tree, new.tree), *changes_of(bayes_leaves(old), bayes_leaves(new))])
    facts = FACTS[type(old)]
    return changes_of(facts(old), facts(new))


def _of_trials(old: TrialsSummary, new: TrialsSummary) -> tuple[Change, ...]:
    """Changes of each boosting trial, labelled with its number."""
    found = list[Change]()
    for k, (before, after) in enumerate(zip_longest(old.trials, new.trials), 1):
        if before is None or after is None:
            found.append(Change(f"trial {k}", "trial", _kind(before), _kind(after)))
        elif type(before) is not type(after):
            found.append(Change(f"trial {k}", "kind", _kind(before), _kind(after)))
        else:
            found += [_numbered(k, change) for change in _summary_changes(before, after)]
    return sorted_changes(found)


def _numbered(k: int, change: Change) -> Change:
    return msgspec.structs.replace(change, place=f"trial {k}, {change.place}")


def _are_equal_arrays(old: np.ndarray, new: np.ndarray) -> bool:
    return np.array_equal(old, new, equal_nan=old.dtype.kind == "f" and new.dtype.kind == "f")


def _fields(record: msgspec.Struct) -> list[Any]:
    return [getattr(record, name) for name in record.__struct_fields__]


MAX_CONDITIONS = 6  # conditions of the path to a node that are shown; all of them would be n² for a chain of n nodes


class TreeIndex(NamedTuple):
    """Tree summary with links between its nodes, so that nodes are reached without recursion."""

    summary: TreeSummary
    children: list[list[int]]  # child indices of each node
    parent: list[int]  # the root is its own parent
    leaves: list[int]  # number of leaves below each node; 1 for a leaf

    @classmethod
    def of(cls, summary: TreeSummary) -> Self:
        """Index of a summary, whose nodes are in depth-first order."""
        nodes = summary.nodes
        children: list[list[int]] = [[] for _ in nodes]
        parent, path = [0] * len(nodes), list[int]()  # the last node of each depth
        for k, node in enumerate(nodes):
            path[node.depth :] = [k]
            if node.depth:
                parent[k] = path[node.depth - 1]
                children[parent[k]].append(k)
        leaves = [int(not below) for below in children]
        for k in range(len(nodes) - 1, 0, -1):
            leaves[parent[k]] += leaves[k]
        return cls(summary, children, parent, leaves)

    def node(self, k: int) -> Node:
        """Node at an index."""
        return self.summary.nodes[k]

    def where(self, k: int) -> str:
        """Id of a node, and the last conditions on the path to it."""
        conditions, node = list[str](), k
        while (condition := self.node(node).condition) is not None and len(conditions) < MAX_CONDITIONS:
            conditions.append(sentence(condition))
            node = self.parent[node]
        more = ["…"] if self.node(node).condition is not None else []
        path = " and ".join([*more, *reversed(conditions)])
        return f"node {self.node(k).id}: {path}" if path else f"node {self.node(k).id}: all rows"

    def share(self, k: int) -> float:
        """Proportion of the total weight that reaches a node."""
        return self.node(k).weight / (self.node(0).weight or 1.0)

    def tests(self, k: int) -> tuple[NamedCondition, ...]:
        """Conditions of a node's branches; empty at a leaf."""
        below = (self.node(child).condition for child in self.children[k])
        return tuple(condition for condition in below if condition is not None)

    def asks(self, k: int) -> str | None:
        """Test of a node as text; None at a leaf."""
        tests = self.tests(k)
        return f"{plain(self.node(k).column)}: {' | '.join(map(label, tests))}" if tests else None

    def thresholds(self, k: int) -> str:
        """Test of a node as text with all digits of its thresholds."""
        edges = dict.fromkeys(edge for test in self.tests(k) for edge in (test.low, test.high) if edge is not None)
        return f"{plain(self.node(k).column)}: cut at {', '.join(map(repr, edges))}"

    def prediction(self, k: int) -> str | None:
        """Predicted class of a leaf; None for an inner node or a numeric target."""
        classes = self.summary.classes
        return quoted(classes[self.node(k).prediction]) if classes and not self.children[k] else None

    def amount(self, k: int) -> float | None:
        """Probability of the predicted class, or the predicted number, of a leaf; None for an inner node."""
        return None if self.children[k] else self.node(k).value

    def without_value(self, k: int) -> str | None:
        """Treatment of a row that has no value of the tested column, as text; None at a leaf."""
        if not self.children[k]:
            return None
        node = self.node(k)
        others = [sentence(each.first) for each in node.surrogates]
        last = {STOP: "stops here", SPREAD: "follows every branch"}.get(node.missing, f"branch {node.missing + 1}")
        return "; ".join([*others, last])


def tree_changes(old: TreeSummary, new: TreeSummary) -> tuple[Change, ...]:
    """Differences of the nodes; subtrees below nodes that test different columns are not compared."""
    return sorted_changes(_walk(TreeIndex.of(old), TreeIndex.of(new)))


def _walk(old: TreeIndex, new: TreeIndex) -> Iterator[Change]:
    stack = [(0, 0)]
    while stack:
        at, other = stack.pop()
        if not _test_same_column(old, at, new, other):
            yield _change("test", old, at, new, other, _with_leaves(old, at), _with_leaves(new, other))
            if not (old.children[at] and new.children[other]):
                yield from _answers(old, at, new, other)
            continue
        if old.tests(at) != new.tests(other):
            yield _change("test", old, at, new, other, *_tests(old, at, new, other))
        before, after = old.without_value(at), new.without_value(other)
        if before != after:
            yield _change("missing values", old, at, new, other, before, after)
        yield from _answers(old, at, new, other)
        stack += reversed(list(zip(old.children[at], new.children[other], strict=True)))


def _test_same_column(old: TreeIndex, old_node: int, new: TreeIndex, new_node: int) -> bool:
    """Whether both are leaves, or test the same column with the same number of branches."""
    is_same_column = old.node(old_node).column == new.node(new_node).column
    return len(old.children[old_node]) == len(new.children[new_node]) and (is_same_column or not old.children[old_node])


def _tests(old: TreeIndex, old_node: int, new: TreeIndex, new_node: int) -> tuple[str | None, str | None]:
    """Two tests as text; with all digits if they would look the same otherwise."""
    words = old.asks(old_node), new.asks(new_node)
    return words if words[0] != words[1] else (old.thresholds(old_node), new.thresholds(new_node))


def _with_leaves(tree: TreeIndex, k: int) -> str | None:
    asks = tree.asks(k)
    return None if asks is None else f"{asks} ({counted(tree.leaves[k], 'leaf').replace('leafs', 'leaves')})"


def _answers(old: TreeIndex, old_node: int, new: TreeIndex, new_node: int) -> Iterator[Change]:
    before, after = old.prediction(old_node), new.prediction(new_node)
    if before != after:
        yield _change("prediction", old, old_node, new, new_node, before, after)
    is_share = bool(old.summary.classes or new.summary.classes)
    if not are_equal(old.amount(old_node), new.amount(new_node)):
        description = "probability of the predicted class" if is_share else "prediction"
        yield _change(description, old, old_node, new, new_node, old.amount(old_node), new.amount(new_node))


def _change(
    description: str, old: TreeIndex, old_node: int, new: TreeIndex, new_node: int, before: Value | None, after: Value | None
) -> Change:
    size = max(old.share(old_node), new.share(new_node))
    return Change("node", description, before, after, size, old.where(old_node), new.where(new_node))
