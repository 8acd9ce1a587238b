"""The learner of C5.0: one tree or rule set, or trials that turn to the rows that those before got wrong."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.parts import Parts
from baytree.learner import Learnt
from baytree.table.table import Table
from baytree.tree.boost.first_tree import Begun, FirstTree, flat, pruned
from baytree.tree.boost.reweighing import Standing, abandoned
from baytree.tree.boost.rule_making import voting_rules
from baytree.tree.boost.rules import RuleTrials, VotingRules
from baytree.tree.boost.soft import soft_cuts
from baytree.tree.boost.voting_trees import TreeTrials
from baytree.tree.grow.c50_growth import tree_of_c50
from baytree.tree.grow.costs import EQUAL, Weighing
from baytree.tree.grow.policy import Branching, Policy
from baytree.tree.model.filled import FilledTree
from baytree.tree.model.structure import Tree

_MORE_LEAVES = np.float32(1.1)  # than the first tree has per row, no later tree may have


class C50Learner(msgspec.Struct, frozen=True, kw_only=True):
    """C5.0 with its options."""

    policy: Policy
    weighing: Weighing = EQUAL
    trials: int = 1
    rules: bool = False
    winnow: bool = False
    fuzzy: bool = False
    early_stopping: bool = True

    def learn(self, rows: Parts) -> Learnt:
        """The trees, or the rule sets, of these rows."""
        return self.learn_after(self._first_tree.taken(rows))

    @property
    def first_step(self) -> FirstTree | None:
        """The first tree; None where later trials or soft cuts weigh its rows anew, or costs would have to be compared."""
        leaves_rows_alone = self.trials == 1 and not self.fuzzy
        return self._first_tree if leaves_rows_alone and self.weighing.is_equal else None

    def learn_after(self, begun: Begun) -> Learnt:
        """The trees, or the rule sets, that follow from the first tree."""
        trials, weights = _Trials(self, begun).run()
        return Learnt(self._model(trials, begun), told={"winnowed_": begun.winnowed, "weights_": weights})

    @property
    def _first_tree(self) -> FirstTree:
        return FirstTree(policy=self.policy, weighing=self.weighing, winnow=self.winnow)

    def _model(self, trials: list[Trial], begun: Begun) -> TreeTrials | RuleTrials:
        table = begun.table
        if self.rules:
            sets = tuple(trial.rules for trial in trials if trial.rules is not None)
            return RuleTrials(sets, _usage_of_rules(sets, table))
        read = np.zeros((len(table), len(table.schema)), np.bool_)
        for trial in trials:
            read |= begun.bench.rows.reads(trial.nodes)
        soft = tuple(trial.soft for trial in trials) if self.fuzzy else ()
        return TreeTrials(tuple(trial.tree for trial in trials), read.mean(axis=0), begun.costs, soft)


class Trial(msgspec.Struct, frozen=True):
    """What one trial made of the rows as they weighed."""

    nodes: _core.Growth
    tree: FilledTree
    rules: VotingRules | None

    @property
    def soft(self) -> np.ndarray:
        """float64 [n_nodes, 4]: the bounds of the thresholds, and the grid of float32 around them."""
        bounds, tree = self.nodes.arrays()["soft"], self.tree
        return soft_cuts(bounds[:, 0], tree.cut, bounds[:, 2], tree.column >= 0)


class _Trials:
    """One trial after the other."""

    def __init__(self, learner: C50Learner, begun: Begun) -> None:
        self.learner, self.first = learner, begun.nodes
        self.bench, self.table, self.costs, self.flat_costs = begun.bench, begun.table, begun.costs, flat(begun.costs)
        self.leaves_per_weight = 0.0
        self.tested: list[bool] = []

    def run(self) -> tuple[list[Trial], np.ndarray]:
        """The trials, and float32 [n_trials, n_rows]: what each row weighed in each of them."""
        found, weights = [self._first()], [self.bench.rows.weights()]
        standing = Standing(self.table.label, self.table.n_classes, self.learner.trials, self.learner.early_stopping)
        while len(found) < self.learner.trials:
            outcome = standing.after(self._answers(found[-1]), self.bench.rows.weights(), _is_mute(found[-1]))
            if outcome.is_discarded and len(found) > 1:
                found.pop()
            if outcome.is_last:
                break
            self.bench.rows.weigh(outcome.weight)
            weights.append(outcome.weight)
            found.append(self._later(np.flatnonzero(outcome.grows).astype(np.int32)))
        if self.learner.early_stopping and abandoned(len(found), self.learner.trials):
            found = found[:1]
        return found, np.array(weights[: len(found)])

    def _first(self) -> Trial:
        trial = self._finished(self.bench.rows.tidy(self.first, self.learner.rules))
        leaves = _size(trial.tree, not self._groups and not self.learner.rules)
        self.leaves_per_weight = float(_MORE_LEAVES * np.float32(leaves) / np.float32(len(self.table)))
        return trial

    def _later(self, among: np.ndarray) -> Trial:
        nodes = self.bench.grown(among, self.leaves_per_weight, grows_anew=False)
        return self._finished(self.bench.rows.tidy(pruned(self.bench, nodes, self.costs), True))

    @property
    def _groups(self) -> bool:
        return self.learner.policy.branching is Branching.GROUPED

    def _finished(self, nodes: _core.Growth) -> Trial:
        """The trial of a tree whose leaves are joined."""
        if self.learner.fuzzy and not self.learner.rules:
            nodes = self.bench.rows.soften(nodes, self.flat_costs)
        tree = tree_of_c50(nodes, self.bench.policy)
        return Trial(nodes, tree, self._rules(nodes, tree) if self.learner.rules else None)

    def _rules(self, nodes: _core.Growth, tree: Tree) -> VotingRules:
        if not self.tested:
            self.tested = np.isin(np.arange(len(self.table.schema)), tree.column).tolist()
        errors = float(tree.risk[tree.is_leaf].sum() if self.costs is None else tree.risk[0])
        found, otherwise = self.bench.rows.rules(nodes, self.tested, errors, self.flat_costs)
        return voting_rules(found, otherwise, tree.counts[0] / tree.weight[0])

    def _answers(self, trial: Trial) -> tuple[np.ndarray, np.ndarray]:
        """The class of each row, and how sure it is."""
        if trial.rules is None:
            return self.bench.rows.classify(trial.nodes, self.flat_costs)
        return trial.rules.sure_choices(self.table)


def _is_mute(trial: Trial) -> bool:
    return len(trial.rules) == 0 if trial.rules is not None else len(trial.tree) == 1


def _size(tree: Tree, counts_levels: bool) -> int:
    """The number of leaves with rows; with `counts_levels`, a leaf of several levels counts once for each."""
    held = tree.is_leaf & (tree.weight > 0)
    if not counts_levels:
        return int(np.count_nonzero(held))
    size = 0
    for node in np.flatnonzero(~tree.is_leaf):
        children = range(tree.first[node], tree.first[node] + tree.branches[node])
        taken = tree.branch_of[tree.start[node] : tree.start[node] + tree.levels[node]]
        size += sum(max(int(np.count_nonzero(taken == b)), 1) for b, child in enumerate(children) if held[child])
    return max(size, 1)


def _usage_of_rules(sets: tuple[VotingRules, ...], table: Table) -> np.ndarray:
    read = np.zeros((len(table), len(table.schema)), np.bool_)
    for each in sets:
        read |= each.reads(table)
    return read.mean(axis=0)
