"""Conditions, decision trees, rules and search certificates as text.

Trees are printed with one line per node and box-drawing bars. Nodes are processed one after the other in depth-first order,
so memory does not grow with the depth of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from math import ceil, exp, floor, inf

from baytree.data.schema.column import Column, Kind
from baytree.display.terminal import (
    MAX_CLASS_COLUMNS,
    MAX_LIST_CHARACTERS,
    MAX_LISTED_LEVELS,
    counted,
    listed,
    number,
    plain,
    quoted,
)
from baytree.summary.tree import SPREAD, STOP, CertificateSummary, NamedCondition, Node, RuleSetSummary, VotingRuleSummary


def sentence(condition: NamedCondition, max_levels: int | None = None) -> str:
    """Condition with the column's name: `3 < age ≤ 10 or missing`, `sex = female`."""
    name = plain(condition.column)
    if condition.levels is None:
        test = interval(condition, name)
    else:
        test = f"{name} = {listed(condition.levels, max_levels)}" if condition.levels else ""
    if not condition.missing:
        return test or f"{name}: none"
    return f"{test} or missing" if test else f"{name} missing"


def label(condition: NamedCondition, max_levels: int | None = None, max_characters: int = MAX_LIST_CHARACTERS) -> str:
    """Condition without the column's name, as a branch label: `≤ 14`, `1st, 2nd or missing`."""
    test = interval(condition) if condition.levels is None else listed(condition.levels, max_levels, max_characters)
    return (f"{test} or missing" if test else "missing") if condition.missing else test or "none"


def interval(condition: NamedCondition, name: str = "") -> str:
    """Interval around a name: `3 < age ≤ 10`; without a name `3 < … ≤ 10`, `≤ 10`, `> 3`. Dates: `before 2024-03-01`."""
    if condition.unit and (between := dates(condition)):
        return f"{name} {between}".strip()
    above, below = "≤" if condition.from_low else "<", "<" if condition.below_high else "≤"
    low, high = edge(condition.low, condition.unit), edge(condition.high, condition.unit)
    if low and high:
        return f"{low} {above} {name or '…'} {below} {high}"
    if low:
        return f"{name} {'≥' if condition.from_low else '>'} {low}".strip()
    return f"{name} {below} {high}".strip() if high else f"{name} known".strip()


def dates(condition: NamedCondition) -> str:
    """Interval of dates as text: `before 2024-03-01`, `from 2024-01-01 on`; empty without ends.

    An end with a time of day that belongs to the earlier interval is printed itself (`up to 2024-02-29`, `after
    2024-02-29`), since the next moment is a microsecond later; for days the next day is printed.
    """
    low = _moment(condition.low, condition.unit, condition.from_low)
    high = _moment(condition.high, condition.unit, condition.below_high)
    after = f"after {low}" if _is_last(condition.low, condition.unit, condition.from_low) else f"from {low}"
    until = f"up to {high}" if _is_last(condition.high, condition.unit, condition.below_high) else f"before {high}"
    if low and high:
        return f"{after}, {until}"
    return f"{after}{' on' * after.startswith('from')}" if low else until if high else ""


def _moment(edge: float | None, unit: str | None, is_itself: bool) -> str:
    """First moment beyond an end, or the end itself if it is the last moment before it."""
    if edge is None or abs(edge) == inf:
        return ""
    if unit == "clock" or _is_last(edge, unit, is_itself):
        return shown(edge, unit)
    return shown(ceil(edge) + float(edge == floor(edge) and not is_itself), unit)


def _is_last(edge: float | None, unit: str | None, is_itself: bool) -> bool:
    """Whether an end belongs to the earlier interval, in a unit finer than days."""
    return unit not in ("D", "W", "clock") and not is_itself and edge is not None and edge == floor(edge)


def edge(value: float | None, unit: str | None) -> str:
    """Number or date; empty without an end."""
    return "" if value is None else shown(value, unit) if abs(value) < inf else str(value)


