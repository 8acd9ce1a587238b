"""A tree on a page: what its script draws, and its rules; both from the records of the summary.

Rules that vote, and trials, on a page: each rule with what it covers and how sure it is, each trial with its rules.

A tree with naive Bayes leaves on a page: its picture, and the models that count for most.

How the trees of a cost-complexity sequence do on rows: cross-validated where these grew the tree, else held out.
"""

from __future__ import annotations

from base64 import b64encode
from math import isfinite
from typing import Any, Protocol, runtime_checkable

import msgspec
import numpy as np

from baytree._typing import FrameLike, TargetLike
from baytree.base.model import Model, predict_codes
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.rendering.page.model_views import (
    BayesLeafView,
    BayesLeavesView,
    DrawingView,
    RulesView,
    RuleView,
    TreeView,
    TrialsView,
    TrialView,
    VotingRulesView,
    VotingRuleView,
)
from baytree.rendering.tree_drawing import to_svg
from baytree.rendering.tree_layout import drawing_of_summary, parent_places
from baytree.rendering.tree_text import label, sentence
from baytree.reporting.distributions import bayes_view
from baytree.reporting.subject import EvaluatedRows, ReportSubject
from baytree.summary.tree import (
    BayesLeaf,
    BayesTreeSummary,
    NamedCondition,
    Node,
    RuleSetSummary,
    TreeSummary,
    TrialsSummary,
    VotingRuleSummary,
)

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
    rules = [_leaf_rule(summary, k, _way(nodes, parents, k), whole) for k in leaves[:MOST_RULES]]
    return RulesView(tuple(rules), max(len(leaves) - MOST_RULES, 0))


def _leaf_rule(summary: TreeSummary, place: int, way: list[NamedCondition], whole: float) -> RuleView:
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


MOST_TRIALS = 20


def voting_rules_view(summary: RuleSetSummary) -> VotingRulesView:
    """The rules in their order."""
    rules = tuple(_voting_rule(rule, summary.classes.index(rule.label)) for rule in summary.rules[:MOST_RULES])
    return VotingRulesView(rules, max(len(summary.rules) - MOST_RULES, 0), summary.default)


def trials_view(summary: TrialsSummary) -> TrialsView:
    """The trials, each with its rules or with one rule for each leaf."""
    found = tuple(_trial(k, trial) for k, trial in enumerate(summary.trials[:MOST_TRIALS], 1))
    return TrialsView(found, max(len(summary.trials) - MOST_TRIALS, 0))


def _voting_rule(rule: VotingRuleSummary, place: int) -> VotingRuleView:
    tests = tuple(sentence(each, NAMED_LEVELS) for each in rule.conditions)
    return VotingRuleView(tests, rule.label, place, rule.confidence, rule.cover, rule.right, rule.lift)


def _trial(number: int, trial: TreeSummary | RuleSetSummary) -> TrialView:
    if isinstance(trial, RuleSetSummary):
        return TrialView(f"trial {number}", f"{len(trial.rules)} rules", voting_rules_view(trial))
    leaves = sum(not node.branches for node in trial.nodes)
    return TrialView(f"trial {number}", f"{leaves} leaves", rules_view(trial))


MOST_LEAVES = 12


def leaves_view(subject: ReportSubject) -> BayesLeavesView:
    """The naive Bayes models of the nodes."""
    summary = subject.summary
    assert isinstance(summary, BayesTreeSummary)
    order = sorted(range(len(summary.leaves)), key=lambda k: -summary.leaves[k].share)
    views = tuple(_leaf(subject, k, summary.leaves[k]) for k in order[:MOST_LEAVES])
    return BayesLeavesView(views, max(len(order) - MOST_LEAVES, 0))


def _leaf(subject: ReportSubject, k: int, leaf: BayesLeaf) -> BayesLeafView:
    """A model as if it were the only one."""
    alone = msgspec.structs.replace(subject.predictor, model=subject.predictor.model.models[k])
    view = bayes_view(ReportSubject(alone, leaf.model, subject.profile))
    return BayesLeafView(tuple(sentence(each, NAMED_LEVELS) for each in leaf.conditions), leaf.share, view)


MOST_CELLS = 1 << 18  # of a table that is learnt from ten times for the sake of a page

MOST_ANSWERS = 1 << 24  # rows times trees that are asked

BY_CROSS_VALIDATION = "by cross-validation"

ON_THE_ROWS = "on the rows of this page"


@runtime_checkable
class PrunableTree(Protocol):
    """A tree that can be cut back."""

    def stop_at_penalty(self, penalty: float) -> Model:
        """The tree that answers as the one that is left at a penalty."""
        ...


class PruningPathLike(Protocol):
    """The trees of a sequence, and their cross-validated errors over that of the root; none where there are none."""

    splits: np.ndarray
    risk: np.ndarray
    error: np.ndarray


@runtime_checkable
class Validating(Protocol):
    """An estimator that grows a tree again on folds of rows."""

    def cost_complexity_path(self, X: FrameLike, y: TargetLike) -> PruningPathLike:
        """The path of the tree that the rows grow."""
        ...


def with_errors(payload: dict[str, Any], subject: ReportSubject, validated: PruningPathLike | None) -> dict[str, Any]:
    """The tree of a page with an error of each tree in its sequence, and the words for it."""
    if subject.judged is None or not payload["path"]:
        return payload
    errors, words = _cross_validated(payload["path"], validated), BY_CROSS_VALIDATION
    if errors is None:
        errors, words = _held_out(subject, subject.judged, payload["path"]), ON_THE_ROWS
    path = [[*step[:3], error] for step, error in zip(payload["path"], errors, strict=True)] if errors else payload["path"]
    return payload | {"path": path, "tried": words}


def validated_path(model: object, subject: ReportSubject, frame: FrameLike) -> PruningPathLike | None:
    """The path of the tree that a small table grows, cross-validated; None where the model knows no such thing."""
    if subject.judged is None or not isinstance(model, Validating):
        return None
    if len(subject.judged.table) * len(subject.predictor.schema) > MOST_CELLS:
        return None
    try:
        return model.cost_complexity_path(frame, subject.predictor.schema.target.name)
    except ValueError:  # folds that name rows of another table, or rows too few to be dealt
        return None


def _cross_validated(path: list[list[Any]], validated: PruningPathLike | None) -> list[float] | None:
    """The errors by cross-validation, where the rows grow the very tree of the page."""
    if validated is None or not len(validated.error):
        return None
    found = {int(n) + 1: each for n, *each in zip(validated.splits, validated.risk, validated.error, strict=True)}
    if any(leaves not in found or abs(found[leaves][0] - risk) > 1e-9 for _, leaves, risk, _ in path):
        return None
    return [float(found[leaves][1]) for _, leaves, _, _ in path]


def _held_out(subject: ReportSubject, judged: EvaluatedRows, path: list[list[Any]]) -> list[float] | None:
    """The error of each tree over that of the root."""
    model = subject.predictor.model
    if not isinstance(model, PrunableTree) or len(judged.table) * len(path) > MOST_ANSWERS:
        return None
    losses = [_loss(model.stop_at_penalty(penalty), judged.table) for penalty, *_ in path]
    return [loss / losses[0] for loss in losses] if losses[0] else None


def _loss(model: Model, table: Table) -> float:
    """The weight of rows answered wrong, or the sum of squares."""
    if table.schema.target.classes is not None:
        return float(table.weight @ (predict_codes(model, table) != table.label))
    return float(table.weight @ (table.label - model.predict(table)[:, 0]) ** 2)
