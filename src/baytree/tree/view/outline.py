"""A tree as indented text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from baytree.table.schema import Schema
from baytree.tree.model.conditions import Branches
from baytree.tree.model.structure import Tree
from baytree.tree.view.names import number, quoted

MOST_BARS = 30  # deeper lines tell their depth as a number, or a chain of n nodes would need n² characters
_MOST_CLASSES = 8


def export_text(tree: Tree, schema: Schema, *, max_depth: int | None = None, max_levels: int | None = 12) -> str:
    """The tree, one line per node: its condition, its prediction and the weight of each class (or the mean).

    Below `max_depth` only the number of nodes is told; of a long list of levels, `max_levels` names are.
    """
    return "\n".join(lines(tree, schema, max_depth, max_levels))


def lines(
    tree: Tree,
    schema: Schema,
    max_depth: int | None = None,
    max_levels: int | None = 12,
    notes: Mapping[int, str] = MappingProxyType({}),
) -> Iterator[str]:
    """The lines of the text, one after the other; memory does not grow with the depth. `notes` follow predictions."""
    branches, outcome = Branches(tree, schema), Outcome(tree, schema)
    waiting = [(0, 0, "", "", f"{int(tree.rows[0])} rows")]  # node, depth, bars before it, bars below it, words
    while waiting:
        node, depth, bars, below, words = waiting.pop()
        yield f"{bars}{words}: {outcome.of(node)}{notes.get(node, '')}"
        if branches.column[node] < 0:
            continue
        if max_depth is not None and depth >= max_depth:
            yield f"{below}└─ …"
            continue
        way = branches.missing_way(node)
        if way:
            yield f"{below}│  ({way})"
        waiting += _children(branches, node, depth, below, max_levels)


class Outcome:
    """What a node predicts, in words."""

    def __init__(self, tree: Tree, schema: Schema) -> None:
        self.prediction, self.weight = tree.prediction.tolist(), tree.weight.tolist()
        self.counts, self.mean = tree.counts.tolist(), None if tree.n_classes else tree.value[:, 0].tolist()
        target = schema.target
        classes = target.classes if target and target.classes is not None else range(max(1, tree.n_classes))
        self.classes = [quoted(label) for label in classes]

    def of(self, node: int) -> str:
        """The class and the weights of the classes that occur, or the mean and the weight."""
        if self.mean is not None:
            return f"{self.mean[node]:.6g} ({number(self.weight[node])} rows)"
        return f"{self.classes[self.prediction[node]]} ({self._counts(self.counts[node])})"

    def _counts(self, counts: list[float]) -> str:
        occurs = [c for c, weight in enumerate(counts) if weight > 0]
        largest = sorted(occurs, key=lambda c: -counts[c])[:_MOST_CLASSES]
        shown = occurs if len(occurs) <= _MOST_CLASSES else largest
        words = [f"{self.classes[c]} {number(counts[c])}" for c in shown]
        return ", ".join([*words, "…"] if len(shown) < len(occurs) else words) or "no rows"


def _children(
    branches: Branches, node: int, depth: int, below: str, max_levels: int | None
) -> list[tuple[int, int, str, str, str]]:
    """The children of a node, the last one first, as they wait on the stack."""
    first = branches.first[node]
    told = [condition.show(branches.schema, max_levels) for condition in branches.of(node)]
    rows = []
    for branch, words in enumerate(told):
        is_last = branch == len(told) - 1
        if depth >= MOST_BARS:
            bars = under = f"{depth + 1:>7} "
        else:
            bars, under = below + ("└─ " if is_last else "├─ "), below + ("   " if is_last else "│  ")
        rows.append((first + branch, depth + 1, bars, under, words))
    return rows[::-1]