def shown(value: float, unit: str | None) -> str:
    """Short number, or date."""
    return _column(unit).show(value)


def mean(value: float, spread: float, unit: str | None) -> str:
    """Mean: a short number, or a date whose precision matches the standard deviation."""
    return _column(unit).show_mean(value, spread)


def distance(value: float, unit: str | None) -> str:
    """Short number, or a number of days."""
    return _column(unit).show_distance(value)


@cache
def _column(unit: str | None) -> Column:
    return Column("", Kind.NUMERIC, unit=unit)


MAX_INDENT_BARS = 30  # deeper lines show their depth as a number, or a chain of n nodes would need n² characters


def outline(
    nodes: Iterable[Node],
    classes: Sequence[str],
    max_levels: int | None = MAX_LISTED_LEVELS,
    rule: Callable[[Node], str] | None = None,
) -> Iterator[str]:
    """Lines of a tree: condition, prediction and class weights (or mean) of each node, and its rule for missing values."""
    missing_rule = rule or _missing_rule
    names = [quoted(label) for label in classes]
    remaining: list[int] = []  # per depth above, the number of children still to come
    prefixes: list[str] = []  # per depth, up to the last that has bars, the prefix of the lines below a node
    for node in nodes:
        bars, prefix = _bars(node.depth, remaining, prefixes)
        condition = sentence(node.condition, max_levels) if node.condition else _root(node, names)
        yield f"{bars}{condition}: {outcome(node, names)}{_significance(node)}{_probability(node)}"
        if node.column and not node.branches:
            yield f"{prefix}└─ …"
        elif node.branches and (note := missing_rule(node)):
            yield f"{prefix}│  ({note})"
        if node.branches:
            remaining[node.depth :] = [node.branches]
            prefixes[node.depth :] = [prefix]


def _root(node: Node, names: Sequence[str]) -> str:
    return counted(node.rows, "row") if names else "all rows"


def in_full(nodes: Sequence[Node], classes: Sequence[str]) -> Iterator[str]:
    """Outline of a whole tree; the rule for missing values is stated once, below it."""
    yield from outline(nodes, classes, rule=_no_rule)
    has_parts = any(node.weight % 1 for node in nodes)
    yield from filter(None, dict.fromkeys(_missing_note(node, has_parts) for node in nodes if node.branches))


def outcome(node: Node, names: Sequence[str]) -> str:
    """Class and the weights of the classes that occur, or mean and weight."""
    if not names:
        return f"{node.value:.6g} ({_weight(node.weight)} {'row' if node.weight == 1 else 'rows'})"
    return f"{names[node.prediction]} ({_counts(node.counts, names)})"


def _counts(counts: Sequence[tuple[int, float]], names: Sequence[str]) -> str:
    shown = counts
    if len(counts) > MAX_CLASS_COLUMNS:
        shown = sorted(counts, key=lambda each: -each[1])[:MAX_CLASS_COLUMNS]
    words = [f"{names[code]} {_weight(weight)}" for code, weight in shown]
    rest = [f"… {len(counts) - len(shown):,} more classes"] if len(shown) < len(counts) else []
    return ", ".join([*words, *rest]) or "no rows"


def _weight(weight: float) -> str:
    """Whole numbers unchanged, fractional weights rounded to hundredths.

    >>> _weight(3.0), _weight(140.8125), _weight(0.001)
    ('3', '140.81', '0.001')
    """
    return number(weight) if weight == int(weight) or weight < 0.01 else f"{weight:.2f}".rstrip("0").rstrip(".")


def _bars(depth: int, waiting: list[int], below: list[str]) -> tuple[str, str]:
    """Prefix of a node's line, and of the lines below it."""
    if depth == 0:
        return "", ""
    waiting[depth - 1] -= 1
    if depth > MAX_INDENT_BARS:
        return (f"{depth:>7} ",) * 2
    is_last, above = waiting[depth - 1] == 0, below[depth - 1]
    return above + ("└─ " if is_last else "├─ "), above + ("   " if is_last else "│  ")


