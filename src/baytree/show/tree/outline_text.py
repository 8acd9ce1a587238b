"""A tree as text, a line per node, with bars that lead to it.

Nodes come depth first, one after the other, so memory does not grow with the depth of a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import exp

from baytree.show.names import counted, number, quoted
from baytree.show.tree.condition_text import sentence
from baytree.summary.tree import SPREAD, STOP, Node

MOST_BARS = 30  # deeper lines tell their depth as a number, or a chain of n nodes would need n² characters
_MOST_CLASSES = 8


def outline(
    nodes: Iterable[Node],
    classes: Sequence[str],
    max_levels: int | None = 12,
    rule: Callable[[Node], str] | None = None,
) -> Iterator[str]:
    """Each node's condition, its prediction and the weight of each class (or the mean), and where missing values go."""
    missing_rule = rule or _missing_rule
    names = [quoted(label) for label in classes]
    waiting: list[int] = []  # of each depth above, how many children are still to come
    below: list[str] = []  # of each depth, up to the last that has bars, what stands before the lines below a node
    for node in nodes:
        bars, under = _bars(node.depth, waiting, below)
        condition = sentence(node.condition, max_levels) if node.condition else _root(node, names)
        yield f"{bars}{condition}: {outcome(node, names)}{_significance(node)}{_probability(node)}"
        if node.column and not node.branches:
            yield f"{under}└─ …"
        elif node.branches and (told := missing_rule(node)):
            yield f"{under}│  ({told})"
        if node.branches:
            waiting[node.depth :] = [node.branches]
            below[node.depth :] = [under]


def _root(node: Node, names: Sequence[str]) -> str:
    return counted(node.rows, "row") if names else "all rows"


def in_full(nodes: Sequence[Node], classes: Sequence[str]) -> Iterator[str]:
    """The outline of a whole tree; what happens to missing values is told once, below."""
    yield from outline(nodes, classes, rule=_untold)
    has_parts = any(node.weight % 1 for node in nodes)
    yield from filter(None, dict.fromkeys(_missing_note(node, has_parts) for node in nodes if node.branches))


def outcome(node: Node, names: Sequence[str]) -> str:
    """The class and the weights of the classes that occur, or the mean and the weight."""
    if not names:
        return f"{node.value:.6g} ({_weight(node.weight)} {'row' if node.weight == 1 else 'rows'})"
    return f"{names[node.prediction]} ({_counts(node.counts, names)})"


def _counts(counts: Sequence[tuple[int, float]], names: Sequence[str]) -> str:
    shown = counts
    if len(counts) > _MOST_CLASSES:
        shown = sorted(counts, key=lambda each: -each[1])[:_MOST_CLASSES]
    words = [f"{names[code]} {_weight(weight)}" for code, weight in shown]
    rest = [f"… {len(counts) - len(shown):,} more classes"] if len(shown) < len(counts) else []
    return ", ".join([*words, *rest]) or "no rows"


def _weight(weight: float) -> str:
    """Whole numbers as they are, parts of rows to a hundredth.

    >>> _weight(3.0), _weight(140.8125), _weight(0.001)
    ('3', '140.81', '0.001')
    """
    return number(weight) if weight == int(weight) or weight < 0.01 else f"{weight:.2f}".rstrip("0").rstrip(".")


def _bars(depth: int, waiting: list[int], below: list[str]) -> tuple[str, str]:
    """What stands before a node's line, and before the lines below it."""
    if depth == 0:
        return "", ""
    waiting[depth - 1] -= 1
    if depth > MOST_BARS:
        return (f"{depth:>7} ",) * 2
    is_last, above = waiting[depth - 1] == 0, below[depth - 1]
    return above + ("└─ " if is_last else "├─ "), above + ("   " if is_last else "│  ")


def _missing_rule(node: Node) -> str:
    """What happens to a row without a value where that is not part of a branch's condition."""
    last = {STOP: "stay here", SPREAD: "go down every branch"}.get(node.missing, f"take branch {node.missing + 1}")
    if node.has_surrogates:
        return f"missing values go by surrogates, then {last}"
    return "" if node.missing >= 0 else f"missing values {last}"


def _untold(_: Node) -> str:
    return ""


def _missing_note(node: Node, has_parts: bool) -> str:
    """The same of the tree as a whole."""
    if node.missing == SPREAD:
        return has_parts * "a row without a value goes down every branch, in part: so numbers of rows have a fraction"
    last = "where most rows went" if node.missing >= 0 else "no further"
    if node.has_surrogates:
        return f"a row without a value goes by surrogates, else {last}"
    return "" if node.missing >= 0 else "a row without a value goes no further"


def _significance(node: Node) -> str:
    if node.log_p is None:
        return ""
    told = f"{exp(min(node.log_p, 0.0)):.3g}" if node.log_p > -700 else "below 1e-304"
    return f"; adjusted p {told}"


def _probability(node: Node) -> str:
    return "" if node.kept is None else f"; split {share(node.kept)}"


def share(kept: float) -> str:
    """How probable a split is; never quite certain, nor impossible, where it is only nearly so.

    >>> share(0.8512), share(0.99999), share(1e-7)
    ('85 %', 'above 99 %', 'below 1 %')
    """
    if kept > 0.99:
        return "above 99 %"
    return "below 1 %" if kept < 0.01 else f"{100 * kept:.0f} %"
