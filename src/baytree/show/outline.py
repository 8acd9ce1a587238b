"""A tree as text, a line per node: with bars that lead to it, or indented by its depth.

Nodes come depth first, one after the other, so memory does not grow with the depth of a tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import exp, inf

from baytree.show.conditions import dates, sentence, shown
from baytree.show.names import number, plain, quoted
from baytree.summary import SPREAD, STOP, NamedCondition, Node

MOST_BARS = 30  # deeper lines tell their depth as a number, or a chain of n nodes would need n² characters
_MOST_CLASSES = 8


def outline(nodes: Iterable[Node], classes: Sequence[str], max_levels: int | None = 12) -> Iterator[str]:
    """Each node's condition, its prediction and the weight of each class (or the mean), and where missing values go."""
    names = [quoted(label) for label in classes]
    waiting: list[int] = []  # of each depth above, how many children are still to come
    below: list[str] = []  # of each depth, up to the last that has bars, what stands before the lines below a node
    for node in nodes:
        bars, under = _bars(node.depth, waiting, below)
        condition = sentence(node.condition, max_levels) if node.condition else f"{node.rows} rows"
        yield f"{bars}{condition}: {outcome(node, names)}{_significance(node)}"
        if node.column and not node.branches:
            yield f"{under}└─ …"
        elif node.branches and (rule := _missing_rule(node)):
            yield f"{under}│  ({rule})"
        if node.branches:
            waiting[node.depth :] = [node.branches]
            below[node.depth :] = [under]


def indented(nodes: Iterable[Node], classes: Sequence[str]) -> Iterator[str]:
    """Each node's condition, its prediction, its rows and, of a class, its share."""
    names, above = [plain(label) for label in classes], 0
    for node in nodes:
        bars = "|  " * node.depth if node.depth <= MOST_BARS else f"{'|  ' * MOST_BARS}({node.depth}) "
        every = f"<= {inf}" if node.depth > above else f"> {-inf}"  # a cut at ∞ has the numbers first, one at −∞ last
        condition = f"{_test(node.condition, every)}: " if node.condition else ""
        above = node.depth
        yield f"{bars}{condition}{_answer(node, names)}"


def outcome(node: Node, names: Sequence[str]) -> str:
    """The class and the weights of the classes that occur, or the mean and the weight."""
    if not names:
        return f"{node.value:.6g} ({number(node.weight)} rows)"
    return f"{names[node.prediction]} ({_counts(node.counts, names)})"


def _counts(counts: Sequence[tuple[int, float]], names: Sequence[str]) -> str:
    shown = counts
    if len(counts) > _MOST_CLASSES:
        shown = sorted(counts, key=lambda each: -each[1])[:_MOST_CLASSES]
    words = [f"{names[code]} {number(weight)}" for code, weight in shown]
    return ", ".join([*words, "…"] if len(shown) < len(counts) else words) or "no rows"


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


def _significance(node: Node) -> str:
    if node.log_p is None:
        return ""
    told = f"{exp(min(node.log_p, 0.0)):.3g}" if node.log_p > -700 else "below 1e-304"
    return f"; adjusted p {told}"


def _test(condition: NamedCondition, every: str) -> str:
    """The condition; `every` is how one is written that every number passes, but no missing value."""
    name = plain(condition.column)
    if condition.levels is not None:
        return f"{name} in {{{', '.join(map(plain, condition.levels))}}}" if condition.levels else f"{name} is missing"
    if condition.unit and (between := dates(condition)):
        return f"{name} {between}"
    low, high = (None if edge is None else shown(edge, condition.unit) for edge in (condition.low, condition.high))
    below = "<" if condition.below_high else "<="
    if low and high:
        return f"{low} {'<=' if condition.from_low else '<'} {name} {below} {high}"
    if low:
        return f"{name} {'>=' if condition.from_low else '>'} {low}"
    return f"{name} {below} {high}" if high else f"{name} {every}"


def _answer(node: Node, names: Sequence[str]) -> str:
    if not names:
        return f"{node.value:.6g} ({node.rows} rows)"
    return f"{names[node.prediction]} ({node.rows} rows, {node.value:.3f})"
