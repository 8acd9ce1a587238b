"""`C50Learner`: C5.0 (Quinlan), a single tree or rule set, or boosting trials of them.

Boosting reweights the rows after each trial (see `reweighting`). `FirstTree` grows the first tree, with which trees and
rules both begin, so that a comparison of models can share it.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.base.learner import FitResult
from baytree.data.encoding.table import Table
from baytree.engine.partitions import Partitions, rescale_weights
from baytree.parallel import threads
from baytree.tree.boosting.reweighting import BoostingState, abandoned, class_multipliers, cost_table, select_useful_columns
from baytree.tree.boosting.rule_extraction import voting_rules
from baytree.tree.boosting.rule_votes import RuleTrials, VotingRules
from baytree.tree.boosting.tree_votes import TreeTrials, soft_thresholds
from baytree.tree.model.tree import C50Tree, Tree
from baytree.tree.policy.class_costs import EQUAL, ClassWeighting
from baytree.tree.policy.policy import Branching, Policy
from baytree.tree.search.c50 import C50Workspace, bench_of, pruned_globally, tree_of_c50

_MAX_LEAF_RATIO = np.float32(1.1)  # as in C5.0: no later tree may have more leaves per row than this times the first one's


class C50Learner(msgspec.Struct, frozen=True, kw_only=True):
    """Learner of C5.0 with its options."""

    policy: Policy
    weighing: ClassWeighting = EQUAL
    trials: int = 1
    rules: bool = False
    winnow: bool = False
    fuzzy: bool = False
    early_stopping: bool = True

    def learn(self, rows: Partitions) -> FitResult:
        """Learn the trees or rule sets of these rows."""
        return self.learn_from_stage(self._first_tree.run(rows))

    @property
    def first_step(self) -> FirstTree | None:
        """First tree, for sharing; None if later trials or soft thresholds change the weights of its rows, or with costs."""
        leaves_rows_alone = self.trials == 1 and not self.fuzzy
        return self._first_tree if leaves_rows_alone and self.weighing.is_equal else None

    def learn_from_stage(self, begun: FirstStageResult) -> FitResult:
        """Learn the trees or rule sets that follow from the first tree."""
        trials, weights = _Trials(self, begun).run()
        return FitResult(self._model(trials, begun), fitted_attributes={"winnowed_": begun.winnowed, "weights_": weights})

    @property
    def _first_tree(self) -> FirstTree:
        return FirstTree(policy=self.policy, weighing=self.weighing, winnow=self.winnow)

    def _model(self, trials: list[BoostingTrial], begun: FirstStageResult) -> TreeTrials | RuleTrials:
        table = begun.table
        if self.rules:
            sets = tuple(trial.rules for trial in trials if trial.rules is not None)
            return RuleTrials(sets, _usage_of_rules(sets, table))
        read = np.zeros((len(table), len(table.schema)), np.bool_)
        for trial in trials:
            read |= begun.bench.rows.reads(trial.nodes)
        soft = tuple(trial.soft for trial in trials) if self.fuzzy else ()
        return TreeTrials(tuple(trial.tree for trial in trials), read.mean(axis=0), begun.costs, soft)


class BoostingTrial(msgspec.Struct, frozen=True):
    """Result of one trial on the current weights."""

    nodes: _core.Growth
    tree: C50Tree
    rules: VotingRules | None

    @property
    def soft(self) -> np.ndarray:
        """Bounds of the soft thresholds and the float32 grid around them, float64 [n_nodes, 4]."""
        bounds, tree = self.nodes.arrays()["soft"], self.tree
        return soft_thresholds(bounds[:, 0], tree.cut, bounds[:, 2], tree.column >= 0)


class _Trials:
    """Runs the trials one after the other."""

    def __init__(self, learner: C50Learner, begun: FirstStageResult) -> None:
        self.learner, self.first = learner, begun.nodes
        self.bench, self.table, self.costs, self.flat_costs = begun.bench, begun.table, begun.costs, flat(begun.costs)
        self.leaves_per_weight = 0.0
        self.tested: list[bool] = []

    def run(self) -> tuple[list[BoostingTrial], np.ndarray]:
        """Run the trials; return them and the weight of each row in each trial, float32 [n_trials, n_rows]."""
        trials, weights = [self._first()], [self.bench.rows.weights()]
        state = BoostingState(self.table.label, self.table.n_classes, self.learner.trials, self.learner.early_stopping)
        while len(trials) < self.learner.trials:
            outcome = state.next_weights(self._answers(trials[-1]), self.bench.rows.weights(), _is_constant(trials[-1]))
            if outcome.is_discarded and len(trials) > 1:
                trials.pop()
            if outcome.is_last:
                break
            self.bench.rows.weigh(outcome.weight)
            weights.append(outcome.weight)
            trials.append(self._later(np.flatnonzero(outcome.grows).astype(np.int32)))
        if self.learner.early_stopping and abandoned(len(trials), self.learner.trials):
            trials = trials[:1]
        return trials, np.array(weights[: len(trials)])

    def _first(self) -> BoostingTrial:
        trial = self._finished(self.bench.rows.tidy(self.first, self.learner.rules))
        leaves = _n_leaves(trial.tree, not self._groups and not self.learner.rules)
        self.leaves_per_weight = float(_MAX_LEAF_RATIO * np.float32(leaves) / np.float32(len(self.table)))
        return trial

    def _later(self, among: np.ndarray) -> BoostingTrial:
        nodes = self.bench.grow(among, self.leaves_per_weight, grows_anew=False)
        return self._finished(self.bench.rows.tidy(pruned(self.bench, nodes, self.costs), True))

    @property
    def _groups(self) -> bool:
        return self.learner.policy.branching is Branching.GROUPED

    def _finished(self, nodes: _core.Growth) -> BoostingTrial:
        """Trial of a tree with merged leaves."""
        if self.learner.fuzzy and not self.learner.rules:
            nodes = self.bench.rows.soften(nodes, self.flat_costs)
        tree = tree_of_c50(nodes, self.bench.policy)
        return BoostingTrial(nodes, tree, self._rules(nodes, tree) if self.learner.rules else None)

    def _rules(self, nodes: _core.Growth, tree: Tree) -> VotingRules:
        if not self.tested:
            self.tested = np.isin(np.arange(len(self.table.schema)), tree.column).tolist()
        errors = float(tree.risk[tree.is_leaf].sum() if self.costs is None else tree.risk[0])
        rules, default = self.bench.rows.rules(nodes, self.tested, errors, self.flat_costs)
        return voting_rules(rules, default, tree.counts[0] / tree.weight[0])

    def _answers(self, trial: BoostingTrial) -> tuple[np.ndarray, np.ndarray]:
        """Predicted class of each row, and the confidence in it."""
        if trial.rules is None:
            return self.bench.rows.classify(trial.nodes, self.flat_costs)
        return trial.rules.predict_with_confidence(self.table)


def _is_constant(trial: BoostingTrial) -> bool:
    return len(trial.rules) == 0 if trial.rules is not None else len(trial.tree) == 1


def _n_leaves(tree: Tree, counts_levels: bool) -> int:
    """Number of leaves with rows; with `counts_levels`, a leaf of several levels counts once per level."""
    has_rows = tree.is_leaf & (tree.weight > 0)
    if not counts_levels:
        return int(np.count_nonzero(has_rows))
    size = 0
    for node in np.flatnonzero(~tree.is_leaf):
        children = range(tree.first[node], tree.first[node] + tree.branches[node])
        branch_of = tree.branch_of[tree.start[node] : tree.start[node] + tree.levels[node]]
        size += sum(max(int(np.count_nonzero(branch_of == b)), 1) for b, child in enumerate(children) if has_rows[child])
    return max(size, 1)


def _usage_of_rules(sets: tuple[VotingRules, ...], table: Table) -> np.ndarray:
    read = np.zeros((len(table), len(table.schema)), np.bool_)
    for each in sets:
        read |= each.reads(table)
    return read.mean(axis=0)


class FirstTree(msgspec.Struct, frozen=True, kw_only=True):
    """Settings that determine how the first tree is grown and pruned."""

    policy: Policy
    weighing: ClassWeighting = EQUAL
    winnow: bool = False

    def run(self, rows: Partitions) -> FirstStageResult:
        """Grow the first tree of these rows."""
        table = rescale_weights(rows).gather()
        costs = cost_table(self.weighing, table)
        bench = bench_of(table, self.policy, threads.count(rows.n_jobs), class_multipliers(costs, table))
        winnowed = select_useful_columns(bench, table, costs) if self.winnow else ()
        return FirstStageResult(table, costs, bench, winnowed, pruned(bench, bench.grow(bench.every), costs))


class FirstStageResult(msgspec.Struct, frozen=True):
    """Rows in the core, and the first tree grown from them; its leaves are not merged yet."""

    table: Table
    costs: np.ndarray | None  # [n_classes (predicted), n_classes (true)]
    bench: C50Workspace
    winnowed: tuple[str, ...]  # columns
    nodes: _core.Growth


def pruned(bench: C50Workspace, nodes: _core.Growth, costs: np.ndarray | None) -> _core.Growth:
    """Nodes after the global pruning, or relabelled with the classes of least cost."""
    return pruned_globally(bench, nodes) if costs is None else bench.rows.apply_costs(nodes, flat(costs))


def flat(costs: np.ndarray | None) -> np.ndarray:
    """Costs as the core takes them; empty if all misclassifications cost the same."""
    return np.zeros(0) if costs is None else np.ascontiguousarray(costs).ravel()
