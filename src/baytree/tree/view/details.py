"""A tree in every detail, node by node, as rpart's `summary` tells it."""

from __future__ import annotations

from typing import Any

import msgspec

from baytree.show.names import listed, number, plain, quoted
from baytree.show.results import Shown

_MOST_LEVELS = 8


class TreeDetails(Shown, msgspec.Struct, frozen=True):
    """The table of pruning, the importances, and what is known of each node, depth first."""

    pruning: str
    importances: str
    classes: tuple[str, ...]  # none where the target is a number
    nodes: tuple[dict[str, Any], ...]

    def __str__(self) -> str:
        return "\n\n".join([self.pruning, self.importances, *(_told(node, self.classes) for node in self.nodes)])


def _told(node: dict[str, Any], classes: tuple[str, ...]) -> str:
    return "\n".join([_head(node), _answer(node, classes), *_test(node), *map(_surrogate, node["surrogates"])])


def _head(node: dict[str, Any]) -> str:
    parent = "" if node["parent"] is None else f", below node {node['parent']}"
    return f"node {node['id']}: {number(node['n'])} {'row' if node['n'] == 1 else 'rows'}{parent}"


def _answer(node: dict[str, Any], classes: tuple[str, ...]) -> str:
    impurity = f"impurity {node['impurity']:.5g}"
    if not classes:
        return f"  mean {node['mean']:.6g}, {impurity}"
    counts = zip(classes, node["counts"], strict=True)
    told = ", ".join(f"{quoted(label)} {number(weight)}" for label, weight in counts if weight)
    return f"  prediction {quoted(node['prediction'])} ({told}), {impurity}"


def _test(node: dict[str, Any]) -> list[str]:
    if not node.get("children"):
        return []
    ways = ", ".join(map(str, node["children"]))
    return [f"  test {_asked(node)}; to nodes {ways}; complexity {node['complexity']:.5g}"]


def _asked(test: dict[str, Any]) -> str:
    name = plain(test["column"])
    if test.get("threshold") is not None:
        return f"{name} {'<' if test.get('strict') else '≤'} {test['threshold']:.6g}"
    if test.get("groups") is None:
        return name
    return f"{name} in {' | '.join(listed(group, _MOST_LEVELS) for group in test['groups'])}"


def _surrogate(test: dict[str, Any]) -> str:
    sides = ", branches swapped" if test.get("flipped") else ""
    return f"    surrogate {_asked(test)}{sides}; agrees in {test['agree']:.1%}"
