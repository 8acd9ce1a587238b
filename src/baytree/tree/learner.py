"""Learners of trees: what to grow and how to prune it, checked and frozen. They know rows, but neither frames nor faces."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import msgspec
import numpy as np

from baytree import _core, notices
from baytree.engine import threads
from baytree.engine.parts import InMemory, Parts
from baytree.learner import Learnt
from baytree.settings import ByClass
from baytree.table.schema import Kind, Schema
from baytree.table.table import Table
from baytree.tree.grow import chaid_growth, fractional
from baytree.tree.grow.candidates import candidates
from baytree.tree.grow.fractional import Rows, Rules, ripen, rows_of
from baytree.tree.grow.grow import Conventions, Costs, altered_costs, equal_costs, grow
from baytree.tree.grow.merged import grow_merged
from baytree.tree.grow.merging import smallest_adjusted
from baytree.tree.grow.multiway import grow_multiway
from baytree.tree.grow.multiway_numbers import grow_multiway_numbers
from baytree.tree.grow.policy import Branching, Missing, Policy
from baytree.tree.grow.trace import trace_of
from baytree.tree.grow.trial import in_words
from baytree.tree.grow.units import from_zero, in_range, in_unit, near_one, near_zero
from baytree.tree.model.structure import Tree
from baytree.tree.prune import cart
from baytree.tree.prune.cost_complexity import to_leaves, with_complexity
from baytree.tree.prune.error_pruning import Pessimism, collapse, prune_by_estimate, prune_on_held_out
from baytree.tree.prune.holding import folds, folds_of, held_share, unfolded
from baytree.tree.view.significance import splits

_MANY_LEVELS = 0.3  # of the rows: so many are a column's names for rows rather than for kinds of rows
_NO_TEST = (
    "column {name!r} is not used: hardly any of its {n} levels occurs min_objects={least} times, so C4.5 has no test "
    "for it; leave it out, or unite levels by subset=True"
)
_NO_SPLIT = (
    "column {name!r} is not used: with {n} levels among so few rows, the adjustment for the ways to merge them is larger "
    "than any p-value can make up for; leave it out, or take coarser levels"
)


class ClassCosts(msgspec.Struct, frozen=True):
    """What classes weigh, as it was asked for: priors, and the cost of each mistake."""

    priors: ByClass | None = None
    costs: ByClass | None = None

    def of(self, table: Table) -> Costs:
        """The scales of the classes of a table."""
        classes = table.schema.classes
        if not classes:
            return equal_costs(0)
        priors = None if self.priors is None else self.priors.shares(classes)
        loss = None if self.costs is None else self.costs.of(classes)
        return altered_costs(np.bincount(table.label, table.weight, len(classes)), priors, loss)


class OpenTree(msgspec.Struct, frozen=True):
    """A tree by any policy."""

    policy: Policy
    weighing: ClassCosts = ClassCosts()
    traces: bool = False

    def learn(self, rows: Parts) -> Learnt:
        """The tree of these rows."""
        table, n_threads = near_one(rows.gather()), threads.count(rows.n_jobs)
        if table.n_classes:
            return self._grown(table, n_threads)
        table, unit = in_range(table)
        learnt = self._grown(table, n_threads)
        return msgspec.structs.replace(learnt, model=in_unit(learnt.model, unit))

    def _grown(self, table: Table, n_threads: int) -> Learnt:
        policy = self.policy
        if policy.branching is Branching.MERGE:
            return self._merged(InMemory(table, n_threads))
        if policy.branching is Branching.MULTIWAY or policy.missing is Missing.FRACTIONAL:
            grow_levels = grow_multiway if table.n_classes else grow_multiway_numbers
            return Learnt(grow_levels(table, policy, n_threads))
        return self._in_two(table, n_threads)

    def _in_two(self, table: Table, n_threads: int) -> Learnt:
        policy, max_leaves = self.policy, self.policy.stopping.max_leaves
        is_plain = self.weighing.priors is None and self.weighing.costs is None
        costs = equal_costs(table.n_classes) if is_plain else self.weighing.of(table)
        conventions = Conventions(max_surrogates=5 if policy.missing is Missing.SURROGATE else 0)
        tree = with_complexity(grow(table, policy, costs, conventions, n_threads))
        tree = tree if max_leaves is None else to_leaves(tree, max_leaves)
        return Learnt(tree, told={"trace_": candidates(tree, table, policy, costs, conventions)} if self.traces else {})

    def _merged(self, rows: Parts) -> Learnt:
        grown = grow_merged(rows, self.policy)
        return Learnt(grown.tree, told={"trace_": tried_in_words(grown)} if self.traces else {})


class Splitter(Protocol):
    """What deals rows into folds: any of scikit-learn's splitters."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """Pairs of rows, to learn from and to judge by."""
        ...


