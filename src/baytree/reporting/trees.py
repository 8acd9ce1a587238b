"""Page records of trees: the tree drawing, rules, boosting trials, naive Bayes leaves, and the cost-complexity sequence.

The errors of the sequence are cross-validated if the given rows grew the tree, else measured on the given rows.
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
from baytree.reporting.node_histograms import node_histograms
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
from baytree.tree.model.tree import Tree
from baytree.uncertainty.decision import CostMatrix

MAX_RULES = 200  # rules listed on a page, those that cover most rows

MAX_PRUNING_STEPS = 200  # stops of the pruning slider, evenly chosen from longer sequences

MAX_NAMED_LEVELS = 6  # levels of a condition that are listed by name

MAX_PICTURE_DEPTH = 4  # levels of a tree drawn as a static picture: up to 16 leaves side by side


def tree_view(summary: TreeSummary, n_steps: int) -> TreeView:
    """Tree that the page's script draws."""
    return TreeView(len(summary.nodes), n_steps, bool(summary.classes))


def drawing_view(summary: TreeSummary) -> DrawingView:
    """Tree, or its upper levels, as a static picture."""
    picture = to_svg(drawing_of_summary(summary, MAX_PICTURE_DEPTH)).encode("utf-8")
    is_cut = any(node.depth > MAX_PICTURE_DEPTH for node in summary.nodes)
    return DrawingView(f"data:image/svg+xml;base64,{b64encode(picture).decode('ascii')}", is_cut)


def tree_payload(
    summary: TreeSummary, schema: Schema, tree: Tree | None = None, rows: Table | None = None
) -> dict[str, Any]:
    """Nodes in depth-first order, and the trees of the cost-complexity sequence, the smallest first.

    With the tree and rows of known label, also the histograms of the cards.
    """
    parents = parent_places(summary.nodes)
    columns = {column.name: (j, _codes(column.levels)) for j, column in enumerate(schema.columns)}
    sums = summary.sums or ()
    column_positions = columns | {each.name: (len(columns) + k, {}) for k, each in enumerate(sums)}
    nodes = [_node(node, parent, column_positions) for node, parent in zip(summary.nodes, parents, strict=True)]
    whole: dict[str, Any] = {"nodes": nodes, "path": sequence(summary.nodes, parents)}
    if tree is not None and rows is not None:
        whole["histograms"] = node_histograms(tree, summary, parents, rows)
    return whole | {"sums": [{"name": each.name, "terms": each.terms} for each in sums]} if sums else whole


def sequence(nodes: tuple[Node, ...], parents: list[int]) -> list[list[Any]]:
    """[penalty, leaves, relative risk, None] of each pruned tree; empty if splits have no penalties.

    The last entry is the place of the error that `with_errors` sets.
    """
    splits = [node_index for node_index, node in enumerate(nodes) if node.branches]
    levels = sorted({nodes[node_index].complexity for node_index in splits}, reverse=True)
    if len(levels) < 2:
        return []
    below = np.zeros(len(nodes))
    np.add.at(below, parents[1:], [node.risk for node in nodes[1:]])
    reduction = {node_index: nodes[node_index].risk - below[node_index] for node_index in splits}
    root = nodes[0].risk or 1.0
    penalties = [*levels, -1.0]
    if len(penalties) > MAX_PRUNING_STEPS:
        penalties = [penalties[k] for k in np.unique(np.linspace(0, len(penalties) - 1, MAX_PRUNING_STEPS).astype(int))]
    order = sorted(splits, key=lambda node_index: -nodes[node_index].complexity)
    steps, n_split, leaves, risk = [], 0, 1, nodes[0].risk
    for penalty in penalties:
        while n_split < len(order) and nodes[order[n_split]].complexity > penalty:
            leaves, risk, n_split = (
                leaves + nodes[order[n_split]].branches - 1,
                risk - reduction[order[n_split]],
                n_split + 1,
            )
        steps.append([penalty, leaves, risk / root, None])
    return steps


def rules_view(summary: TreeSummary) -> RulesView:
    """One rule per leaf, the one that covers most first."""
    parents, nodes = parent_places(summary.nodes), summary.nodes
    leaves = sorted((k for k, node in enumerate(nodes) if not node.branches), key=lambda k: -nodes[k].weight)
    total_weight = nodes[0].weight or 1.0
    rules = [_leaf_rule(summary, k, _path_conditions(nodes, parents, k), total_weight) for k in leaves[:MAX_RULES]]
    return RulesView(tuple(rules), max(len(leaves) - MAX_RULES, 0))