def _missing_rule(node: Node) -> str:
    """Rule for missing values of a node, unless it is part of a branch's condition."""
    last = {STOP: "stay here", SPREAD: "go down every branch"}.get(node.missing, f"take branch {node.missing + 1}")
    if node.has_surrogates:
        return f"missing values follow the surrogate splits, then {last}"
    return "" if node.missing >= 0 else f"missing values {last}"


def _no_rule(_: Node) -> str:
    return ""


def _missing_note(node: Node, has_parts: bool) -> str:
    """Rule for missing values of the whole tree."""
    if node.missing == SPREAD:
        return (
            has_parts
            * "rows with a missing value follow every branch with a fraction of their weight, so row counts are fractional"
        )
    last = "the branch with most rows" if node.missing >= 0 else "stop at the node"
    if node.has_surrogates:
        return f"rows with a missing value follow the surrogate splits, else {last}"
    return "" if node.missing >= 0 else "rows with a missing value stop at the node"


def _significance(node: Node) -> str:
    if node.log_p is None:
        return ""
    p_text = f"{exp(min(node.log_p, 0.0)):.3g}" if node.log_p > -700 else "below 1e-304"
    return f"; adjusted p {p_text}"


def _probability(node: Node) -> str:
    return "" if node.kept is None else f"; split {proportion(node.kept)}"


def proportion(kept: float) -> str:
    """Probability of a split in per cent; never 0 % or 100 %, which would claim certainty.

    >>> proportion(0.8512), proportion(0.99999), proportion(1e-7)
    ('85 %', 'above 99 %', 'below 1 %')
    """
    if kept > 0.99:
        return "above 99 %"
    return "below 1 %" if kept < 0.01 else f"{100 * kept:.0f} %"


def rule_set_lines(summary: RuleSetSummary) -> list[str]:
    """A line per rule, and one for the default class."""
    lines = [f"rule {k}: {rule_line(rule)} ({_support(rule)})" for k, rule in enumerate(summary.rules)]
    return [*lines, f"default: {quoted(summary.default)}"]


def rule_line(rule: VotingRuleSummary) -> str:
    """IF … THEN …, without its support."""
    conditions = " AND ".join(sentence(condition, MAX_LISTED_LEVELS) for condition in rule.conditions)
    return f"IF {conditions} THEN {quoted(rule.label)}" if conditions else f"ALWAYS {quoted(rule.label)}"


def _support(rule: VotingRuleSummary) -> str:
    errors = rule.cover - rule.right
    covered = f"{number(rule.cover)} rows" + (f", {number(errors)} of them wrong" if errors > 0 else "")
    return f"{covered}; confidence {rule.confidence:.3f}, lift {rule.lift:.1f}"


def certificate_sentence(certificate: CertificateSummary) -> str:
    """Certificate of an exact search as text: whether another tree could be better, and by how much.

    >>> certificate_sentence(CertificateSummary(0.12, 0.12, 0.01, 3, 27))
    'cost 0.12: optimal among trees of 27 tests up to depth 3'
    >>> certificate_sentence(CertificateSummary(0.12, 0.1, 0.01, 3, 27))
    'cost 0.12, not proved optimal: trees of 27 tests up to depth 3 cost at least 0.1'
    """
    trees = f"trees of {counted(certificate.n_tests, 'test')} up to depth {certificate.max_depth}"
    cost = f"{'mean cost by the given costs' if certificate.has_costs else 'cost'} {number(certificate.objective)}"
    if certificate.bound >= certificate.objective:
        return f"{cost}: optimal among {trees}"
    return f"{cost}, not proved optimal: {trees} cost at least {number(certificate.bound)}"