class Cart(msgspec.Struct, frozen=True):
    """CART as rpart grows it; the penalty as given, or chosen by cross-validation."""

    controls: cart.Controls
    weighing: ClassCosts = ClassCosts()
    rule: str | None = None  # "1se" or "min"
    cv: int | Splitter | np.ndarray = 10  # a number of folds, a splitter, or the fold of each row: int64 [n_rows]
    seed: int = 0

    def learn(self, rows: Parts) -> Learnt:
        """The tree of these rows."""
        table, n_threads = near_one(rows.gather()), threads.count(rows.n_jobs)
        if table.n_classes:
            return Learnt(self._grown(table, n_threads))
        table, unit = in_range(table)
        table, origin = near_zero(table)
        return Learnt(in_unit(from_zero(self._grown(table, n_threads), origin), unit))

    def _grown(self, table: Table, n_threads: int) -> Tree:
        controls, rule = self.controls, self.rule
        is_fitted = cart.fitted_rows(table, controls.counts_rows)
        fitted = table if is_fitted.all() else table.take(is_fitted)
        costs = self.weighing.of(fitted)
        if rule is None:
            return cart.cart(fitted, msgspec.structs.replace(controls, prunes_impurity=False), costs, n_threads)
        if not isinstance(self.cv, int):
            fold = self._given_folds(table)[is_fitted]
            return cart.pruned_by_validation(fitted, fitted, controls, costs, rule, fold, n_threads)[0]
        judged = fitted if controls.counts_rows else unfolded(fitted)
        fold = folds(judged, min(self.cv, len(judged)), self.seed)
        return cart.pruned_by_validation(fitted, judged, controls, costs, rule, fold, n_threads)[0]

    def _given_folds(self, table: Table) -> np.ndarray:
        if not isinstance(self.cv, np.ndarray):
            return folds_of(self.cv, table.label, len(table))
        if len(self.cv) != len(table):
            raise ValueError(OTHER_ROWS)
        return self.cv


OTHER_ROWS = (
    "cv names rows of the table that fit was called with, but the tree is to be learnt from other rows, as in "
    "cross-validation; give a number of folds or a splitter of scikit-learn"
)


class C45(msgspec.Struct, frozen=True):
    """C4.5 or J48: grown with fractional cases, then pruned by error."""

    rules: Rules
    empty: str  # what a leaf without training rows answers
    pruning: Literal["error_based", "reduced_error"] | None
    estimate: Pessimism
    raising: bool
    collapse: bool
    laplace: bool = False
    traces: bool = False
    held_out: np.ndarray | None = None  # float64 [n_rows], the share of each row that reduced-error pruning holds out

    def learn(self, rows: Parts) -> Learnt:
        """The tree of these rows."""
        table = near_one(rows.gather())
        self._warn_of_columns_without_a_test(table)
        growth = self._with_shown_groups(self._grown(table, threads.count(rows.n_jobs)))
        return Learnt(self.tree(growth), told={"trace_": trace_of(growth, table.schema)} if self.traces else {})

    def tree(self, growth: fractional.Growth) -> Tree:
        """The nodes that are left, as a tree."""
        return with_complexity(ripen(growth, empty=self.empty, laplace=self.laplace))

    def prune_by_estimate(self, growth: fractional.Growth, rows: Rows | None) -> None:
        """Error-based pruning; subtrees are raised where the training rows are given."""
        prune_by_estimate(growth, self.estimate, rows if self.raising else None, self.rules.tolerance)

    def _grown(self, table: Table, n_threads: int) -> fractional.Growth:
        held_out = self._held_out(table)
        rows = rows_of(table) if held_out is None else _weighed(rows_of(table), 1.0 - held_out)
        growth = fractional.grow(rows, table.n_classes, self.rules, threads=n_threads, traces=self.traces)
        if held_out is not None:
            if held_out.any():
                prune_on_held_out(growth, _weighed(rows_of(table), held_out))
            return growth
        if self.collapse:
            collapse(growth)
        if self.pruning == "error_based":
            self.prune_by_estimate(growth, rows)
        return growth

    def _held_out(self, table: Table) -> np.ndarray | None:
        if self.pruning != "reduced_error":
            return None
        return held_share(table) if self.held_out is None else self.held_out

    def _with_shown_groups(self, growth: fractional.Growth) -> fractional.Growth:
        """Groups do not name levels that a test above has already sent elsewhere."""
        if not self.rules.grouped or self.pruning == "reduced_error":
            return growth
        nodes = growth.nodes.compact()
        _core.drop_excluded_levels(nodes)
        return msgspec.structs.replace(growth, nodes=nodes)

    def _warn_of_columns_without_a_test(self, table: Table) -> None:
        """A test needs two branches of `min_objects`, which the levels of an identifier never are."""
        least = self.rules.min_side
        if self.rules.grouped:
            return
        for column, codes in zip(table.schema, table.values, strict=True):
            if column.kind is Kind.NUMERIC or len(column.levels) < max(3, _MANY_LEVELS * len(table)):
                continue
            weight = np.bincount(codes[codes >= 0], table.weight[codes >= 0], len(column.levels))
            if np.count_nonzero(weight >= least) < (1 if self.rules.binary else 2):
                notices.warn(_NO_TEST.format(name=column.name, n=len(column.levels), least=f"{least:g}"))