def _leaf_rule(summary: TreeSummary, node_index: int, conditions: list[NamedCondition], total_weight: float) -> RuleView:
    node = summary.nodes[node_index]
    answer = summary.classes[node.prediction] if summary.classes else f"{node.value:.5g}"
    sure = node.value if summary.classes else None
    tests = tuple(sentence(each, MAX_NAMED_LEVELS) for each in conditions)
    return RuleView(tests, answer, node.prediction, sure, node.weight, node.weight / total_weight)


def _path_conditions(nodes: tuple[Node, ...], parents: list[int], node_index: int) -> list[NamedCondition]:
    """Conditions of a leaf, one per column, in the order in which columns are first tested."""
    by_column: dict[str, NamedCondition] = {}
    steps: list[NamedCondition] = []
    while (condition := nodes[node_index].condition) is not None:
        steps.append(condition)
        node_index = parents[node_index]
    for each in reversed(steps):
        by_column[each.column] = _intersection(by_column[each.column], each) if each.column in by_column else each
    return list(by_column.values())


def _intersection(first: NamedCondition, second: NamedCondition) -> NamedCondition:
    """Intersection of two conditions; the second one is deeper in the tree."""
    if second.levels is not None:
        return second
    low = first if second.low is None else second
    high = first if second.high is None else second
    return msgspec.structs.replace(second, low=low.low, from_low=low.from_low, high=high.high, below_high=high.below_high)


def _node(node: Node, parent: int, columns: dict[str, tuple[int, dict[str, int]]]) -> list[Any]:
    branch = label(node.condition, MAX_NAMED_LEVELS) if node.condition else ""
    column = columns[node.column][0] if node.branches else None
    counts = [[code, weight] for code, weight in node.counts]
    record = [node.id, parent, branch, node.rows, node.weight, node.prediction, node.value, counts, column]
    record += [_finite(node.complexity) or 0.0, node.risk, _condition(node.condition, columns)]
    surrogates = [[_condition(each.first, columns), _condition(each.second, columns)] for each in node.surrogates]
    return [*record, node.missing, surrogates] if surrogates else [*record, node.missing] if node.branches else record


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


MAX_TRIALS = 20  # boosting trials that are shown


def voting_rules_view(summary: RuleSetSummary) -> VotingRulesView:
    """Rules in order."""
    rules = tuple(_voting_rule(rule, summary.classes.index(rule.label)) for rule in summary.rules[:MAX_RULES])
    return VotingRulesView(rules, max(len(summary.rules) - MAX_RULES, 0), summary.default)


def trials_view(summary: TrialsSummary) -> TrialsView:
    """Trials, each with its voting rules or with one rule per leaf."""
    views = tuple(_trial(k, trial) for k, trial in enumerate(summary.trials[:MAX_TRIALS], 1))
    return TrialsView(views, max(len(summary.trials) - MAX_TRIALS, 0))


def _voting_rule(rule: VotingRuleSummary, class_code: int) -> VotingRuleView:
    tests = tuple(sentence(each, MAX_NAMED_LEVELS) for each in rule.conditions)
    return VotingRuleView(tests, rule.label, class_code, rule.confidence, rule.cover, rule.right, rule.lift)


def _trial(number: int, trial: TreeSummary | RuleSetSummary) -> TrialView:
    if isinstance(trial, RuleSetSummary):
        return TrialView(f"trial {number}", f"{len(trial.rules)} rules", voting_rules_view(trial))
    leaves = sum(not node.branches for node in trial.nodes)
    return TrialView(f"trial {number}", f"{leaves} leaves", rules_view(trial))


MAX_BAYES_LEAVES = 12  # naive Bayes models that are shown, those of largest weight


def leaves_view(subject: ReportSubject) -> BayesLeavesView:
    """Naive Bayes models of the nodes."""
    summary = subject.summary
    assert isinstance(summary, BayesTreeSummary)
    order = sorted(range(len(summary.leaves)), key=lambda k: -summary.leaves[k].share)
    views = tuple(_leaf(subject, k, summary.leaves[k]) for k in order[:MAX_BAYES_LEAVES])
    return BayesLeavesView(views, max(len(order) - MAX_BAYES_LEAVES, 0))


