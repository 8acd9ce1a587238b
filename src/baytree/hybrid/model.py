"""A tree whose leaves are naive Bayes models where these pay: one tree, or the average of its prunings and kinds of leaf.

Trees with naive Bayes leaves as formulas: what the counts say where a row rests, and each model by its share there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import msgspec
import numpy as np

from baytree.base.model import Evidence, Explanation, softmax
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.formula import Formula
from baytree.formula.builder import FormulaBuilder, classification_formula, constant, matrix
from baytree.formula.expressions import Case, Compare, Expression, Named, Pick, Product, Route, Sum, When
from baytree.hybrid.node_statistics import reached
from baytree.naive_bayes.model import NaiveBayes, posterior
from baytree.summary.tree import BayesLeaf, BayesTreeSummary, NamedCondition, Node, TreeSummary
from baytree.tree.model import routing
from baytree.tree.model.formula import nodes_of
from baytree.tree.model.traversal import parents, preorder, stopped_and_split
from baytree.tree.model.tree import Tree
from baytree.uncertainty.intervals import no_interval


class BayesTree(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="bayes_tree", dict=True):
    """Σ over the prunings of a tree, and over what their leaves are, of weight · answer.

    The tree holds what its prunings say by counts alone: where naive Bayes reads no value, its prior is what the counts of
    its node say. So an answer is that of the tree, and what the values change in the naive Bayes models. A tree that does
    not average has one pruning, itself.
    """

    tree: Tree  # every row reaches a leaf
    node: np.ndarray  # int32 [n_models], ascending: the nodes whose leaf may be naive Bayes
    chosen: np.ndarray  # float64 [n_models], of the prunings that stop there the share by weight whose leaf is
    models: tuple[NaiveBayes, ...]

    def __post_init__(self) -> None:
        _require(self.node.dtype == np.int32 and self.chosen.dtype == np.float64, "nodes or shares have another type")
        _require(self.node.shape == self.chosen.shape == (len(self.models),), "nodes, shares and models differ in number")
        _require(bool(np.all((self.chosen >= 0) & (self.chosen <= 1))), "a share is not between 0 and 1")
        rises = np.diff(self.node, prepend=-1) > 0
        _require(bool(rises.all() and np.all(self.node < len(self.tree))), "a model has no node, or not its own")
        is_last = bool(np.all(self.tree.is_leaf[self.node]))
        _require(bool(self.tree.averaging) or is_last, "the tree does not average, and a model is not at a leaf")
        _require(bool(np.all(self.tree.missing[~self.tree.is_leaf] >= 0)), "a row may come to rest before a leaf")

    @cached_property
    def share(self) -> np.ndarray:
        """float64 [n_models]: what each model counts for in the answer of a row that reaches its node."""
        return stopped_and_split(self.tree)[0][self.node] * self.chosen

    @cached_property
    def counted(self) -> np.ndarray:
        """float64 [n_nodes, n_classes]: what leaves that are counts add to the answer of a row that rests at a leaf."""
        above, taken = parents(self.tree).tolist(), np.zeros_like(self.tree.value)
        for k, model in enumerate(self.models):
            taken[self.node[k]] = self.share[k] * np.exp(model.log_prior)
        for node in range(1, len(self.tree)):  # a child comes after its parent
            taken[node] += taken[above[node]]
        return np.maximum(self.tree.value - taken, 0.0)

    def predict(self, table: Table) -> np.ndarray:
        """float64 [n_rows, n_classes]: what the counts of the nodes on a row's way say, and their naive Bayes models."""
        leaf = routing.leaves(self.tree, table)
        answers = self.counted[leaf]
        for k, rows in self._asked(leaf):
            answers[rows] += self.share[k] * self.models[k].predict(table.take(rows))
        return answers

    def intervals(self, table: Table, level: float) -> np.ndarray:
        """None: what each model knows of itself does not tell how sure the choice between them is."""
        raise no_interval("an average of trees and naive Bayes, or a choice between them, has no interval; either alone has")

    def explain(self, table: Table) -> list[Explanation]:
        """The ledger of each row: what each test changed, then what each value changed in the naive Bayes models."""
        tests, effects, answers = routing.explain(self.tree, table), self._effects(table), self.predict(table)
        lines = (_lines(table, row, effects[row]) for row in range(len(table)))
        return [
            msgspec.structs.replace(why, evidence=(*why.evidence, *more), probability=answer)
            for why, more, answer in zip(tests, lines, answers, strict=True)
        ]

    def formula(self, schema: Schema) -> Formula:
        """The tree and its models as an expression of the raw columns."""

        return bayes_tree(self, schema)

    def summary(self, schema: Schema) -> BayesTreeSummary:
        """The tree as records, and each model with the way to its node."""
        averaged = self.tree.summary(schema)
        tree = msgspec.structs.replace(averaged, nodes=tuple(map(_by_counts, averaged.nodes)))
        ways = _ways(tree, set(self.node.tolist()))
        told = zip(self.node.tolist(), self.chosen.tolist(), self.share.tolist(), self.models, strict=True)
        leaves = (BayesLeaf(node, ways[node], chosen, share, model.summary(schema)) for node, chosen, share, model in told)
        return BayesTreeSummary(tree.target, tree.classes, tree, tuple(leaves))

    def check(self, schema: Schema) -> None:
        """Raises an error unless the tree and every model fit the schema."""
        self.tree.check(schema)
        for model in self.models:
            model.check(schema)

    def _asked(self, leaf: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """The place of each model that rows ask on their way to a leaf [n_rows], and these rows."""
        place = {node: k for k, node in enumerate(self.node.tolist())}
        if not place:
            return
        for node, rows in reached(self.tree, leaf):
            if node in place:
                yield place[node], rows

    def _effects(self, table: Table) -> np.ndarray:
        """float64 [n_rows, n_columns, n_classes]: what each value changes in the models after those of columns before it."""
        effects = np.zeros((len(table), len(table.schema), table.n_classes))
        for k, rows in self._asked(routing.leaves(self.tree, table)):
            effects[rows] += self.share[k] * _changes(self.models[k], table.take(rows))
        return effects


def _changes(model: NaiveBayes, table: Table) -> np.ndarray:
    """float64 [n_rows, n_columns, n_classes]: how the posterior moves as the columns come in one after the other."""
    added = np.zeros((len(table), len(table.schema) + 1, table.n_classes))
    added[:, 0] = model.log_prior
    for likelihood in model.likelihoods:
        for j, effect in zip(likelihood.columns, likelihood.effects(table), strict=True):
            added[:, j + 1] = effect
    scores = np.cumsum(added, axis=1)
    posterior = softmax(scores.reshape(-1, table.n_classes)).reshape(scores.shape)
    return np.diff(posterior, axis=1)


def _lines(table: Table, row: int, effects: np.ndarray) -> list[Evidence]:
    """A line for each column that changed something: [n_columns, n_classes] in."""
    columns, values = table.schema.columns, table.values
    told = np.flatnonzero(effects.any(axis=1)).tolist()
    return [Evidence(columns[j].name, columns[j].show(values[j][row]), effects[j]) for j in told]


def _by_counts(node: Node) -> Node:
    """The node with the share that its class has of its rows, as its prediction is: the average says more than counts do."""
    return msgspec.structs.replace(node, value=dict(node.counts).get(node.prediction, 0.0) / node.weight)


def _ways(summary: TreeSummary, wanted: set[int]) -> dict[int, tuple[NamedCondition, ...]]:
    """The conditions on the way to each wanted node."""
    way: list[NamedCondition] = []
    found = {}
    for node in summary.nodes:
        if node.condition is not None:
            way[node.depth - 1 :] = [node.condition]
        if node.id in wanted:
            found[node.id] = tuple(way[: node.depth])
    return found


def _require(is_true: bool, fault: str) -> None:
    if not is_true:
        raise ValueError(f"not a tree with naive Bayes leaves: {fault}")


def bayes_tree(model: BayesTree, schema: Schema) -> Formula:
    """Σ share · posterior over the naive Bayes models on a row's way, and what the counts add."""
    steps = FormulaBuilder(schema)
    rest = steps.add_step(Route(0))
    terms: list[Expression] = [Pick(rest, matrix(model.counted))]
    first, last = _spans(model.tree)
    place = steps.add_step(Pick(rest, matrix(first)))
    for node, share, bayes in zip(model.node.tolist(), model.share.tolist(), model.models, strict=True):
        counts_for = steps.add_step(_within(place, first[node], last[node], share))
        terms.append(Product((counts_for, steps.add_step(posterior(bayes, steps)))))
    whole = classification_formula("decision tree with naive Bayes leaves", steps, Sum(tuple(terms)))
    return msgspec.structs.replace(whole, trees=(nodes_of(model.tree, schema),))


def _within(place: Named, first: int, last: int, share: float) -> Expression:
    """The share where the place lies between two others, else 0."""
    none = constant(0.0)
    before, behind = Compare(place, "<", constant(float(first))), Compare(place, ">", constant(float(last)))
    return Case((When(before, none), When(behind, none)), constant(share))


def _spans(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """int64 [n_nodes] each: the place of every node, depth first, and that of the last node below it."""
    first, size, above = np.empty(len(tree), np.int64), np.ones(len(tree), np.int64), parents(tree).tolist()
    first[list(preorder(tree))] = np.arange(len(tree))
    for node in range(len(tree) - 1, 0, -1):  # a child comes after its parent
        size[above[node]] += size[node]
    return first, first + size - 1