class Id3(msgspec.Struct, frozen=True):
    """ID3, neither stopped early nor pruned."""

    rules: Rules

    def learn(self, rows: Parts) -> Learnt:
        """The tree of these rows."""
        table = rows.gather()
        growth = fractional.grow(rows_of(table), table.n_classes, self.rules, threads=threads.count(rows.n_jobs))
        return Learnt(with_complexity(ripen(growth, empty="parent")))


class Chaid(msgspec.Struct, frozen=True):
    """CHAID: columns merged and judged by significance."""

    growth: chaid_growth.Growth
    traces: bool = False

    def learn(self, rows: Parts) -> Learnt:
        """The tree of these rows."""
        table = near_one(rows.gather())
        self._warn_of_columns_without_a_split(table)
        if table.n_classes:
            return self._grown(InMemory(table, rows.n_jobs))
        table, unit = in_range(table)
        learnt = self._grown(InMemory(table, rows.n_jobs))
        return msgspec.structs.replace(learnt, model=in_unit(learnt.model, unit))

    def _grown(self, rows: Parts) -> Learnt:
        grown = chaid_growth.grow(rows, self.growth)
        told = tried_in_words(grown) if self.traces else splits(grown.tree, rows.schema)
        return Learnt(grown.tree, told={"trace_": told})

    def _warn_of_columns_without_a_split(self, table: Table) -> None:
        """Bonferroni's factor can be so large that not even groups of pure classes are significant."""
        weight, rules, alpha = float(table.weight.sum()), self.growth.rules, self.growth.choice.alpha_split
        if weight < self.growth.min_split or rules.exhaustive or rules.test != "pearson":
            return
        for column in table.schema:
            n = len(column.levels) if column.kind is Kind.NOMINAL else 0
            if min(n, table.n_classes) > 1 and smallest_adjusted(n, table.n_classes, weight) > alpha:
                notices.warn(_NO_SPLIT.format(name=column.name, n=n))


def refuse_text(schema: Schema) -> None:
    """Raises an error where a column is text, which trees do not split."""
    for column in schema:
        if column.kind is Kind.TEXT:
            raise ValueError(_TEXT.format(name=column.name))


_TEXT = (
    "column {name!r} is text, which a tree cannot split; leave it out, declare it with schema={{{name!r}: 'nominal'}}, "
    "or use NaiveBayesClassifier or LogisticRegression"
)


def tried_in_words(grown: chaid_growth.Grown) -> list[dict[str, Any]]:
    """What every column could have done at every node, in the words of the table."""
    return [in_words(trial, grown.coding) for trial in grown.tried]


def _weighed(rows: Rows, share: np.ndarray) -> Rows:
    """The rows that have a share, with that much of their weight."""
    return msgspec.structs.replace(rows, weight=rows.weight * share, chosen=rows.chosen[share[rows.chosen] > 0])