def _leaf(subject: ReportSubject, k: int, leaf: BayesLeaf) -> BayesLeafView:
    """View of one naive Bayes model as if it were the whole model."""
    alone = msgspec.structs.replace(subject.predictor, model=subject.predictor.model.models[k])
    view = bayes_view(ReportSubject(alone, leaf.model, subject.profile))
    return BayesLeafView(tuple(sentence(each, MAX_NAMED_LEVELS) for each in leaf.conditions), leaf.share, view)


# Rows times columns of tables on which a page cross-validates the tree: it fits the tree again.
MAX_VALIDATED_CELLS = 1 << 18

MAX_PRUNED_PREDICTIONS = 1 << 24  # rows times pruned trees that a page evaluates

BY_CROSS_VALIDATION = "by cross-validation"

ON_THE_ROWS = "on the rows of this page"


@runtime_checkable
class PrunableTree(Protocol):
    """Tree that supports pruning by a penalty."""

    def stop_at_penalty(self, penalty: float) -> Model:
        """Tree that predicts like the one pruned at a penalty."""
        ...


class PruningPathLike(Protocol):
    """Sequence of pruned trees, and their cross-validated errors relative to the root; empty without cross-validation."""

    splits: np.ndarray
    risk: np.ndarray
    error: np.ndarray


@runtime_checkable
class Validating(Protocol):
    """Estimator with cost-complexity pruning."""

    def cost_complexity_path(self, X: FrameLike, y: TargetLike) -> PruningPathLike:
        """Cross-validated path of the tree that grows on the rows."""
        ...


def with_errors(payload: dict[str, Any], subject: ReportSubject, validated: PruningPathLike | None) -> dict[str, Any]:
    """Payload of a tree with the error of each tree in its sequence, and the method of evaluation."""
    if subject.evaluated is None or not payload["path"]:
        return payload
    errors, method = _cross_validated(payload["path"], validated), BY_CROSS_VALIDATION
    if errors is None:
        errors, method = _held_out(subject, subject.evaluated, payload["path"]), ON_THE_ROWS
    path = [[*step[:3], error] for step, error in zip(payload["path"], errors, strict=True)] if errors else payload["path"]
    return payload | {"path": path, "tried": method}


def validated_path(model: object, subject: ReportSubject, frame: FrameLike) -> PruningPathLike | None:
    """Cross-validated path of the tree that a small table grows; None if it is not available."""
    if subject.evaluated is None or not isinstance(model, Validating):
        return None
    if len(subject.evaluated.table) * len(subject.predictor.schema) > MAX_VALIDATED_CELLS:
        return None
    try:
        return model.cost_complexity_path(frame, subject.predictor.schema.target.name)
    except ValueError:  # folds that name rows of another table, or too few rows for the folds
        return None


def _cross_validated(path: list[list[Any]], validated: PruningPathLike | None) -> list[float] | None:
    """Cross-validated errors, if the rows grow exactly the tree of the page; else None."""
    if validated is None or not len(validated.error):
        return None
    by_leaves = {int(n) + 1: each for n, *each in zip(validated.splits, validated.risk, validated.error, strict=True)}
    if any(leaves not in by_leaves or abs(by_leaves[leaves][0] - risk) > 1e-9 for _, leaves, risk, _ in path):
        return None
    return [float(by_leaves[leaves][1]) for _, leaves, _, _ in path]


def _held_out(subject: ReportSubject, evaluated: EvaluatedRows, path: list[list[Any]]) -> list[float] | None:
    """Error of each tree on the given rows, relative to the root's."""
    model = subject.predictor.model
    if not isinstance(model, PrunableTree) or len(evaluated.table) * len(path) > MAX_PRUNED_PREDICTIONS:
        return None
    losses = [_loss(model.stop_at_penalty(penalty), evaluated.table, subject.predictor.costs) for penalty, *_ in path]
    return [loss / losses[0] for loss in losses] if losses[0] else None


def _loss(model: Model, table: Table, costs: CostMatrix | None) -> float:
    """Weight of misclassified rows, or sum of squared errors."""
    if table.schema.target.classes is not None:
        return float(table.weight @ (predict_codes(model, table, costs) != table.label))
    return float(table.weight @ (table.label - model.predict(table)[:, 0]) ** 2)
